"""Events with the same key are handled in order, others concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from weakref import WeakValueDictionary

from engine.values.ports import Inbound, Listener


class InOrder:
    """Hands events to a listener; each call returns once the event is stored."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lanes: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def lane(self, key: Hashable) -> asyncio.Lock:
        """Return the lock for events with the same key."""
        return self._lanes.setdefault(key, asyncio.Lock())

    async def hear(self, key: Hashable, event: Inbound) -> None:
        """Handle an event after the earlier ones of its key; raises what the listener raises."""
        async with self.lane(key):
            await self._listener(event)
