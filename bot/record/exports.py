"""An export into a folder, with its progress."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bot import __version__, sentences
from bot.database import find_series, read_store
from bot.settings.settings import Settings
from engine.dataset.tables import ExportRequest, ExportStage, Report
from engine.dataset.writer import export
from engine.store import Store, count_rehearsals
from engine.values.errors import NotFoundError
from engine.words.translation import plural

PLATFORMS = ("discord", "slack", "terminal")
PATIENCE_SECONDS = 2.0
REDRAW_SECONDS = 0.2


async def export_into(
    settings: Settings, out: Path, asked: ExportRequest, *, community_license: bool = False
) -> str:
    """Write an export; return a line with its counts, and what was left out.

    `community_license` puts the licence that its community has set on the card. Raises
    NotFoundError without a debate to export.
    """
    key = settings.export.hmac_key
    asked = replace(asked, secrets=tuple(settings.secrets()))
    async with read_store(settings, whole=True) as store:
        if asked.where.series is not None:
            await find_series(store, asked.where.series)
        if community_license:
            asked = replace(asked, license=await _license_of(store, asked.where.community or ""))
        rehearsals = await asyncio.to_thread(count_rehearsals, store.archive, asked.where)
        left_out = plural(*sentences.LEFT_OUT, rehearsals) if rehearsals else ""
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


async def _license_of(store: Store, community: str) -> str | None:
    """Return the licence that a community has set; its id is on one platform."""
    for platform in PLATFORMS:
        if license := (await store.communities.get(platform, community)).license:
            return license
    return None


@contextmanager
def _progress() -> Iterator[Report]:
    """Show a bar for each stage once an export has taken two seconds, in a terminal."""
    if not sys.stderr.isatty():
        yield lambda *headway: None
        return
    from rich.console import Console
    from rich.progress import Progress

    began = time.monotonic()
    # Drawn by the reports, not by a thread, so that a stalled export shows a stalled bar.
    bar = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
    at: ExportStage = "LINES"
    task = bar.add_task(sentences.EXPORTING[at])
    drawn = began + PATIENCE_SECONDS

    def report(stage: ExportStage, done: int, total: int) -> None:
        nonlocal at, drawn
        if stage != at:
            # Reset, because the remaining time is estimated from the pace so far.
            bar.reset(task, description=sentences.EXPORTING[stage])
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
