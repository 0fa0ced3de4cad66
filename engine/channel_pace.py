"""One message a second to each channel, so that no platform has to ask for less.

Discord takes five messages in five seconds, Slack one a second. A leaky bucket of five would let
nine through in some five seconds, and one that spaces the beginnings of requests lets two arrive
close together when the first is slow; a second between an answer and the next message never does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from engine.errors import VenueAwayError

GAP_SECONDS = 1.0
MOST_WAITING = 3  # behind these a message would miss its deadline
MOST_LANES = 1000
BUSY = "Many messages wait for {place}; they are posted one a second."


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    free_at: float = 0.0


class ChannelPace:
    """Lets messages to one channel through one after the other, `gap` seconds apart.

    `busy` is the sentence of a refusal, with the channel as `place`.
    """

    def __init__(self, gap: float = GAP_SECONDS, busy: str = BUSY) -> None:
        self._gap, self._busy = gap, busy
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, channel: str) -> AsyncIterator[None]:
        """Wait for a turn, and send within. Raises VenueAwayError where too many wait."""
        lane = self._lanes.get(channel) or self._open_lane(channel)
        if lane.waiting >= MOST_WAITING:
            wait = self._gap * lane.waiting
            raise VenueAwayError(self._busy.format(place=channel), retry_after=wait)
        lane.waiting += 1
        try:
            async with lane.lock:
                await asyncio.sleep(max(0.0, lane.free_at - time.monotonic()))
                try:
                    yield
                finally:
                    lane.free_at = time.monotonic() + self._gap
        finally:
            lane.waiting -= 1

    def _open_lane(self, channel: str) -> _Lane:
        if len(self._lanes) >= MOST_LANES:
            now = time.monotonic()
            busy = {k: v for k, v in self._lanes.items() if v.waiting or v.free_at > now}
            self._lanes = busy
        return self._lanes.setdefault(channel, _Lane())
