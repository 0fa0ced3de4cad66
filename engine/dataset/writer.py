"""Writes an export: every debate once through all tables, in constant memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import orjson

from engine.dataset.card import CARD, ExportFigures, write_card
from engine.dataset.columns import SCHEMA_VERSION, Table
from engine.dataset.croissant import CROISSANT, write_croissant
from engine.dataset.entry import (
    Entry,
    Keys,
    LabelSource,
    Pseudonyms,
    make_entry,
    may_be_read,
    newest_moment,
)
from engine.dataset.folder import (
    MANIFEST,
    FileFormat,
    Filters,
    Manifest,
    Staging,
    staged,
)
from engine.dataset.people_tables import VOTES
from engine.dataset.preferences import SAME_SIDE, Mirrors
from engine.dataset.tables import PROMPTS, choose_tables
from engine.store import Archive, ExportFilter, Store
from engine.values.errors import NotFoundError, StoppedError, UsageError
from engine.values.topics import SPLITS
from engine.values.verdicts import Question

if TYPE_CHECKING:
    from engine.dataset.layouts import ExportLayout

Rows: TypeAlias = dict[str, dict[str, int]]
PAIRS_AT_ONCE = 20  # mirrored pairs read again at once


class ExportStage(Enum):
    """The stages of an export; Parquet is converted from the written JSON lines."""

    LINES = auto()
    MIRRORS = auto()
    PARQUET = auto()


class ExportProgress(NamedTuple):
    """The progress of a stage: in debates, mirrored pairs or bytes of lines."""

    stage: ExportStage
    done: int
    total: int


Report: TypeAlias = Callable[[ExportProgress], None]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The request for an export: debates, tables (empty: all), file format, licence (SPDX id).

    With a `layout` it is the folder of another tool, instead of tables. `secrets` are removed from
    prompts and replies. `labels` says whose winner makes pairs of cases, and `flawed` whether turns
    with flaws do, too.
    """

    where: ExportFilter = field(default_factory=ExportFilter)
    tables: tuple[str, ...] = ()
    file_format: FileFormat = FileFormat.JSONL
    license: str | None = None
    layout: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    labels: LabelSource = "chat"
    flawed: bool = False


async def export(
    store: Store,
    out: Path,
    wanted: ExportRequest | ExportFilter,
    master_key: bytes | None,
    *,
    version: str,
    report: Report | None = None,
) -> Manifest:
    """Write an export in a worker thread; see `write_export`.

    Without a master key the installation's own is used. `report` is called in that thread.
    Cancelling it leaves `out` unchanged.
    """
    keys = await keys_of(store, master_key)
    stopped = threading.Event()

    def go_on(headway: ExportProgress) -> None:
        if stopped.is_set():
            raise StoppedError("The export was stopped; its folder is unchanged.")
        if report is not None:
            report(headway)

    try:
        return await asyncio.to_thread(
            write_export, store.archive, wanted, out, keys, go_on, version=version
        )
    finally:
        stopped.set()


async def keys_of(store: Store, master_key: bytes | None) -> Keys:
    """Return the keys of exports; without a master key, the installation's own."""
    return Keys(
        splits=await store.debates.secret("splits"),
        master=master_key or await store.debates.secret("export"),
    )


def write_export(
    archive: Archive,
    wanted: ExportRequest | ExportFilter,
    out: Path,
    keys: Keys,
    report: Report | None = None,
    *,
    version: str,
) -> Manifest:
    """Write the tables, the card and the manifest of all ended debates into a folder.

    A filter alone means all tables as JSON lines. `report` gets the progress, and may raise. Raises
    UsageError if `out` contains anything but an earlier export, or for an unknown table or missing
    library; NotFoundError if no debate is selected; ExportError if it cannot be written; StoreError
    if the debates cannot be read. `out` is then unchanged.
    """
    asked = ExportRequest(wanted) if isinstance(wanted, ExportFilter) else wanted
    tables, report = choose_tables(asked.tables), report or (lambda headway: None)
    layout = _check(asked)
    with staged(out) as staging:
        written = _write_lines(archive, staging, asked, layout, keys, report)
        # A layout has rows for some debates only; a table may have none for any.
        if not (any(written.rows.values()) if layout else written.cutoff):
            raise NotFoundError(_nothing(asked))
        if asked.file_format is FileFormat.PARQUET:
            from engine.dataset.conversion import turn_into_parquet  # 40 MB, for one option

            turn_into_parquet(
                staging,
                tables,
                SPLITS,
                lambda *done: report(ExportProgress(ExportStage.PARQUET, *done)),
            )
        _write_about(staging, written, asked, layout, version)
        manifest = Manifest(
            schema_version=SCHEMA_VERSION,
            layout=asked.layout,
            rostrum=version,
            filters=written.filters,
            cutoff=written.cutoff,
            rows=written.rows,
            files=staging.files(),
        )
        staging.append(MANIFEST, manifest.encode())
    return manifest


def _write_about(
    staging: Staging,
    written: _WrittenLines,
    asked: ExportRequest,
    layout: ExportLayout | None,
    version: str,
) -> None:
    """Write the card and the Croissant metadata."""
    metadata = write_croissant(
        staging.files(),
        () if layout else choose_tables(asked.tables),
        written.rows,
        asked.file_format,
        cutoff=written.cutoff,
        license=asked.license,
    )
    made = (written.rows, written.figures, version)
    if layout:
        card = layout.card(*made, asked.license)
    else:
        card = write_card(*made, asked.file_format, asked.license)
    staging.append(CARD, card.encode())
    staging.append(CROISSANT, metadata)


def _check(asked: ExportRequest) -> ExportLayout | None:
    """Return the layout, if one is asked for. Raises UsageError for what cannot be written."""
    asked.file_format.check()
    if not asked.layout:
        return None
    if asked.tables or asked.file_format is not FileFormat.JSONL:
        raise UsageError("A layout has its own files; leave out --tables and --prompts.")
    from engine.dataset.layouts import find_layout  # few exports have one

    return find_layout(asked.layout)


class _WrittenLines(NamedTuple):
    """The results of writing the lines."""

    cutoff: datetime | None
    filters: Filters
    rows: Rows
    figures: ExportFigures


def _write_lines(
    archive: Archive,
    staging: Staging,
    asked: ExportRequest,
    layout: ExportLayout | None,
    keys: Keys,
    report: Report,
) -> _WrittenLines:
    """Write every table as JSON lines; pseudonyms are forgotten afterwards."""
    where = replace(asked.where, settled=True)
    cutoff = archive.newest(where)
    voters = Pseudonyms(keys.master, where, cutoff, asked.tables, asked.labels, flawed=asked.flawed)
    append = staging.draft if asked.file_format is FileFormat.PARQUET else staging.append
    if layout:
        writing = layout.writing(archive, append, voters, keys.splits, asked)
    else:
        chosen = choose_tables(asked.tables)
        writing = Writing(archive, append, chosen, voters, keys.splits, asked)
    writing.write(where, cutoff, report)
    rows = {
        table: {split: number for split, number in by_split.items() if number}
        for table, by_split in writing.rows.items()
    }
    return _WrittenLines(cutoff, _describe(asked, voters), rows, writing.figures)


@dataclass(slots=True)
class Writing:
    """One pass through the archive, and its results so far."""

    archive: Archive
    append: Callable[[str, bytes], None]
    tables: tuple[Table[Any], ...]
    voters: Pseudonyms
    salt: bytes
    asked: ExportRequest
    figures: ExportFigures = field(default_factory=ExportFigures)
    chances: Mapping[str, float] = field(default_factory=dict)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = {table.name: dict.fromkeys(SPLITS, 0) for table in self.tables}

    def write(self, where: ExportFilter, cutoff: datetime | None, report: Report) -> None:
        """Write debates up to the cut-off, then mirrored pairs.

        Debates revealed since are for the next export. The cut-off is the newest time in the
        debates, not the clock's, so that a repeated export is the same.
        """
        total = self.archive.size(where)
        report(ExportProgress(ExportStage.LINES, 0, total))
        if cutoff is None:
            return
        self._calibrate(where, cutoff)
        mirrors, done = Mirrors(), 0
        with self._entries(where) as entries:
            for entry in entries:
                if newest_moment(entry.debate) <= cutoff:
                    self.put(entry, self.tables)
                    self.figures.count(entry)
                    mirrors.note(entry)
                    done += 1
                    report(ExportProgress(ExportStage.LINES, done, total))
        pairs = mirrors.pairs if SAME_SIDE in self.tables else []
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            report(ExportProgress(ExportStage.MIRRORS, first, len(pairs)))
            self._write_pairs(pairs[first : first + PAIRS_AT_ONCE])

    def _calibrate(self, where: ExportFilter, cutoff: datetime) -> None:
        """Measure how far votes agree with the others, in debates that asked how clear it was."""
        if VOTES not in self.tables:
            return
        with self.archive.reading(replace(where, asked=Question.CONFIDENCE)) as records:
            first = next(records, None)
            if first is None:
                return
            from engine.stats.confidence import chances, compare  # few debates ask that

            self.chances = chances(
                sure
                for record in chain((first,), records)
                if may_be_read(record.debate) and newest_moment(record.debate) <= cutoff
                for sure in compare(record.asked(Question.VOTE), tuple(record.debate.request.sides))
            )

    @contextmanager
    def _entries(self, where: ExportFilter) -> Iterator[Iterator[Entry]]:
        """Yield debates, without sealed ones, even if the archive should yield one."""
        where = replace(where, prompts=PROMPTS in (table.name for table in self.tables))
        with self.archive.reading(where) as records:
            ended = (record for record in records if may_be_read(record.debate))
            entries = (make_entry(record, self.voters, self.salt) for record in ended)
            yield (
                replace(
                    one,
                    chances=self.chances,
                    secrets=self.asked.secrets,
                    by=self.asked.labels,
                    flawed=self.asked.flawed,
                )
                for one in entries
            )

    def _write_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Read mirrored debates again: keeping texts for their mirrors takes too much memory."""
        ids = tuple(debate for pair in pairs for debate in pair)
        with self._entries(ExportFilter(ids=ids)) as entries:
            found = {entry.debate.id: entry for entry in entries}
        for first, second in pairs:
            # Either may have been purged meanwhile.
            if first in found and second in found:
                self.put(replace(found[first], mirror=found[second]), (SAME_SIDE,))

    def put(self, entry: Entry, tables: Iterable[Table[Any]]) -> None:
        """Append the rows that a debate has in these tables."""
        for table in tables:
            made = table.rows(entry)
            if made:
                lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in made]
                path = FileFormat.JSONL.path(table.name, entry.split)
                self.append(path, b"".join(lines))
                self.rows[table.name][entry.split] += len(made)


def _nothing(asked: ExportRequest) -> str:
    """Say that an export would be empty."""
    if asked.layout:
        return f"None of these debates fits the layout {asked.layout}, so nothing was exported."
    if replace(asked.where, without_rehearsal=False) == ExportFilter():
        return "No debate to export has ended yet, so nothing was exported."
    return "No ended debate matches these filters, so nothing was exported."


def _describe(asked: ExportRequest, voters: Pseudonyms) -> Filters:
    where = asked.where
    return Filters(
        platform=where.platform,
        community=None if where.community is None else voters.community(where.community),
        revealed=where.revealed,
        formats=tuple(sorted(where.formats)),
        languages=tuple(sorted(where.languages)),
        since=where.since,
        until=where.until,
        quorum_met=where.quorum_met,
        without_rehearsal=where.without_rehearsal,
        series=where.series,
        ids=tuple(sorted(where.ids)),
        tables=tuple(table.name for table in choose_tables(asked.tables)) if asked.tables else (),
        labels="" if asked.labels == "chat" else asked.labels,
        flawed=asked.flawed,
    )
