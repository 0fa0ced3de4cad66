"""An HTTP server that slow or idle clients cannot exhaust.

aiohttp limits neither the number of connections nor the time for a request's body, and allows an
hour for its head: a few hundred unfinished requests would take all file descriptors.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from socket import gaierror

import structlog
from aiohttp import web

from engine.values.errors import SettingsError

MOST_BYTES = 2**20
MOST_CONNECTIONS = 256  # without a request so far
ARRIVAL_SECONDS = 10.0  # for a request's head, and for its body
FINISH_SECONDS = 5.0  # for requests that are being answered when it stops
LINGER_SECONDS = 1.0  # for the rest of an unread body
CHARSETS = ("utf-8", "utf8")
NAME = "rostrum"  # without versions
TAKEN = "Requests cannot be taken at {host}:{port}: {why}; choose a free port."
log = structlog.get_logger(__name__)


class Site:
    """Pages at `host:port`; HTTPS is up to a proxy in front.

    `taken` is the message for a port in use. A request has `arrival` seconds for its head and as
    many for its body; beyond `most` connections the one without a request for longest is closed.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        taken: str = TAKEN,
        arrival: float = ARRIVAL_SECONDS,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        self._host, self._port, self._taken = host, port, taken
        self._arrival, self._most = arrival, most
        self._answered: set[asyncio.BaseProtocol] = set()  # connections whose request has arrived
        self.address: tuple[str, int] | None = None

    @property
    def where(self) -> str:
        """The `host:port` that it listens at; empty while it does not."""
        if self.address is None:
            return ""
        host, port = self.address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @asynccontextmanager
    async def serving(
        self,
        routes: Sequence[web.RouteDef],
        furnish: Callable[[web.Application], None] | None = None,
    ) -> AsyncIterator[None]:
        """Serve during the body; without routes nothing listens.

        `furnish` adds to the application what all its answers have. Raises SettingsError for a
        port in use.
        """
        served = web.Application(client_max_size=MOST_BYTES)
        if furnish is not None:
            furnish(served)
        served.middlewares.append(self._read_whole)
        served.add_routes(routes)
        runner = web.AppRunner(served, shutdown_timeout=FINISH_SECONDS)
        await runner.setup()
        listening = await self._listen(runner) if routes else None
        try:
            yield
        finally:
            self.address = None
            if listening is not None:
                listening.close()
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> asyncio.Server:
        if runner.server is None:
            raise RuntimeError("its runner was not set up")
        make, loop = partial(self._admit, runner.server), asyncio.get_running_loop()
        try:
            listening = await loop.create_server(make, self._host, self._port, backlog=128)
        except OSError as error:
            await runner.cleanup()
            in_use = error.errno == errno.EADDRINUSE
            why = str(error.strerror or error)
            if in_use:
                why = "another program uses this port"
            # The loop's own words repeat the address; numbers of gaierror are not the system's.
            elif error.errno is not None and not isinstance(error, gaierror):
                why = os.strerror(error.errno)
            where = {"host": self._host, "port": self._port, "why": why}
            raise SettingsError(self._taken.format(**where), passing=in_use) from error
        self.address = listening.sockets[0].getsockname()[:2]
        return listening

    def _admit(self, server: web.Server) -> web.RequestHandler:
        """Accept one more connection; the oldest ones without a request make room."""
        awaited = [
            connection
            for connection in server.connections
            if connection.transport is not None and connection not in self._answered
        ]
        for oldest in awaited[: max(0, len(awaited) + 1 - self._most)]:
            oldest.force_close()
        return _Connection(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # none is kept
            keepalive_timeout=self._arrival,
            lingering_time=LINGER_SECONDS,
            auto_decompress=False,
        )

    @web.middleware
    async def _read_whole(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Read a whole request within its time before handling it.

        Its bytes are taken as they were sent: inflating them, and decoding them by a charset that
        the sender names, can take minutes in which nothing else is done.
        """
        try:
            async with asyncio.timeout(self._arrival):
                await request.read()
        except TimeoutError:
            return _refuse(request, 408, "it did not arrive in time")
        except ConnectionError:
            return web.Response(status=400)  # no one reads it
        except web.HTTPRequestEntityTooLarge:
            return _refuse(request, 413, "it is too large")
        if "Content-Encoding" in request.headers:
            return _refuse(request, 415, "it is compressed")
        if (request.charset or "utf-8").lower() not in CHARSETS:
            return _refuse(request, 415, "its charset is not UTF-8")
        connection = request.protocol
        self._answered.add(connection)
        try:
            return await handler(request)
        finally:
            self._answered.discard(connection)


class _Connection(web.RequestHandler):
    """A connection that does not repeat what it cannot read, in answers or in logs."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is no request; errors of ours are the library's to log."""
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        return _refuse(request, status, "it is no request in HTTP")


def _refuse(request: web.BaseRequest, status: int, why: str) -> web.Response:
    """Refuse a request, and log why without what it contained."""
    log.warning("request refused", status=status, why=why)
    refusal = web.Response(status=status, headers={"Server": NAME})
    refusal.force_close()
    return refusal
