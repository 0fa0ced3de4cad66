"""Retry times for temporary failures of work on a vote, with exponential backoff."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

LONGEST_PAUSE = 60.0


class Retry(NamedTuple):
    """The next attempt, and the pause before it in seconds."""

    at: datetime
    seconds: float


@dataclass(slots=True)
class Retries:
    """The current pause per failed task, by key; doubles up to a minute."""

    _waiting: dict[Hashable, Retry] = field(default_factory=dict)

    def put_off(self, key: Hashable, now: datetime, first: float, at_least: float = 0.0) -> float:
        """Double the pause, starting at `first` seconds, and return it."""
        last = self._waiting.get(key)
        pause = min(first if last is None else 2 * last.seconds, LONGEST_PAUSE)
        # A platform's own delay is honoured, but does not grow later pauses.
        wait = max(pause, at_least)
        self._waiting[key] = Retry(now + timedelta(seconds=wait), pause)
        return wait

    def due(self, key: Hashable, when: datetime) -> datetime:
        """Return the earliest attempt for a task that is due at a given time."""
        waiting = self._waiting.get(key)
        return when if waiting is None else max(when, waiting.at)

    def forget(self, key: Hashable) -> None:
        """Reset the pause after a success."""
        self._waiting.pop(key, None)

    def forget_all(self) -> None:
        """Retry everything now: the platform is back."""
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self._waiting)
