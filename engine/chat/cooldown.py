"""How often a person may look up what takes long to read: a leaderboard, choices while typing.

A process counts for itself, in memory: a restart forgets it, and several processes each allow it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from engine.values.errors import NotAllowedError

AT_ONCE = 5
SECONDS = 10  # after that many, until the next
MOST_REMEMBERED = 10_000  # people; those who asked longest ago are forgotten first
WAIT = "You looked up a lot in a short time. Try again in {n} seconds."


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Remembers until when each person has used up what they may look up (a leaky bucket).

    After `at_once` look-ups another is allowed every `seconds`.
    """

    at_once: int = AT_ONCE
    seconds: float = SECONDS
    remembered: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def check(self, who: tuple[str, str], now: datetime) -> None:
        """Count one more look-up of a person. Raises NotAllowedError if that is too many."""
        each = timedelta(seconds=self.seconds)
        full = now + self.at_once * each  # a clock may have been set back
        used = min(max(self.remembered.pop(who, now), now), full)
        self.remembered[who] = used
        wait = (used + each - full).total_seconds()
        if wait > 0:
            raise NotAllowedError(WAIT, n=max(2, ceil(wait)))  # never “1 seconds”
        self.remembered[who] = used + each
        if len(self.remembered) > MOST_REMEMBERED:
            del self.remembered[next(iter(self.remembered))]
