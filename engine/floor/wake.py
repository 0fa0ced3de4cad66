"""A bell that one task rings and another waits for, inside one process or across several.

It only makes things prompt: waiters also poll, so nothing is lost without a ring from another
process, and only the database decides.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

MOST_KNOWN = 1_000  # topics that were listened to; topics of single debates come and go


class Ring(NamedTuple):
    """A ring as other processes hear it; without a key it only wakes those who listen now."""

    topic: str
    key: str | None


class Bell:
    """Rings by topic. Every listener of a topic wakes; one of them gets the keys.

    `outward` takes each ring to other processes, without waiting.
    """

    def __init__(self) -> None:
        self._rung: defaultdict[str, set[str]] = defaultdict(set)
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)
        self._known: set[str] = set()
        self.outward: Callable[[Ring], None] | None = None

    def ring(self, topic: str, key: str = "") -> None:
        """Ring for a topic's listener, now or when it comes back."""
        self._ring(topic, key)
        self._tell(Ring(topic, key))

    def wake(self, topic: str) -> None:
        """Notify current listeners; later ones miss it."""
        self._wake(topic)
        self._tell(Ring(topic, None))

    def hear(self, ring: Ring) -> None:
        """Ring as another process did; keys are kept only for those who listen here."""
        if ring.key is None:
            self._wake(ring.topic)
        elif ring.topic in self._known:
            self._ring(ring.topic, ring.key)

    async def collect(self, topic: str, seconds: float) -> set[str]:
        """Return the keys rung since the last call; waits up to `seconds` for the first."""
        self._remember(topic)
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

    def _ring(self, topic: str, key: str) -> None:
        self._rung[topic].add(key)
        self._wake(topic)

    def _wake(self, topic: str) -> None:
        for waiter in self._waiting.pop(topic, ()):
            if not waiter.done():
                waiter.set_result(None)

    def _tell(self, ring: Ring) -> None:
        if self.outward is not None:
            self.outward(ring)

    def _remember(self, topic: str) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()  # those who still listen come back within their polling interval
        self._known.add(topic)

    def _leave(self, topic: str, waiter: asyncio.Future[None]) -> None:
        waiting = self._waiting.pop(topic, set()) - {waiter}
        if waiting:
            self._waiting[topic] = waiting
