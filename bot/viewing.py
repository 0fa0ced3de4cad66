"""`rostrum view`: debates as pages in a browser, beside a running process or of an export."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.reading import Reading
from adapters.web.session import Door
from bot import log
from bot.reading import read_store
from bot.settings.load import load_store_settings
from engine.pages.debate import Library
from engine.pages.folder import FolderLibrary
from engine.pages.stored import StoredLibrary
from engine.store.listings import Sought
from engine.values.errors import UsageError

HOST = "127.0.0.1"


class View(NamedTuple):
    """Pages that are being served: the link that opens them, and how many debates there are."""

    link: str
    debates: int


async def view(folder: Path | None, port: int) -> None:
    """Serve debates as pages on this machine until stopped, and print the link to them."""
    async with viewing(folder, port) as shown:
        if not shown.debates:
            print(
                "There are no debates yet; they appear as soon as one starts."
                if folder is None
                else "This export has no debates."
            )
        print(
            f"Open {shown.link} in your browser: it works once. Press Ctrl-C to stop.",
            flush=True,
        )
        await asyncio.Event().wait()


@asynccontextmanager
async def viewing(folder: Path | None, port: int) -> AsyncIterator[View]:
    """Serve the pages of the database, or of an export's folder, during the body.

    Raises SettingsError for a port in use, StoreError without a database, UsageError for a folder
    that is no export.
    """
    async with _library(folder) as library:
        debates = (await library.find(Sought(), 1)).total
        door, reading = Door(), Reading(library, live=folder is None)
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
                yield View(door.link(host, bound), debates)
            finally:
                reading.end()


@asynccontextmanager
async def _library(folder: Path | None) -> AsyncIterator[Library]:
    if folder is not None:
        yield await asyncio.to_thread(_open, folder)
        return
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    async with read_store(settings) as store:
        yield StoredLibrary(store, tuple(settings.secrets()))


def _open(folder: Path) -> FolderLibrary:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; name one that rostrum export wrote.")
    return FolderLibrary(folder)
