"""`rostrum export` and `rostrum migrate`: the dataset, and the tables it comes from."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from adapters.storage.database import Database
from adapters.storage.migrate import migrate
from bot import log, texts
from bot.app import read_store
from bot.settings import Settings, load_settings
from engine.dataset.writer import export
from engine.errors import UsageError
from engine.store import ExportFilter

PATIENCE_SECONDS = 2.0


async def run_export(out: Path, *, community: str | None, file_format: str) -> None:
    """Export ended debates into a folder, and say what was written."""
    if file_format != "jsonl":
        raise UsageError(f"--format is “{file_format}”; this version writes jsonl.")
    settings = load_settings()
    log.configure(settings.log, settings.secrets())
    counts = await export_into(settings, out, ExportFilter(community=community))
    print(texts.EXPORTED.format(out=out, counts=counts))


async def run_migrate() -> None:
    """Bring the database to this version's tables, and say where it is."""
    settings = load_settings()
    log.configure(settings.log, settings.secrets())
    database = Database(settings.database_url.get_secret_value())
    try:
        revision = await migrate(database)
    finally:
        await database.close()
    print(f"The database {database.path} is at revision {revision}.")


async def export_into(settings: Settings, out: Path, where: ExportFilter | None = None) -> str:
    """Write an export, and return a line that counts what is in it."""
    key = settings.export.hmac_key
    async with read_store(settings) as store:
        with _progress() as report:
            manifest = await export(
                store,
                out,
                where or ExportFilter(),
                key.get_secret_value().encode() if key else None,
                version=version("rostrum"),
                progress=report,
            )
    counts = {table: sum(splits.values()) for table, splits in manifest.rows.items()}
    return ", ".join(f"{table} {number:,}" for table, number in counts.items())


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """Show how many debates are written, once that has taken two seconds, in a terminal."""
    began = time.monotonic()
    shown = False

    def report(done: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - began > PATIENCE_SECONDS:
            shown = True
            print(f"\r{done:,} debates written", end="", file=sys.stderr, flush=True)

    yield report
    if shown:
        print(file=sys.stderr)
