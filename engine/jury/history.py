"""Learns jurors' lean, spread and weight, and the panel's slope, from past ballots; pure.

Everything is fitted at once from all past debates and frozen into the next debate's panel.
Ballots of debates that showed models' names are ignored.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from engine.jury.aggregate import UNKNOWN
from engine.jury.ballot import margins, signals
from engine.jury.consensus import fit_slope, track
from engine.jury.roster import PanelFit
from engine.jury.rubric import find_rubric
from engine.store.learning import Learnt, PastDebate
from engine.values.debate import Fit, JurorFit, JurorHistory
from engine.values.makers import kin
from engine.values.verdicts import TIE, Ballot

OFFSET_SHRINK = 10  # ballots' worth of the pooled lean and spread
GOLD_BALLOTS = 150  # human-labelled ballots from which people's votes weigh jurors
LABELLED_DEBATES = 30  # debates with a human winner from which the slope is fitted
DEFAULT_SLOPE = 0.9
SMALLEST_SD = 0.5  # avoids a division by zero for a juror with equal scores
ENOUGH_DEBATES = 10  # for a reliable correlation between jurors


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
    return [HeardDebate(tuple(_pairs_in(one)), _side(one)) for one in past if one.blind]


def _pairs_in(debate: PastDebate) -> Iterator[PairBallot]:
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


@dataclass(slots=True)
class _Offsets:
    """Margins of one juror, each with its orientation: +1 where the first side was shown first."""

    readings: list[tuple[int, float]] = field(default_factory=list)

    def lean(self) -> float:
        return math.fsum(o * m for o, m in self.readings)

    def spread(self, pos: float) -> float:
        return math.fsum((m - o * pos) ** 2 for o, m in self.readings)


class _Seen(NamedTuple):
    """A past ballot of a two-sided debate with its margin for the first side."""

    ballot: Ballot
    orientation: int
    margin: dict[str, float]


def fit(past: Iterable[PastDebate]) -> PanelFit:
    """Fit every juror's history, the correlation between jurors and the slope.

    Only valid ballots of blind two-sided debates count. Audits teach lean and spread, never
    weight. Takes about a third of a second for 2,000 debates.
    """
    debates = [debate for debate in past if debate.blind]
    seen = [list(_read(debate)) for debate in debates]
    offsets = _fit_offsets(item for ballots in seen for item in ballots)
    voices = [_hear(ballots, offsets) for ballots in seen]
    # The side that each debate's signals and z are about.
    firsts = [min(ballots[0].ballot.order) if ballots else None for ballots in seen]
    tracking = track(voices, _hear_people(voices, [debate.human for debate in debates], firsts))
    raw = {juror: r / (1 - r * r) for juror, r in tracking.items()}
    mean = fmean(raw.values()) if raw else 1.0
    weights = {juror: weight / mean for juror, weight in raw.items()}
    history = {
        juror: item.model_copy(
            update={"weight": weights.get(juror, 1.0), "correlation": tracking.get(juror)}
        )
        for juror, item in offsets.items()
    }
    points = [
        (debate.z, (1 + _sign(debate.human, first)) / 2)
        for debate, first in zip(debates, firsts, strict=True)
        if debate.z is not None and debate.human is not None and first is not None
    ]
    return PanelFit(
        history=history,
        correlation=_correlate_pairs(voices),
        slope=DEFAULT_SLOPE if len(points) < LABELLED_DEBATES else fit_slope(points),
    )


def _read(debate: PastDebate) -> Iterator[_Seen]:
    rubric = find_rubric(debate.rubric, debate.criteria)
    for ballot in debate.ballots:
        if ballot.valid and not ballot.recused and len(ballot.order) == 2:
            first_shown = ballot.order[0] == min(ballot.order)
            yield _Seen(ballot, 1 if first_shown else -1, margins(ballot, rubric))


def _fit_offsets(seen: Iterable[_Seen]) -> dict[str, JurorHistory]:
    """Return lean and spread of each juror, shrunk toward the pooled ones.

    The pooled ones start at no lean and the usual spread, so that the first debates do not give
    every juror a lean.
    """
    jurors: dict[str, _Offsets] = defaultdict(_Offsets)
    for ballot, orientation, margin in seen:
        jurors[ballot.juror].readings.append((orientation, margin[min(ballot.order)]))
    total = sum(len(one.readings) for one in jurors.values())
    lean = math.fsum(one.lean() for one in jurors.values()) / (total + OFFSET_SHRINK)
    own = {
        juror: (one.lean() + OFFSET_SHRINK * lean) / (len(one.readings) + OFFSET_SHRINK)
        for juror, one in jurors.items()
    }
    squares = math.fsum(one.spread(own[juror]) for juror, one in jurors.items())
    variance = (squares + OFFSET_SHRINK * UNKNOWN.sd**2) / (total + OFFSET_SHRINK)
    return {
        juror: JurorHistory(
            ballots=len(one.readings),
            pos=own[juror],
            sd=max(
                SMALLEST_SD,
                math.sqrt(
                    (one.spread(own[juror]) + OFFSET_SHRINK * variance)
                    / (len(one.readings) + OFFSET_SHRINK)
                ),
            ),
        )
        for juror, one in jurors.items()
    }


def _hear(seen: Sequence[_Seen], offsets: Mapping[str, JurorHistory]) -> dict[str, float]:
    """Return each juror's signal for the first side in one debate, audits left out."""
    found: dict[str, list[float]] = defaultdict(list)
    for ballot, _, margin in seen:
        if not ballot.audit:
            known = offsets[ballot.juror]
            x = signals(ballot, margin, known.pos, known.sd)
            found[ballot.juror].append(x[min(ballot.order)])
    return {juror: fmean(values) for juror, values in found.items()}


def _hear_people(
    voices: Sequence[Mapping[str, float]],
    humans: Sequence[str | None],
    firsts: Sequence[str | None],
) -> list[float | None]:
    """Return people's votes for each debate's first side; none while labels are few."""
    labelled = sum(
        len(heard) for heard, human in zip(voices, humans, strict=True) if human is not None
    )
    if labelled < GOLD_BALLOTS:
        return [None] * len(voices)
    return [
        None if human is None else _sign(human, first)
        for human, first in zip(humans, firsts, strict=True)
    ]


def _sign(human: str, first: str | None) -> float:
    if human == TIE:
        return 0.0
    return 1.0 if human == first else -1.0


def _correlate_pairs(voices: Sequence[Mapping[str, float]]) -> float | None:
    """Return the correlation between two jurors of one debate, from 0 to 1.

    Sides are exchangeable, so the mean signal is 0: shared squares over all squares.
    """
    panels = [list(heard.values()) for heard in voices if len(heard) > 1]
    if len(panels) < ENOUGH_DEBATES:
        return None
    shared = math.fsum(fmean(x * y for x, y in combinations(panel, 2)) for panel in panels)
    alone = math.fsum(fmean(x * x for x in panel) for panel in panels)
    return min(1.0, max(0.0, shared / alone)) if alone > 0 else None


FEWEST_CHANGED = 25  # ballots by which a change that is known differs from a later one


def newly_drifted(before: Fit | None, now: Fit | None) -> dict[str, JurorFit]:
    """Return jurors whose newer ballots do not fit older ones, unless that was known before; pure.

    A change that is known leaves out as many ballots as before, or fewer; a later one more.
    """
    known = {name: one.left for name, one in before.jurors.items()} if before else {}
    found = now.jurors.items() if now else ()
    most = {
        name: known.get(name, 0) + (FEWEST_CHANGED if known.get(name) else 0) for name, _ in found
    }
    return {name: one for name, one in found if one.left > most[name]}


def join(past: Sequence[PastDebate], learnt: Iterable[Learnt]) -> list[PastDebate]:
    """Return all that jurors read: debates held here, with later ballots, and others; pure.

    What was judged elsewhere comes first, as it says least of how jurors are now.
    """
    extra, joined = {one.key: one for one in learnt}, list[PastDebate]()
    for debate in past:
        if (more := extra.pop(debate.id, None)) is not None:
            read = {(ballot.juror, ballot.order) for ballot in debate.ballots}
            new = (one for one in more.ballots if (one.juror, one.order) not in read)
            debate = debate._replace(ballots=(*debate.ballots, *new))
        joined.append(debate)
    outside = (
        PastDebate(
            ballots=one.ballots,
            rubric=one.rubric,
            criteria=one.criteria,
            human=one.human,
            blind=one.blind,
            id=one.key,
        )
        for one in extra.values()
    )
    return [*outside, *joined]
