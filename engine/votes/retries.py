"""When work on a vote that failed for a passing reason is tried again: later each time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

LONGEST_PAUSE = 60.0


class Retry(NamedTuple):
    """The next try, and how many seconds lie before it."""

    at: datetime
    seconds: float


@dataclass(slots=True)
class Retries:
    """The pauses of whatever failed, by key; each is twice the last, up to a minute."""

    _waiting: dict[Hashable, Retry] = field(default_factory=dict)

    def put_off(self, key: Hashable, now: datetime, first: float, at_least: float = 0.0) -> float:
        """Wait longer than the last time, `first` seconds at first; return how long."""
        last = self._waiting.get(key)
        pause = min(first if last is None else 2 * last.seconds, LONGEST_PAUSE)
        # What a platform asks for is waited for, but does not make later pauses longer.
        wait = max(pause, at_least)
        self._waiting[key] = Retry(now + timedelta(seconds=wait), pause)
        return wait

    def due(self, key: Hashable, when: datetime) -> datetime:
        """Return when something that is due at a moment may be tried."""
        waiting = self._waiting.get(key)
        return when if waiting is None else max(when, waiting.at)

    def forget(self, key: Hashable) -> None:
        """Begin with the first pause again: it succeeded."""
        self._waiting.pop(key, None)

    def forget_all(self) -> None:
        """Try everything at once: the platform is back."""
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self._waiting)
