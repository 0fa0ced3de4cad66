"""A bell that one task rings and another waits for, inside one process.

It only makes things prompt: whoever waits also looks for itself now and then, so a ring that
another process would have to give is never needed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Bell:
    """Rings by topic; each topic has one listener, which collects the keys that were rung."""

    def __init__(self) -> None:
        self._rung: defaultdict[str, set[str]] = defaultdict(set)
        self._waiting: dict[str, asyncio.Future[None]] = {}

    def ring(self, topic: str, key: str = "") -> None:
        """Ring for a topic's listener, now or when it comes back."""
        self._rung[topic].add(key)
        waiter = self._waiting.get(topic)
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def collect(self, topic: str, seconds: float) -> set[str]:
        """Return the keys rung since the last time, waiting so long for the first."""
        if topic not in self._rung:
            self._waiting[topic] = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(seconds):
                    await self._waiting[topic]
            except TimeoutError:
                return set()
            finally:
                del self._waiting[topic]
        return self._rung.pop(topic)
