"""Starts calls one per turn of the event loop, within the limits of their backend."""

from __future__ import annotations

import asyncio
from time import perf_counter
from types import TracebackType

from aiolimiter import AsyncLimiter

from adapters.models.backends import Backend
from engine.floor.loop_pace import Pace


class Gate:
    """Holds a backend's calls to its concurrency and its requests per minute: `async with gate`.

    A class, as the loop registers every async generator: that took a fortieth of its time.
    """

    def __init__(self, backend: Backend, pace: Pace) -> None:
        self._pace = pace
        self._slots = asyncio.Semaphore(backend.max_concurrency)
        self._limiter = _limiter(backend.requests_per_minute)

    async def __aenter__(self) -> float:
        """Wait until a try may start, and hold a slot of the backend for it.

        Returns the seconds that it waited for a limit: 0 if it found none reached.
        """
        asked = perf_counter() if self._is_reached() else None
        await self._slots.acquire()
        try:
            if self._limiter is not None:
                await self._limiter.acquire()
            waited = 0.0 if asked is None else perf_counter() - asked
            await self._pace.turn()
        except BaseException:
            self._slots.release()
            raise
        return waited

    def _is_reached(self) -> bool:
        """Whether a limit is reached now, so that a try has to wait."""
        if self._slots.locked():
            return True
        return self._limiter is not None and not self._limiter.has_capacity()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the slot back."""
        self._slots.release()


def _limiter(per_minute: int | None) -> AsyncLimiter | None:
    """Return a leaky bucket with a tenth as burst, so that no minute exceeds the limit."""
    if per_minute is None:
        return None
    burst = max(1, per_minute // 10)
    steady = per_minute - burst
    return AsyncLimiter(burst, 60 * burst / steady if steady else 60)
