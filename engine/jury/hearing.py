"""Reads past debates into the few numbers that the model of jurors is fitted to; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.blinding.identity import kin
from engine.jury.aggregate import margins
from engine.jury.rubric import find_rubric
from engine.store.journal import PastDebate
from engine.values.judging import TIE


class Heard(NamedTuple):
    """A valid ballot on two contenders, from the first one's side.

    `orientation` is 1 where the first contender was shown first, else −1; `margin` is in points;
    `named` is 1 or −1 for the side that the verdict names, 0 for a tie.
    """

    juror: str
    family: str
    orientation: int
    margin: float
    named: float
    audit: bool = False


class HeardDebate(NamedTuple):
    """The ballots of a debate; `human` is people's winner: 1, −1, 0 for a tie, None without."""

    ballots: tuple[Heard, ...]
    human: float | None = None


def hear(past: Iterable[PastDebate]) -> list[HeardDebate]:
    """Return what blind debates between two contenders say about jurors, oldest first."""
    return [HeardDebate(tuple(_read(one)), _side(one)) for one in past if one.blind]


def _read(debate: PastDebate) -> Iterator[Heard]:
    rubric = find_rubric(debate.rubric, debate.criteria)
    for ballot in debate.ballots:
        if ballot.valid and not ballot.recused and len(ballot.order) == 2:
            first = min(ballot.order)
            named = 0.0
            if not ballot.contradictory and ballot.verdict != TIE:
                named = 1.0 if ballot.verdict == first else -1.0
            yield Heard(
                juror=ballot.juror,
                family=kin(ballot.family),
                orientation=1 if ballot.order[0] == first else -1,
                margin=margins(ballot, rubric)[first],
                named=named,
                audit=ballot.audit,
            )


def _side(debate: PastDebate) -> float | None:
    """Return people's winner, from the side that the ballots are read from."""
    if debate.human is None or not debate.ballots:
        return None
    if debate.human == TIE:
        return 0.0
    return 1.0 if debate.human == min(debate.ballots[0].order) else -1.0
