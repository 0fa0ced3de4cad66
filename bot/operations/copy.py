"""`rostrum copy`: from an SQLite file to PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.database.database import OR_A_FILE, SERVERS, SqlDatabase
from adapters.database.file import local_file, sqlite_path
from adapters.database.transfer import CopyProgress, CopyStage, Report, Sums, copy
from adapters.terminal.venue import records_of
from bot import log
from bot.database import open_database
from bot.settings.load import load_store_settings
from engine.values.errors import StoppedError, StoreError, UsageError

SETTING = "ROSTRUM_DATABASE_URL"
REDRAW_SECONDS = 0.2
STOPPED = "The copy was stopped; the new database is as it was before."


async def copy_database(to: str) -> None:
    """Copy the file of the settings into an empty database of PostgreSQL, which gets its tables.

    Raises UsageError for databases of another kind, StoreError.
    """
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    if to.partition("://")[0].partition("+")[0] not in SERVERS:
        raise UsageError(
            "--out is not an address of PostgreSQL; write it as "
            "postgresql://USER:PASSWORD@HOST:5432/DATABASE."
        )
    if settings.shared:
        database = open_database(settings, writable=False)
        command = database.dialect.dump_command(Path("rostrum.dump"))
        raise UsageError(
            f"The database {database.name} is on PostgreSQL already; copy it with pg_restore from "
            f"what this writes: {command}"
        )
    path = sqlite_path(settings.database_url.get_secret_value())
    try:
        target = SqlDatabase(to, writable=False, pool=settings.database_pool)
    except StoreError as error:
        raise _of_target(error) from error
    stopped = threading.Event()
    try:
        with _progress(stopped) as report:
            sums = await _copy(path, target, report)
    except asyncio.CancelledError:
        print(STOPPED, file=sys.stderr)
        raise
    finally:
        stopped.set()
        await target.close()
    _copy_transcripts(path, to)
    for table, found in sums.items():
        if found.rows:
            print(f"{table}: {found.rows:,} rows, checksum {found.digest}")
    rows = sum(found.rows for found in sums.values())
    print(
        f"Copied {path} to {target.name}: {rows:,} rows in {len(sums)} tables, read back with the "
        "same checksums. The file is unchanged."
    )
    print(
        "Set ROSTRUM_DATABASE_URL to the new address, and start Rostrum on that alone: debates "
        "that were running go on there."
    )


async def _copy(path: Path, target: SqlDatabase, report: Report) -> Sums:
    try:
        return await copy(path, target, report)
    except StoreError as error:
        if target.name in str(error):
            raise _of_target(error) from error
        raise


def _of_target(error: StoreError) -> StoreError:
    """Return an error that names the option, where its advice is about the setting."""
    # A copy goes to PostgreSQL alone.
    return StoreError(str(error).replace(OR_A_FILE, "").replace(SETTING, "--out"))


def _copy_transcripts(path: Path, to: str) -> None:
    """Copy what terminal debates have shown to where it is looked for from now on."""
    shown, place = records_of(path), records_of(local_file(to))
    if not shown.is_dir():
        return
    try:
        shutil.copytree(shown, place)
    except OSError as error:
        why = "it exists already" if isinstance(error, FileExistsError) else error.strerror
        print(f"Transcripts of the terminal were not copied to {place}: {why}.", file=sys.stderr)


@contextmanager
def _progress(stopped: threading.Event) -> Iterator[Report]:
    """Show a bar for each stage in a terminal, else a line for each table that is copied."""
    with _bar() if sys.stderr.isatty() else _lines() as show:

        def report(headway: CopyProgress) -> None:
            if stopped.is_set():
                raise StoppedError(STOPPED)
            show(headway)

        yield report


@contextmanager
def _lines() -> Iterator[Report]:
    seen: tuple[CopyStage, str] | None = None

    def show(headway: CopyProgress) -> None:
        nonlocal seen
        begun = headway.stage, headway.table if headway.stage == "Copying" else ""
        if begun != seen:
            seen = begun
            named = " ".join(filter(None, (headway.stage, begun[1])))
            print(f"{named}: {headway.done:,} of {headway.total:,} rows", file=sys.stderr)

    yield show


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import Progress

    # Drawn by the reports, not by a thread, so that a stalled copy shows a stalled bar.
    bar = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
    at: CopyStage = "Checking"
    task, drawn = bar.add_task(at), 0.0

    def show(headway: CopyProgress) -> None:
        nonlocal at, drawn
        if headway.stage != at:
            # Reset, because the remaining time is estimated from the pace so far.
            bar.reset(task)
            at, drawn = headway.stage, 0.0
        if (now := time.monotonic()) >= drawn:
            bar.start()
            named = f"{headway.stage} {headway.table}"
            bar.update(
                task,
                description=named,
                completed=headway.done,
                total=headway.total,
                refresh=True,
            )
            drawn = now + REDRAW_SECONDS

    try:
        yield show
    finally:
        bar.stop()
