"""A bell that one task rings and another waits for, inside one process.

It only makes things prompt: waiters also poll, so no ring from another process is needed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Bell:
    """Rings by topic. Every listener of a topic wakes; one of them gets the keys."""

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
        """Return the keys rung since the last call; waits up to `seconds` for the first."""
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
