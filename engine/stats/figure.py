"""A statistic with its interval, or marked as based on too few debates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.stats.bootstrap import Statistic, Sums, interval, total
from engine.tally.tally import wilson
from engine.values.debate import Value

FEWEST = 30  # minimum number of debates


class Figure(Value):
    """A statistic of `n` debates (or ballots) with its 95 % interval.

    `value` is None for too few debates, or if it is undefined (such as agreement beyond chance when
    all choices are the same). The bounds are None with only one topic to resample.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def few(self) -> bool:
        """Whether `n` is too small."""
        return self.n < FEWEST


class Observation(NamedTuple):
    """One debate's terms of a statistic, and its topic."""

    topic: str
    sums: Sums


def estimate(observations: Iterable[Observation], statistic: Statistic) -> Figure:
    """Return a statistic with an interval resampled by topic."""
    by_topic: dict[str, list[Sums]] = {}
    for topic, sums in observations:
        by_topic.setdefault(topic, []).append(sums)
    n = sum(map(len, by_topic.values()))
    if n < FEWEST:
        return Figure(n=n)
    topics = [total(parts) for parts in by_topic.values()]
    value = statistic(total(topics))
    bounds = None if value is None else interval(topics, statistic)
    if bounds is None:
        return Figure(n=n, value=value)
    return Figure(n=n, value=value, low=bounds.low, high=bounds.high)


def estimate_share(k: int, n: int) -> Figure:
    """Return the share k/n with its Wilson interval, if there are no topics to resample."""
    if n < FEWEST:
        return Figure(n=n)
    low, high = wilson(k, n)
    return Figure(n=n, value=k / n, low=low, high=high)
