"""The topics on which models differ most, and how much chance alone would do; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from random import Random
from typing import NamedTuple

from engine.stats.row import Row
from engine.values.debate import Value

FEWEST = 2  # debates of a model on a topic, for a win rate
SHUFFLES = 200
SEED = 1979


class TopicRate(Value):
    """A model's win rate on one topic by the jury, a tie counting half."""

    model: str
    debates: int
    rate: float


class TopicSplit(Value):
    """How models fared on one topic, the best first.

    `spread` is the standard deviation of their win rates, weighted by debates.
    """

    title: str
    debates: int
    spread: float
    rates: tuple[TopicRate, ...]


class TopicSplits(Value):
    """The topics with the most unlike win rates first.

    `by_chance` is the spread that the most unlike topic would pass in 5 % of series in which topics
    made no difference: the 95 % quantile over debates dealt to topics at random. None with fewer
    than two topics.
    """

    splits: tuple[TopicSplit, ...]
    by_chance: float | None


class _Won(NamedTuple):
    """A model's credit in one debate, from 0 to 1."""

    model: str
    credit: float


def split_topics(rows: Sequence[Row]) -> TopicSplits:
    """Compare win rates by topic, on debates of different models that a jury judged."""
    topics, titles, won = [], dict[str, str](), []
    for row in rows:
        if row.jury is not None and len(set(row.models.values())) > 1:
            topics.append(row.topic)
            titles.setdefault(row.topic, row.title)
            won.append([_Won(model, row.credit(row.jury, s)) for s, model in row.models.items()])
    rated = _rates(topics, won)
    splits = [
        TopicSplit(
            title=titles[topic],
            debates=topics.count(topic),
            spread=_spread(rates),
            rates=tuple(sorted(rates, key=lambda one: (-one.rate, one.model))),
        )
        for topic, rates in rated.items()
    ]
    ordered = sorted(splits, key=lambda one: (-one.spread, -one.debates, one.title))
    return TopicSplits(splits=tuple(ordered), by_chance=_by_chance(topics, won))


def _rates(topics: Sequence[str], won: Sequence[Sequence[_Won]]) -> dict[str, list[TopicRate]]:
    """Return win rates by topic, for topics with at least two models that have one."""
    credits: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for topic, each in zip(topics, won, strict=True):
        for one in each:
            credits[topic][one.model].append(one.credit)
    found = {}
    for topic, by_model in credits.items():
        rates = [
            TopicRate(model=model, debates=len(some), rate=sum(some) / len(some))
            for model, some in by_model.items()
            if len(some) >= FEWEST
        ]
        if len(rates) > 1:
            found[topic] = rates
    return found


def _spread(rates: Sequence[TopicRate]) -> float:
    n = sum(one.debates for one in rates)
    mean = sum(one.debates * one.rate for one in rates) / n
    return sqrt(sum(one.debates * (one.rate - mean) ** 2 for one in rates) / n)


def _by_chance(topics: Sequence[str], won: Sequence[Sequence[_Won]]) -> float | None:
    if len(set(topics)) < 2:
        return None
    random, dealt, most = Random(SEED), list(topics), []
    for _ in range(SHUFFLES):
        random.shuffle(dealt)
        most.append(max(map(_spread, _rates(dealt, won).values()), default=0.0))
    return sorted(most)[ceil_share(len(most))]


def ceil_share(n: int) -> int:
    """Return the place of the 95 % quantile among `n` ordered values."""
    return -(-95 * n // 100) - 1
