"""A statistic with its interval, or marked as based on too few debates."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor, isclose
from operator import mul
from random import Random
from statistics import fmean
from typing import Self, TypeAlias

from pydantic import Field

from engine.tally import FEWEST, wilson
from engine.values.debate import Value
from engine.values.language import N_
from engine.words.stored import percent
from engine.words.translation import number, say

# The bootstrap: how much a statistic would vary with other topics.


RESAMPLES = 1000
FEWEST_RESAMPLES = 200
MOST_DRAWS = 1_000_000  # of topics in total; with many topics fewer resamples fit into it
SEED = 1979

Sums: TypeAlias = tuple[float, ...]
"""The input of a statistic: sums that add up over debates, and so over topics."""

Statistic: TypeAlias = Callable[[Sums], float | None]


def total(parts: Sequence[Sums]) -> Sums:
    """Add sums up, place by place."""
    return tuple(map(sum, zip(*parts, strict=True)))


def mean_of(sums: Sums) -> float:
    """Return the mean from (sum, count)."""
    return sums[0] / sums[1]


def interval(topics: Sequence[Sums], statistic: Statistic) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a statistic, resampled by topic.

    `topics` has the sums of each topic; their order does not matter. None for fewer than two
    topics, or if the statistic is undefined in half of the resamples. Method:
    B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13, with topics as
    the units, since debates on one topic are alike.
    """
    if len(topics) < 2:
        return None
    times = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWS // len(topics)))
    found = sorted(_resample(topics, statistic, times, Random(SEED)))
    if 2 * len(found) <= times:
        return None
    return _quantile(found, 0.025), _quantile(found, 0.975)


def _resample(
    topics: Sequence[Sums], statistic: Statistic, times: int, random: Random
) -> list[float]:
    """Return the statistic of each resample in which it is defined.

    Topics with equal sums are drawn as one kind, weighted by their number.
    """
    kinds = sorted(set(topics))
    number = {kind: place for place, kind in enumerate(kinds)}
    population = sorted(number[sums] for sums in topics)
    columns = list(zip(*kinds, strict=True))
    found = []
    for _ in range(times):
        drawn = Counter(random.choices(population, k=len(population)))
        often = [drawn[place] for place in range(len(kinds))]
        value = statistic(tuple(sum(map(mul, often, column)) for column in columns))
        if value is not None:
            found.append(value)
    return found


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile, interpolated between its neighbours."""
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


TINY = 1e-6


RANGE = N_("{value} ({low} to {high})")
Observation: TypeAlias = tuple[str, Sums]
"""A debate's topic, and its terms of a statistic."""


ShownTable: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[object]]]
"""A title, the heads of its columns, and its rows; the first cell names a row."""


class Figure(Value):
    """A statistic of `n` debates (or ballots) with its 95 % interval; as text it tells both.

    `value` is None for too few debates, or if it is undefined (such as agreement beyond chance when
    all choices are the same). The bounds are None with only one topic to resample.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    raw: float | None = Field(None, exclude=True)  # what too few debates came to

    @property
    def few(self) -> bool:
        """Whether `n` is too small."""
        return self.n < FEWEST

    @classmethod
    def estimate(cls, observations: Iterable[Observation], statistic: Statistic) -> Self:
        """Return a statistic with an interval resampled by topic."""
        by_topic: dict[str, list[Sums]] = {}
        for topic, sums in observations:
            by_topic.setdefault(topic, []).append(sums)
        n = sum(map(len, by_topic.values()))
        if n < FEWEST:
            parts = [part for topic in by_topic.values() for part in topic]
            return cls(n=n, raw=statistic(total(parts)) if parts else None)
        topics = [total(parts) for parts in by_topic.values()]
        value = statistic(total(topics))
        bounds = None if value is None else interval(topics, statistic)
        if bounds is None:
            return cls(n=n, value=value)
        return cls(n=n, value=value, low=bounds[0], high=bounds[1])

    def __str__(self) -> str:
        if self.few:
            return say("too few ({n})", n=self.n)
        if self.value is None:
            return say("undefined (always the same)")
        if self.low is None or self.high is None:
            return self.write(self.value)
        value, low, high = map(self.write, (self.value, self.low, self.high))
        return say(RANGE, value=value, low=low, high=high)

    @property
    def counted(self) -> str:
        """What too few debates came to, told by their number; empty where that tells nothing."""
        return ""

    @property
    def cell(self) -> Self | str:
        """The figure as a table has it: what too few debates came to, else itself."""
        return self.counted if self.few else self

    def write(self, value: float) -> str:
        """Write a value of this kind: κ, α, or a score."""
        return signed(value, ".2f")


class Share(Figure):
    """A share, told in per cent."""

    @classmethod
    def of(cls, k: int, n: int) -> Self:
        """Return the share k/n with its Wilson interval, if there are no topics to resample."""
        if n < FEWEST:
            return cls(n=n, raw=k / n if n else None)
        low, high = wilson(k, n)
        return cls(n=n, value=k / n, low=low, high=high)

    @property
    def counted(self) -> str:
        if self.raw is None:
            return ""
        right = self.raw * self.n
        whole = abs(right - round(right)) < TINY
        return say("{k} of {n}", k=str(round(right)) if whole else self.write(self.raw), n=self.n)

    def write(self, value: float) -> str:
        return percent(value)


class Difference(Figure):
    """A difference of two shares, told in percentage points."""

    def write(self, value: float) -> str:
        return signed(100 * value, "+.1f")


class Mean(Figure):
    """A mean of points, told as it is."""

    @property
    def counted(self) -> str:
        return "" if self.raw is None else self.write(self.raw)

    def write(self, value: float) -> str:
        return signed(value, ".1f")


def signed(value: float, spec: str) -> str:
    """Write a number with a real minus sign, and with none before zero."""
    text = number(value, spec)
    return text.lstrip("-+") if not text.strip("-+0.,") else text.replace("-", "−")


# Coefficients of agreement and calibration: Krippendorff's α, Cohen's κ, the Brier score.


# Krippendorff's α for nominal choices, with missing voters allowed.


def alpha_sums(unit: Mapping[str, int], categories: Sequence[str]) -> Sums:
    """Return a unit's terms of α: its disagreeing pairs, and its choices by category.

    A unit is the number of voters by choice. One with fewer than two choices has no effect.
    """
    counts = [unit.get(category, 0) for category in categories]
    choices = sum(counts)
    if choices < 2:
        return (0.0,) * (len(categories) + 1)
    pairs = choices * choices - sum(count * count for count in counts)
    return (pairs / (choices - 1), *map(float, counts))


def alpha_of(sums: Sums) -> float | None:
    """Return α from the sums of units, 1 − D_o/D_e: 1 is agreement, 0 is chance.

    None if nothing can be paired, or all choices are the same. Source: K. Krippendorff,
    Computing Krippendorff's Alpha-Reliability (2011), section D.
    """
    observed, *counts = sums
    choices = sum(counts)
    expected = choices * choices - sum(count * count for count in counts)
    if not expected:
        return None
    return 1 - (choices - 1) * observed / expected


# Cohen's κ: agreement of two judges beyond chance.


def kappa_sums(first: str, second: str, categories: Sequence[str]) -> Sums:
    """Return a pair's terms of κ: 1, whether they agree, and each judge's choice by category."""
    return (
        1.0,
        float(first == second),
        *(float(first == category) for category in categories),
        *(float(second == category) for category in categories),
    )


def kappa_of(sums: Sums) -> float | None:
    """Return κ from the sums of pairs, from −1 to 1; None if chance alone would always agree.

    κ = (p_o − p_e)/(1 − p_e). Source: J. Cohen, Educational and Psychological Measurement 20
    (1960).
    """
    n, agreed, *choices = sums
    half = len(choices) // 2
    by_chance = sum(a * b for a, b in zip(choices[:half], choices[half:], strict=True)) / n
    if isclose(by_chance, n):
        return None
    return (agreed - by_chance) / (n - by_chance)


# The calibration of the panel's p_a: Brier score and reliability.


BINS = 5
_INNER_BOUNDS = tuple(number / BINS for number in range(1, BINS))


Forecast: TypeAlias = tuple[float, float]
"""A probability of A, and people's choice: 1 for A, 0 for B, ½ for a tie."""


class Bin(Value):
    """Forecasts between two probabilities: how many, their mean, and A's share with people.

    The means are None in an empty bin.
    """

    low: float
    high: float
    n: int
    predicted: float | None = None
    observed: float | None = None


def brier_sums(p: float, outcome: float) -> Sums:
    """Return a forecast's terms of the Brier score: its squared error, and 1.

    Source: G. W. Brier, Monthly Weather Review 78 (1950), for one of two outcomes.
    """
    return ((p - outcome) ** 2, 1.0)


def reliability(forecasts: Iterable[Forecast]) -> tuple[Bin, ...]:
    """Sort forecasts into five bins of equal width; one on a bound goes into the lower bin."""
    bins: list[list[Forecast]] = [[] for _ in range(BINS)]
    for p, outcome in forecasts:
        bins[bisect_left(_INNER_BOUNDS, p)].append((p, outcome))
    return tuple(
        Bin(
            low=place / BINS,
            high=(place + 1) / BINS,
            n=len(inside),
            predicted=fmean(p for p, _ in inside) if inside else None,
            observed=fmean(outcome for _, outcome in inside) if inside else None,
        )
        for place, inside in enumerate(bins)
    )
