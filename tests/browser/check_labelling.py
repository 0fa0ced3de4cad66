"""Labelling in a browser: by keyboard alone, by two people at once, on a phone, without scripts."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from adapters.database.database import SqlDatabase
from adapters.site import Site
from adapters.web.application import furnish
from bot.research.labels import label_routes, print_token
from bot.settings.settings import Settings, WebSettings
from engine.labelling.sheet import SheetAnswer
from engine.labelling.tasks import Labelling
from engine.store import ExportFilter, Store
from engine.store.labels import Terms
from engine.values.ports import SystemClock
from tests.browser.conftest import (
    DESKTOP,
    NARROW,
    PHONE,
    Guard,
    Open,
    assert_accessible,
    assert_fits,
    assert_readable,
)
from tests.doubles.databases import select
from tests.kit import some
from tests.scenario.discord_stage import free_port
from tests.scenario.shelf import Shelf

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = "DONE-2718"
EACH = 2  # sheets for each person


@dataclass
class Office:
    """Labelling pages that are served."""

    url: str
    database: str
    labelling: Labelling
    tasks: int = 0

    async def task(self, each: int = EACH, **terms: object) -> str:
        """Make a task of every debate, the hostile one too, and return an invitation."""
        self.tasks += 1
        name = f"task-{self.tasks}"
        asked = {"name": name, "each": each, "repeats": 0, "code": CODE, "about": "Thank you!"}
        where = ExportFilter(revealed=True)
        await self.labelling.create(Terms.model_validate(asked | terms), where)
        return await self.invite(name)

    async def invite(self, name: str, people: int = 1) -> str:
        (token,) = await self.labelling.invite(name, people=people)
        return f"{self.url}/label/{name}?t={token}"

    async def answered(self) -> str:
        """Make a task that two people answer differently, and return its name."""
        await self.task(each=0)
        name = f"task-{self.tasks}"
        for person in range(2):
            (link,) = await self.labelling.invite(name)
            one = some((await self.labelling.join(link, f"{name}-{person}"))[1])
            while (sheet := await self.labelling.next(one.key)) is not None:
                drawn = some(await self.labelling.store.labelling.sheet(one.key, sheet.id))
                place = ("first", "second")[drawn.order.index("AB"[person])]
                label = SheetAnswer.model_validate({"option": place})
                assert await self.labelling.save(one.key, sheet.id, label) == "stored"
        return name

    def labels(self) -> list[tuple[object, ...]]:
        return select(self.database, "SELECT * FROM sheets WHERE answered_at IS NOT NULL")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """The pages, on a copy of the debates."""
    path = tmp_path_factory.mktemp("desk") / "rostrum.db"
    shutil.copy(Path(shelf.url.removeprefix("sqlite+aiosqlite:///")), path)
    url, store_url = f"http://127.0.0.1:{(port := free_port())}", f"sqlite+aiosqlite:///{path}"
    database = SqlDatabase(store_url)
    store, clock = Store(database), SystemClock()
    routes = await label_routes(store, clock, Settings(web=WebSettings(url=url, port=port)))
    async with Site("127.0.0.1", port).serving(routes, furnish):
        yield Office(url, store_url, Labelling(store, clock))
    await database.close()


@pytest.fixture(autouse=True)
def _within(guard: Guard, office: Office) -> None:
    guard.origins.add(office.url)


async def begin(page: Page, invitation: str) -> None:
    await page.goto(invitation)
    await press_until(page, "#begin")
    await page.keyboard.press("Enter")
    await expect(page.locator("#sheet")).to_be_visible()


async def press_until(page: Page, selector: str, key: str = "Tab", most: int = 60) -> None:
    for _ in range(most):
        await page.keyboard.press(key)
        if await page.locator(selector).evaluate("(e) => e === document.activeElement"):
            return
    raise AssertionError(f"{selector} cannot be reached by {key}")


# --- by keyboard ---------------------------------------------------------------------------


async def test_a_task_is_done_by_keyboard_alone(person: Open, office: Office) -> None:
    page = await person()
    await begin(page, await office.task())
    for comment in ("j 1 + stay text here", "again"):
        place = await page.locator("#place").inner_text()
        await page.keyboard.press("j")
        await page.keyboard.press("+")
        await page.keyboard.press("1")
        await page.keyboard.press("s")
        await page.keyboard.press("q")
        await page.keyboard.press("n")
        await page.keyboard.type(comment)
        assert await page.locator("#comment").input_value() == comment
        await page.keyboard.press("Escape")
        await page.keyboard.press("2")
        assert await page.locator("input[name=option]:checked").get_attribute("value") == "second"
        await page.keyboard.press("Control+Enter")
        await expect(page.locator("#place, #code").first).not_to_have_text(place)
    await expect(page.locator("#code")).to_have_text(CODE)


async def test_without_its_keys_the_page_works_by_tab_and_space(
    person: Open, office: Office
) -> None:
    page = await person()
    await begin(page, await office.task(each=1))
    await page.locator("#keys summary").click()
    await page.locator("#keys-on").uncheck()
    await page.keyboard.press("1")
    assert await page.locator("input[name=option]:checked").count() == 0
    await page.locator("body").evaluate("(e) => { document.activeElement.blur(); scrollTo(0, 0); }")
    await press_until(page, "input[name=option] >> nth=0", most=200)
    await page.keyboard.press("Space")
    await press_until(page, "#send")
    await page.keyboard.press("Enter")
    await expect(page.locator("#code")).to_have_text(CODE)


async def test_a_half_filled_sheet_outlives_its_tab(person: Open, office: Office) -> None:
    page = await person()
    await begin(page, await office.task(each=1))
    await page.keyboard.press("2")
    await page.locator("input[name=confidence][value=clear]").check()
    await page.locator("#comment").fill("It showed who bears the cost.")
    again = await page.context.new_page()
    await page.close()
    await again.goto(page.url)
    assert await again.locator("input[name=option]:checked").get_attribute("value") == "second"
    assert await again.locator("input[name=confidence]:checked").get_attribute("value") == "clear"
    assert await again.locator("#comment").input_value() == "It showed who bears the cost."
    await again.locator("#send").click()
    await expect(again.locator("#code")).to_have_text(CODE)
    kept = await again.evaluate("() => Object.keys(localStorage).filter((k) => /draft/.test(k))")
    assert kept == []


async def test_the_first_tab_leads_past_what_repeats_without_motion(
    person: Open, office: Office
) -> None:
    page = await person(reduced_motion="reduce")
    await begin(page, await office.task(each=1))
    moves = "getComputedStyle(document.documentElement).scrollBehavior"
    assert await page.evaluate(moves) == "auto"
    await page.keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await expect(page.locator(".skip")).to_be_in_viewport()
    await page.keyboard.press("Enter")
    assert await page.evaluate("location.hash") == "#main"


# --- people --------------------------------------------------------------------------------


async def test_two_people_at_once_each_count_once(person: Open, office: Office) -> None:
    first = await office.task()
    name = first.rpartition("/")[2].partition("?")[0]
    links = [first, await office.invite(name)]
    pages = [await person() for _ in links]

    async def label(page: Page, link: str) -> None:
        await begin(page, link)
        for _ in range(EACH):
            await page.locator("input[name=option]").first.check()
            await page.locator("#send").dblclick(no_wait_after=True)
            await page.wait_for_load_state()
        await expect(page.locator("#code")).to_be_visible()

    before = len(office.labels())
    await asyncio.gather(*(label(*each) for each in zip(pages, links, strict=True)))
    assert len(office.labels()) - before == len(links) * EACH


async def test_one_goes_on_with_another_device(person: Open, office: Office) -> None:
    page, phone = await person(), await person(viewport=PHONE)
    invitation = await office.task()
    await begin(page, invitation)
    await page.locator("input[name=option]").first.check()
    await page.locator("#send").click()
    await page.locator(".site a").first.click()
    personal = await page.locator("#personal").input_value()
    await phone.goto(personal)
    await phone.locator("main button").click()
    await expect(phone.locator("#place")).to_have_text("Debate 2 of 2")
    await phone.locator("input[name=option]").last.check()
    await phone.locator("#send").click()
    await expect(phone.locator("#code")).to_have_text(CODE)
    await page.reload()
    await expect(page.locator("#code")).to_have_text(CODE)


async def test_a_used_link_and_a_wrong_one_say_what_to_do(
    person: Open, office: Office, guard: Guard
) -> None:
    guard.expected |= {404, 410}
    invitation = await office.task()
    await begin(await person(), invitation)
    other = await person()
    for link in (invitation, f"{invitation}x"):
        await other.goto(link)
        assert len(await other.locator("main p").inner_text()) > 20
        await assert_accessible(other)


# --- screens -------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_is_accessible_and_fits_any_screen(
    person: Open, office: Office, scheme: str
) -> None:
    page = await person(color_scheme=scheme)
    invitation = await office.task(each=9)
    await page.goto(invitation)
    await check(page)
    await page.locator("#begin").click()
    await check(page)
    while not await page.locator("#code").count():
        await page.locator("input[name=option]").first.check()
        await page.locator("#send").click()
        await page.wait_for_load_state()
    await check(page)
    await page.locator(".answers a").first.click()
    await check(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_managers_pages_are_accessible_and_fit_any_screen(
    person: Open, office: Office, guard: Guard, scheme: str
) -> None:
    guard.expected |= {400, 403}
    page, name = await person(color_scheme=scheme), await office.answered()
    await page.goto(f"{office.url}/labels")
    await check(page)  # the door
    token = await print_token(office.labelling.store, SystemClock())
    await page.goto(f"{office.url}/labels/enter?k={token}")
    await check(page)
    await page.locator("main button").click()
    await expect(page.locator("main table")).to_contain_text(name)
    await check(page)
    await page.locator("#name").fill("no-debates")
    await page.locator("#debates").fill("nnnnnn")
    await page.locator("button.primary").click()
    await expect(page.get_by_role("alert")).to_contain_text("nnnnnn")
    await check(page)
    await page.goto(f"{office.url}/labels/task/{name}?pay=0.5")
    for heading in ("#hard", "#annotators"):
        await expect(page.locator(heading)).to_be_visible()
    await check(page)
    await page.get_by_role("button", name="Make links").click()
    await expect(page.locator(".links li")).to_have_count(1)
    await check(page)
    await page.goto(f"{office.url}/labels/task/{name}")
    await page.get_by_role("button", name="Close the task").click()
    await expect(page.locator("main")).to_contain_text("closed")
    await check(page)


async def check(page: Page) -> None:
    """Check a page on every screen."""
    await assert_readable(page)
    await page.set_viewport_size(DESKTOP)


async def test_hostile_text_is_text(person: Open, office: Office, shelf: Shelf) -> None:
    page = await person(viewport=NARROW)
    where = ExportFilter(ids=(shelf.hostile.id,), revealed=True)
    await office.labelling.create(Terms(name="hostile", each=1, repeats=0), where)
    await begin(page, await office.invite("hostile"))
    await assert_fits(page)
    assert await page.evaluate("window.taken") is None
    assert await page.locator(".said img, .said script, .said svg, .said style").count() == 0
    assert await page.locator("a[href^=javascript]").count() == 0
    assert "<script>" in await page.locator("h1").inner_text()


async def test_without_javascript_all_of_it_works(person: Open, office: Office) -> None:
    page = await person(java_script_enabled=False)
    await page.goto(await office.task())
    await page.locator("#begin").click()
    for _ in range(EACH):
        await page.locator("input[name=option]").nth(2).check()
        await page.locator("#comment").fill("Both were heard.")
        await page.locator("#send").click()
    await expect(page.locator("#code")).to_have_text(CODE)
    assert await page.locator("kbd:visible").count() == 0
