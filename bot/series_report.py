"""`rostrum series report`: a series as Markdown, HTML, JSON and pictures."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from bot.reading import read_store
from bot.settings.settings import load_store_settings
from engine.errors import NotFoundError, UsageError
from engine.options import hint
from engine.ports import utc_now
from engine.report.reading import read_series_rows
from engine.report.rendering import write_markdown
from engine.report.report import SeriesReport, make_report
from engine.report.wording import write_page
from engine.store import Store

WRITTEN = "Wrote {names} to {out}."


async def write_series_report(name: str, out: Path) -> None:
    """Write the report of a series into a folder. Raises NotFoundError and UsageError."""
    async with read_store(load_store_settings()) as store:
        report = await read_report(store, name)
    files = await asyncio.to_thread(make_files, report)
    try:
        await asyncio.to_thread(_write, out, files)
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {out}: {error.strerror}; choose another --out."
        ) from None
    page = write_page(report)
    print("\n".join(page.lines))
    print(WRITTEN.format(out=out, names=", ".join(files)))


async def read_report(store: Store, name: str) -> SeriesReport:
    """Return the report of a series as it is now. Raises NotFoundError."""
    found = await read_series_rows(store.series, name)
    if found is None:
        known = [series.name for series in await store.series.all()]
        raise NotFoundError(f"There is no series “{name}”;{hint(name, known)} it may not have run.")
    return await asyncio.to_thread(make_report, found, utc_now())


def make_files(report: SeriesReport) -> dict[str, bytes]:
    """Return every file of a report by its name."""
    page = write_page(report)
    return {
        "report.md": write_markdown(page, {}).encode(),
        "report.json": orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
    }


def _write(out: Path, files: dict[str, bytes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
