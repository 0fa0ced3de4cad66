"""Figures of an installation's debates as pages: models, jurors, costs and series.

They come from the same functions as `rostrum stats`. They are worked out in a worker thread when
somebody asks, and kept until debates are added or deleted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import NamedTuple

from engine.drawing import Picture
from engine.pages.public import Kept, extent_of
from engine.series.report import make_report
from engine.series.report.data import read_series_rows
from engine.series.report.page import ReportPage, write_results
from engine.series.report.pictures import draw_report
from engine.stats.agreement import Agreement, measure_agreement
from engine.stats.figure import Figure, Share, mean_of
from engine.stats.jurors import JurorFigures
from engine.stats.ratings import Leaderboard, meetings, rank_models
from engine.stats.row import Row, work_out
from engine.store import ExportFilter, Store, count_rehearsals
from engine.store.usage import By, CallUsage, UsageFilter
from engine.values.errors import NotFoundError
from engine.values.ports import Clock
from engine.values.topics import Topic, topic_id


class _Figures(NamedTuple):
    """What a set of debates came to; `left_out` counts those of rehearsal models."""

    rows: Sequence[Row]
    agreement: Agreement
    board: Leaderboard
    left_out: int


class _WinShare(NamedTuple):
    """How often a model won against another, a tie counting half, in `n` debates of a kind."""

    kind: str
    name: str
    n: int
    people: Share
    jury: Share


class _Met(NamedTuple):
    """A debate between two models: which side the first was, and its topic's category."""

    row: Row
    side: str
    category: str


class _Comparison(NamedTuple):
    """Two models on the debates in which they met; `debates` are those of what is chosen."""

    first: str
    second: str
    shares: tuple[_WinShare, ...]
    debates: tuple[_Met, ...]


class _ModelsPage(NamedTuple):
    """How models are rated, which of them met and how often, and two of them compared."""

    board: Leaderboard
    rates: Mapping[str, object]
    pairs: tuple[tuple[str, str, int], ...]
    comparison: _Comparison | None
    left_out: int


JUROR_ORDERS = ("mark", "lean", "consistency", "agreement", "panel", "invalid")


class _JurorsPage(NamedTuple):
    """The figures of jurors; `panel` is how often each chose as its panel did."""

    agreement: Agreement
    panel: Mapping[str, Share]
    left_out: int

    def ordered(self, by: str) -> list[JurorFigures]:
        """Return the jurors by one of their figures, the worst first; else the harshest.

        Those without the figure come last.
        """

        def place(one: JurorFigures) -> float:
            figure: Figure = self.panel[one.juror] if by == "panel" else getattr(one, by)
            value = figure.raw if figure.value is None else figure.value
            if value is None:
                return inf
            return {"lean": -abs(value), "invalid": -value}.get(by, value)

        by = by if by in JUROR_ORDERS else "mark"
        return sorted(self.agreement.jurors, key=place)


class FiguresReader:
    """Reads figures of the debates of a filter; rehearsals are left out unless asked for.

    Debates have the categories of `topics`.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        where: ExportFilter | None = None,
        topics: Sequence[Topic] = (),
    ) -> None:
        self._store, self._clock, self._kept = store, clock, Kept()
        self._categories = {topic_id(one.text): one.category for one in topics}
        self._where = replace(where or ExportFilter(), revealed=True)

    async def models(self, asked: Mapping[str, str]) -> _ModelsPage:
        """Return how models are rated, and with `a` and `b` how the first did against the other."""
        found = await self._figures(asked)
        met = Counter[tuple[str, str]]()
        for row in found.rows:
            met.update(combinations(sorted({*row.models.values()}), 2) if not row.mixed else ())
        first, second = asked.get("a", ""), asked.get("b", "")
        compared = None
        if first != second and (min(first, second), max(first, second)) in met:
            pair = (first, second)
            compared = await asyncio.to_thread(compare, found.rows, pair, asked, self._categories)
        return _ModelsPage(
            board=found.board,
            rates={one.model: one for one in found.agreement.models},
            pairs=tuple((*pair, n) for pair, n in met.most_common()),
            comparison=compared,
            left_out=found.left_out,
        )

    async def jurors(self, asked: Mapping[str, str]) -> _JurorsPage:
        """Return the figures of every juror."""
        found = await self._figures(asked)
        jurors = [one.juror for one in found.agreement.jurors]
        panel = await asyncio.to_thread(_with_panel, found.rows, jurors)
        return _JurorsPage(found.agreement, panel, found.left_out)

    async def costs(self, _: Mapping[str, str]) -> Mapping[str, CallUsage]:
        """Return what calls took, by model and role and by series.

        Those of debates that go on would name their models.
        """
        where = UsageFilter(
            since=self._where.since,
            until=self._where.until,
            series=self._where.series,
            community=self._where.community,
            formats=self._where.formats,
            languages=self._where.languages,
            ids=self._where.ids,
            without_rehearsal=self._where.without_rehearsal,
            ended=True,
        )

        async def read() -> Mapping[str, CallUsage]:
            usage = self._store.usage
            return {"models": await usage.read(where), "series": await usage.read(where, By.SERIES)}

        ended = replace(self._where, revealed=False)
        return await self._kept.get("costs", await extent_of(self._store.archive, ended), read)

    async def series(self, name: str) -> tuple[ReportPage, Mapping[str, Picture]]:
        """Return the report of a series. Raises NotFoundError without one."""
        where = replace(self._where, series=name)

        async def report() -> tuple[ReportPage, Mapping[str, Picture]]:
            rows = await read_series_rows(self._store.series, name)
            if rows is None:
                raise NotFoundError("There is no series “{name}”; see the list.", name=name)
            made = await asyncio.to_thread(make_report, rows, self._clock.now())
            return await asyncio.to_thread(lambda: (write_results(made), draw_report(made)))

        extent = await extent_of(self._store.archive, where)
        return await self._kept.get(("series", name), extent, report)

    async def _figures(self, asked: Mapping[str, str]) -> _Figures:
        where = replace(self._where, without_rehearsal=not asked.get("rehearsal"))

        async def make() -> _Figures:
            worked = await work_out(
                self._store.archive,
                where,
                lambda rows: (tuple(rows), measure_agreement(rows), rank_models(rows)),
            )
            left_out = await asyncio.to_thread(count_rehearsals, self._store.archive, where)
            return _Figures(*worked, left_out)

        return await self._kept.get(where, await extent_of(self._store.archive, where), make)


KINDS = ("format", "side", "category", "language")


def compare(
    rows: Sequence[Row],
    pair: tuple[str, str],
    asked: Mapping[str, str],
    categories: Mapping[str, str],
) -> _Comparison:
    """Return how a model did against another, in all and by kind of debate.

    `asked` may choose a format, a side of the first model, a category or a language: its debates
    are listed. `categories` are those of topics, by their ids.
    """
    first, second = pair
    met = [
        _Met(
            row,
            next(side for side, model in row.models.items() if model == first),
            categories.get(row.topic, ""),
        )
        for row in rows
        if {first, second} <= {*row.models.values()} and not row.mixed
    ]
    shares = [_win_share("", "", met, first, second)]
    for kind in KINDS:
        names = sorted({_kind_of(one, kind) for one in met} - {""})
        for name in names:
            some = [one for one in met if _kind_of(one, kind) == name]
            shares.append(_win_share(kind, name, some, first, second))
    chosen = [
        one
        for one in met
        if all(asked.get(kind, "") in ("", _kind_of(one, kind)) for kind in KINDS)
    ]
    return _Comparison(first, second, tuple(shares), tuple(reversed(chosen)))


def _kind_of(met: _Met, kind: str) -> str:
    own = {"side": met.side, "category": met.category}
    return own[kind] if kind in own else str(getattr(met.row, kind))


def _win_share(kind: str, name: str, met: Sequence[_Met], first: str, second: str) -> _WinShare:
    rows = [one.row for one in met]
    people = Share.estimate(_wins(rows, "people", first, second), mean_of)
    jury = Share.estimate(_wins(rows, "jury", first, second), mean_of)
    return _WinShare(kind, name, len(met), people, jury)


def _wins(
    rows: Sequence[Row], judge: str, first: str, second: str
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield what the first of two models won in each debate that a judge decided between them."""
    for row, won, lost, tied in meetings(rows, lambda row: getattr(row, judge)):
        if {row.models[won], row.models[lost]} == {first, second}:
            yield row.topic, (0.5 if tied else float(row.models[won] == first), 1.0)


def _with_panel(rows: Sequence[Row], jurors: Sequence[str]) -> dict[str, Share]:
    """Return how often each juror chose as the blind panel that it was on."""
    judged = [(row.topic, row.jury, row.verdicts()) for row in rows if row.jury is not None]
    return {
        juror: Share.estimate(
            (
                (topic, (float(said[juror] == winner), 1.0))
                for topic, winner, said in judged
                if juror in said
            ),
            mean_of,
        )
        for juror in jurors
    }
