"""`rostrum series report`: a series as Markdown, HTML, JSON and pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import orjson

from adapters.pictures.png import to_png
from bot.filters import find_series
from bot.reading import read_store
from bot.settings.load import load_store_settings
from engine.drawing.svg import darken
from engine.series.report.data import read_series_rows
from engine.series.report.page import write_html, write_markdown, write_page
from engine.series.report.pictures import Picture, draw_report
from engine.series.report.report import SeriesReport, make_report
from engine.store import Store
from engine.values.errors import NotFoundError, UsageError
from engine.values.ports import utc_now


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
    print(
        (
            "Wrote report.md, report.html and report.json to {out}, with {n} pictures as SVG and "
            "as PNG (light and dark)."
        ).format(out=out, n=sum(name.endswith(".svg") for name in files))
    )


async def read_report(store: Store, name: str) -> SeriesReport:
    """Return the report of a series as it is now. Raises NotFoundError."""
    await find_series(store, name)
    found = await read_series_rows(store.series, name)
    if found is None:
        raise NotFoundError(f"The series {name} was deleted just now.")
    return await asyncio.to_thread(make_report, found, utc_now())


def make_files(report: SeriesReport) -> dict[str, bytes]:
    """Return every file of a report by its name."""
    page, pictures = write_page(report), draw_report(report)
    drawn = {
        f"{name}{end}": content for name, one in pictures.items() for end, content in _draw(one)
    }
    return {
        "report.md": write_markdown(page, pictures).encode(),
        "report.html": write_html(page, pictures).encode(),
        "report.json": orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
        **drawn,
    }


def _draw(picture: Picture) -> Iterator[tuple[str, bytes]]:
    """Yield a picture as each of its files, by the ending of the name."""
    yield ".svg", picture.svg.encode()
    yield ".png", to_png(picture.svg)
    yield "-dark.png", to_png(darken(picture.svg))


def _write(out: Path, files: dict[str, bytes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
