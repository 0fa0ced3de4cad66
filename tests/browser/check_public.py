"""The public pages in a browser: of a community that shows everything, and of a hostile one."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from adapters.database.database import SqlDatabase
from adapters.pictures import drawn
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.public import PublicPages
from engine.pages.public import PublicReader
from engine.store import Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.values.ports import Permalinks, SystemClock
from tests.browser.conftest import (
    NARROW,
    Guard,
    Open,
    assert_accessible,
    assert_fits,
    assert_readable,
)
from tests.kit import some
from tests.scenario.discord_stage import free_port
from tests.scenario.shelf import HOSTILE_COMMUNITY, INVISIBLE, Shelf

APART = """
UPDATE listings SET people = 'A', jury = 'B', agree = FALSE, dispute = :apart
WHERE debate = (SELECT id FROM debates WHERE number = :number)
"""
HELD = datetime(2026, 3, 1, tzinfo=UTC)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Town:
    """Served pages: their address, and that of each community's first page."""

    url: str
    club: str
    hostile: str
    shelf: Shelf
    first: str

    def debate(self, debate_id: str) -> str:
        return f"{self.url}/d/{debate_id.lower()}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """The pages, on a copy of the debates, of two communities that show all that there is."""
    path = tmp_path_factory.mktemp("town") / "rostrum.db"
    shutil.copy(Path(shelf.url.removeprefix("sqlite+aiosqlite:///")), path)
    database = SqlDatabase(f"sqlite+aiosqlite:///{path}")
    await database.run("UPDATE debates SET rehearsal = FALSE")
    for number, apart in ((3, 0.5), (4, 0.9)):
        await database.run(APART, number=number, apart=apart)
    store, port = Store(database), free_port()
    url, pages = f"http://127.0.0.1:{port}", []
    for community in ("club", HOSTILE_COMMUNITY):
        await store.communities.change("memory", community, _show_all, HELD)
        pages.append(await store.communities.page("memory", community))
    public = PublicReader(store, SystemClock(), "0", b"secret")
    routes = PublicPages(public, Permalinks(url), drawn).routes()
    async with Site("127.0.0.1", port).serving(routes, furnish):
        first = str(await database.value("SELECT min(id) FROM debates"))
        club, hostile = (f"{url}/c/{page}" for page in pages)
        yield Town(url, club, hostile, shelf, first)
    await database.close()


def _show_all(settings: CommunitySettings) -> CommunitySettings:
    return settings.model_copy(update={"public": tuple(PublicPart)})


@pytest.fixture(autouse=True)
def _within(guard: Guard, town: Town) -> None:
    guard.origins.add(town.url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_is_accessible_and_fits_any_screen(
    person: Open, town: Town, scheme: str
) -> None:
    page = await person(color_scheme=scheme)
    parts = [f"{place}/{part}" for place in (town.club, town.hostile) for part in PublicPart]
    debates = [town.debate(id_) for id_ in (town.first, town.shelf.sealed.id)]
    search = f"{town.club}/debates?q=tea"
    for url in (town.url, *parts, search, *debates):
        answer = some(await page.goto(url))
        assert answer.status == 200, url
        await assert_readable(page)


async def test_one_gets_from_the_list_to_a_result_without_javascript(
    person: Open, town: Town
) -> None:
    page = await person(java_script_enabled=False)
    await page.goto(town.club)
    await expect(page.locator("#debates > li").last).to_contain_text("people: ")
    await expect(page.locator("#debates")).to_contain_text("jury: ")
    sealed = page.locator(f"#d-{town.shelf.sealed.code}")
    await expect(sealed.locator(".ended")).to_have_text("people vote")
    await expect(page.locator("#debates")).not_to_contain_text("$")  # costs are an operator's
    await page.get_by_label("Words of the topic").fill("sealed tea")
    await page.keyboard.press("Enter")
    await expect(page.locator("#debates > li")).to_have_count(1)
    await page.get_by_role("link", name="Show all").click()
    await page.locator("#debates a").last.click()
    await expect(page.locator("#result")).to_be_visible()
    assert await page.locator("article.turn").count() == 8
    await page.locator("#send summary").click()
    await expect(page.locator("#send a")).to_have_attribute("href", page.url)
    await page.go_back()
    await page.locator("nav.site a").nth(1).click()
    await expect(page.locator("h1")).to_have_text("Ratings")


async def test_where_they_disagree_the_furthest_apart_come_first_and_lead_to_debates(
    person: Open, town: Town
) -> None:
    page = await person(java_script_enabled=False)
    await page.goto(f"{town.club}/agreement")
    codes = [await one.get_attribute("id") for one in await page.locator(".rows > li").all()]
    assert codes == ["d-000004", "d-000003"]
    await page.locator(".rows a.topic").first.click()
    await expect(page.locator("#debate")).to_be_visible()


async def test_hostile_text_is_text(person: Open, town: Town) -> None:
    page = await person(viewport=NARROW)
    hostile = town.debate(town.shelf.hostile.id)
    for url in (hostile, *(f"{town.hostile}/{part}" for part in PublicPart)):
        await page.goto(url)
        await assert_fits(page)
        assert await page.evaluate("window.taken") is None, url
        bad = "script:not([src]), style, iframe, object, [onerror], [onload], [onfocus], [style]"
        assert await page.locator(bad).count() == 0, url
        assert await page.locator("a[href^=javascript], img[src^=http]").count() == 0, url
        shown = await page.evaluate("document.documentElement.outerHTML")
        assert not set(shown) & set(INVISIBLE), url


async def test_what_is_not_public_is_not_there(person: Open, town: Town, guard: Guard) -> None:
    guard.expected.add(404)
    page = await person(locale="de-DE", viewport=NARROW)
    for url in (f"{town.url}/d/{'0' * 26}", f"{town.url}/c/{'0' * 20}", f"{town.url}/d/000001"):
        answer = some(await page.goto(url))
        assert answer.status == 404, url
        assert await page.locator("html").get_attribute("lang") == "de"
        await assert_fits(page)
    await assert_accessible(page)
