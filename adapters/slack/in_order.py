"""Events that concern the same thing are handled in their order, others side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from weakref import WeakValueDictionary

from engine.ports import Inbound, Listener


class InOrder:
    """Hands events to a listener, and returns when it has stored them."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lanes: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def lane(self, key: Hashable) -> asyncio.Lock:
        """Return the lock for events with the same key."""
        return self._lanes.setdefault(key, asyncio.Lock())

    async def hear(self, key: Hashable, event: Inbound) -> None:
        """Have an event handled after the earlier ones of its key; raises as the listener does."""
        async with self.lane(key):
            await self._listener(event)
