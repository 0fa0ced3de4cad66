"""Whether jurors have shown that they see more than the order of showing, or chance; pure.

A juror that reads a debate in both orders gives two margins for A, and so S, their sum, and D,
their difference. One that sees nothing is as likely to have |S| > |D| as not, once both are freed
of what they are on average: S is D with the second margin's sign turned. A bet of half the stake on
each such pair, at even odds, makes a test martingale: by chance it ever reaches 100 with a
probability of at most 1 % (J. Ville, 1939; G. Shafer, “Testing by betting”, 2021).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from engine.blinding.identity import kin
from engine.jury.aggregate import margins
from engine.jury.rubric import find_rubric
from engine.store.journal import PastDebate
from engine.values.debate import Fit
from engine.values.verdicts import TIE

# Reads past debates into the few numbers that the model of jurors is fitted to; pure.


class PairBallot(NamedTuple):
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

    ballots: tuple[PairBallot, ...]
    human: float | None = None


def hear(past: Iterable[PastDebate]) -> list[HeardDebate]:
    """Return what blind debates between two contenders say about jurors, oldest first."""
    return [HeardDebate(tuple(_read(one)), _side(one)) for one in past if one.blind]


def _read(debate: PastDebate) -> Iterator[PairBallot]:
    rubric = find_rubric(debate.rubric, debate.criteria)
    for ballot in debate.ballots:
        if ballot.valid and not ballot.recused and len(ballot.order) == 2:
            first = min(ballot.order)
            named = 0.0
            if not ballot.contradictory and ballot.verdict != TIE:
                named = 1.0 if ballot.verdict == first else -1.0
            yield PairBallot(
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


PROVEN = 100.0
SURE = 4.0  # standard errors by which jurors agree in opposite orders, to be believed as well
WON, LOST = 1.5, 0.5  # what a stake of 1 becomes
FAINT = 1.0  # points; a pair whose sum and difference are both smaller says nothing
MOST = 600.0  # of a logarithm, so that no product overflows


def bet(heard: Iterable[HeardDebate]) -> dict[str, float]:
    """Return what became of a stake of 1 on each juror that read in both orders: its logarithm."""
    stakes: dict[str, float] = {}
    usual: dict[str, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))
    for debate in heard:
        margins: dict[str, dict[int, float]] = defaultdict(dict)
        for one in debate.ballots:
            margins[one.juror][one.orientation] = one.margin
        for juror, by_order in margins.items():
            if len(by_order) == 2:
                total, difference = by_order[1] + by_order[-1], by_order[1] - by_order[-1]
                n, totals, differences = usual[juror]
                usual[juror] = n + 1, totals + total, differences + difference
                total, difference = (
                    abs(total - totals / max(n, 1)),
                    abs(difference - differences / max(n, 1)),
                )
                if max(total, difference) >= FAINT:
                    won = math.log(WON if total > difference else LOST)
                    stakes[juror] = stakes.get(juror, 0.0) + won
    return stakes


def combine(stakes: Mapping[str, float], jurors: Collection[str]) -> float:
    """Return what became of a stake of 1 on these jurors.

    A third is bet on all their pairs in turn, a third is shared among the jurors, and a third stays
    half in hand with each: whether all of them see or only some, one of the three grows.
    """
    logs = [min(stakes[juror], MOST) for juror in jurors if juror in stakes]
    if not logs:
        return 1.0
    whole = math.exp(min(math.fsum(logs), MOST))
    shared = (math.fsum(map(math.exp, logs)) + len(jurors) - len(logs)) / len(jurors)
    by_halves = math.exp(min(math.fsum(math.log(0.5 + 0.5 * math.exp(one)) for one in logs), MOST))
    return fmean((whole, shared, by_halves))


def stake_of(fit: Fit, jurors: Collection[str]) -> float | None:
    """Return what became of the stake on these jurors; None if it is proven that they see.

    It is, too, once different jurors who read in opposite orders agree (`Fit.evidence`), as those
    that `rostrum calibrate` asks do, and two of these are among them.
    """
    stakes = {juror: fit.jurors[juror].stake for juror in jurors if juror in fit.jurors}
    stake = combine(stakes, jurors)
    agreed = fit.evidence >= SURE and sum(fit.knows(juror) for juror in jurors) > 1
    return None if stake >= PROVEN or agreed else stake
