"""Discord's limit on IDENTIFYs: 1,000 a day, or it resets the bot's token."""

from __future__ import annotations

import asyncio

from aiolimiter import AsyncLimiter

DAY = 86_400.0
SHARE = 0.45  # a leaky bucket may let twice its rate through in one day
GAP_SECONDS = 5.0  # Discord takes one in five seconds
TOTAL = 1000


class Identifies:
    """Spaces IDENTIFYs over the whole life of the process; `total` is what Discord allows a day."""

    def __init__(self, total: int = TOTAL, gap: float = GAP_SECONDS) -> None:
        self._gap = gap
        self._bucket = AsyncLimiter(max(1.0, total * SHARE), DAY)
        self._turn = asyncio.Lock()
        self._free_at = 0.0

    async def wait(self) -> None:
        """Wait until the next one is allowed."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            await asyncio.sleep(max(0.0, self._free_at - loop.time()))
            await self._bucket.acquire()
            self._free_at = loop.time() + self._gap
