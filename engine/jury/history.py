"""What past ballots teach about jurors: lean, spread, weight, and the panel's slope; pure.

Everything is fitted at once from all past debates and frozen into the next debate's panel.
Ballots read with models' names shown teach nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from engine.debate import TIE, Ballot, JurorHistory
from engine.jury.aggregate import UNKNOWN, margins, signals

OFFSET_SHRINK = 10  # ballots' worth of the pooled lean and spread
WEIGHT_SHRINK = 15  # ballots' worth of the pooled correlation
GOLD_SHRINK = 60  # labelled ballots at which people count as much as the other jurors
MEAN_CORRELATION = 0.5
GOLD_BALLOTS = 150  # human-labelled ballots from which people's votes weigh jurors
LABELLED_DEBATES = 30  # debates with a human winner from which the slope is fitted
DEFAULT_SLOPE = 0.9
SLOPES = (0.2, 3.0)
SMALLEST_SD = 0.5  # a juror that always gives equal scores must not divide by nothing
CORRELATIONS = (0.05, 0.95)
ENOUGH_DEBATES = 10  # for a correlation between jurors that is worth telling


class PastDebate(NamedTuple):
    """A closed debate as the fit needs it.

    `human` is the winner by gold votes (a contender or "tie"), None without one; `z` what the
    panel's verdict said, None without a verdict.
    """

    ballots: tuple[Ballot, ...]
    rubric: str = "panel"
    human: str | None = None
    z: float | None = None
    blind: bool = True


class Fit(NamedTuple):
    """What the next panel is seated with; `correlation` is between two jurors' signals."""

    history: dict[str, JurorHistory]
    correlation: float | None
    slope: float


@dataclass(slots=True)
class Pearson:
    """A correlation in the making."""

    n: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    yy: float = 0.0
    xy: float = 0.0

    def add(self, x: float, y: float) -> None:
        """Take in one pair."""
        self.n += 1
        self.x += x
        self.y += y
        self.xx += x * x
        self.yy += y * y
        self.xy += x * y

    def read(self) -> float | None:
        """Return r, None where one side never varied."""
        if self.n < 3:
            return None
        across = self.xx - self.x * self.x / self.n
        along = self.yy - self.y * self.y / self.n
        if across < 1e-9 or along < 1e-9:
            return None
        return (self.xy - self.x * self.y / self.n) / math.sqrt(across * along)


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


def fit(past: Iterable[PastDebate]) -> Fit:
    """Fit every juror's history, the correlation between jurors and the slope.

    Only valid ballots of blind two-sided debates count. Audits teach lean and spread, never
    weight. Takes a fraction of a second for 10,000 debates.
    """
    debates = [debate for debate in past if debate.blind]
    seen = [list(_read(debate)) for debate in debates]
    offsets = _fit_offsets(item for ballots in seen for item in ballots)
    voices = [_hear(ballots, offsets) for ballots in seen]
    weights, tracking = _fit_weights(voices, [debate.human for debate in debates], _first(seen))
    history = {
        juror: item.model_copy(
            update={"weight": weights.get(juror, 1.0), "correlation": tracking.get(juror)}
        )
        for juror, item in offsets.items()
    }
    return Fit(history, _correlate_pairs(voices), _fit_slope(debates, _first(seen)))


def _read(debate: PastDebate) -> Iterator[_Seen]:
    for ballot in debate.ballots:
        if ballot.valid and len(ballot.order) == 2:
            first_shown = ballot.order[0] == min(ballot.order)
            yield _Seen(ballot, 1 if first_shown else -1, margins(ballot, debate.rubric))


def _first(seen: Sequence[Sequence[_Seen]]) -> list[str | None]:
    """Return the side that each debate's signals and z are about."""
    return [min(ballots[0].ballot.order) if ballots else None for ballots in seen]


def _fit_offsets(seen: Iterable[_Seen]) -> dict[str, JurorHistory]:
    """Return lean and spread of each juror, shrunk toward the pooled ones.

    The pooled ones start at no lean and the usual spread, so that the very first debates do
    not teach a lean to everybody.
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
            sd=_spread(one.spread(own[juror]), variance, len(one.readings)),
        )
        for juror, one in jurors.items()
    }


def _spread(squares: float, pooled: float, n: int) -> float:
    return max(SMALLEST_SD, math.sqrt((squares + OFFSET_SHRINK * pooled) / (n + OFFSET_SHRINK)))


def _hear(seen: Sequence[_Seen], offsets: Mapping[str, JurorHistory]) -> dict[str, float]:
    """Return each juror's signal for the first side in one debate, audits left out."""
    found: dict[str, list[float]] = defaultdict(list)
    for ballot, _, margin in seen:
        if not ballot.audit:
            known = offsets[ballot.juror]
            x = signals(ballot, margin, known.pos, known.sd)
            found[ballot.juror].append(x[min(ballot.order)])
    return {juror: fmean(values) for juror, values in found.items()}


def _fit_weights(
    voices: Sequence[Mapping[str, float]],
    humans: Sequence[str | None],
    firsts: Sequence[str | None],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return each juror's weight, and its correlation with the others.

    Without labels a juror is trusted as far as it agrees with the mean of the others; with
    enough gold votes as far as it agrees with people, blended by how often it met them.
    """
    others: dict[str, Pearson] = defaultdict(Pearson)
    people: dict[str, Pearson] = defaultdict(Pearson)
    for heard, human, first in zip(voices, humans, firsts, strict=True):
        whole = math.fsum(heard.values())
        for juror, x in heard.items():
            if len(heard) > 1:
                others[juror].add(x, (whole - x) / (len(heard) - 1))
            if human is not None:
                people[juror].add(x, _sign(human, first))
    tracking = _shrink(others)
    scaled = _rescale(tracking)
    if sum(pearson.n for pearson in people.values()) >= GOLD_BALLOTS:
        gold = _rescale(_shrink(people))
        scaled = {juror: _blend(juror, r, gold, people) for juror, r in scaled.items()}
    return _weigh(scaled), tracking


def _sign(human: str, first: str | None) -> float:
    if human == TIE:
        return 0.0
    return 1.0 if human == first else -1.0


def _blend(juror: str, r: float, gold: Mapping[str, float], people: Mapping[str, Pearson]) -> float:
    if juror not in gold:
        return r
    share = people[juror].n / (people[juror].n + GOLD_SHRINK)
    return share * gold[juror] + (1 - share) * r


def _shrink(found: Mapping[str, Pearson]) -> dict[str, float]:
    """Return correlations drawn toward their pooled mean by 15 ballots' worth."""
    measured = {juror: r for juror, one in found.items() if (r := one.read()) is not None}
    total = sum(found[juror].n for juror in measured)
    if not total:
        return {}
    pooled = math.fsum(found[juror].n * r for juror, r in measured.items()) / total
    return {
        juror: (one.n * measured[juror] + WEIGHT_SHRINK * pooled) / (one.n + WEIGHT_SHRINK)
        if juror in measured
        else pooled
        for juror, one in found.items()
    }


def _rescale(found: Mapping[str, float]) -> dict[str, float]:
    """Scale correlations to a mean of 0.5; jurors that do not agree at all are left equal."""
    mean = fmean(found.values()) if found else 0.0
    if mean <= 0:
        return {}
    low, high = CORRELATIONS
    return {juror: min(high, max(low, r * MEAN_CORRELATION / mean)) for juror, r in found.items()}


def _weigh(found: Mapping[str, float]) -> dict[str, float]:
    """Return w = r/(1 − r²), scaled to a mean of 1."""
    raw = {juror: r / (1 - r * r) for juror, r in found.items()}
    mean = fmean(raw.values()) if raw else 1.0
    return {juror: weight / mean for juror, weight in raw.items()}


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


def _fit_slope(debates: Sequence[PastDebate], firsts: Sequence[str | None]) -> float:
    """Return the slope of a logistic fit of people's winner on z, through the origin.

    A human tie counts half for each side. The likelihood's derivative falls with the slope,
    so bisection finds its zero or the bound that is nearest.
    """
    points = [
        (debate.z, (1 + _sign(debate.human, first)) / 2)
        for debate, first in zip(debates, firsts, strict=True)
        if debate.z is not None and debate.human is not None and first is not None
    ]
    if len(points) < LABELLED_DEBATES:
        return DEFAULT_SLOPE
    low, high = SLOPES
    for _ in range(30):
        middle = (low + high) / 2
        pull = math.fsum(z * (won - 1 / (1 + math.exp(-middle * z))) for z, won in points)
        low, high = (middle, high) if pull > 0 else (low, middle)
    return (low + high) / 2
