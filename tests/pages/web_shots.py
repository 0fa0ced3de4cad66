"""Pictures of the pages for docs/: `python -m tests.pages.web_shots FOLDER`.

Debates of every format are held by rehearsal models, and their pages are served and looked at in
Chromium, as people see them.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from adapters.database.database import SqlDatabase
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.label_pages import LabelPages
from adapters.web.reader import ReadingPages
from adapters.web.session import LoginThrottle, Sessions
from engine.labelling.tasks import Labelling
from engine.pages.figures import FiguresReader
from engine.pages.stored import StoredLibrary
from engine.store import ExportFilter, Store
from engine.store.labels import Terms
from engine.values.ports import SystemClock
from tests.browser import chromium
from tests.doubles.hall import made_in
from tests.scenario import recorded_debates
from tests.scenario.discord_stage import free_port

HELD = datetime(2026, 3, 1, 18, tzinfo=UTC)
COLOURS = 128
WIDE, PHONE = {"width": 1120, "height": 900}, {"width": 390, "height": 844}
TASK = "spring"


class Served(NamedTuple):
    """Served pages: their address, the debate to look at, and an invitation to label."""

    url: str
    debate: str
    invitation: str


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Served]:
    recorded_debates.BEGINNING = HELD
    url, port = await made_in(folder), free_port()
    await recorded_debates.hold_all(url, folder / "export")
    database = SqlDatabase(url)
    store, address = Store(database), f"http://127.0.0.1:{port}"
    labelling = Labelling(store, SystemClock())
    terms = Terms(name=TASK, each=8, repeats=0, about="Thank you for reading.")
    await labelling.create(terms, ExportFilter(formats=("classic",), revealed=True))
    (token,) = await labelling.invite(TASK)
    figures = FiguresReader(store, SystemClock())
    reading = ReadingPages(StoredLibrary(store), live=False, figures=figures)
    labels = LabelPages(labelling, Sessions(b"secret", secure=False), LoginThrottle(), {}, address)
    async with Site("127.0.0.1", port).serving([*reading.routes(), *labels.routes()], furnish):
        first = await database.value("SELECT min(id) FROM debates")
        yield Served(address, str(first).lower(), f"{address}/label/{TASK}?t={token}")
        reading.end()
    await database.close()


async def take(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        async with serving(Path(temporary)) as served, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium.find(), args=list(chromium.arguments())
            )
            await _read(browser, served, folder)
            await _label(browser, served, folder)
            await browser.close()


async def _read(browser: Browser, served: Served, folder: Path) -> None:
    debate = f"{served.url}/debates/{served.debate}"
    for name, address, options in (
        ("web-list", served.url, {}),
        ("web-debate", debate, {}),
        ("web-debate-dark", debate, {"color_scheme": "dark"}),
        ("web-debate-phone", debate, {"viewport": PHONE, "device_scale_factor": 2}),
    ):
        page = await _open(browser, address, **options)
        await keep(page, folder / f"{name}.png")
    page = await _open(browser, f"{debate}#verdict", color_scheme="dark")
    await keep(page, folder / "web-verdict-dark.png")


async def _label(browser: Browser, served: Served, folder: Path) -> None:
    """Label by keyboard, and take a picture of how that looks."""
    page = await _open(browser, served.invitation)
    await page.locator("#begin").focus()
    await page.keyboard.press("Enter")
    await page.locator("#sheet").wait_for()
    await page.locator("#keys summary").click()
    for key in ("j", "+", "1", "s", "q"):
        await page.keyboard.press(key)
    await page.locator("#answer").scroll_into_view_if_needed()
    await page.keyboard.press("n")
    await page.keyboard.type("It answered every objection with a reason.")
    await page.evaluate("document.getElementById('answer').scrollIntoView({block: 'start'})")
    await keep(page, folder / "web-label.png")
    await page.set_viewport_size(PHONE)
    await page.evaluate("scrollTo(0, 0)")
    await keep(page, folder / "web-label-phone.png")


async def _open(browser: Browser, address: str, **options: Any) -> Page:
    context = await browser.new_context(
        **{"viewport": WIDE, "locale": "en-GB", "reduced_motion": "reduce"} | options
    )
    page = await context.new_page()
    await page.goto(address)
    return page


async def keep(page: Page, path: Path, *, whole: bool = False) -> None:
    """Keep what is in sight of a page, or the whole of it, in few colours."""
    taken = Image.open(BytesIO(await page.screenshot(full_page=whole)))
    few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of the pages")
    parser.add_argument("folder", type=Path)
    asyncio.run(take(parser.parse_args().folder))


if __name__ == "__main__":
    main()
