"""Pages that everyone may see, of communities that switched them on.

Whatever is not public does not exist here: an address that never led anywhere, a debate that was
deleted, and a community that shows nothing raise the same NotFoundError.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar

from engine.dataset.bundle import Bundle, export_zip
from engine.dataset.tables import ExportRequest
from engine.delivery.reasons import where_revealed
from engine.drawing import Picture, darken, draw, fit, wrap, write
from engine.pages.debate_page import A_PAGE, DebatePage, ListPage, pages_of, read_sought
from engine.pages.head import Item
from engine.pages.stored import StoredLibrary, list_items
from engine.series.report import make_report
from engine.series.report.data import SeriesRows, read_series_rows
from engine.series.report.page import ReportPage, write_results
from engine.series.report.pictures import draw_report
from engine.series.schedule import read_record, table_of
from engine.series.spec import Series
from engine.stats.agreement import Agreement, measure_agreement
from engine.stats.ratings import Leaderboard, rank_models
from engine.stats.row import Row, work_out
from engine.store import Archive, ExportFilter, Store, count_rehearsals
from engine.store.communities import PublicCommunity, PublicPart
from engine.store.debates import ListedResult
from engine.store.listings import DebateQuery
from engine.store.series import StoredSeries
from engine.values.debate import ENDED, Debate, Status
from engine.values.errors import NotFoundError
from engine.values.language import N_, speaking
from engine.values.messages import File, LeagueTable, Outcome
from engine.values.ports import Clock
from engine.values.text import redact as redact_mentions
from engine.votes.close import read_reveal
from engine.words.result_picture import LETTERS, LINE, MARGIN, MOTION, WIDTH, result_picture
from engine.words.reveal import outcome_line
from engine.words.translation import say

# What takes long to work out, kept for a while: figures of a community, and its dataset.


T = TypeVar("T")
MOST = 32  # values
FRESH_SECONDS = 60.0  # in which more debates change nothing
LONGEST_SECONDS = 600.0  # that anything is kept, as people may have opted out meanwhile
SHARE = 20.0  # times what it took to work out, it is kept while debates are added


class _Extent(NamedTuple):
    """What a value rests on: how many debates, the newest moment in them, the last deletion."""

    debates: int
    newest: object = None
    deleted: str = ""


async def extent_of(archive: Archive, where: ExportFilter) -> _Extent:
    """Return what a value of the debates of a filter rests on now."""

    def read() -> _Extent:
        return _Extent(archive.size(where), archive.newest(where), archive.last_deletion())

    return await asyncio.to_thread(read)


@dataclass(frozen=True, slots=True)
class _Value:
    extent: _Extent
    made_at: float
    took: float
    value: Any

    def holds(self, extent: _Extent, now: float) -> bool:
        """Return whether it still stands: never once a debate was deleted."""
        age = now - self.made_at
        fewer = extent.debates < self.extent.debates  # whatever took one out
        if fewer or extent.deleted != self.extent.deleted or age > LONGEST_SECONDS:
            return False
        return extent == self.extent or age < max(FRESH_SECONDS, SHARE * self.took)


class Kept:
    """Values by key, worked out one at a time, as each keeps a thread busy with Python.

    Every process has its own: they are as good as what is stored, and nothing else rests on them.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock, self._lock = most, clock, asyncio.Lock()
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    async def get(self, key: Hashable, extent: _Extent, make: Callable[[], Awaitable[T]]) -> T:
        """Return a value that stands, worked out now if need be."""
        if (found := self._find(key, extent)) is None:
            async with self._lock:
                if (found := self._find(key, extent)) is None:
                    began = self._clock()
                    value = await make()
                    now = self._clock()
                    found = _Value(extent, now, now - began, value)
                    self._values[key] = found
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
        made: T = found.value
        return made

    def _find(self, key: Hashable, extent: _Extent) -> _Value | None:
        found = self._values.get(key)
        if found is None or not found.holds(extent, self._clock()):
            self._values.pop(key, None)
            return None
        self._values.move_to_end(key)
        return found


# The picture by which a link shows a debate whose result is sealed: the motion, and no names.


LINES, HEIGHT = 5, 320  # of the motion; pixels


def sealed_picture(topic: str, language: str) -> File:
    """Return the picture of a sealed debate as an SVG file, in the debate's language."""
    with speaking(language):
        sealed = say("Results stay sealed until the vote closes.")
    y, parts = MARGIN + MOTION + 20, []
    for text in wrap(topic, WIDTH - 2 * MARGIN, MOTION, LINES):
        parts.append(write(WIDTH / 2, y, text, "ink motion", "middle"))
        y += LINE
    said = fit(sealed, WIDTH - 2 * MARGIN, LETTERS)
    parts.append(write(WIDTH / 2, HEIGHT - MARGIN, said, "faint large", "middle"))
    alt = f"{topic}. {sealed}"
    svg = draw(topic, alt, WIDTH, HEIGHT, parts, headed=False)
    return File(name="debate.png", media="image/svg+xml", content=darken(svg), alt=alt)


NOTHING = N_("There is nothing at this address")
DISPUTED = 50  # debates in which jury and people disagree
MOST_DATASETS = 3  # in memory
MOST_BYTES = 64 * 2**20  # of a dataset to download
DEBATE_ID = re.compile(r"[0-9a-z]{26}")
KEY = re.compile(r"[0-9a-f]{20}")
LeagueReport: TypeAlias = tuple[bool, LeagueTable | None, ReportPage, dict[str, Picture]]


class CommunityPages(NamedTuple):
    """A community's pages: the key of their address, and which there are."""

    key: str
    parts: tuple[PublicPart, ...]


class PublicDebate(NamedTuple):
    """A part of a debate as everyone may read it; `told` is its outcome in a line.

    While it is `sealed`, that is empty, and the page names no model and holds no result.
    """

    place: CommunityPages | None
    shown: DebatePage
    sealed: bool
    told: str


class _LeagueLine(NamedTuple):
    """A league, a schedule or another series of a community."""

    name: str
    league: bool
    outcome: Outcome


class PublicReader:
    """Reads what is public; `export_key` is that of exports, and `version` goes into them."""

    def __init__(
        self, store: Store, clock: Clock, version: str, export_key: bytes | None = None
    ) -> None:
        self._store, self._clock = store, clock
        self._version, self._export_key = version, export_key
        self._kept, self._datasets = Kept(), Kept(MOST_DATASETS)
        self._library = StoredLibrary(store, operator=False, gate=self._show)

    # --- debates -------------------------------------------------------------------------

    async def debate(self, debate_id: str, number: int = 1) -> PublicDebate:
        """Return a part of a debate by its id, as its chat shows it. Raises NotFoundError."""
        debate, place = await self._find(debate_id)
        told = await self._is_told(debate)
        shown = await self._library.debate(debate.id, number)
        shown = shown._replace(item=shown.item._replace(models=(), series=""))
        if not told or shown.page.sealed:  # its mirror may have begun just now
            waits = shown.live or debate.status is Status.CLOSED
            return PublicDebate(place, shown._replace(live=waits), sealed=True, told="")
        with speaking(debate.request.language):
            outcome = outcome_line(await read_reveal(self._store, debate))
        return PublicDebate(
            place,
            shown,
            sealed=False,
            told=" ".join(re.sub(r"[*`_]", "", redact_mentions(outcome)).split()),
        )

    async def turn_text(self, debate_id: str, number: int) -> str:
        """Return a turn's whole text. Raises NotFoundError."""
        debate, _ = await self._find(debate_id)
        return await self._library.turn_text(debate.id, number)

    async def drawing(self, debate_id: str, name: str) -> Picture:
        """Return a picture of a debate's page, once its result is told. Raises NotFoundError."""
        debate, _ = await self._find(debate_id)
        return await self._library.picture(debate.id, name)

    async def pulse(self, debate_id: str) -> str:
        """Return what changes whenever a debate's page does. Raises NotFoundError."""
        debate, _ = await self._find(debate_id)
        return await self._library.pulse(debate.id)

    async def picture(self, debate_id: str, *, sealed: bool) -> File:
        """Return the preview of a debate, as SVG; the result's only once that is told."""
        debate, _ = await self._find(debate_id)
        if sealed:
            return sealed_picture(redact_mentions(debate.request.topic), debate.request.language)
        if not await self._is_told(debate):
            raise NotFoundError(NOTHING)
        return result_picture(await read_reveal(self._store, debate))

    async def _find(self, debate_id: str) -> tuple[Debate, CommunityPages | None]:
        """Return a public debate. Its short code leads nowhere, as codes can be guessed."""
        if not DEBATE_ID.fullmatch(debate_id):
            raise NotFoundError(NOTHING)
        debate = await self._store.debates.get(debate_id.upper())
        of = (debate.platform, debate.community)
        settings = await self._store.communities.get(*of)
        if PublicPart.DEBATES not in settings.public:
            raise NotFoundError(NOTHING)
        key = await self._store.communities.page(*of)
        return debate, CommunityPages(key, settings.public) if key else None

    async def _is_told(self, debate: Debate) -> bool:
        """Return whether its chat shows the result, and no one votes on its mirror any more."""
        if await where_revealed(self._store.outbox, debate) in (None, "waiting"):
            return False
        mirror = await self._store.debates.mirror_of(debate)
        return mirror is None or mirror.status in ENDED

    async def _show(self, debate: Debate) -> tuple[bool, int]:
        """Return whether its result is told, and how many turns its chat does not show yet."""
        told = await self._is_told(debate)
        if debate.status in ENDED:
            return told, 0
        return told, await self._store.outbox.undelivered_turns(debate.id)

    async def debates(self, key: str, words: str = "", number: int = 1) -> ListPage:
        """Return a page of a community's debates with some words, newest first, or the last."""
        shown, _ = await self._shown(key, PublicPart.DEBATES)
        sought = read_sought({"q": words})._replace(
            platform=shown.platform, community=shown.community, held=True
        )
        total = await self._store.listings.count(sought)
        pages = pages_of(total)
        number = min(number, pages)
        found = await self._store.listings.page(sought, (number - 1) * A_PAGE, A_PAGE)
        items = await self._items(found)
        return ListPage(sought, items, total, number, pages)

    async def _items(self, debates: Sequence[Debate]) -> tuple[Item, ...]:
        """Return debates as a public list shows them: results alone that their chats show."""
        where = ExportFilter(ids=tuple(one.id for one in debates), revealed=True, told=True)
        told = await asyncio.to_thread(self._store.archive.ids, where) if debates else ()
        return tuple(
            item._replace(series="", result=item.result._replace(usd=None))
            if item.id in told
            else item._replace(series="", models=(), result=ListedResult())
            for item in await list_items(self._store, debates)
        )

    # --- figures -------------------------------------------------------------------------

    async def place(self, key: str, part: PublicPart | None = None) -> CommunityPages:
        """Return a community's pages. Raises NotFoundError without them, or without the part."""
        return (await self._shown(key, part))[1]

    async def leaderboard(self, key: str) -> Leaderboard:
        """Return how people and jury rate the models."""
        shown, _ = await self._shown(key, PublicPart.LEADERBOARD)
        return await self._worked_out("leaderboard", shown, rank_models)

    async def agreement(self, key: str) -> tuple[Agreement, tuple[Item, ...]]:
        """Return how far both agree, and the debates where not, the furthest apart first."""
        shown, _ = await self._shown(key, PublicPart.AGREEMENT)
        figures = await self._worked_out("agreement", shown, measure_agreement)
        apart = DebateQuery(
            platform=shown.platform,
            community=shown.community,
            disagreement=True,
            without_rehearsal=True,
            order="disputed",
        )
        items = await self._items(await self._store.listings.page(apart, 0, DISPUTED))
        return figures, tuple(item for item in items if item.result.agree is False)

    async def rehearsals(self, key: str) -> int:
        """Return how many revealed debates figures leave out, as rehearsal models took part."""
        shown, _ = await self._shown(key, None)
        return await asyncio.to_thread(count_rehearsals, self._store.archive, _revealed(shown))

    async def _worked_out(
        self, kind: str, shown: PublicCommunity, make: Callable[[Sequence[Row]], T]
    ) -> T:
        where = _revealed(shown)

        def work() -> Awaitable[T]:
            return work_out(self._store.archive, where, make)

        extent = await extent_of(self._store.archive, where)
        return await self._kept.get((kind, where), extent, work)

    async def revealed(self, key: str) -> tuple[str, ...]:
        """Return the ids of the debates whose results figures, reports and the dataset hold."""
        shown, _ = await self._shown(key, None)
        where = replace(_revealed(shown), without_rehearsal=False)
        return await asyncio.to_thread(self._store.archive.ids, where)

    # --- leagues -------------------------------------------------------------------------

    async def leagues(self, key: str) -> tuple[_LeagueLine, ...]:
        """Return a community's leagues and schedules, the newest first."""
        shown, _ = await self._shown(key, PublicPart.LEAGUES)
        found = await self._store.series.of_community(shown.platform, shown.community)
        return tuple(map(_line, found))

    async def league(self, key: str, name: str) -> LeagueReport:
        """Return whether a series is a league, its standing, and the report of its debates."""
        shown, _ = await self._shown(key, PublicPart.LEAGUES)
        held = await self._store.series.of_community(shown.platform, shown.community)
        stored = next((one for one in held if one.name == name), None)
        if stored is None:
            raise NotFoundError(NOTHING)
        where = replace(_revealed(shown), series=name, without_rehearsal=False)
        return await self._kept.get(
            ("league", where),
            await extent_of(self._store.archive, where),
            lambda: self._report(stored),
        )

    async def _report(self, stored: StoredSeries) -> LeagueReport:
        rows = await read_series_rows(self._store.series, stored.name, told=True)
        if rows is None:
            raise NotFoundError(NOTHING)
        page, pictures = await asyncio.to_thread(_lay_out, rows, self._clock.now())
        series, table = Series.model_validate_json(rows.stored.body), None
        if series.league is not None:
            record = await read_record(self._store, series.league, rows.debates)
            outcome = _line(rows.stored).outcome
            table = table_of(series, series.league, record, outcome=outcome)
        return _line(stored).league, table, page, pictures

    # --- the dataset ---------------------------------------------------------------------

    async def dataset_size(self, key: str) -> int:
        """Return how many debates the dataset of a community has."""
        shown, _ = await self._shown(key, PublicPart.DATASET)
        return (await extent_of(self._store.archive, _revealed(shown))).debates

    async def dataset(self, key: str) -> Bundle:
        """Return the dataset of a community's revealed debates, at most some minutes old.

        Raises NotFoundError without any.
        """
        shown, _ = await self._shown(key, PublicPart.DATASET)
        where = _revealed(shown)
        wanted = ExportRequest(where, license=shown.settings.license)

        async def make() -> Bundle:
            return await export_zip(
                self._store,
                wanted,
                self._export_key,
                version=self._version,
                max_bytes=MOST_BYTES,
            )

        kept = ("dataset", where, wanted.license)
        return await self._datasets.get(kept, await extent_of(self._store.archive, where), make)

    async def _shown(
        self, key: str, part: PublicPart | None
    ) -> tuple[PublicCommunity, CommunityPages]:
        shown = await self._store.communities.shown(key) if KEY.fullmatch(key) else None
        if shown is None or (part is not None and part not in shown.settings.public):
            raise NotFoundError(NOTHING)
        return shown, CommunityPages(key, shown.settings.public)


def _revealed(shown: PublicCommunity) -> ExportFilter:
    return ExportFilter(
        platform=shown.platform,
        community=shown.community,
        revealed=True,
        without_rehearsal=True,
        told=True,
    )


def _lay_out(rows: SeriesRows, now: datetime) -> tuple[ReportPage, dict[str, Picture]]:
    """Report what was revealed; a model without a result may be debating now, so none is named."""
    report = make_report(rows, now)
    asked = report.experiment.model_copy(update={"models": ()})
    report = report.model_copy(update={"experiment": asked})
    return write_results(report), draw_report(report)


def _line(stored: StoredSeries) -> _LeagueLine:
    league = Series.model_validate_json(stored.body).league is not None
    going: Outcome = "going" if stored.due_at is not None and not stored.stop else "over"
    return _LeagueLine(stored.name, league, "stopped" if stored.stop else going)
