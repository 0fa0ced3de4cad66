"""How often each method is asked: Slack counts a workspace's requests by method and minute.

A leaky bucket would let its burst and its rate through in some one minute; what is kept here is
when each of the last requests left.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

MINUTE = 61.0  # seconds: two clocks and a network never quite agree
# Slack's tiers, in requests a minute; chat.postMessage has a pace of its own, by channel.
TIER_3, TIER_4 = 50, 100
METHODS = {
    "chat.update": TIER_3,
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.replies": TIER_3,
    "reactions.add": TIER_3,
    "reactions.get": TIER_3,
    "users.info": TIER_4,
}


class Tiers:
    """Lets one workspace's requests go, in the order they came for each method."""

    def __init__(self, minute: float) -> None:
        self._methods = {name: _Method(most, minute) for name, most in METHODS.items()}

    async def wait(self, method: str) -> None:
        """Wait until a method may be asked once more; those without a tier here never wait."""
        if method in self._methods:
            await self._methods[method].wait()

    def give_back(self, method: str) -> None:
        """Leave the place that was waited for last to others: nothing was asked."""
        if method in self._methods:
            self._methods[method].give_back()


class _Method:
    def __init__(self, most: int, minute: float) -> None:
        self._minute = minute
        self._left: deque[float] = deque(maxlen=most)
        self._first = asyncio.Lock()

    async def wait(self) -> None:
        async with self._first:
            if len(self._left) == self._left.maxlen:
                await asyncio.sleep(max(0.0, self._left[0] + self._minute - time.monotonic()))
            self._left.append(time.monotonic())

    def give_back(self) -> None:
        self._left.pop()
