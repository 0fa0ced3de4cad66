"""A bell that one task rings and another waits for, inside one process.

It only makes things prompt: whoever waits also looks for itself now and then, so a ring that
another process would have to give is never needed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Bell:
    """Rings by topic. Of several who listen to one topic all wake, and one gets the keys."""

    def __init__(self) -> None:
        self._rung: defaultdict[str, set[str]] = defaultdict(set)
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def ring(self, topic: str, key: str = "") -> None:
        """Ring for a topic's listener, now or when it comes back."""
        self._rung[topic].add(key)
        self.wake(topic)

    def wake(self, topic: str) -> None:
        """Notify current listeners; later ones miss it."""
        for waiter in self._waiting.pop(topic, ()):
            if not waiter.done():
                waiter.set_result(None)

    async def collect(self, topic: str, seconds: float) -> set[str]:
        """Return the keys rung since the last time, waiting so long for the first."""
        if topic not in self._rung:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting[topic].add(waiter)
            try:
                async with asyncio.timeout(seconds):
                    await waiter
            except TimeoutError:
                return set()
            finally:
                self._leave(topic, waiter)
        return self._rung.pop(topic, set())

    def _leave(self, topic: str, waiter: asyncio.Future[None]) -> None:
        waiting = self._waiting.pop(topic, set()) - {waiter}
        if waiting:
            self._waiting[topic] = waiting
