"""Coefficients of agreement and calibration: Krippendorff's α, Cohen's κ, the Brier score."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from statistics import fmean
from typing import TypeAlias

from engine.stats.figure import Sums
from engine.values.debate import Value

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
