"""Doubles that listen on loopback while they are entered; a platform's has a clock of its own."""

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from typing import Any, Self

from aiohttp import web

from tests.doubles.faults import Faults

STEPS = 5  # more than asyncio's loop takes to make a connection of what it has accepted


async def close(runner: web.AppRunner) -> None:
    """Listen no more, and cut every connection, also those that are just being accepted."""
    for site in list(runner.sites):
        await site.stop()
    for _ in range(STEPS):
        await asyncio.sleep(0)
    await runner.cleanup()


class LoopbackServer(ABC):
    """A double that listens on loopback; `origin` is its address, without a path."""

    origin: str = ""
    _runner: web.AppRunner | None = None

    @abstractmethod
    def _app(self) -> web.Application:
        """Return what it serves."""

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await close(self._runner)


# --- what every platform's double is: a server on loopback with a clock of its own ------

CROWD = 4096  # connections that may come at once, as a platform takes them


class Clock:
    """The platform's clock: real time, plus what a test has added."""

    def __init__(self) -> None:
        self.offset = 0.0

    def now(self) -> float:
        return time.time() + self.offset

    def advance(self, seconds: float) -> None:
        self.offset += seconds


class Listening(ABC):
    """Listens on loopback while it is open."""

    clock: Clock
    faults: Faults
    sent: Sequence[Any]
    rules: Any  # numbers that a test may change by name
    fail: Callable[..., None]
    host = "127.0.0.1"  # in the addresses that it gives
    port = 0
    _runner: web.AppRunner | None = None

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def sent_text(self) -> str:
        """Every text that the bot sent, with JSON's escapes undone."""
        return "\n".join(sent.text for sent in self.sent)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @abstractmethod
    def app(self, app: web.Application | None = None) -> web.Application:
        """Make the web application, or add to one."""

    @abstractmethod
    def listens(self, authority: str) -> None:
        """Note the host and port that clients connect to."""

    @abstractmethod
    async def cut(self) -> None:
        """Cut every connection that is kept open."""

    async def start(self, port: int = 0, app: web.Application | None = None) -> None:
        runner = web.AppRunner(app or self.app(), shutdown_timeout=0.05, access_log=None)
        await runner.setup()
        site = web.TCPSite(
            runner, "127.0.0.1", port or self.port, reuse_address=True, backlog=CROWD
        )
        await site.start()
        self._runner = runner
        self.port = runner.addresses[-1][1]
        self.listens(f"{self.host}:{self.port}")

    async def stop(self) -> None:
        self.faults.release()
        await self.cut()
        if self._runner is not None:
            await close(self._runner)
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def once(answer: bytes, *, stays: bool = False) -> Callable[[], AsyncIterator[bytes]]:
    """Send something once, and then close or say nothing more."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(answer), 65536):
            yield answer[start : start + 65536]
        if stays:
            await asyncio.Event().wait()

    return pieces


@asynccontextmanager
async def raw_server(head: str, pieces: Callable[[], AsyncIterator[bytes]]) -> AsyncIterator[str]:
    """Serve the same head and then these bytes to every request; gives the address."""
    serving = set[asyncio.Task[None] | None]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        with closing(writer), suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", asked)
            await reader.readexactly(int(length[1]) if length else 0)
            writer.write(head.encode())
            async for piece in pieces():
                writer.write(piece)
                await writer.drain()
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for task in filter(None, serving):
            task.cancel()
        await asyncio.gather(*filter(None, serving), return_exceptions=True)
        await asyncio.sleep(0)  # transports let go of their sockets
