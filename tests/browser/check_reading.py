"""Reading in a browser: lists and filters, a debate of every format, pages that grow."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientResponse, ClientSession, web
from playwright.async_api import ViewportSize, expect

from adapters.database.database import SqlDatabase
from adapters.web.crowd import LiveUpdates
from adapters.web.reader import ReadingPages
from engine.pages.figures import FiguresReader
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.values.ports import Call, Reply, SystemClock
from engine.values.protocols import AttemptLog
from engine.values.topics import built_in_topics
from tests.browser.conftest import (
    LARGE,
    NARROW,
    PHONE,
    Guard,
    Open,
    assert_accessible,
    assert_fits,
    assert_readable,
)
from tests.doubles.hall import Hall
from tests.doubles.venue import AttentiveVenue
from tests.doubles.whole_debate import DEFAULTS as WHOLE, LIMITS, HeardModels
from tests.doubles.wire import serving
from tests.kit import some
from tests.scenario.shelf import CANARIES, INVISIBLE, Shelf

pytestmark = pytest.mark.asyncio(loop_scope="module")
LOOK_SECONDS = 0.05
MET = "rehearsal=1&a=rehearsal/maple&b=rehearsal/willow"


@dataclass
class Reader:
    """Pages that are served, and the database under them."""

    url: str
    database: str
    shelf: Shelf
    ids: list[str] = field(default_factory=list)

    def debate(self, debate_id: str) -> str:
        return f"{self.url}/debates/{debate_id.lower()}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reader]:
    path = tmp_path_factory.mktemp("reader") / "rostrum.db"
    shutil.copy(Path(shelf.url.removeprefix("sqlite+aiosqlite:///")), path)
    url = f"sqlite+aiosqlite:///{path}"
    await disagree_on_one(url)
    database = SqlDatabase(url, writable=False)
    library = StoredLibrary(Store(database))
    figures = FiguresReader(Store(database), SystemClock(), topics=built_in_topics())
    pulses = LiveUpdates(library.pulse, LOOK_SECONDS)
    reading = ReadingPages(library, live=True, pulses=pulses, figures=figures)
    async with serving(reading.routes()) as port:
        ids = [str(one) for one in await database.column("SELECT id FROM debates ORDER BY number")]
        yield Reader(f"http://127.0.0.1:{port}", url, shelf, ids)
        reading.end()
    await database.close()


async def disagree_on_one(url: str) -> None:
    """Let people and jury differ on the third debate, as lists have it."""
    database = SqlDatabase(url)
    await database.run(
        "UPDATE listings SET people = 'A', jury = 'B', agree = FALSE, dispute = 0.9 "
        "WHERE debate = (SELECT id FROM debates WHERE number = 3)"
    )
    await database.close()


@pytest.fixture(autouse=True)
def _within(guard: Guard, reader: Reader) -> None:
    guard.origins.add(reader.url)


# --- reading -------------------------------------------------------------------------------


async def test_one_finds_a_debate_and_reads_it(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.url)
    await expect(page.locator("#debates > li")).to_have_count(len(reader.ids))
    await page.get_by_role("link", name="oxford 1").click()
    await expect(page.locator("#debates > li")).to_have_count(1)
    assert "format=oxford" in page.url
    await page.locator("#debates a.topic").click()
    await expect(page.locator("article.turn")).to_have_count(6)
    await expect(page.locator("#result")).to_be_visible()
    await page.go_back()
    await expect(page.locator('.chips [data-chip="format=oxford"]')).to_have_attribute(
        "aria-current", "true"
    )
    await page.locator('.chips [data-chip="state=failed"]').wait_for(state="detached")
    await page.get_by_role("link", name="Show all").click()
    await page.locator("#filter-q").fill("museums")
    await page.keyboard.press("Enter")
    await expect(page.locator("#debates > li")).to_have_count(1)
    await page.locator("#filter-q").fill("nothing has these words")
    await page.keyboard.press("Enter")
    await expect(page.locator("#nothing")).to_be_visible()
    await assert_accessible(page)


@pytest.mark.parametrize("width", [1120, 390, 320])
async def test_a_row_of_the_list_cuts_its_models_and_not_its_date(
    person: Open, reader: Reader, width: int
) -> None:
    page = await person(viewport={"width": width, "height": 800})
    await page.goto(reader.url)
    dates = await page.locator(".rows time").all()
    assert dates
    for date in dates:
        box, line = await date.bounding_box(), await date.locator("..").bounding_box()
        end = some(line)["x"] + some(line)["width"]
        assert some(box)["x"] + some(box)["width"] <= end + 1


@pytest.mark.parametrize(("width", "height", "rows"), [(1280, 800, 10), (390, 844, 4)])
async def test_the_first_screen_has_a_list_and_not_a_form(
    person: Open, reader: Reader, width: int, height: int, rows: int
) -> None:
    page = await person(viewport={"width": width, "height": height}, java_script_enabled=False)
    await page.goto(reader.url)
    boxes = [await row.bounding_box() for row in await page.locator("#debates > li").all()]
    ends = [box["y"] + box["height"] for box in boxes if box]
    assert sum(end <= height for end in ends) >= rows
    if width == 1280:
        assert max(box["height"] for box in boxes if box) <= 56
    await expect(page.locator("#strip")).to_contain_text("people vote on 1")
    strip, rows_box = [await page.locator(one).bounding_box() for one in ("#strip", "#debates")]
    assert some(strip)["width"] == some(rows_box)["width"]
    for order in ("most disputed", "closest", "dearest"):
        await page.get_by_role("link", name=order).click()
        await expect(page.get_by_role("link", name=order)).to_have_attribute("aria-current", "true")
    last = await page.locator("#debates > li").last.get_attribute("id")
    assert last == f"d-{reader.shelf.sealed.code}"  # what it cost so far sorts as nothing


async def test_what_could_not_be_found_out_takes_four_clicks_at_most(
    person: Open, reader: Reader
) -> None:
    page = await person(viewport=LARGE, java_script_enabled=False)

    async def follow(*names: str) -> None:
        assert len(names) <= 4
        await page.goto(reader.url)
        for name in names:
            await (
                page.get_by_role("link", name=name)
                .or_(page.get_by_role("button", name=name, exact=True))
                .first.click()
            )

    await follow("Jurors", "Count")  # which juror is harsh
    marks = await page.locator("#jurors tbody td:nth-child(2)").all_inner_texts()
    assert len(marks) > 5
    assert marks[:-1] == sorted(marks[:-1])  # the last has none
    await follow("Jurors", "Count", "agrees with its panel")
    assert (await page.locator("#jurors tbody tr").first.inner_text()).count("0 of ") >= 1
    await follow()  # the hardest debate
    await page.locator("#strip .hardest a").first.click()
    assert page.url == reader.debate(reader.ids[2])
    await follow("Models", "Count", "Compare")  # two models compared
    await expect(page.locator("#shares tbody tr").first).to_contain_text("all")
    await follow("Costs")  # what each model cost
    await expect(page.locator("#models tbody tr").first).to_contain_text("near/")


async def test_two_models_are_compared_and_the_debates_behind_a_figure_shown(
    person: Open, reader: Reader
) -> None:
    page = await person(java_script_enabled=False)
    await page.goto(reader.url)
    await page.get_by_role("link", name="Models").click()
    await page.get_by_role("link", name="Count").click()
    await page.get_by_label("Model", exact=True).select_option("rehearsal/maple")
    await page.get_by_label("against").select_option("rehearsal/willow")
    await page.get_by_role("button", name="Compare").click()
    await expect(page.locator("#met tbody tr")).to_have_count(6)
    await page.get_by_role("row", name="topics on work").get_by_role("link").click()
    await expect(page.locator("#met tbody tr")).to_have_count(5)
    await page.get_by_role("row", name="oxford").get_by_role("link").click()
    await expect(page.locator("#met tbody tr")).to_have_count(1)
    await page.locator("#met a").click()
    await expect(page.locator("#debate")).to_be_visible()


async def test_a_debate_that_is_not_public_is_sent_as_one_file(
    person: Open, reader: Reader
) -> None:
    page = await person(java_script_enabled=False)
    for debate_id in (reader.ids[0], reader.shelf.sealed.id):
        await page.goto(reader.debate(debate_id))
        await page.locator("#send summary").click()
        async with page.expect_download() as begun:
            await page.locator("#send a").click()
        sent = await begun.value
        assert sent.suggested_filename == f"debate-{debate_id[-6:].lower()}.html"
        text = await asyncio.to_thread(Path(await sent.path()).read_text, "utf-8")
        assert text.startswith("<!doctype html>")
        assert not [one for one in CANARIES if one in text.lower()]


async def test_a_phones_share_sheet_gets_the_file(person: Open, reader: Reader) -> None:
    page = await person(viewport=PHONE)
    await page.add_init_script(
        "navigator.canShare = () => true;"
        "navigator.share = async ({ files: [one] }) => { document.title = one.name + one.size; };"
    )
    await page.goto(reader.debate(reader.ids[0]))
    await page.locator("#send summary").click()
    await expect(page).to_have_title(re.compile(r"^debate-000001\.html\d{5}"))


async def test_a_turn_has_a_link_of_its_own(person: Open, reader: Reader) -> None:
    page = await person(viewport=PHONE)
    await page.goto(f"{reader.debate(reader.ids[0])}#t5")
    await expect(page.locator("#t5")).to_be_in_viewport()
    await page.goto(f"{reader.debate(reader.ids[0])}?turn=7")
    assert page.url.endswith("#t7")
    await expect(page.locator("#t7")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_is_accessible_and_fits_any_screen(
    person: Open, reader: Reader, scheme: str
) -> None:
    page = await person(color_scheme=scheme)
    first, sealed = reader.debate(reader.ids[0]), reader.debate(reader.shelf.sealed.id)
    lists = [reader.url, f"{reader.url}/?order=disputed&format=oxford"]
    lists += [f"{reader.url}/{page}?rehearsal=1" for page in ("models", "jurors", "costs")]
    lists += [f"{reader.url}/models?{MET}", f"{reader.url}/series/spring"]
    pages = [*lists, first, sealed, f"{first}/calls", f"{first}/calls/1"]
    every = map(reader.debate, reader.ids)  # colours are those of the first
    for url in [*pages, *(every if scheme == "light" else ())]:
        answer = some(await page.goto(url))
        assert answer.status == 200, url
        await assert_readable(page)
        assert await page.locator("h1").count() == 1
        assert len(await page.title()) > len(" · Rostrum")


# --- a debate at a glance --------------------------------------------------------------------


@pytest.mark.parametrize(("size", "least"), [(LARGE, 600), (PHONE, 700)])
async def test_the_result_stands_above_the_fold_in_every_format(
    person: Open, reader: Reader, size: ViewportSize, least: int
) -> None:
    page = await person(viewport=size)
    for debate_id in reader.ids[:7]:
        await page.goto(reader.debate(debate_id))
        await expect(page.locator("#head .card .model").first).to_be_visible()
        below = await page.locator("#result .outcome").nth(1).bounding_box()
        assert below is not None
        assert below["y"] + below["height"] <= least, debate_id
        widths = await page.locator(".card").evaluate_all(
            "(all) => all.map((e) => Math.round(e.getBoundingClientRect().width))"
        )
        assert len(set(widths)) == 1, "cards are equal"


async def test_every_fact_of_a_result_stands_once(person: Open, reader: Reader) -> None:
    page = await person()
    for debate_id in reader.ids[:7]:
        await page.goto(reader.debate(debate_id))
        text = await page.locator("main").inner_text()
        assert text.count("Jury: ") == 1, debate_id
        assert text.count("People: ") == 1, debate_id
        assert text.count("People and jury") <= 1, debate_id


async def test_the_head_leads_to_what_belongs_to_a_debate(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.debate(reader.ids[0]))
    await page.locator(".jumps a", has_text="Ballots").click()
    await expect(page.locator("#ballots")).to_be_in_viewport()
    await expect(page.locator(".jumps")).to_be_in_viewport()  # it sticks
    await page.locator(".related a", has_text="series").click()
    await expect(page.locator("h1")).to_have_text("series spring")
    await page.get_by_role("link", name="All debates of the series").click()
    await expect(page.locator("#debates > li")).to_have_count(1)
    await page.locator("#debates a.topic").click()
    await page.locator(".related a", has_text="Mirror").click()
    await expect(page.locator("#head")).to_contain_text(reader.ids[1][-6:].lower())


async def test_what_stopped_says_why_and_how_it_goes_on(person: Open, reader: Reader) -> None:
    page = await person(viewport=PHONE)
    await page.goto(reader.debate(reader.ids[7]))
    trouble = page.locator("#head")
    await expect(trouble).to_contain_text("rehearsal/willow?fail=500")
    await expect(trouble).to_contain_text(f"rostrum resume {reader.ids[7][-6:].lower()}")
    await page.goto(reader.debate(reader.ids[-1]))
    await expect(page.locator("#state")).to_contain_text("interrupted")
    await expect(page.locator("#head")).to_contain_text("rostrum resume")
    await page.goto(reader.debate(reader.shelf.sealed.id))
    await expect(page.locator("#state")).to_contain_text("open until")
    await expect(page.locator("#state")).to_contain_text("0 votes")
    assert await page.locator(".card .model").count() == 0


async def test_twelve_readings_are_one_matrix_with_reasons_in_place(
    person: Open, reader: Reader
) -> None:
    page = await person(viewport=LARGE)
    await page.goto(reader.debate(reader.ids[0]))
    jury = page.locator("#ballots-1")
    await expect(jury.locator("tbody tr:not(.wrote)")).to_have_count(6)
    box = await jury.bounding_box()
    assert box is not None
    assert box["height"] <= 700
    reasons = jury.locator("details").first
    await expect(reasons.locator(".said").first).to_be_hidden()
    await reasons.locator("summary").click()
    await expect(reasons.locator(".said").first).to_be_visible()


async def test_nothing_scrolls_sideways_on_a_desk(person: Open, reader: Reader) -> None:
    page = await person(viewport=LARGE)
    for debate_id in reader.ids[:7]:
        await page.goto(reader.debate(debate_id))
        wide = await page.locator(".scroll").evaluate_all(
            "(all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
        )
        assert not wide, wide


async def test_an_outline_and_keys_lead_from_turn_to_turn(person: Open, reader: Reader) -> None:
    page = await person(viewport=LARGE)
    await page.goto(reader.debate(reader.ids[0]))
    outline = page.locator("#outline nav")
    await expect(outline).to_be_visible()
    await expect(outline.locator("a")).to_have_count(8)
    focused = "document.activeElement.closest('article.turn')?.id"
    for key, turn in (("j", "t1"), ("j", "t2"), ("a", "t3"), ("b", "t4"), ("k", "t3")):
        await page.keyboard.press(key)
        await page.wait_for_timeout(700)  # the page scrolls there
        assert await page.evaluate(focused) == turn
    phone = await person(viewport=PHONE, java_script_enabled=False)
    await phone.goto(reader.debate(reader.ids[0]))
    await expect(phone.locator("#outline a").first).to_be_hidden()
    await phone.locator("#outline summary").click()
    await phone.locator("#outline a").nth(5).click()
    assert phone.url.endswith("#t6")


async def test_rounds_stand_side_by_side_at_one_tap(person: Open, reader: Reader) -> None:
    page = await person(viewport=LARGE, java_script_enabled=False)
    await page.goto(reader.debate(reader.ids[0]))
    await page.get_by_label("Rounds side by side").check()
    first, second = [await page.locator(f"#t{n}").bounding_box() for n in (1, 2)]
    assert first is not None
    assert second is not None
    assert first["x"] + first["width"] <= second["x"]
    await assert_fits(page)


async def test_each_argument_is_a_card_with_its_answers(person: Open, reader: Reader) -> None:
    page = await person(viewport=LARGE, java_script_enabled=False)
    await page.goto(reader.debate(reader.ids[4]))
    await page.locator(".jumps a", has_text="Arguments").click()
    cards = page.locator("#arguments .argument")
    await expect(cards).to_have_count(6)
    await expect(cards.first).to_contain_text("unclear")
    await cards.first.get_by_role("link", name="doubted it").click()
    await expect(page.locator("#t4")).to_be_in_viewport()  # the turn that answered
    await expect(page.locator("#t4")).to_contain_text("B · cross-examination")


async def test_a_free_debate_is_a_board_whose_budgets_run(person: Open, reader: Reader) -> None:
    page = await person(viewport=PHONE, java_script_enabled=False)
    await page.goto(reader.debate(reader.ids[6]))
    rows = page.locator("#free-debate tbody tr")
    await expect(rows).to_have_count(8)
    for side in "AB":
        told = await rows.locator(f".left-{side} span").all_inner_texts()
        left = [60 * int(one.split(":")[0]) + int(one.split(":")[1]) for one in told]
        assert left == sorted(left, reverse=True)
        assert left[-1] < 10 < left[0]
    await rows.nth(1).get_by_role("link").click()
    await expect(page.locator("#t14")).to_contain_text("B2 · free debate 2")


async def test_a_revision_says_what_it_changed_word_by_word(person: Open, reader: Reader) -> None:
    page = await person(viewport=PHONE, java_script_enabled=False)
    await page.goto(reader.debate(reader.ids[3]))
    await expect(page.locator("article.turn .revised")).to_have_count(6)
    revised = page.locator("#t4 .revised")
    await revised.locator("summary").click()
    await expect(revised.locator("ins").first).to_be_visible()
    await expect(revised.locator("del").first).to_be_visible()


async def test_the_register_and_scores_stand_beside_their_turns(
    person: Open, reader: Reader
) -> None:
    page = await person(viewport=LARGE)
    await page.goto(reader.debate(reader.shelf.judged.id))
    await expect(page.locator(".judged")).to_have_count(4)
    for turn in (2, 3):  # where it stands, and where it came out
        await expect(page.locator(f"#t{turn} .judged")).to_contain_text("treats them all alike")
        said, beside = [
            await page.locator(f"#t{turn} > {one}").bounding_box() for one in (".said", ".judged")
        ]
        assert said is not None
        assert beside is not None
        assert said["x"] + said["width"] <= beside["x"]
    score = await page.locator("#t2 .judged b").inner_text()
    assert re.fullmatch(r"score \d+\.\d( \(\d+\.\d\))?", score)
    assert score.split()[1] in await page.locator("#outline li").nth(1).inner_text()
    assert "turn/exchange" not in await page.locator("main").inner_text()
    await expect(page.locator("#own-judge")).to_contain_text("each judge alone")
    await expect(page.locator("#why")).to_contain_text("rehearsal/lime")


async def test_a_turn_and_its_call_lead_to_each_other(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.debate(reader.ids[0]))
    await page.get_by_label("The call of turn 3").click()
    await expect(page.locator("h1")).to_have_text("turn/rebuttal/A")
    await expect(page.locator("#prompt ~ details").first).to_contain_text("as in the call before")
    await page.get_by_role("link", name="turn 3").click()
    assert page.url.endswith("#t3")


async def test_calls_stand_on_a_time_line_with_what_failed(person: Open, reader: Reader) -> None:
    page = await person(viewport=LARGE)
    await page.goto(f"{reader.debate(reader.ids[7])}/calls")
    await expect(page.locator("#calls .bar")).to_have_count(3)
    failed = page.locator("#calls tbody tr:has(.broken)")
    await expect(failed.first).to_contain_text("500")
    again = page.locator("#calls tbody tr:has(.waited)")
    await expect(again).to_have_count(1)  # the second try, since the first began
    await expect(again).to_contain_text(re.compile(r"after \d+\.\d s"))
    await expect(failed.first).not_to_contain_text("free")
    await expect(page.locator("#sums tbody tr")).to_have_count(2)


async def test_pictures_are_drawn_in_the_page_and_alone(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.debate(reader.ids[0]))
    pictures = page.locator("#debate img")
    assert await pictures.count() > 0
    for number in range(await pictures.count()):
        assert await pictures.nth(number).evaluate("(e) => e.complete && e.naturalWidth > 0")
    alone = await person()
    await alone.goto(str(await pictures.first.evaluate("(e) => e.src")))
    assert await alone.evaluate("document.documentElement.getBoundingClientRect().width") > 100


async def test_a_debate_prints_its_turns_and_nothing_to_press(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.debate(reader.ids[0]))
    await page.emulate_media(media="print")
    for unprinted in (".site", ".skip", "nav.pages"):
        for one in await page.locator(unprinted).all():
            await expect(one).to_be_hidden()
    await expect(page.locator("#t1")).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    paper: bytes = await page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 2 <= paper.count(b"/Type /Page\n") <= 4, "sheets of a classic debate with two juries"


async def test_it_is_read_without_javascript(person: Open, reader: Reader) -> None:
    page = await person(java_script_enabled=False)
    await page.goto(f"{reader.url}/?format=team")
    await page.locator("#debates a.topic").click()
    assert await page.locator("article.turn").count() >= 10
    await expect(page.locator("#result")).to_be_visible()


async def test_a_reader_gets_from_list_to_turn_by_keyboard(person: Open, reader: Reader) -> None:
    page = await person()
    await page.goto(reader.url)
    await page.keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await page.keyboard.press("Enter")
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.closest('#debates') !== null"):
            break
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert await page.evaluate(outline) == "solid"
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_be_visible()
    await expect(page.locator("#debate")).to_be_visible()


# --- what is hostile, and what is sealed -----------------------------------------------------


async def test_hostile_text_is_text(person: Open, reader: Reader) -> None:
    page = await person(viewport=NARROW)
    hostile = reader.debate(reader.shelf.hostile.id)
    for url in (reader.url, hostile, f"{hostile}/calls", f"{hostile}/calls/1"):
        await page.goto(url)
        await assert_fits(page)
        assert await page.evaluate("window.taken") is None, url
        assert await page.title() != "taken"
        bad = "script:not([src]), style, iframe, object, [onerror], [onload], [onfocus], [style]"
        assert await page.locator(bad).count() == 0, url
        assert await page.locator("a[href^=javascript], img[src^=http]").count() == 0, url
        shown = await page.evaluate("document.documentElement.textContent")
        assert not set(shown) & set(INVISIBLE), url


# --- pages that grow -------------------------------------------------------------------------


class Paced(HeardModels):
    """Models whose turns wait until they are let through."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Semaphore(0)

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        if call.step.startswith("turn/"):
            await self.gate.acquire()
        return await super().complete(call, log)


async def test_a_debate_that_goes_on_grows_without_a_reload(person: Open, reader: Reader) -> None:
    page, plain = await person(), await person(java_script_enabled=False)
    models = Paced()
    async with Hall(reader.database, AttentiveVenue(limits=LIMITS)).open(models) as session:
        defaults = WHOLE.model_copy(update={"vote_minutes": 600.0})
        debate_id = await session.start(defaults)
        turns = page.locator("article.turn")
        await page.goto(reader.debate(debate_id))
        await expect(turns).to_have_count(0)
        models.gate.release()
        models.gate.release()
        await expect(turns).to_have_count(2)
        await page.evaluate("window.stayed = true; scrollTo(0, 200)")
        for _ in range(20):
            models.gate.release()
        await expect(turns).to_have_count(8)
        await expect(page.locator("#state")).to_contain_text("vot", ignore_case=True)
        assert await page.evaluate("window.stayed")
        assert await page.evaluate("scrollY") == 200
        await plain.goto(reader.debate(debate_id))
        await expect(plain.locator("article.turn")).to_have_count(8)
        await session.voting(debate_id)
        await session.service.close_vote(debate_id)
        await expect(page.locator("#ballots")).to_be_visible()
        assert await page.evaluate("window.stayed")
    await assert_accessible(page)


class Gateway:
    """A proxy before the pages, which may answer by itself as one does while the bot restarts."""

    def __init__(self, origin: str) -> None:
        self.origin, self.status = origin, 200
        self._cut = asyncio.Event()

    async def forward(self, request: web.Request) -> web.StreamResponse:
        if self.status != 200:
            return web.Response(status=self.status)
        url = f"{self.origin}{request.rel_url}"
        async with ClientSession() as client, client.get(url) as found:
            told = web.StreamResponse(status=found.status)
            told.content_type = found.content_type
            await told.prepare(request)
            passing = asyncio.create_task(self._pass(found, told))
            cut = asyncio.create_task(self._cut.wait())
            await asyncio.wait((passing, cut), return_when=asyncio.FIRST_COMPLETED)
            for task in (passing, cut):
                task.cancel()
            return told

    async def _pass(self, found: ClientResponse, told: web.StreamResponse) -> None:
        with suppress(ConnectionError):
            async for part in found.content.iter_any():
                await told.write(part)

    def restart(self, status: int) -> None:
        """End every answer that goes on, and answer so from now on."""
        self.status = status
        self._cut.set()
        self._cut = asyncio.Event()


@pytest.mark.parametrize("status", [502, 503])
async def test_a_page_comes_back_by_itself_from_behind_a_proxy_that_was_alone(
    person: Open, reader: Reader, guard: Guard, status: int
) -> None:
    guard.expected.add(status)
    page, gateway, models = await person(), Gateway(reader.url), Paced()
    async with serving([web.get("/{rest:.*}", gateway.forward)]) as port:
        url = f"http://127.0.0.1:{port}"
        guard.origins.add(url)
        async with Hall(reader.database, AttentiveVenue(limits=LIMITS)).open(models) as session:
            debate_id = await session.start(WHOLE.model_copy(update={"vote_minutes": 600.0}))
            await page.goto(reader.debate(debate_id).replace(reader.url, url))
            models.gate.release()
            await expect(page.locator("article.turn")).to_have_count(1, timeout=20_000)
            await page.evaluate("window.stayed = true")
            gateway.restart(status)
            await expect(page.locator("#stale")).to_contain_text("Not up to date since")
            for _ in range(20):
                models.gate.release()
            await session.voting(debate_id)
            gateway.status = 200
            await expect(page.locator("article.turn")).to_have_count(8, timeout=20_000)
            await expect(page.locator("#stale")).to_be_hidden()
            gateway.restart(status)  # in mid-vote
            await expect(page.locator("#stale")).to_be_visible()
            await session.service.close_vote(debate_id)
            gateway.status = 200
            await expect(page.locator("#ballots")).to_be_visible(timeout=20_000)
            assert await page.evaluate("window.stayed")


async def test_a_wrong_address_says_so_in_the_readers_language(
    person: Open, reader: Reader, guard: Guard
) -> None:
    guard.expected.add(404)
    page = await person(locale="tr-TR", viewport=NARROW)
    await page.goto(f"{reader.url}/debates/zzzzzz")
    assert await page.locator("html").get_attribute("lang") == "tr"
    await assert_fits(page)
    await assert_accessible(page)
