"""Which shards hear Discord now, and how long one has not: said once when lost, once when back.

discord.py connects again by itself, each time with a traceback of 3 KB and a pause that grows to
1,024 s. Its tries are one line each here; its owner ends it after a while.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

TRIES = ("Attempting a reconnect", "Failed to connect")  # how discord.py's records begin
LOGGERS = ("discord.client", "discord.shard")
log = structlog.get_logger(__name__)


class Presence:
    """The shards of one client after another."""

    def __init__(self) -> None:
        self._count = 0
        self._here: set[int] = set()
        self._lost_at: float | None = None  # None: nothing was lost since all were here
        self._silent_since: float | None = None  # None: nothing is waited for
        self._pauses = 0  # of our own, under way

    @property
    def connected(self) -> bool:
        """Whether every shard is connected now."""
        return bool(self._here) and len(self._here) == self._count

    @property
    def silence(self) -> float:
        """Seconds since a shard was last heard of, while one is missing."""
        if self._silent_since is None or self._pauses:
            return 0.0
        return time.monotonic() - self._silent_since

    def begin(self, count: int) -> None:
        """Begin with a new client; nothing is expected of it before `expect`."""
        self._count, self._silent_since = count, None
        self._here.clear()

    def expect(self) -> None:
        """Count the silence from now: a shard was asked for."""
        if not self.connected:
            self._silent_since = time.monotonic()

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Count no silence while it is our own, as before an IDENTIFY."""
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
        """A shard's connection was lost; None: every one's."""
        self._lost_at = self._lost_at or time.monotonic()
        self._silent_since = self._silent_since or time.monotonic()
        self._here -= self._here if shard is None else {shard}


class OneLine(logging.Filter):
    """Says in one line of ours what discord.py says of each try to connect again."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let everything else pass."""
        if not str(record.msg).startswith(TRIES):
            return True
        error = record.exc_info[1] if record.exc_info else None
        log.warning("gateway unavailable", why=_why(error), tried=record.getMessage())
        return False


def shorten_logs() -> None:
    """Have discord.py's tries logged in one line each; may be called again."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, OneLine) for known in logger.filters):
            logger.addFilter(OneLine())


def _why(error: BaseException | None) -> str:
    return "" if error is None else str(error) or type(error).__name__
