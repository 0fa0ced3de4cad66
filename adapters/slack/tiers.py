"""Slack's rate limits: requests per method, workspace and minute.

A leaky bucket may let its burst and its rate through in one minute; this keeps the times of the
last requests instead.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

MINUTE = 61.0  # seconds, with a margin for clocks and network
# Slack's tiers, in requests a minute; chat.postMessage has its own pace, by channel.
TIER_2, TIER_3, TIER_4 = 20, 50, 100
METHODS = {
    "chat.delete": TIER_3,
    "chat.update": TIER_3,
    "files.delete": TIER_3,
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.replies": TIER_3,
    "reactions.add": TIER_3,
    "reactions.get": TIER_3,
    "reactions.remove": TIER_2,
    "usergroups.users.list": TIER_2,
    "users.info": TIER_4,
    "views.publish": TIER_4,
}


class Tiers:
    """Lets one workspace's requests out, in order for each method."""

    def __init__(self, minute: float) -> None:
        self._methods = {name: _Method(most, minute) for name, most in METHODS.items()}

    async def wait(self, method: str) -> None:
        """Wait until a method may be called; those without a tier never wait."""
        if method in self._methods:
            await self._methods[method].wait()

    def give_back(self, method: str) -> None:
        """Return the last slot: no request was sent."""
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
