"""`rostrum export` and `rostrum migrate`."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, get_args

from adapters.storage.migrate import migrate
from adapters.storage.store import SqlStore
from bot import __version__, log, texts
from bot.filters import check_series, read_formats, read_languages, read_period, split_list
from bot.reading import SERVER_SECONDS, open_database, read_store
from bot.settings.settings import Settings, load_store_settings
from engine.dataset.card import read_license
from engine.dataset.entry import LabelSource
from engine.dataset.folder import FileFormat
from engine.dataset.layouts import find_layout
from engine.dataset.prompt_table import PROMPTS
from engine.dataset.tables import TABLES, choose_tables
from engine.dataset.writer import ExportStage, Headway, Report, Wanted, export
from engine.store import ExportFilter, count_rehearsals
from engine.values.errors import NotFoundError, UsageError
from engine.words.translation import plural

PLATFORMS = ("discord", "slack", "terminal")
PATIENCE_SECONDS = 2.0
REDRAW_SECONDS = 0.2


class Chosen(NamedTuple):
    """The options of `rostrum export` as typed; lists are comma-separated."""

    community: str | None = None
    file_format: str = FileFormat.JSONL
    tables: str | None = None
    formats: str | None = None
    languages: str | None = None
    since: str | None = None
    until: str | None = None
    quorum_met: bool = False
    include_rehearsal: bool = False
    series: str | None = None
    license: str | None = None
    layout: str | None = None
    prompts: bool = False
    labels: str = "chat"
    include_flawed: bool = False

    def wanted(self) -> Wanted:
        """Return the parsed options. Raises UsageError naming the invalid option."""
        since, until = read_period(self.since, self.until)
        where = ExportFilter(
            community=self.community,
            formats=read_formats(self.formats),
            languages=read_languages(self.languages),
            since=since,
            until=until,
            quorum_met=self.quorum_met,
            without_rehearsal=not self.include_rehearsal,
            series=self.series,
        )
        tables = tuple(table.name for table in choose_tables(split_list(self.tables)))
        license = read_license("--license", self.license) if self.license is not None else None
        asked = tables if self.tables else ()
        if self.prompts:
            asked = (*(asked or (table.name for table in TABLES)), PROMPTS.name)
        if self.layout is not None:
            find_layout(self.layout)
        labels = _read_labels(self.labels)
        kind = _read_format(self.file_format)
        flawed = self.include_flawed
        return Wanted(where, asked, kind, license, self.layout or "", labels=labels, flawed=flawed)


async def run_export(out: Path, chosen: Chosen) -> None:
    """Export ended debates into a folder, and print what was written."""
    wanted = chosen.wanted()
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    own = chosen.license is None and chosen.community is not None
    counts = await export_into(settings, out, wanted, community_license=own)
    print(texts.EXPORTED.format(out=out, counts=counts))


async def run_migrate() -> None:
    """Upgrade the database to this version, and print its revision."""
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    database = open_database(settings, start_seconds=SERVER_SECONDS)
    try:
        revision = await migrate(database)
    finally:
        await database.close()
    print(f"The database {database.name} is at revision {revision}.")


async def export_into(
    settings: Settings, out: Path, asked: Wanted, *, community_license: bool = False
) -> str:
    """Write an export; return a line with its counts, and what was left out.

    `community_license` puts the licence that its community has set on the card. Raises
    NotFoundError without a debate to export.
    """
    key = settings.export.hmac_key
    asked = replace(asked, secrets=tuple(settings.secrets()))
    async with read_store(settings, whole=True) as store:
        await check_series(store, asked.where.series)
        if community_license:
            asked = replace(asked, license=await _license_of(store, asked.where.community or ""))
        rehearsals = await asyncio.to_thread(count_rehearsals, store.archive, asked.where)
        left_out = plural(texts.LEFT_OUT, rehearsals) if rehearsals else ""
        try:
            with _progress() as report:
                manifest = await export(
                    store,
                    out,
                    asked,
                    key.get_secret_value().encode() if key else None,
                    version=__version__,
                    report=report,
                )
        except NotFoundError as error:
            raise NotFoundError(f"{str(error).rstrip('.')}{left_out}.") from None
    counts = {table: sum(splits.values()) for table, splits in manifest.rows.items()}
    return ", ".join(f"{table} {number:,}" for table, number in counts.items() if number) + left_out


async def _license_of(store: SqlStore, community: str) -> str | None:
    """Return the licence that a community has set; its id is on one platform."""
    for platform in PLATFORMS:
        if license := (await store.communities.get(platform, community)).license:
            return license
    return None


def _read_format(name: str) -> FileFormat:
    try:
        return FileFormat(name)
    except ValueError:
        known = " or ".join(FileFormat)
        raise UsageError(f"--format is “{name}”; this version writes {known}.") from None


def _read_labels(name: str) -> LabelSource:
    for known in get_args(LabelSource):
        if name == known:
            found: LabelSource = known
            return found
    known = " or ".join(get_args(LabelSource))
    raise UsageError(f"--labels is “{name}”; it is {known}.")


@contextmanager
def _progress() -> Iterator[Report]:
    """Show a bar for each stage once an export has taken two seconds, in a terminal."""
    if not sys.stderr.isatty():
        yield lambda headway: None
        return
    from rich.console import Console
    from rich.progress import Progress

    began = time.monotonic()
    # Drawn by the reports, not by a thread, so that a stalled export shows a stalled bar.
    bar = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
    task, at = bar.add_task(texts.EXPORTING[ExportStage.LINES.name]), ExportStage.LINES
    drawn = began + PATIENCE_SECONDS

    def report(headway: Headway) -> None:
        nonlocal at, drawn
        stage, done, total = headway
        if stage is not at:
            # Reset, because the remaining time is estimated from the pace so far.
            bar.reset(task, description=texts.EXPORTING[stage.name])
            at = stage
        now = time.monotonic()
        if now >= drawn:
            bar.start()
            bar.update(task, completed=done, total=total, refresh=True)
            drawn = now + REDRAW_SECONDS

    try:
        yield report
    finally:
        bar.stop()
