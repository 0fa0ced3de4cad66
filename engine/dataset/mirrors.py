"""Finds pairs of a debate and its mirror."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from engine.dataset.conversation import STANDS
from engine.dataset.entry import Entry


class MirroredPair(NamedTuple):
    """A debate and its mirror, by id."""

    debate: str
    mirror: str


@dataclass(slots=True)
class Mirrors:
    """Collects pairs; remembers only ids."""

    _decided: set[str] = field(default_factory=set)
    _linked: list[MirroredPair] = field(default_factory=list)

    def note(self, entry: Entry) -> None:
        """Add a debate, before or after its mirror."""
        if not _counts(entry):
            return
        debate = entry.debate
        self._decided.add(debate.id)
        if debate.setup.mirror_of is not None:
            self._linked.append(MirroredPair(debate.setup.mirror_of, debate.id))

    @property
    def pairs(self) -> list[MirroredPair]:
        """The pairs with both debates added, in the order of the mirrors."""
        return [pair for pair in self._linked if pair.debate in self._decided]


def _counts(entry: Entry) -> bool:
    """Return whether people decided a debate between A and B, and both spoke."""
    spoken = {speech.turn.side for speech in entry.speeches}
    sides = entry.debate.request.sides.keys()
    return entry.tally is not None and entry.tally.quorum_met and sides == STANDS.keys() == spoken
