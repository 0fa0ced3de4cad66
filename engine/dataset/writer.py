"""Writing an export: every debate once through all tables, in constant memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

import orjson

from engine.dataset.card import CARD, write_card
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.entry import Entry, make_entry, may_be_read, newest_moment
from engine.dataset.figures import Figures
from engine.dataset.folder import Staging, staged
from engine.dataset.manifest import MANIFEST, Filters, Manifest
from engine.dataset.mirrors import Mirrors, Pair
from engine.dataset.rowfiles import FileFormat, turn_into_parquet
from engine.dataset.tables import SAME_SIDE, Table, choose_tables
from engine.dataset.topics import SPLITS
from engine.dataset.voters import Keys, Pseudonyms
from engine.errors import StoppedError
from engine.store import Archive, ExportFilter, Store

Progress: TypeAlias = Callable[[int], None]
Rows: TypeAlias = dict[str, dict[str, int]]
PAIRS_AT_ONCE = 20  # mirrored pairs that are read again together


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an export is asked for: which debates, which tables (empty: all), in which files."""

    where: ExportFilter = field(default_factory=ExportFilter)
    tables: tuple[str, ...] = ()
    file_format: FileFormat = FileFormat.JSONL


async def export(
    store: Store,
    out: Path,
    wanted: Wanted | ExportFilter,
    master_key: bytes | None,
    *,
    version: str,
    progress: Progress | None = None,
) -> Manifest:
    """Write an export in a worker thread; see `write_export`.

    Without a master key the installation's own is used. `progress` is called in that thread.
    Cancelling it while the tables are written leaves `out` as it was.
    """
    keys = await keys_of(store, master_key)
    stopped = threading.Event()

    def report(done: int) -> None:
        if stopped.is_set():
            raise StoppedError("The export was stopped; its folder is as it was before.")
        if progress is not None:
            progress(done)

    try:
        return await asyncio.to_thread(
            write_export, store.archive, wanted, out, keys, report, version=version
        )
    finally:
        stopped.set()


async def keys_of(store: Store, master_key: bytes | None) -> Keys:
    """Return what exports are keyed with; without a master key, the installation's own."""
    return Keys(
        splits=await store.debates.secret("splits"),
        master=master_key or await store.debates.secret("export"),
    )


def write_export(
    archive: Archive,
    wanted: Wanted | ExportFilter,
    out: Path,
    keys: Keys,
    progress: Progress | None = None,
    *,
    version: str,
) -> Manifest:
    """Write the tables, the card and the manifest of all ended debates into a folder.

    A filter alone means all tables, as JSON lines. `progress` is told how many debates are
    written. Raises UsageError when `out` holds anything but an earlier export, or for a table
    or a library that does not exist, ExportError when it cannot be written, StoreError when the
    debates cannot be read; `out` is then unchanged.
    """
    asked = Wanted(wanted) if isinstance(wanted, ExportFilter) else wanted
    tables, report = choose_tables(asked.tables), progress or _say_nothing
    asked.file_format.check()
    with staged(out) as staging:
        cutoff = archive.newest(asked.where)
        voters = Pseudonyms(keys.master, asked.where, cutoff, asked.tables)
        writing = _Writing(archive, staging, tables, voters, keys.splits)
        done = writing.write(asked.where, cutoff, report)
        if asked.file_format is FileFormat.PARQUET:
            turn_into_parquet(staging, tables, SPLITS, partial(report, done))
        report(done)
        rows, figures = _without_empty_splits(writing.rows), writing.figures
        card = write_card(rows, figures, version, asked.file_format)
        staging.append(CARD, card.encode())
        manifest = Manifest(
            schema_version=SCHEMA_VERSION,
            rostrum=version,
            filters=_describe(asked, voters),
            cutoff=cutoff,
            rows=rows,
            files=staging.files(),
        )
        staging.append(MANIFEST, manifest.encode())
    return manifest


@dataclass(slots=True)
class _Writing:
    """One way through the archive, and what has come of it so far."""

    archive: Archive
    staging: Staging
    tables: tuple[Table, ...]
    voters: Pseudonyms
    salt: bytes
    figures: Figures = field(default_factory=Figures)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = {table.name: dict.fromkeys(SPLITS, 0) for table in self.tables}

    def write(self, where: ExportFilter, cutoff: datetime | None, report: Progress) -> int:
        """Write debates up to the cut-off, then pairs of mirrors; return how many debates.

        A debate revealed since is for the next export: the clock's time as a cut-off would make
        every repetition another export, so it is the newest moment in the debates.
        """
        report(0)
        if cutoff is None:
            return 0
        mirrors, done = Mirrors(), 0
        with self._entries(where) as entries:
            for entry in entries:
                if newest_moment(entry.debate) <= cutoff:
                    self._append(entry, self.tables)
                    self.figures.count(entry)
                    mirrors.note(entry)
                    done += 1
                    report(done)
        pairs = mirrors.pairs if SAME_SIDE in self.tables else []
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            self._write_pairs(pairs[first : first + PAIRS_AT_ONCE])
            report(done)
        return done

    @contextmanager
    def _entries(self, where: ExportFilter) -> Iterator[Iterator[Entry]]:
        """Yield debates; what is sealed still is left out, even if an archive should yield it."""
        with self.archive.reading(where) as records:
            ended = (record for record in records if may_be_read(record.debate))
            yield (make_entry(record, self.voters, self.salt) for record in ended)

    def _write_pairs(self, pairs: Sequence[Pair]) -> None:
        """Read mirrored debates again, as nobody keeps every text until its mirror comes."""
        ids = tuple(debate for pair in pairs for debate in pair)
        with self._entries(ExportFilter(ids=ids)) as entries:
            found = {entry.debate.id: entry for entry in entries}
        for first, second in pairs:
            # Either may have been purged a moment ago.
            if first in found and second in found:
                self._append(replace(found[first], mirror=found[second]), (SAME_SIDE,))

    def _append(self, entry: Entry, tables: Iterable[Table]) -> None:
        for table in tables:
            made = table.rows(entry)
            if made:
                lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in made]
                path = FileFormat.JSONL.path(table.name, entry.split)
                self.staging.append(path, b"".join(lines))
                self.rows[table.name][entry.split] += len(made)


def _say_nothing(done: int) -> None:
    """Report progress to nobody."""


def _without_empty_splits(rows: Rows) -> Rows:
    return {
        table: {split: number for split, number in by_split.items() if number}
        for table, by_split in rows.items()
    }


def _describe(asked: Wanted, voters: Pseudonyms) -> Filters:
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
        tables=tuple(table.name for table in choose_tables(asked.tables)) if asked.tables else (),
    )
