"""How closely each juror follows what all jurors see, rather than what only some of them share.

A factor model: in every debate a juror's signal is x = λ·T + γ·H + noise, where T is what all
jurors see, and H what moves a group of them, such as models that learnt from one another. It is
fitted by expectation and maximisation (Rubin and Thayer 1982) over the ballots that there are. A
correlation of the ballots themselves would mislead: jurors that are asked late see only
unclear debates, where jurors disagree, and a group that errs together looks best to its members.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean
from typing import NamedTuple

SHRINK = 15  # ballots' worth of the pooled loading and noise
GROUP_SHRINK = 5  # ballots' worth of no group at all
FEWEST = 3  # debates with others before a juror's tracking is reported
ROUNDS = 20
LEAST_NOISE = 0.05  # avoids a division by zero for jurors that always agree
ANGLES = tuple(step / 10 for step in range(-10, 11))
FEW_IN_A_GROUP = 2.0  # by how much a direction loses that puts jurors into groups
CORRELATIONS = (0.05, 0.95)
SLOPES = (0.2, 3.0)


class _Loading(NamedTuple):
    """What moves a juror: by how much T does, and H, and the variance of the rest."""

    common: float
    group: float
    noise: float

    @property
    def spread(self) -> float:
        """The standard deviation of the juror's signal."""
        return math.sqrt(self.common**2 + self.group**2 + self.noise)


class _VotedDebate(NamedTuple):
    """A debate with people's votes: its likeliest T and H, and the first side's result."""

    t: float
    h: float
    won: float


class _Look(NamedTuple):
    """How T and H follow from some jurors' signals: their means are linear in these."""

    t: tuple[float, ...]
    h: tuple[float, ...]
    tt: float
    hh: float
    th: float


@dataclass(slots=True)
class _Heard:
    """The debates that the same jurors sat on: how many, and Σ x·x' of every two of them."""

    n: int
    products: list[list[float]]

    def add(self, signals: Sequence[float]) -> None:
        self.n += 1
        for row, x in zip(self.products, signals, strict=True):
            for at, y in enumerate(signals):
                row[at] += x * y


@dataclass(slots=True)
class _Sums:
    """What a regression of a juror's signals on T and H needs."""

    n: int = 0
    xx: float = 0.0
    xt: float = 0.0
    xh: float = 0.0
    tt: float = 0.0
    hh: float = 0.0
    th: float = 0.0

    def regress(self, toward: float) -> tuple[float, float]:
        """Return λ and γ, drawn toward the pooled λ and toward no γ."""
        tt, hh = self.tt + SHRINK, self.hh + GROUP_SHRINK
        xt = self.xt + SHRINK * toward
        whole = tt * hh - self.th**2
        return (hh * xt - self.th * self.xh) / whole, (tt * self.xh - self.th * xt) / whole

    def rest(self, common: float, group: float) -> float:
        """Return the sum of squares that T and H leave."""
        linear = common * self.xt + group * self.xh
        squares = common**2 * self.tt + group**2 * self.hh + 2 * common * group * self.th
        return self.xx - 2 * linear + squares


Courts = Mapping[tuple[str, ...], _Heard]


def track(
    voices: Sequence[Mapping[str, float]], people: Sequence[float | None]
) -> dict[str, float]:
    """Return each juror's correlation with what all see, from 0.05 to 0.95.

    `voices` are the signals of each debate by juror, `people` their votes: 1, −1, 0
    for a tie, None. The model leaves open which direction of (T, H) is T. Each is weighted
    by how well people's votes fit it and how few jurors it puts into a group; the mean over
    directions is returned. Nothing for jurors that met others in fewer than three debates, or
    when jurors do not agree at all.
    """
    met = Counter(juror for heard in voices if len(heard) > 1 for juror in heard)
    if not met:
        return {}
    # Debates summed up by who sat on them: all that the fit needs, and few against the debates.
    courts: dict[tuple[str, ...], _Heard] = {}
    for heard in voices:
        if len(heard) > 1:
            jurors = tuple(sorted(heard))
            if jurors not in courts:
                courts[jurors] = _Heard(0, [[0.0] * len(jurors) for _ in jurors])
            courts[jurors].add([heard[juror] for juror in jurors])
    loadings = _fit(courts)
    said = []
    for heard, vote in zip(voices, people, strict=True):
        if vote is not None and len(heard) > 1:
            look = _look(tuple(heard), loadings)
            t, h = _dot(heard.values(), look.t), _dot(heard.values(), look.h)
            said.append(_VotedDebate(t, h, won=(1 + vote) / 2))
    found = {juror: r for juror, r in _correlate(loadings, said).items() if met[juror] >= FEWEST}
    low, high = CORRELATIONS
    if fmean(found.values() or [0]) < low:
        return {}
    return {juror: min(high, max(low, r)) for juror, r in found.items()}


def fit_slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope, within bounds, of a logistic fit of 0 to 1 on a number, through 0.

    The likelihood's derivative falls with the slope, so bisection finds its zero or the
    bound that is nearest.
    """
    low, high = SLOPES
    for _ in range(30):
        middle = (low + high) / 2
        pull = math.fsum(z * (won - 1 / (1 + math.exp(-middle * z))) for z, won in points)
        low, high = (middle, high) if pull > 0 else (low, middle)
    return (low + high) / 2


def _fit(courts: Courts) -> dict[str, _Loading]:
    """Return each juror's loadings, of greatest likelihood under the shrinkage."""
    jurors = sorted({juror for court in courts for juror in court})
    # Any start that tells jurors apart will do; the group's is found from here.
    loadings = {
        juror: _Loading(0.75, 0.3 if at % 2 else -0.3, 0.4) for at, juror in enumerate(jurors)
    }
    for _ in range(ROUNDS):
        sums = {juror: _Sums() for juror in jurors}
        for court, heard in courts.items():
            look = _look(court, loadings)
            xt = [_dot(row, look.t) for row in heard.products]
            xh = [_dot(row, look.h) for row in heard.products]
            tt = _dot(look.t, xt) + heard.n * look.tt
            hh = _dot(look.h, xh) + heard.n * look.hh
            th = _dot(look.t, xh) + heard.n * look.th
            for at, juror in enumerate(court):
                one = sums[juror]
                one.n += heard.n
                one.xx += heard.products[at][at]
                one.xt += xt[at]
                one.xh += xh[at]
                one.tt += tt
                one.hh += hh
                one.th += th
        total = sum(one.n for one in sums.values())
        toward = math.fsum(one.n * loadings[juror].common for juror, one in sums.items()) / total
        lines = {juror: one.regress(toward) for juror, one in sums.items()}
        rests = {juror: one.rest(*lines[juror]) for juror, one in sums.items()}
        pooled = math.fsum(rests.values()) / total
        loadings = {
            juror: _Loading(
                *lines[juror], max(LEAST_NOISE, (rests[juror] + SHRINK * pooled) / (one.n + SHRINK))
            )
            for juror, one in sums.items()
        }
    return loadings


def _look(jurors: Sequence[str], loadings: Mapping[str, _Loading]) -> _Look:
    """Return how T and H follow from these jurors' signals; their prior is N(0, 1)."""
    known = [loadings[juror] for juror in jurors]
    common = [one.common / one.noise for one in known]
    group = [one.group / one.noise for one in known]
    tt = 1 + _dot(common, (one.common for one in known))
    hh = 1 + _dot(group, (one.group for one in known))
    th = _dot(common, (one.group for one in known))
    whole = tt * hh - th * th
    tt, hh, th = hh / whole, tt / whole, -th / whole
    return _Look(
        t=tuple(tt * c + th * g for c, g in zip(common, group, strict=True)),
        h=tuple(th * c + hh * g for c, g in zip(common, group, strict=True)),
        tt=tt,
        hh=hh,
        th=th,
    )


def _dot(one: Iterable[float], other: Iterable[float]) -> float:
    total: float = sum(map(mul, one, other))
    return total


def _correlate(loadings: Mapping[str, _Loading], voted: Sequence[_VotedDebate]) -> dict[str, float]:
    """Return each juror's correlation with T, the mean over directions as far as each is likely."""
    slope = fit_slope([(one.t, one.won) for one in voted])
    turned = []  # the loadings on the directions that lie at each angle to the fitted ones
    for angle in ANGLES:
        along, across = math.cos(angle), math.sin(angle)
        found = {}
        for juror, one in loadings.items():
            common = one.common * along + one.group * across
            group = one.group * along - one.common * across
            found[juror] = _Loading(common, group, one.noise)
        turned.append(found)
    costs = [
        # A root makes two jurors halfway in a group cost more than one wholly in it.
        FEW_IN_A_GROUP * math.fsum(math.sqrt(abs(one.group) / one.spread) for one in found.values())
        + _count_misses(voted, slope, angle)
        for angle, found in zip(ANGLES, turned, strict=True)
    ]
    trust = [math.exp(min(costs) - cost) for cost in costs]
    return {
        juror: _dot(trust, (found[juror].common / found[juror].spread for found in turned))
        / math.fsum(trust)
        for juror in loadings
    }


def _count_misses(voted: Iterable[_VotedDebate], slope: float, angle: float) -> float:
    """Return how unlikely people's votes are when T lies at an angle: −log likelihood."""
    along, across = slope * math.cos(angle), slope * math.sin(angle)
    cost = 0.0
    for t, h, won in voted:
        z = t * along + h * across
        cost += math.log1p(math.exp(-abs(z))) + max(0.0, -z) + (1 - won) * z
    return cost
