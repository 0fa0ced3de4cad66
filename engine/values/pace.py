"""Pauses between tries: they double up to a longest one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta


class Backoff:
    """Pauses that begin at `first` seconds and double up to the `longest`."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self.pause = first

    def next(self, at_least: float = 0.0) -> float:
        """Return the next pause; one that a platform asks for does not grow later ones."""
        pause = self.pause
        self.pause = min(2 * pause, self._longest)
        return max(pause, at_least)

    def reset(self) -> None:
        """Begin again, after a success."""
        self.pause = self._first


@dataclass(slots=True)
class Retries:
    """When what failed is due again, by key; the pauses of each double up to the `longest`."""

    longest: float
    _waiting: dict[Hashable, tuple[datetime, Backoff]] = field(default_factory=dict)

    def put_off(self, key: Hashable, now: datetime, first: float, at_least: float = 0.0) -> float:
        """Double the pause, starting at `first` seconds, and return it."""
        _, backoff = self._waiting.get(key) or (now, Backoff(first, self.longest))
        wait = backoff.next(at_least)
        self._waiting[key] = (now + timedelta(seconds=wait), backoff)
        return wait

    def due(self, key: Hashable, when: datetime) -> datetime:
        """Return the earliest try of what is due at a given time."""
        waiting = self._waiting.get(key)
        return when if waiting is None else max(when, waiting[0])

    def forget(self, key: Hashable) -> None:
        """Reset the pause after a success."""
        self._waiting.pop(key, None)

    def forget_all(self) -> None:
        """Retry everything now: the platform is back."""
        self._waiting.clear()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)
