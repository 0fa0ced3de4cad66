"""Writes an export: every debate once through all tables, in constant memory."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.dataset.card import CARD, write_card
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.croissant import CROISSANT, write_croissant
from engine.dataset.entry import Keys, Pseudonyms
from engine.dataset.folder import MANIFEST, FileFormat, Filters, Manifest, Staging, staged
from engine.dataset.tables import (
    ExportFigures,
    ExportRequest,
    ExportStage,
    Report,
    Rows,
    Writing,
    choose_tables,
)
from engine.store import Archive, ExportFilter, Store
from engine.values.errors import NotFoundError, StoppedError, UsageError
from engine.values.topics import SPLITS

if TYPE_CHECKING:
    from engine.dataset.layouts import ExportLayout


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

    def go_on(stage: ExportStage, done: int, total: int) -> None:
        if stopped.is_set():
            raise StoppedError("The export was stopped; its folder is unchanged.")
        if report is not None:
            report(stage, done, total)

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
    library; NotFoundError if no debate is selected; RostrumError if it cannot be written; and
    StoreError if the debates cannot be read. `out` is then unchanged.
    """
    asked = ExportRequest(wanted) if isinstance(wanted, ExportFilter) else wanted
    tables, report = choose_tables(asked.tables), report or (lambda *headway: None)
    layout = _check(asked)
    with staged(out) as staging:
        written = _write_lines(archive, staging, asked, layout, keys, report)
        # A layout has rows for some debates only; a table may have none for any.
        if not (any(written.rows.values()) if layout else written.cutoff):
            raise NotFoundError(_nothing(asked))
        if asked.file_format is FileFormat.PARQUET:
            from engine.dataset.conversion import turn_into_parquet  # 40 MB, for one option

            turn_into_parquet(staging, tables, SPLITS, lambda *done: report("PARQUET", *done))
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
