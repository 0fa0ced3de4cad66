"""When a call may start: one a turn of the event loop, and no more than its backend takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from adapters.models.backends import Backend
from engine.floor.loop_pace import Pace


class Gate:
    """Holds a backend's calls to its concurrency and its requests per minute."""

    def __init__(self, backend: Backend, pace: Pace) -> None:
        self._pace = pace
        self._slots = asyncio.Semaphore(backend.max_concurrency)
        self._limiter = _limiter(backend.requests_per_minute)

    @asynccontextmanager
    async def pass_through(self) -> AsyncIterator[None]:
        """Hold a slot of the backend for one try."""
        async with self._slots:
            if self._limiter is not None:
                await self._limiter.acquire()
            await self._pace.turn()
            yield


def _limiter(per_minute: int | None) -> AsyncLimiter | None:
    """Return a leaky bucket whose burst is a tenth, so that no minute ever holds more."""
    if per_minute is None:
        return None
    burst = max(1, per_minute // 10)
    steady = per_minute - burst
    return AsyncLimiter(burst, 60 * burst / steady if steady else 60)
