"""Pages of an export's folder: what it does not hold is left out."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from math import fsum
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import BaseModel, ValidationError

from engine.dataset.columns import SCHEMA_VERSION, moment
from engine.dataset.debate_table import read_record
from engine.dataset.findings_tables import retrieved
from engine.dataset.folder import MANIFEST, ExportedFile, FileFormat, Manifest
from engine.dataset.page import ReportedDebate, lay_out
from engine.dataset.tables import every_table
from engine.drawing import Picture
from engine.pages.assembly import PageSources, assemble, call_page, calls_page, tries_of, whole_text
from engine.pages.debate_page import (
    A_PAGE,
    SPOKEN,
    CallPage,
    CallsPage,
    DebatePage,
    ListPage,
    TurnsPart,
    figures_of,
    front_of,
    item_of,
    outline,
    pages_of,
)
from engine.pages.head import DebateSituation, Item, Rows, mirror_and_rematches
from engine.pages.sections import report_sections
from engine.pages.stored import UNKNOWN
from engine.pages.timeline import picture_of
from engine.store import DebateRecord
from engine.store.debates import ListedResult, result_of
from engine.store.listings import UNCHOSEN, DebateQuery, DebateSummary
from engine.store.usage import UsageTotals
from engine.values.debate import Source
from engine.values.errors import MISFITS, NotFoundError, StoreError, UsageError
from engine.values.language import speaking
from engine.values.text import headline, redact
from engine.votes.close import reveal_in

Row: TypeAlias = Mapping[str, Any]
UNREADABLE = "The export in {folder} is damaged: {file} cannot be read. Export it again."
OLDER = (
    "The export in {folder} has schema version {found}, and this Rostrum reads version {known}: "
    "export the debates again, or view them with Rostrum {rostrum}, which wrote it."
)
NEWER = (
    "The export in {folder} has schema version {found}, and this Rostrum reads version {known}: "
    "update it to Rostrum {rostrum}, which wrote the export, or export the debates again with this."
)
PROMPTS, DEBATES, RECORDS = "prompts", "debates", "records"
BY_NAME = {table.name: table for table in every_table()}
DAMAGE = (*MISFITS, OSError)
# As `engine/store/listings.py` sorts; those that are alike stay as they were, the newest first.
ORDER: Mapping[str, Callable[[Item], float]] = {
    "": lambda item: 0.0,
    "disputed": lambda item: -_or(item.result.dispute, -1),
    "closest": lambda item: _or(item.result.lead, 2),
    "dearest": lambda item: -_or(item.result.usd, -1),
}


class _RowPlace(NamedTuple):
    """Where a row is: a file, and the beginning and end of its line."""

    path: Path
    start: int
    end: int


class _Written(BaseModel):
    """Which version of Rostrum wrote an export, and the version of its tables; of any version."""

    kind: Literal["rostrum-export"]
    schema_version: int
    rostrum: str
    files: tuple[ExportedFile, ...]


def check_folder(folder: Path) -> Manifest:
    """Return the manifest of an export's folder. Raises UsageError for anything else."""
    try:
        if not (folder / MANIFEST).is_file():
            raise FileNotFoundError
        body = (folder / MANIFEST).read_bytes()
        written = _Written.model_validate_json(body)
        found = written.schema_version
        if found != SCHEMA_VERSION:
            told = OLDER if found < SCHEMA_VERSION else NEWER
            known, rostrum = SCHEMA_VERSION, written.rostrum
            raise UsageError(told.format(folder=folder, found=found, known=known, rostrum=rostrum))
        manifest = Manifest.model_validate_json(body)
    except (OSError, ValidationError):
        raise UsageError(
            f"{folder} is not an export of Rostrum: it has no readable {MANIFEST}."
        ) from None
    if manifest.layout:
        raise UsageError(
            f"The export in {folder} is laid out for {manifest.layout}; name one without a layout."
        )
    for table in (DEBATES, RECORDS):
        if table not in manifest.rows:
            raise UsageError(
                f"The export in {folder} has no table “{table}”; export it again with that table."
            )
    return manifest


class FolderLibrary:
    """The debates of an export as pages. Its lines are read once for where each debate's are."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._manifest = folder, check_folder(folder)
        self._lines: dict[str, dict[str, list[_RowPlace]]] = defaultdict(lambda: defaultdict(list))
        self._tables: dict[str, dict[str, list[Row]]] = {}
        self._items: dict[str, Item] = {}
        self._codes: dict[str, Item] = {}
        self._rematches: dict[str, list[str]] = defaultdict(list)
        self._latest: tuple[str, Rows] = ("", {})
        try:
            self._open()
        except DAMAGE as error:
            raise UsageError(UNREADABLE.format(folder=folder, file=error)) from error

    async def find(self, sought: DebateQuery, number: int) -> ListPage:
        """Return a page of a list, or its last one."""
        wider = sought._replace(**UNCHOSEN)
        among = [item for item in self._items.values() if self._is_sought(item, wider)]
        facets = Counter(
            (item.state, item.format, item.language, item.result.agree is False) for item in among
        )
        kept = [item for item in among if self._is_sought(item, sought)]
        kept.sort(key=ORDER[sought.order])
        count = pages_of(len(kept))
        number = min(number, count)
        start = (number - 1) * A_PAGE
        items = tuple(kept[start : start + A_PAGE])
        front = None
        if sought == DebateQuery(order=sought.order):
            apart = [item for item in kept if item.result.agree is False]
            front = front_of(facets, self._figures, sorted(apart, key=ORDER["disputed"]))
        every = self._items.values()
        choices = DebateSummary(
            languages=tuple(sorted({item.language for item in every})),
            series=tuple(sorted({item.series for item in every if item.series})),
            models=tuple(sorted({ref for item in every for _, ref in item.models})),
        )
        return ListPage(sought, items, len(kept), number, count, choices, facets, front)

    async def debate(self, name: str, part: int = 0, turn: int = 0) -> DebatePage:
        """Return a part of a debate: the one of a number, or with a turn; else the first."""
        with self._sound(name):
            found, record = await asyncio.to_thread(self._found, name)
            parts = outline(record.turns)
            number = parts.choose(part, turn)
            first, last = parts.bounds[number - 1]
            shown = tuple(one for one in record.turns if first <= one.number <= last)
            return assemble(found, TurnsPart(number, len(parts.bounds), shown))

    @property
    def ids(self) -> tuple[str, ...]:
        """The debates, the newest first."""
        return tuple(self._items)

    async def report(self, name: str) -> ReportedDebate:
        """Return a debate as one page."""
        with self._sound(name):
            found, record = await asyncio.to_thread(self._found, name)
            debate, rows = found.debate, found.rows or {}
            with speaking(debate.request.language):
                page = lay_out(debate, record.turns, found.reveal, found.ballots, found.looked_up)
                took = map(_usage, rows.get("calls", ()))
                sections = report_sections(rows, (), took, debate.setup.called)
            return page._replace(sections=sections)

    async def place(self, name: str, turn: int) -> tuple[Item, int]:
        """Return a debate and the number of the part that has a turn."""
        with self._sound(name):
            record = _record_of(await asyncio.to_thread(self._rows, name))
            return self._item(name), outline(record.turns).choose(0, turn)

    async def calls(self, name: str, number: int = 1) -> CallsPage:
        """Return a page of a debate's calls."""
        with self._sound(name):
            item, rows = self._item(name), await asyncio.to_thread(self._rows, name)
            tries = tries_of(rows.get("calls", ()), rows.get("turns", ()))
            return calls_page(item, tries, number, kept=bool(rows.get(PROMPTS)))

    async def call_of(self, name: str, step: str) -> tuple[Item, int]:
        """Return a debate and the number of the last try of a step's call."""
        with self._sound(name):
            item, rows = self._item(name), await asyncio.to_thread(self._rows, name)
            tries = tries_of(rows.get("calls", ()), rows.get("turns", ()))
            number = max((one.number for one in tries if one.step == step), default=0)
            if not number:
                raise NotFoundError(UNKNOWN)
            return item, number

    async def call(self, name: str, number: int) -> CallPage:
        """Return a call with what was asked and answered, if the export holds it."""
        with self._sound(name):
            item, rows = self._item(name), await asyncio.to_thread(self._rows, name)
            tries = tries_of(rows.get("calls", ()), rows.get("turns", ()))
            if not 1 <= number <= len(tries):
                raise NotFoundError(UNKNOWN)
            call = tries[number - 1]
            same = (
                one
                for one in rows.get(PROMPTS, ())
                if (one["step"], one["attempt"]) == (call.step, call.attempt)
            )
            return call_page(item, tries, number, next(same, None))

    async def picture(self, name: str, picture: str) -> Picture:
        """Return a picture of a debate's page."""
        with self._sound(name):
            found, _ = await asyncio.to_thread(self._found, name)
            setup = found.debate.setup
            drawn = picture_of(found.rows or {}, setup.called, picture, setup.request.language)
            if drawn is None:
                raise NotFoundError(UNKNOWN)
            return drawn

    async def turn_text(self, name: str, turn: int) -> str:
        """Return a turn's whole text, as voters read it."""
        with self._sound(name):
            record = _record_of(await asyncio.to_thread(self._rows, name))
            text = whole_text(record.debate, record.turns, turn)
            if text is None:
                raise NotFoundError(UNKNOWN)
            return text

    async def pulse(self, name: str) -> str:
        """Return what changes when a page does: nothing does."""
        return self._item(name).id

    # --- the files -----------------------------------------------------------------------

    def _open(self) -> None:
        top = self._folder.resolve()
        for file in self._manifest.files:
            table, path = Path(file.path).parent.name, self._folder / file.path
            if not path.resolve().is_relative_to(top):  # a stranger's export may name any file
                raise UsageError(
                    f"The export in {self._folder} is damaged: {file.path} is not in it. "
                    "Export it again."
                )
            if path.exists() and not path.is_file():  # reading a pipe would wait for ever
                raise ValueError(f"{file.path} is no file")
            if table not in BY_NAME:
                continue
            if path.suffix == f".{FileFormat.PARQUET}":
                self._load(table, path)
            elif path.suffix == f".{FileFormat.JSONL}":
                self._index(table, path)
        found, decided = [], list[tuple[str, str, str]]()
        for debate in {**self._lines[DEBATES], **self._tables.get(DEBATES, {})}:
            row = self._read(DEBATES, debate)[0]
            record = _record_of({RECORDS: self._read(RECORDS, debate)})
            reveal = reveal_in(record, row["n_calls"], row["cost_usd"])
            result = result_of(reveal) if reveal else ListedResult(usd=row["cost_usd"])
            found.append(item_of(record.debate, result=result))
            self._rematches[record.debate.setup.rematch_of or ""].append(record.debate.id)
            if result.people and result.jury and result.agree is not None and not row["rehearsal"]:
                decided.append((redact(record.debate.request.topic), result.people, result.jury))
        for item in sorted(found, key=lambda item: (item.held, item.id), reverse=True):
            self._items[item.id] = item
            self._codes.setdefault(item.code, item)
        usd = fsum(item.result.usd or 0.0 for item in found)
        self._figures = figures_of(tuple(decided), usd)

    def _index(self, table: str, path: Path) -> None:
        start = 0
        with path.open("rb") as file:
            for line in file:
                end = start + len(line)
                before, mark, after = line.partition(b'"debate_id":"')
                first = mark and before == b"{"  # its first column, which is read without the rest
                debate = after[:26].decode() if first else str(orjson.loads(line)["debate_id"])
                self._lines[table][debate].append(_RowPlace(path, start, end))
                start = end

    def _load(self, table: str, path: Path) -> None:
        """Keep a Parquet file's rows: it has no lines to read singly."""
        if find_spec("pyarrow") is None:
            raise UsageError(
                "Reading Parquet needs pyarrow, which is not installed; install it with pip "
                "install 'pyarrow>=22', or export as jsonl."
            )
        from engine.dataset.parquet import read_rows

        kept = self._tables.setdefault(table, defaultdict(list))
        for row in read_rows(path):
            kept[row["debate_id"]].append(
                {
                    name: (moment(cell) if isinstance(cell, datetime) else cell)
                    for name, cell in row.items()
                }
            )

    def _read(self, table: str, debate: str) -> list[Row]:
        if table in self._tables:
            rows = list(self._tables[table].get(debate, ()))
        else:
            rows = []
            for line in self._lines[table].get(debate, ()):
                with line.path.open("rb") as file:
                    file.seek(line.start)
                    rows.append(orjson.loads(file.read(line.end - line.start)))
        if not all(map(BY_NAME[table].fits, rows)):
            raise ValueError(f"a row of “{table}”")
        return rows

    # --- a debate ------------------------------------------------------------------------

    @contextmanager
    def _sound(self, name: str) -> Iterator[None]:
        """Raise StoreError for rows that are no debate's."""
        try:
            yield
        except DAMAGE as error:
            told = UNREADABLE.format(folder=self._folder, file=f"debate {headline(name, 26)}")
            raise StoreError(told) from error

    def _item(self, name: str) -> Item:
        known = self._items.get(name.upper()) or self._codes.get(name.lower())
        if known is None:
            raise NotFoundError(f"There is no debate {name!r} in this export; see the list.")
        return known

    def _rows(self, name: str) -> Rows:
        """Return everything that the export has of a debate."""
        debate = self._item(name).id
        latest, known = self._latest
        if latest == debate:
            return known
        names = {*self._lines, *self._tables}
        rows: dict[str, list[Row]] = {table: self._read(table, debate) for table in names}
        self._latest = debate, rows
        return rows

    def _found(self, name: str) -> tuple[PageSources, DebateRecord]:
        rows = self._rows(name)
        record, row = _record_of(rows), rows[DEBATES][0]
        debate, sources = record.debate, retrieved(record.artifacts)
        mirror, before = (
            one if one in self._items else None for one in (debate.mirror, debate.setup.rematch_of)
        )
        linked = mirror_and_rematches(mirror, before, self._rematches.get(debate.id, ()))
        spoken = outline(record.turns).spoken
        found = PageSources(
            self._item(name),
            debate,
            spoken,
            reveal=reveal_in(record, row["n_calls"], row["cost_usd"]),
            ballots=record.ballots,
            looked_up=[Source(title=one["title"], text=one["text"]) for one in sources],
            rows={**rows, SPOKEN: spoken},
            calls=row["n_calls"],
            usd=row["cost_usd"],
            judgings=record.judgings,
            situation=DebateSituation(linked=linked),
        )
        return found, record

    # --- the list ------------------------------------------------------------------------

    def _is_sought(self, item: Item, sought: DebateQuery) -> bool:
        topic = item.topic.casefold()
        plain = ("format", "language", "platform", "community", "series")
        return (
            all(w.casefold() in topic or item.code.startswith(w.lower()) for w in sought.words)
            and all(getattr(sought, one) in ("", getattr(item, one)) for one in plain)
            and sought.status in (None, item.state)
            and not sought.interrupted
            and (not sought.model or sought.model in dict(item.models).values())
            and (not sought.disagreement or item.result.agree is False)
        )


def _usage(call: Row) -> UsageTotals:
    """Return what a row of the calls took."""
    return UsageTotals(
        key=call["model_asked"],
        role="",
        debates=1,
        calls=1,
        failed=int(not call["answered"]),
        lost=int(call["lost"]),
        tokens_in=call["tokens_in"] or 0,
        tokens_out=call["tokens_out"] or 0,
        tokens_reasoning=0,  # which a report does not tell
        tokens_cached=call["tokens_cached"] or 0,
        usd=call["cost_usd"] or 0.0,
        unpriced=int(call["cost_usd"] is None),
    )


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _record_of(rows: Rows) -> DebateRecord:
    return read_record(rows[RECORDS][0]["record"])
