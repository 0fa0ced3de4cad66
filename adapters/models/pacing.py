"""Starts calls one per turn of the event loop, within the limits of their backend."""

from __future__ import annotations

import asyncio
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

    async def __aenter__(self) -> None:
        """Wait until a try may start, and hold a slot of the backend for it."""
        await self._slots.acquire()
        try:
            if self._limiter is not None:
                await self._limiter.acquire()
            await self._pace.turn()
        except BaseException:
            self._slots.release()
            raise

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
