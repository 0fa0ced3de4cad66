"""A wire to a server on loopback, which can be cut, held up, or made to lose one answer."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from adapters.site import Site
from adapters.web.application import furnish
from tests.kit import some

PIECE = 65_536
TICK = 0.02


class Wire:
    """Forwards connections to a port.

    `mend` and `cut` let connections through or refuse them, `hold` keeps them and carries nothing.
    `lose` waits for a text on its way to the server and cuts that connection: before the text
    arrives, or after, so that its answer is lost. `losses` counts these.
    """

    def __init__(self, port: int) -> None:
        self._there = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._clients: set[socket.socket] = set()
        self._state: Literal["open", "cut", "held"] = "open"
        self._fatal: tuple[bytes, bool, bool] | None = None
        self.losses = 0
        self.opened = 0
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="wire", daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Cut every connection, and refuse new ones."""
        self._state = "cut"

    def hold(self) -> None:
        """Carry nothing, in either direction."""
        self._state = "held"

    def mend(self) -> None:
        self._state = "open"

    def lose(self, text: str, *, arrives: bool, for_good: bool = False) -> None:
        """Cut the next connection on which a text goes to the server, before or after it went.

        `for_good` cuts every other one as well, and lets in no more.
        """
        self._fatal = (text.encode(), arrives, for_good)

    def close(self) -> None:
        self._ended = True
        self._thread.join(10)

    def _run(self) -> None:
        while not self._ended:
            if self._state == "cut":
                self._cut_all()
            if self._state == "held":
                threading.Event().wait(TICK)
                continue
            ready, _, _ = select.select([self._server, *self._pairs], [], [], TICK)
            for one in ready:
                if one is self._server:
                    self._accept()
                elif one in self._pairs:
                    self._carry(one)
        self._cut_all()
        self._server.close()

    def _accept(self) -> None:
        client, _ = self._server.accept()
        if self._state == "cut":
            client.close()
            return
        try:
            there = socket.create_connection(("127.0.0.1", self._there), 5)
        except OSError:
            client.close()
            return
        self.opened += 1
        self._clients.add(client)
        self._pairs |= {client: there, there: client}

    def _carry(self, source: socket.socket) -> None:
        try:
            piece = source.recv(PIECE)
            fatal = self._fatal if source in self._clients else None
            if not piece:
                return self._drop(source)
            if fatal and fatal[0] in piece:
                self._fatal = None
                self.losses += 1
                if fatal[1]:
                    self._pairs[source].sendall(piece)
                    self._pairs[source].recv(1)  # the server has answered, so it has acted
                if fatal[2]:
                    self.cut()
                return self._drop(source)
            self._pairs[source].sendall(piece)
        except OSError:
            self._drop(source)

    def _drop(self, one: socket.socket) -> None:
        other = self._pairs.pop(one, None)
        for end in (one, other):
            if end is not None:
                self._pairs.pop(end, None)
                self._clients.discard(end)
                with suppress(OSError):
                    end.close()

    def _cut_all(self) -> None:
        for one in list(self._pairs):
            self._drop(one)


@contextmanager
def wired(port: int) -> Iterator[Wire]:
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()


# --- an HTTP proxy on loopback: requests by absolute address, and tunnels by CONNECT ----

# It takes every host for this machine, so that names which nothing else knows lead somewhere.


@dataclass
class Proxy:
    """What it was asked for: `GET http://127.0.0.1:4600/api`, or `CONNECT host:443`."""

    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(back):
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


async def _relay(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError), closing(target):
        while piece := await source.read(PIECE):
            target.write(piece)
            await target.drain()


@asynccontextmanager
async def proxying() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()


# --- a load balancer: a request that one server refuses goes to the next ------------------

# Only what was never taken is sent again, as balancers do with what is not theirs to repeat.

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


# --- requests as bytes, and answers as bytes: what no client library would send or would hide ---

SECONDS = 10.0  # that only end a hang


class Answer(NamedTuple):
    """An answer; names of headers are in lower case, and each stands as often as it was sent."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def raw(self) -> str:
        """Everything that was sent, but for the clock of the server."""
        told = (f"{name}: {value}" for name, value in self.headers if name != "date")
        return "\n".join([str(self.status), *told, "", self.text])

    def all(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known == name]

    def one(self, name: str) -> str:
        values = self.all(name)
        assert len(values) <= 1, f"{name} stands there {len(values)} times"
        return values[0] if values else ""


async def ask(
    port: int,
    target: str,
    method: str = "GET",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    host: str = "",
) -> Answer:
    """Send a request as it stands, and return what comes until the server closes."""
    sent = {"Host": host or f"127.0.0.1:{port}", "Connection": "close", **(headers or {})}
    if body or method == "POST":
        sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        sent["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return await send(port, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)


async def send(port: int, request: bytes) -> Answer:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(request)
            await writer.drain()
            received = await reader.read()
            head, _, body = received.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            parts = (line.partition(":") for line in lines)
            headers = [(name.strip().lower(), value.strip()) for name, _, value in parts]
            if ("transfer-encoding", "chunked") in headers:
                body = _join_chunks(body)
            return Answer(int(first.split()[1]), headers, body)
    finally:
        writer.close()


def _join_chunks(body: bytes) -> bytes:
    joined = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        joined, body = joined + rest[:length], rest[length + 2 :]
    return joined


@asynccontextmanager
async def serving(
    routes: Sequence[web.RouteDef], dress: Callable[[web.Application], None] = furnish
) -> AsyncIterator[int]:
    site = Site("127.0.0.1", 0)
    async with site.serving(routes, dress):
        yield some(site.address)[1]


# --- what is said in messages ------------------------------------------------------------


def readable_in(names: Collection[str], value: Any) -> Iterator[str]:
    """Yield what stands under the names that people can read, in a value of JSON."""
    if isinstance(value, list):
        for item in value:
            yield from readable_in(names, item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in names and isinstance(item, str):
                yield item
            else:
                yield from readable_in(names, item)
