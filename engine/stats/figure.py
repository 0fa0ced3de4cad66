"""A statistic as it is told: with its interval, or as one of too few debates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.debate import Value
from engine.stats.bootstrap import Statistic, Sums, interval, total
from engine.votes.wilson import wilson

FEWEST = 30  # debates below which a statistic says too little


class Figure(Value):
    """A statistic of `n` debates (or ballots, where that is said) with its 95 % interval.

    `value` is None for too few, or where the data leave it undefined (such as an agreement beyond
    chance when everybody always chose the same). The bounds are None where there is one topic
    only, so that nothing can be resampled.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def few(self) -> bool:
        """Whether `n` is too small for a value."""
        return self.n < FEWEST


class Observation(NamedTuple):
    """What one debate adds to a statistic, and the topic that it was about."""

    topic: str
    sums: Sums


def estimate(observations: Iterable[Observation], statistic: Statistic) -> Figure:
    """Work out a statistic of debates, with an interval resampled by topic."""
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
    """Return the share k/n with its Wilson interval, for what has no topics to resample."""
    if n < FEWEST:
        return Figure(n=n)
    low, high = wilson(k, n)
    return Figure(n=n, value=k / n, low=low, high=high)
