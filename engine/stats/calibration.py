"""The calibration of the panel's p_a: Brier score and reliability."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from engine.stats.bootstrap import Sums
from engine.values.debate import Value

BINS = 5
_INNER_BOUNDS = tuple(number / BINS for number in range(1, BINS))


class Forecast(NamedTuple):
    """A probability of A, and people's choice: 1 for A, 0 for B, ½ for a tie."""

    p: float
    outcome: float


class Bin(Value):
    """Forecasts between two probabilities: how many, their mean, and A's share with people.

    The means are None in an empty bin.
    """

    low: float
    high: float
    n: int
    predicted: float | None = None
    observed: float | None = None


def brier_sums(forecast: Forecast) -> Sums:
    """Return a forecast's terms of the Brier score: its squared error, and 1.

    Source: G. W. Brier, Monthly Weather Review 78 (1950), for one of two outcomes.
    """
    return ((forecast.p - forecast.outcome) ** 2, 1.0)


def reliability(forecasts: Iterable[Forecast]) -> tuple[Bin, ...]:
    """Sort forecasts into five bins of equal width; one on a bound goes into the lower bin."""
    bins: list[list[Forecast]] = [[] for _ in range(BINS)]
    for forecast in forecasts:
        bins[bisect_left(_INNER_BOUNDS, forecast.p)].append(forecast)
    return tuple(_describe(place, inside) for place, inside in enumerate(bins))


def _describe(place: int, inside: list[Forecast]) -> Bin:
    return Bin(
        low=place / BINS,
        high=(place + 1) / BINS,
        n=len(inside),
        predicted=fmean(forecast.p for forecast in inside) if inside else None,
        observed=fmean(forecast.outcome for forecast in inside) if inside else None,
    )
