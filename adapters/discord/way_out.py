"""The bot-wide rate limit: at most 45 requests leave in any second, first come first served.

Discord allows 50 a second per bot; answers to interactions do not count. Every request waits
twice. `admit` is the queue, where no deadline runs. Then comes the door: requests delayed after
their turn would otherwise leave in a bunch. The door is a little wider than the queue, so waits
there are short.

A leaky bucket may let its burst and its rate through in one second, so the burst is small. It is
not fair: it may serve a newcomer first, so only the head of each queue uses it.
"""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace

import aiohttp
from aiolimiter import AsyncLimiter
from discord.http import Route

MOST = 45  # in any second
BURST = 3
NARROWER = 2  # a second
EXEMPT = ("/interactions/", "/webhooks/")


class WayOut:
    """Lets a bot's requests out, each in turn."""

    def __init__(self) -> None:
        self._queue = _Queue(MOST - BURST - NARROWER, BURST)
        self._door = _Queue(MOST - BURST, BURST)
        self._part = 1.0

    def narrow(self, part: float) -> None:
        """Let this part of the bot's requests out: other processes send the others."""
        if part == self._part:
            return
        self._part, most = part, MOST * part
        burst = max(1.0, min(BURST, most / 8))
        rate = max(most - burst, most / 2)
        self._queue.set_rate(rate * (1 - NARROWER / MOST), burst)
        self._door.set_rate(rate, burst)

    async def admit(self, *, first: bool = False) -> None:
        """Wait in the queue without a limit; `first` goes before all others."""
        await self._queue.wait(first=first)

    def trace(self) -> aiohttp.TraceConfig:
        """Return the hook that holds each request of a session at the door."""
        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._leave)
        return config

    async def _leave(
        self, _: aiohttp.ClientSession, __: SimpleNamespace, start: aiohttp.TraceRequestStartParams
    ) -> None:
        if _counts(str(start.url)):
            await self._door.wait()


class _Queue:
    """A leaky bucket that serves in the order of arrival."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.set_rate(per_second, burst)
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._number = count()
        self._serving: asyncio.Task[None] | None = None

    def set_rate(self, per_second: float, burst: float) -> None:
        """Serve so many a second from the next one on."""
        self._bucket = AsyncLimiter(burst, burst / per_second)

    async def wait(self, *, first: bool = False) -> None:
        """Wait for a turn."""
        turn = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (not first, next(self._number), turn))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        await turn

    async def _serve(self) -> None:
        while self._waiting:
            await self._bucket.acquire()
            self._call_next()

    def _call_next(self) -> None:
        while self._waiting:
            *_, turn = heappop(self._waiting)
            if not turn.done():  # cancelled ones have given up
                turn.set_result(None)
                return


def _counts(url: str) -> bool:
    """Return whether a request counts; the gateway's and answers to interactions do not."""
    return url.startswith(Route.BASE) and not url.removeprefix(Route.BASE).startswith(EXEMPT)
