"""Discord's limits on IDENTIFYs: one in five seconds, and 1,000 a day or it resets the token."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable

from aiolimiter import AsyncLimiter

DAY = 86_400.0
SHARE = 0.45  # a leaky bucket may let twice its rate through in one day
GAP_SECONDS = 5.0  # Discord takes one in five seconds from each bucket of shards
TOTAL = 1000

Turn = Callable[[str, float], Awaitable[None]]


class Identifies:
    """Spaces IDENTIFYs over the whole life of the process; `total` is what Discord allows a day."""

    def __init__(self, total: int = TOTAL, gap: float = GAP_SECONDS) -> None:
        self._gap = gap
        self._most = max(1.0, total * SHARE)
        self._day = AsyncLimiter(self._most, DAY)
        self._turns = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._free_at = defaultdict[int, float](float)

    async def wait(self, bucket: int = 0, turn: Turn | None = None, among: int = 1) -> None:
        """Wait until the next one is allowed.

        `turn` waits until no process has had a turn of this name for so many seconds; the day's
        limit is divided `among` so many processes.
        """
        loop = asyncio.get_running_loop()
        async with self._turns[bucket]:
            await asyncio.sleep(max(0.0, self._free_at[bucket] - loop.time()))
            await self._day.acquire(min(among, self._most))
            if turn is not None and self._gap:
                await turn(f"identify/{bucket}", self._gap)
            self._free_at[bucket] = loop.time() + self._gap
