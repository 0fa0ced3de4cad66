"""The clock of the free debate: what each team has left, and the time kept for silent seats; pure.

Every seat is sure of a `share` of its team's time until it has spoken. As teams alternate, a team
also keeps the time for the turns that the other one needs to let all of its seats speak. The
speaker may use what is left beyond that; a longer speech is cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.formats.team.manual import SEATS
from engine.values.debate import side_of

OTHER = {"A": "B", "B": "A"}


class FreeClock:
    """The free debate's time, in words."""

    def __init__(
        self, team: int, speech: int, speeches: int = 100, owed: Sequence[str] = SEATS
    ) -> None:
        """Start with the words of a `team` and of a `speech`, and a team's most `speeches`.

        `owed` are the seats that have to speak.
        """
        self.left = dict.fromkeys("AB", team)
        self.speeches = dict.fromkeys("AB", speeches)
        self.silent = {side: [seat for seat in owed if seat[0] == side] for side in "AB"}
        self.speech = speech
        self.share = max(1, min(speech, team // max(1, *map(len, self.silent.values()))))
        # A few words cost a third of a speech, so that short speeches do not prolong the debate.
        self.least = min(math.ceil(speech / 3), self.share)

    def runs(self, side: str) -> bool:
        """Return whether a team has time for another speech."""
        return self.speeches[side] > 0 and self.left[side] >= self.least

    def budget(self, seat: str, *together: str) -> int:
        """Return the words that a seat may use without touching what is kept for silent seats.

        `together` are all seats that speak at the same time, this one included, if there are more.
        """
        side = side_of(seat)
        own, other = self._silent_after(side, seat), self._silent_after(OTHER[side], *together)
        # The other team speaks next, unless both speak at once.
        return self.left[side] - self.share * max(own, other if together else other - 1)

    def fits(self, *seats: str) -> bool:
        """Return whether these seats may speak now and every silent seat still gets its time."""
        together = seats if len(seats) > 1 else ()
        if not all(self._has_time(seat, *together) for seat in seats):
            return False
        if together:
            return True
        side = side_of(seats[0])
        other = OTHER[side]
        needed = max(self._silent_after(other), self._silent_after(side, *seats))
        return not needed or self.left[other] >= self.share * needed

    def choose(self, wished: str) -> str:
        """Return who speaks: the seat wished for, or a silent one whose time would run out."""
        return wished if self.fits(wished) else self._due(wished)

    def choose_both(self, first: str, second: str) -> tuple[str, str]:
        """Return who speaks for both teams at the same time; see `choose`."""
        wishes = (
            (first, second),
            (self._due(first), second),
            (first, self._due(second)),
        )
        due = self._due(first), self._due(second)
        return next((pair for pair in wishes if self.fits(*pair)), due)

    def limits(self, seat: str, *together: str) -> tuple[int, int | None]:
        """Return the words of a speech, and the words after which it is cut, None for never."""
        budget = self.budget(seat, *together)
        kept = budget < self.left[side_of(seat)]
        return min(self.speech, budget), budget if kept else None

    def spend(self, seat: str, words: int) -> None:
        """Count a speech."""
        side = side_of(seat)
        self.left[side] -= max(words, self.least)
        self.speeches[side] -= 1
        self.silent[side] = [one for one in self.silent[side] if one != seat]

    def _has_time(self, seat: str, *together: str) -> bool:
        """Return whether a seat has time for a speech: a whole one, while others' time is kept."""
        side, budget = side_of(seat), self.budget(seat, *together)
        kept = budget < self.left[side]
        enough = self.speeches[side] > self._silent_after(side, seat)
        return enough and budget >= (self.share if kept else self.least)

    def _silent_after(self, side: str, *seats: str) -> int:
        return sum(seat not in seats for seat in self.silent[side])

    def _due(self, wished: str) -> str:
        return next(iter(self.silent[side_of(wished)]), wished)
