"""An HTTP proxy on loopback: requests by absolute address, and tunnels by CONNECT.

It takes every host for this machine, so that names which nothing else knows lead somewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PIECE = 65_536


@dataclass
class Proxy:
    """What it was asked for: `GET http://127.0.0.1:4600/api`, or `CONNECT host:443`."""

    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address to set."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """Serve one connection, which stays with the server that it first asked for."""
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await client.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n")[0].decode().split()
            self.asked.append(f"{method} {target}")
            parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
            server, there = await asyncio.open_connection("127.0.0.1", parts.port or 80)
            if method == "CONNECT":
                back.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                there.write(head)
            await asyncio.gather(_relay(client, there), _relay(server, back))
        back.close()


async def _relay(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(PIECE):
            target.write(piece)
            await target.drain()
    target.close()


@asynccontextmanager
async def proxying() -> AsyncIterator[Proxy]:
    """Serve while the body runs."""
    proxy = Proxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
