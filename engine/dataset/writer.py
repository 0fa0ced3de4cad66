"""Writing an export: every debate once through all tables, in constant memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import orjson

from engine.dataset.card import CARD, write_card
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.entry import Entry, make_entry, may_be_read, newest_moment
from engine.dataset.figures import Figures
from engine.dataset.folder import Staging, staged
from engine.dataset.manifest import MANIFEST, Filters, Manifest
from engine.dataset.tables import TABLES
from engine.dataset.topics import SPLITS
from engine.dataset.voters import Keys, Pseudonyms
from engine.errors import StoppedError
from engine.store import Archive, DebateRecord, ExportFilter, Store

Progress: TypeAlias = Callable[[int], None]
Rows: TypeAlias = dict[str, dict[str, int]]


async def export(
    store: Store,
    out: Path,
    where: ExportFilter,
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
            write_export, store.archive, where, out, keys, report, version=version
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
    where: ExportFilter,
    out: Path,
    keys: Keys,
    progress: Progress | None = None,
    *,
    version: str,
) -> Manifest:
    """Write the tables, the card and the manifest of all ended debates into a folder.

    `progress` is told how many debates are written, and 0 while they are still being looked
    through. Raises UsageError when `out` holds anything but an earlier export, ExportError when
    it cannot be written, StoreError when the debates cannot be read; `out` is then unchanged.
    """
    report = progress or _say_nothing
    with staged(out) as staging:
        cutoff = _find_cutoff(archive, where, report)
        voters = Pseudonyms(keys.master, where, cutoff)
        figures = Figures()
        rows = _no_rows()
        with _entries(archive, where, cutoff, voters, keys.splits) as entries:
            for done, entry in enumerate(entries, start=1):
                _append(staging, rows, entry)
                figures.count(entry)
                report(done)
        rows = _without_empty_splits(rows)
        staging.append(CARD, write_card(rows, figures, version).encode())
        manifest = Manifest(
            schema_version=SCHEMA_VERSION,
            rostrum=version,
            filters=_describe(where, voters),
            cutoff=cutoff,
            rows=rows,
            files=staging.files(),
        )
        staging.append(MANIFEST, manifest.encode())
    return manifest


def _say_nothing(done: int) -> None:
    """Report progress to nobody."""


def _find_cutoff(archive: Archive, where: ExportFilter, report: Progress) -> datetime | None:
    """Return the newest moment in the debates, up to which the export then reaches.

    The clock's time would make every repetition another export. The moment is a part of the key
    of the pseudonyms, so it has to be known before the first vote is written: that takes a
    reading of its own.
    """
    newest: datetime | None = None
    with archive.reading(where) as records:
        for record in _ended(records):
            moment = newest_moment(record.debate)
            newest = moment if newest is None else max(newest, moment)
            report(0)
    return newest


@contextmanager
def _entries(
    archive: Archive,
    where: ExportFilter,
    cutoff: datetime | None,
    voters: Pseudonyms,
    salt: bytes,
) -> Iterator[Iterator[Entry]]:
    """Yield the debates up to the cut-off; one revealed since is for the next export."""
    with archive.reading(where) as records:
        yield (
            make_entry(record, voters, salt)
            for record in _ended(records)
            if cutoff is not None and newest_moment(record.debate) <= cutoff
        )


def _ended(records: Iterator[DebateRecord]) -> Iterator[DebateRecord]:
    """Leave out whatever is sealed still, even if an archive should yield it."""
    return (record for record in records if may_be_read(record.debate))


def _append(staging: Staging, rows: Rows, entry: Entry) -> None:
    for table in TABLES:
        made = table.rows(entry)
        if made:
            lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in made]
            staging.append(f"data/{table.name}/{entry.split}.jsonl", b"".join(lines))
            rows[table.name][entry.split] += len(made)


def _no_rows() -> Rows:
    return {table.name: dict.fromkeys(SPLITS, 0) for table in TABLES}


def _without_empty_splits(rows: Rows) -> Rows:
    return {
        table: {split: number for split, number in by_split.items() if number}
        for table, by_split in rows.items()
    }


def _describe(where: ExportFilter, voters: Pseudonyms) -> Filters:
    community = where.community
    return Filters(
        community=None if community is None else voters.community(community),
        formats=tuple(sorted(where.formats)),
        languages=tuple(sorted(where.languages)),
    )
