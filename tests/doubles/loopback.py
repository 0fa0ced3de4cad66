"""What doubles that are HTTP servers share: a free port of loopback, while they are entered."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from aiohttp import web

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await close(self._runner)
