"""Tracks which shards are connected, and for how long one has been silent.

discord.py reconnects itself, each time with a traceback of 3 KB and a pause that grows to 1,024 s.
Here each try is logged in one line, and the connection's owner gives up after a while.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import structlog

from adapters.rate_limits import Bucket
from engine.values.errors import why_of

# Discord's limits on IDENTIFYs: one in five seconds, and 1,000 a day or it resets the token.


DAY = 86_400.0
SHARE = 0.45  # a leaky bucket may let twice its rate through in one day
GAP_SECONDS = 5.0  # Discord takes one in five seconds from each bucket of shards
TOTAL = 1000

Turn = Callable[[str, float], Awaitable[None]]


class IdentifyLimit:
    """Spaces IDENTIFYs over the whole life of the process; `total` is what Discord allows a day."""

    def __init__(self, total: int = TOTAL, gap: float = GAP_SECONDS) -> None:
        self._gap = gap
        self._most = max(1.0, total * SHARE)
        self._day = Bucket(lambda: (self._most / DAY, self._most))
        self._turns = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._free_at = defaultdict[int, float](float)

    async def wait(self, bucket: int = 0, turn: Turn | None = None, among: int = 1) -> None:
        """Wait until the next one is allowed.

        `turn` waits until no process has had a turn of this name for so many seconds; the day's
        limit is divided `among` so many processes.
        """
        loop = asyncio.get_running_loop()
        async with self._turns[bucket]:
            await asyncio.sleep(max(0.0, self._free_at[bucket] - loop.time()))
            await self._day.take(min(among, self._most))
            if turn is not None and self._gap:
                await turn(f"identify/{bucket}", self._gap)
            self._free_at[bucket] = loop.time() + self._gap


TRIES = ("Attempting a reconnect", "Failed to connect")  # how discord.py's records begin
LOGGERS = ("discord.client", "discord.shard")
log = structlog.get_logger(__name__)


class ShardPresence:
    """The shards of one client after another."""

    def __init__(self) -> None:
        self._count = 0
        self._here: set[int] = set()
        self._lost_at: float | None = None  # None: no loss since all were connected
        self._silent_since: float | None = None  # None: no shard is expected
        self._pauses = 0  # our own pauses in progress

    @property
    def connected(self) -> bool:
        """Whether every shard is connected now."""
        return bool(self._here) and len(self._here) == self._count

    @property
    def silence(self) -> float:
        """Seconds since the last sign of a shard, while one is missing."""
        if self._silent_since is None or self._pauses:
            return 0.0
        return time.monotonic() - self._silent_since

    def begin(self, count: int) -> None:
        """Start over with a new client; nothing is expected before `expect`."""
        self._count, self._silent_since = count, None
        self._here.clear()

    def expect(self) -> None:
        """Count the silence from now: a shard is connecting."""
        if not self.connected:
            self._silent_since = time.monotonic()

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Count no silence during a pause of our own, as before an IDENTIFY."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            self.expect()

    def heard(self, shard: int) -> None:
        """A shard is connected."""
        self._here.add(shard)
        self._silent_since = None
        self.expect()
        if self.connected and self._lost_at is not None:
            seconds = round(time.monotonic() - self._lost_at, 1)
            self._lost_at = None
            log.info("gateway reconnected", seconds=seconds)

    def lost(self, shard: int | None = None) -> None:
        """A shard's connection was lost; None: all of them."""
        self._lost_at = self._lost_at or time.monotonic()
        self._silent_since = self._silent_since or time.monotonic()
        self._here -= self._here if shard is None else {shard}


class _OneLine(logging.Filter):
    """Replaces discord.py's traceback of each reconnect by one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass all other records."""
        if not str(record.msg).startswith(TRIES):
            return True
        error = record.exc_info[1] if record.exc_info else None
        why = why_of(error) if error else ""
        log.warning("gateway unavailable", why=why, tried=record.getMessage())
        return False


def shorten_logs() -> None:
    """Log each of discord.py's reconnects in one line; may be called again."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, _OneLine) for known in logger.filters):
            logger.addFilter(_OneLine())
