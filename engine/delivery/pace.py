"""One message a second per channel, so that no platform has to rate-limit.

Senders wait here in order of arrival, before a part is recorded as being sent. A waiting message
is therefore neither late nor in doubt.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

GAP_SECONDS = 1.0
MOST_LANES = 1000


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    free_at: float = 0.0


class ChannelPace:
    """Lets messages to one channel through one after the other, `gap` seconds apart.

    The gap is between requests, and none leaves before the previous response. With
    `after_answers` the gap starts at the previous response: no two arrive closer together, even
    if the first was slow, at the price of fewer messages on a slow platform.
    """

    def __init__(self, gap: float = GAP_SECONDS, *, after_answers: bool = False) -> None:
        self.gap, self._after_answers = gap, after_answers
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, channel: str) -> AsyncIterator[None]:
        """Wait for a slot, without a limit, and send within it."""
        lane = self._lanes.get(channel) or self._open_lane(channel)
        lane.waiting += 1
        try:
            async with lane.lock:
                await asyncio.sleep(max(0.0, lane.free_at - time.monotonic()))
                left = time.monotonic()
                try:
                    yield
                finally:
                    since = time.monotonic() if self._after_answers else left
                    lane.free_at = since + self.gap
        finally:
            lane.waiting -= 1

    def _open_lane(self, channel: str) -> _Lane:
        if len(self._lanes) >= MOST_LANES:
            now = time.monotonic()
            busy = {k: v for k, v in self._lanes.items() if v.waiting or v.free_at > now}
            self._lanes = busy
        return self._lanes.setdefault(channel, _Lane())
