"""What a report rests on: rows of debates and sums of calls."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pydantic import Field

from engine.stats.row import Row, row_of
from engine.store import DebateRecord
from engine.store.series import CallTry, SeriesDebate, SeriesReading, SeriesStore, StoredSeries
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
