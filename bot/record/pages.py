"""Debates as pages: `rostrum view`, `rostrum report` and `rostrum export --as html`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from aiohttp import web

from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.reader import ReadingPages, write_folder
from adapters.web.session import OneReaderAccess
from bot import log, sentences
from bot.commands.choice import EVERY_DEBATE, DebateChoice
from bot.database import read_store
from bot.record.exports import export_into
from bot.record.filters import PAGES, ExportChoices, debates_of, narrowed, where_of
from bot.settings.load import load_store_settings, load_topics
from engine.dataset.folder import MANIFEST, Manifest, check_replaceable, staged
from engine.dataset.page import ReportedDebate, write_html, write_markdown
from engine.pages.debate_page import Library
from engine.pages.figures import FiguresReader
from engine.pages.folder import FolderLibrary, check_folder
from engine.pages.stored import StoredLibrary
from engine.store.listings import DebateQuery
from engine.values.errors import UsageError
from engine.values.ports import Permalinks, SystemClock

# `rostrum view`: debates as pages in a browser, beside a running process or of an export.


HOST = "127.0.0.1"
NO_DEBATES = "This export has no debates."


class _View(NamedTuple):
    """Pages that are being served: the link that opens them, and how many debates there are."""

    link: str
    debates: int


async def view(folder: Path | None, port: int, chosen: DebateChoice) -> None:
    """Serve debates as pages on this machine until stopped, and print the link to them."""
    if folder is not None:
        _refuse_choice(chosen)
    async with viewing(folder, port, chosen) as shown:
        if not shown.debates:
            print(
                "There are no debates yet; they appear as soon as one starts."
                if folder is None
                else NO_DEBATES
            )
        print(
            f"Open {shown.link} in your browser: it works once. Press Ctrl-C to stop.",
            flush=True,
        )
        await asyncio.Event().wait()


@asynccontextmanager
async def viewing(
    folder: Path | None, port: int, chosen: DebateChoice = EVERY_DEBATE
) -> AsyncIterator[_View]:
    """Serve the pages of the database, or of an export's folder, during the body.

    Raises SettingsError for a port in use, StoreError without a database, UsageError for a folder
    that is no export.
    """
    async with _reading(folder, chosen) as (library, reading):
        debates = (await library.find(DebateQuery(), 1)).total
        door = OneReaderAccess()
        site = Site(
            HOST,
            port,
            taken="Pages cannot be served at {host}:{port}: {why}. Choose another "
            "port with --port.",
        )

        def dress(served: web.Application) -> None:
            furnish(served)
            served.middlewares.append(door.guard)

        async with site.serving([*door.routes(), *reading.routes()], dress):
            host, bound = site.address or (HOST, port)
            try:
                yield _View(door.link(host, bound), debates)
            finally:
                reading.end()


@asynccontextmanager
async def _reading(
    folder: Path | None, chosen: DebateChoice
) -> AsyncIterator[tuple[Library, ReadingPages]]:
    if folder is not None:
        held = await asyncio.to_thread(_open, folder)
        yield held, ReadingPages(held, live=False)
        return
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    where = where_of(chosen)
    async with read_store(settings) as store:
        within = await narrowed(store, DebateQuery(), where)
        library = StoredLibrary(store, tuple(settings.secrets()), within=within)
        figures = FiguresReader(store, SystemClock(), where, load_topics()[1].topics)
        permalinks = Permalinks(settings.web.url or "")
        yield library, ReadingPages(library, live=True, figures=figures, permalinks=permalinks)


def _refuse_choice(chosen: DebateChoice) -> None:
    if chosen != EVERY_DEBATE:
        raise UsageError("The options that choose debates are for the database; leave them out.")


def _open(folder: Path) -> FolderLibrary:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; name one that rostrum export wrote.")
    return FolderLibrary(folder)


# `rostrum export --as html`: debates as a folder of pages, made of an export and so no less clean.


async def export_pages(out: Path, chosen: ExportChoices) -> None:
    """Write the pages of ended debates into a folder, and print what was written."""
    if chosen.tables or chosen.license or chosen.archive:
        raise UsageError(
            "--as html writes pages, not tables; leave out --tables, --license and --archive."
        )
    wanted, settings = chosen.wanted(), load_store_settings()
    log.configure(settings.log, settings.secrets())
    check_replaceable(out)
    with TemporaryDirectory(prefix="rostrum-html-") as place:
        made = Path(place) / "export"
        await export_into(settings, made, wanted)
        debates, files = await write_pages(made, out)
    print(sentences.EXPORTED.format(out=out, counts=f"debates {debates:,}, files {files:,}"))


async def write_pages(made: Path, out: Path) -> tuple[int, int]:
    """Write the pages of an export's folder; return how many debates and files they are.

    Raises UsageError if `out` contains anything but an earlier export, RostrumError if it cannot be
    written; it is then unchanged.
    """
    manifest, library = check_folder(made), FolderLibrary(made)
    with staged(out) as staging:
        async for path, body in write_folder(library):
            staging.append(path, body)
        pages = Manifest(
            schema_version=manifest.schema_version,
            layout=PAGES,
            rostrum=manifest.rostrum,
            filters=manifest.filters,
            cutoff=manifest.cutoff,
            rows={},
            files=staging.files(),
        )
        staging.append(MANIFEST, pages.encode())
    return sum(manifest.rows["debates"].values()), len(pages.files) + 1


# `rostrum report`: a debate as a page, in Markdown and in HTML.


async def write_reports(
    debate_id: str | None, out: Path, chosen: DebateChoice, folder: Path | None = None
) -> None:
    """Write the page of a debate, or of each one that is chosen, into a folder, in both forms.

    They are of the database, or of an export's `folder`. Raises UsageError for a bad folder, or if
    nothing is chosen.
    """
    if folder is not None:
        _refuse_choice(chosen)
        held = await asyncio.to_thread(_open, folder)
        if not held.ids:
            print(NO_DEBATES)
        for debate in [debate_id] if debate_id else held.ids:
            await _write_report(await held.report(debate), out)
        return
    async with read_store(load_store_settings()) as store:
        for found in await debates_of(store, debate_id, chosen):
            await _write_report(await StoredLibrary(store).report(found.id), out)


async def _write_report(page: ReportedDebate, out: Path) -> None:
    written = {
        out / f"debate-{page.code}.md": write_markdown(page),
        out / f"debate-{page.code}.html": write_html(page),
    }

    def write() -> None:
        out.mkdir(parents=True, exist_ok=True)
        for path, text in written.items():
            path.write_text(text, encoding="utf-8")

    try:
        await asyncio.to_thread(write)
    except OSError as error:
        raise UsageError(
            f"The debate cannot be written to {out}: {error.strerror}; choose another --out."
        ) from None
    if page.sealed:
        print(f"{page.sealed} The page has the debate so far.")
    print("Wrote {paths}.".format(paths=" and ".join(map(str, written))))
