"""Figures of each juror: agreement, consistency, self-preference, failures and cost; pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from math import fsum
from statistics import fmean, median, stdev
from typing import Literal

from engine.jury.model import choose, weigh
from engine.jury.roster import combine, stake_of
from engine.stats.figure import Difference, Mean, Share, mean_of, signed
from engine.stats.row import JurorBallot, Row, names_of, read_by
from engine.store.fits import Evidence
from engine.values.debate import BEHIND, SEES, Fit, JurorFit, Value

# What the model of jurors says of each juror, and what one more would be worth; pure.
#
# With a posterior variance v of the truth, whose prior variance is 1, the panel's mean has the
# variance 1 − v, and the panel is right with the probability ½ + arcsin(√(1 − v))/π: that two
# normal variables with the correlation √(1 − v) have the same sign (W. F. Sheppard, 1899).


MOST_READERS = 6
WIDE = 1.96  # standard errors of a 95 % interval
PSEUDO_BALLOTS = 10  # of the usual spread, which each juror's is drawn toward
NEWCOMER = "a further juror"


class _IntervalEstimate(Value):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def tell(self, form: str = ".2f") -> str:
        """Return it in words, with so many digits."""
        value, low, high = (signed(figure, form) for figure in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


class _JurorView(Value):
    """What is known of a juror.

    `skill` is how much of its signal is the truth, with an error of its own of 1; `lean` is toward
    the side shown first and `spread` is that of its margins, both in points. `group` is its part in
    an error that a group of jurors shares, `weight` that in a panel of all, with mean 1, and
    `alone` the probability that it is right by itself. `drift` says by how many standard errors its
    newer ballots differ; `left_out` older ones then count no longer. `known`: it has ballots enough
    for the model to count it, and `sees`, the chance that it sees anything, is at least one half.
    `usd` is what a ballot of it costs on average, None where unknown.
    """

    juror: str
    family: str
    ballots: int
    skill: _IntervalEstimate
    lean: _IntervalEstimate
    spread: _IntervalEstimate
    group: _IntervalEstimate
    weight: float
    alone: float
    drift: float
    left_out: int
    known: bool
    sees: float
    usd: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return what is known, in words, for a row of a table."""
        return (
            self.skill.tell(),
            self.lean.tell("+.2f"),
            self.spread.tell(),
            self.group.tell(),
            f"{self.weight:.2f}" if self.known or self.sees < SEES else "too few",
            f"{100 * self.alone:.0f} %",
            str(self.ballots),
            f"{self.drift:.1f}",
            "unknown" if self.usd is None else f"{self.usd:.4f}",
        )


class _PanelWorth(Value):
    """The best panel of a size: `right` is the probability that it is right.

    `gain` is by how much more than without its last juror.
    """

    jurors: tuple[str, ...]
    right: float
    gain: float


class FitView(Value):
    """The newest fit: what it rests on, what jurors share, each of them, and panels by size.

    `shared` and `family` are variances of errors, as a multiple of the truth's. `people` is the
    correlation of people's majority with the truth, `sure` by how many standard errors jurors agree
    who read in opposite orders. `rule` is what decides now: `none` until jurors are proven to see
    more than order or chance (`stake`, of 1, is at least 100, or `sure` at least 4), then `model`,
    or `balanced` where the model tells held-back ballots worse (`ahead`, in standard errors, is
    below −1.5). `further` is what a juror of a family of its own, with the median
    skill, would add to the largest panel.
    """

    number: int
    made_at: datetime
    evidence: Evidence
    labels: int
    shared: _IntervalEstimate
    family: _IntervalEstimate
    people: float
    sure: float
    stake: float
    ahead: float
    rule: Literal["none", "model", "balanced"]
    jurors: tuple[_JurorView, ...]
    panels: tuple[_PanelWorth, ...]
    further: float | None


def view_fit(
    fit: Fit,
    number: int,
    made_at: datetime,
    evidence: Evidence,
    usd: Mapping[str, float | None] | None = None,
) -> FitView:
    """Return everything that is known of the jurors, by name."""
    panels = tuple(best_panels(fit))
    proven = stake_of(fit, fit.jurors)
    return FitView(
        number=number,
        made_at=made_at,
        evidence=evidence,
        labels=fit.labels,
        shared=_scaled(fit.shared, fit.shared_error),
        family=_scaled(fit.kin, fit.kin_error),
        people=fit.people,
        sure=fit.evidence,
        stake=combine({name: one.stake for name, one in fit.jurors.items()}, fit.jurors),
        ahead=fit.ahead,
        rule="none" if proven is not None else "model" if fit.ahead > BEHIND else "balanced",
        jurors=tuple(
            _view(fit, name, one, (usd or {}).get(name)) for name, one in sorted(fit.jurors.items())
        ),
        panels=panels,
        further=_further(fit, panels[-1].jurors) if panels else None,
    )


def right(variance: float) -> float:
    """Return how probable the right verdict is with such a posterior variance of the truth."""
    return 0.5 + math.asin(math.sqrt(min(1.0, max(0.0, 1 - variance)))) / math.pi


def best_panels(fit: Fit, most: int = MOST_READERS) -> list[_PanelWorth]:
    """Return the best panel of each size, from one juror on."""
    order = choose(fit, sorted(fit.jurors), most)
    found: list[_PanelWorth] = []
    before = 0.5
    for size in range(1, len(order) + 1):
        now = max(before, right(weigh(fit, order[:size]).variance))
        found.append(_PanelWorth(jurors=order[:size], right=now, gain=now - before))
        before = now
    return found


def _view(fit: Fit, name: str, one: JurorFit, usd: float | None) -> _JurorView:
    group = _plain(abs(one.group), one.group_error)  # whose sign means nothing
    return _JurorView(
        juror=name,
        family=one.family,
        ballots=one.ballots,
        skill=_scaled(one.skill, one.skill_error),
        lean=_plain(one.lean, one.lean_error),
        spread=_scaled(one.spread, 1 / math.sqrt(2 * (one.ballots + PSEUDO_BALLOTS))),
        group=group.model_copy(update={"low": max(0.0, group.low)}),
        weight=one.weight,
        alone=right(weigh(fit, (name,)).variance),
        drift=one.drift,
        left_out=one.left,
        known=fit.knows(name),
        sees=one.sees,
        usd=usd,
    )


def _plain(value: float, error: float) -> _IntervalEstimate:
    return _IntervalEstimate(value=value, low=value - WIDE * error, high=value + WIDE * error)


def _scaled(value: float, error: float) -> _IntervalEstimate:
    """Return a figure whose error is of its logarithm."""
    factor = math.exp(WIDE * error)
    return _IntervalEstimate(value=value, low=value / factor, high=value * factor)


def _further(fit: Fit, panel: Sequence[str]) -> float:
    """Return what a juror would add that has the median skill and a family of its own."""
    skill = median(one.skill for one in fit.jurors.values() if one.sees >= SEES)
    jurors = {**fit.jurors, NEWCOMER: JurorFit(family=NEWCOMER, skill=skill)}
    wider = fit.model_copy(update={"jurors": jurors})
    now, then = weigh(fit, tuple(panel)).variance, weigh(wider, (*panel, NEWCOMER)).variance
    return max(0.0, right(then) - right(now))


class JurorFigures(Value):
    """A juror's figures; those about choices are from blind panels only.

    `agreement`: how often it chose as people did. `consistency`: how often it chose the same in
    both orders, in debates that it read twice. `self_preference`: how much more than people it
    favours debaters of its own family, from −1 to 1. `mark`: the mean of its marks, in points from
    1 to 10, and `spread` their standard deviation. `lean`: by how many points it marks the side
    shown first above the other. `invalid`: the share of unreadable ballots; its `n` counts ballots.
    `usd`: the cost of all ballots, None if partly unknown.
    """

    juror: str
    ballots: int
    agreement: Share
    consistency: Share
    self_preference: Difference
    mark: Mean
    spread: float | None
    lean: Mean
    invalid: Share
    usd: float | None


def juror_figures(rows: Sequence[Row]) -> tuple[JurorFigures, ...]:
    """Return the figures of all jurors of all juries, by name."""
    read: dict[str, list[tuple[Row, Sequence[JurorBallot]]]] = defaultdict(list)
    for row in chain.from_iterable(read_by(rows, name) for name in names_of(rows)):
        mine: dict[str, list[JurorBallot]] = defaultdict(list)
        for reading in row.readings:
            mine[reading.juror].append(reading)
        for juror, readings in mine.items():
            read[juror].append((row, readings))
    return tuple(_describe(juror, read[juror]) for juror in sorted(read))


def _describe(juror: str, read: Sequence[tuple[Row, Sequence[JurorBallot]]]) -> JurorFigures:
    ballots = [reading for _, readings in read for reading in readings]
    failed = sum(reading.verdict is None for reading in ballots)
    costs = [reading.usd for reading in ballots]
    known = [usd for usd in costs if usd is not None]
    return JurorFigures(
        juror=juror,
        ballots=len(ballots),
        agreement=Share.estimate(
            (
                (row.topic, (float(chosen == row.people), 1.0))
                for row, _ in read
                if row.people is not None and (chosen := row.verdicts().get(juror))
            ),
            mean_of,
        ),
        consistency=Share.estimate(
            (
                (row.topic, (float(same), 1.0))
                for row, readings in read
                if (same := _is_consistent(row, readings)) is not None
            ),
            mean_of,
        ),
        self_preference=Difference.estimate(
            (
                (row.topic, (preference, 1.0))
                for row, readings in read
                if (preference := _preference_for_own(row, readings)) is not None
            ),
            mean_of,
        ),
        mark=_mean(read, lambda _, readings: _marks(readings)),
        spread=stdev(marks) if len(marks := _marks(ballots)) > 1 else None,
        lean=_mean(read, _leads),
        invalid=Share.of(failed, len(ballots)),
        usd=fsum(known) if len(known) == len(costs) else None,
    )


def _mean(
    read: Sequence[tuple[Row, Sequence[JurorBallot]]],
    points: Callable[[Row, Sequence[JurorBallot]], Sequence[float]],
) -> Mean:
    """Return the mean over debates of the mean of their points."""
    found = ((row.topic, points(row, readings)) for row, readings in read)
    return Mean.estimate(((topic, (fmean(of), 1.0)) for topic, of in found if of), mean_of)


def _marks(readings: Iterable[JurorBallot]) -> list[float]:
    return [mark for reading in readings for mark in reading.marks.values()]


def _leads(row: Row, readings: Iterable[JurorBallot]) -> list[float]:
    """Return by how much each reading marks the first of two sides above the second.

    Where one order was read more often, the better side would look like a lean.
    """
    leads: dict[tuple[str, ...], list[float]] = {}
    for reading in readings:
        if row.blind and len(reading.order) == len(reading.marks) == 2:
            first, second = (reading.marks[side] for side in reading.order)
            leads.setdefault(reading.order, []).append(first - second)
    return [fmean(lead) for lead in leads.values()] if len(leads) == 2 else []


def _is_consistent(row: Row, readings: Sequence[JurorBallot]) -> bool | None:
    """Return whether readings in different orders chose the same; None without both orders."""
    valid = [reading for reading in readings if reading.verdict is not None]
    if not row.blind or len({reading.order for reading in valid}) < 2:
        return None
    return len({reading.verdict for reading in valid}) == 1


def _preference_for_own(row: Row, readings: Sequence[JurorBallot]) -> float | None:
    """Return how much more than people a juror favours its family; None if not applicable."""
    own = [side for side, debater in row.families.items() if debater == readings[0].family]
    chosen = row.verdicts().get(readings[0].juror)
    if row.people is None or chosen is None or len(own) in (0, len(row.families)):
        return None
    return sum(row.credit(chosen, side) - row.credit(row.people, side) for side in own)
