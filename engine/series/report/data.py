"""What a report rests on: rows of debates, agreement of jurors, topics that tell models apart."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from random import Random
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from engine.stats.agreement import kappa_between, share_alike
from engine.stats.figure import Figure, Share
from engine.stats.row import Row, row_of
from engine.store import DebateRecord
from engine.store.series import CallTry, SeriesDebate, SeriesReading, SeriesStore, StoredSeries
from engine.values.debate import Value
from engine.values.errors import StoppedError

# Reads a series for its report: small rows of debates and sums of calls, without texts.


COUNTED = ("tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached")


class _CountedTurn(NamedTuple):
    """A debater's turn: its words, the limit of these, and the kinds of rules that it broke."""

    model: str
    words: int
    limit: int
    broken: tuple[str, ...]


class EndedDebate(NamedTuple):
    """A debate that ended; without `row` it has no result to count.

    `unrecused`: every juror was of a debater's family.
    """

    id: str
    format: str
    row: Row | None
    models: tuple[str, ...]
    spoken: tuple[_CountedTurn, ...]
    unrecused: bool


@dataclass(slots=True)
class CallTotals:
    """What one model's calls took in one role; tokens and USD are those that are known.

    Our own end cut off those that are `lost`: they say nothing of the model. `seconds` is how long
    each answer took, `minutes` how long all tries did. Those of an arm have its name as `role`.
    """

    model: str
    role: str
    calls: int = 0
    failed: int = 0
    lost: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    tokens_cached: int = 0
    usd: float = 0.0
    unpriced: int = 0
    minutes: float = 0.0
    seconds: Annotated[list[float], Field(exclude=True)] = field(
        default_factory=list, compare=False
    )

    def add(self, one: CallTry) -> None:
        """Add a try."""
        self.calls += 1
        self.failed += bool(one.failed)
        self.lost += bool(one.lost)
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + (getattr(one, name) or 0))
        self.usd += one.usd or 0.0
        self.unpriced += one.usd is None
        self.minutes += (one.seconds or 0.0) / 60
        if one.seconds is not None and not (one.failed or one.lost):
            self.seconds.append(one.seconds)


@dataclass(slots=True)
class SeriesRows:
    """A series at one moment, as its report counts it.

    `calls` are by model and role, `arms` by arm, `costs` (calls, USD) by debate, and `paid` USD by
    debate and debating model.
    """

    stored: StoredSeries
    debates: tuple[SeriesDebate, ...]
    refusals: Mapping[str, int] = field(default_factory=dict)
    ended: tuple[EndedDebate, ...] = ()
    calls: Mapping[tuple[str, str], CallTotals] = field(default_factory=dict)
    arms: Mapping[str, CallTotals] = field(default_factory=dict)
    costs: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    paid: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """The debates with a result."""
        return [one.row for one in self.ended if one.row is not None]


async def read_series_rows(
    store: SeriesStore, name: str, *, told: bool = False
) -> SeriesRows | None:
    """Read a series in one consistent view, in a worker thread; None if there is none.

    `told` leaves out what `ExportFilter.told` does. Cancelling stops the reading. Raises StoreError
    if the debates cannot be read.
    """
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(_read, store, name, told, stopped)
    finally:
        stopped.set()


def _read(store: SeriesStore, name: str, told: bool, stopped: threading.Event) -> SeriesRows | None:
    with store.reading(name, told=told) as found:
        if found is None:
            return None
        rows = add_up(found)
        ended = []
        for record in found.records:
            if stopped.is_set():
                raise StoppedError("The report was stopped.")
            ended.append(ended_of(record))
        rows.ended = tuple(ended)
        return rows


def add_up(found: SeriesReading) -> SeriesRows:
    """Add up the calls of a series; its ended debates are to follow."""
    calls: dict[tuple[str, str], CallTotals] = {}
    fell = {debate.id: debate.arm for debate in found.debates if debate.arm}
    arms = {arm: CallTotals("", arm) for arm in sorted({*fell.values()})}
    costs: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    paid: dict[tuple[str, str], float] = defaultdict(float)
    for one in found.tries:
        key = one.model, one.role
        if key not in calls:
            calls[key] = CallTotals(*key)
        calls[key].add(one)
        if one.debate in fell:
            arms[fell[one.debate]].add(one)
        number, usd = costs[one.debate]
        costs[one.debate] = number + 1, usd + (one.usd or 0.0)
        if one.role == "debater":
            paid[one.debate, one.model] += one.usd or 0.0
    return SeriesRows(
        stored=found.stored,
        debates=tuple(found.debates),
        refusals=found.refusals,
        calls=calls,
        arms=arms,
        costs=dict(costs),
        paid=dict(paid),
    )


def ended_of(record: DebateRecord) -> EndedDebate:
    """Reduce a record to what a report counts."""
    setup = record.debate.setup
    sides = {side: model.ref for side, model in setup.request.sides.items()}
    return EndedDebate(
        id=record.debate.id,
        format=setup.request.format,
        row=row_of(record, people=True),
        models=tuple(sides.values()),
        spoken=tuple(
            _CountedTurn(
                sides[turn.side],
                turn.words,
                turn.limit,
                tuple(one.kind for one in turn.violations),
            )
            for turn in record.turns
            if turn.side in sides
        ),
        unrecused=setup.panel.recusal_failed,
    )


# How often jurors agree with one another, pair by pair; pure.


class JurorPair(Value):
    """Two jurors on the debates that both judged: how often they chose the same, and Cohen's κ."""

    juror: str
    other: str
    agreement: Share
    kappa: Figure


def juror_pairs(rows: Sequence[Row]) -> tuple[JurorPair, ...]:
    """Return every pair of jurors that judged a debate on one blind panel."""
    judged = [(row.topic, row.verdicts()) for row in rows]
    jurors = sorted({juror for _, verdicts in judged for juror in verdicts})
    found = []
    for one, other in combinations(jurors, 2):
        both = [
            (topic, said[one], said[other]) for topic, said in judged if {one, other} <= {*said}
        ]
        if both:
            found.append(
                JurorPair(
                    juror=one,
                    other=other,
                    agreement=share_alike(both),
                    kappa=kappa_between(both),
                )
            )
    return tuple(found)


# The topics on which models differ most, and how much chance alone would do; pure.


FEWEST = 2  # debates of a model on a topic, for a win rate
SHUFFLES = 200
SEED = 1979
_Won: TypeAlias = Sequence[tuple[str, float]]
"""What each model won in a debate, from 0 to 1."""


class _TopicRate(Value):
    """A model's win rate on one topic by the jury, a tie counting half."""

    model: str
    debates: int
    rate: float


class _TopicSplit(Value):
    """How models fared on one topic, the best first.

    `spread` is the standard deviation of their win rates, weighted by debates.
    """

    title: str
    debates: int
    spread: float
    rates: tuple[_TopicRate, ...]


class TopicSplits(Value):
    """The topics with the most unlike win rates first.

    `by_chance` is the spread that the most unlike topic would pass in 5 % of series in which topics
    made no difference: the 95 % quantile over debates dealt to topics at random. None with fewer
    than two topics.
    """

    splits: tuple[_TopicSplit, ...]
    by_chance: float | None


def split_topics(rows: Sequence[Row]) -> TopicSplits:
    """Compare win rates by topic, on debates of different models that a jury judged."""
    topics, titles, won = [], dict[str, str](), []
    for row in rows:
        if row.jury is not None and len(set(row.models.values())) > 1:
            topics.append(row.topic)
            titles.setdefault(row.topic, row.title)
            won.append([(model, row.credit(row.jury, s)) for s, model in row.models.items()])
    rated = _rates(topics, won)
    splits = [
        _TopicSplit(
            title=titles[topic],
            debates=topics.count(topic),
            spread=_spread(rates),
            rates=tuple(sorted(rates, key=lambda one: (-one.rate, one.model))),
        )
        for topic, rates in rated.items()
    ]
    ordered = sorted(splits, key=lambda one: (-one.spread, -one.debates, one.title))
    return TopicSplits(splits=tuple(ordered), by_chance=_by_chance(topics, won))


def _rates(topics: Sequence[str], won: Sequence[_Won]) -> dict[str, list[_TopicRate]]:
    """Return win rates by topic, for topics with at least two models that have one."""
    credits: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for topic, each in zip(topics, won, strict=True):
        for model, credit in each:
            credits[topic][model].append(credit)
    found = {}
    for topic, by_model in credits.items():
        rates = [
            _TopicRate(model=model, debates=len(some), rate=sum(some) / len(some))
            for model, some in by_model.items()
            if len(some) >= FEWEST
        ]
        if len(rates) > 1:
            found[topic] = rates
    return found


def _spread(rates: Sequence[_TopicRate]) -> float:
    n = sum(one.debates for one in rates)
    mean = sum(one.debates * one.rate for one in rates) / n
    return sqrt(sum(one.debates * (one.rate - mean) ** 2 for one in rates) / n)


def _by_chance(topics: Sequence[str], won: Sequence[_Won]) -> float | None:
    if len(set(topics)) < 2:
        return None
    random, dealt, most = Random(SEED), list(topics), []
    for _ in range(SHUFFLES):
        random.shuffle(dealt)
        most.append(max(map(_spread, _rates(dealt, won).values()), default=0.0))
    return sorted(most)[-(-95 * SHUFFLES // 100) - 1]  # the 95 % quantile
