"""A load balancer as Slack's requests meet it: a request that one server refuses goes to the next.

Only what was never taken is sent again, as balancers do with what is not theirs to repeat.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import aiohttp
from aiohttp import web

DROPPED = {"host", "content-length", "transfer-encoding", "connection"}


@dataclass
class Balancer:
    """Its address, and the ports behind it; `refused` counts connections that found no server."""

    ports: Sequence[int]
    url: str = ""
    refused: int = 0
    _turns: count[int] = field(default_factory=count)

    async def pass_on(self, request: web.Request) -> web.Response:
        """Send a request to one server after the other, until one takes it."""
        body, first = await request.read(), next(self._turns)
        kept = {
            name: value for name, value in request.headers.items() if name.lower() not in DROPPED
        }
        # A connection that is kept open may be closed just as a request leaves on it.
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            for turn in range(len(self.ports)):
                port = self.ports[(first + turn) % len(self.ports)]
                url = f"http://127.0.0.1:{port}{request.path_qs}"
                try:
                    async with session.request(
                        request.method, url, data=body, headers=kept
                    ) as answer:
                        told = {"Content-Type": answer.headers.get("Content-Type", "text/plain")}
                        said = await answer.read()
                        return web.Response(status=answer.status, body=said, headers=told)
                except aiohttp.ClientOSError as error:
                    if not _was_left(error):
                        raise
                    self.refused += 1
        return web.Response(status=502)


def _was_left(error: aiohttp.ClientOSError) -> bool:
    """Return whether a server took nothing of a request: it was closed before the body was sent."""
    return isinstance(error, aiohttp.ClientConnectorError) or "write request body" in str(error)


@asynccontextmanager
async def balancing(*ports: int) -> AsyncIterator[Balancer]:
    """Serve while the body runs."""
    balancer = Balancer(ports)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", balancer.pass_on)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    balancer.url = f"http://{host}:{port}"
    try:
        yield balancer
    finally:
        await runner.cleanup()
