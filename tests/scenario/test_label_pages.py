"""Labelling by pages, over the wire: from an invitation to the completion code, and every no."""

import asyncio
import io
import itertools
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from aiohttp import ClientSession, CookieJar, web
from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from adapters.pictures import drawn
from adapters.site import Site
from adapters.web.application import HEADERS, furnish
from adapters.web.label_pages import MOST_JOINS
from adapters.web.public import PublicPages
from adapters.web.session import Sessions
from bot.research.labels import label_routes, noticing_of, print_token
from bot.settings.settings import DiscordSettings, Settings, SlackSettings, WebSettings
from engine.drawing import Picture
from engine.labelling.sheet import SheetAnswer
from engine.labelling.tasks import Labelling
from engine.pages.public import PublicReader
from engine.run.order import Order
from engine.store import ExportFilter, Store, labels
from engine.store.communities import CommunitySettings, PublicPart
from engine.store.labels import Terms
from engine.values.debate import Debate, Status
from engine.values.errors import StoreError
from engine.values.ports import Permalinks, SystemClock
from tests.doubles.accounts import CLIENT_ID, CLIENT_SECRET, AccountsServer
from tests.doubles.hall import LOBBY, Hall
from tests.doubles.venue import AttentiveVenue
from tests.doubles.whole_debate import DEFAULTS, LIMITS, HeardModels
from tests.kit import NOW, some

HOSTILE = 'Is <script>alert(1)</script> "quoted" & \u202ereversed text a topic?'
FIELD = re.compile(r'<input type="hidden" name="(\w+)"(?: id="\w+")? value="([^"]*)">')
MODELS = re.compile(r"rehearsal|maple|cedar|larch|birch/|\boak\b", re.IGNORECASE)
DEBATES = 3
MANAGER = "80351110224678912"


class Shown:
    """A page that came: its status, address, headers and text."""

    def __init__(self, status: int, path: str, headers: Mapping[str, str], text: str) -> None:
        self.status, self.path, self.headers, self.text = status, path, headers, text

    @property
    def fields(self) -> dict[str, str]:
        return {name: unescape(value) for name, value in FIELD.findall(self.text)}

    @property
    def heading(self) -> str:
        found = re.search(r"<h1[^>]*>(.*?)</h1>", self.text, re.DOTALL)
        return unescape(found[1]) if found else ""


class Browser:
    """A browser on the pages; it follows redirects to them, and to nowhere else."""

    def __init__(self, origin: str) -> None:
        self.jar = CookieJar(unsafe=True)
        self.client = ClientSession(origin, cookie_jar=self.jar)

    async def get(self, path: str, **asked: Any) -> Shown:
        return await self._ask("GET", path, **asked)

    async def post(self, path: str, **form: Any) -> Shown:
        return await self._ask("POST", path, data=form)

    async def _ask(self, method: str, path: str, **asked: Any) -> Shown:
        async with self.client.request(method, path, allow_redirects=False, **asked) as answer:
            text = await answer.text()
            if answer.status == 303:
                to = answer.headers["Location"]
                if not to.startswith("/"):
                    return Shown(303, to, answer.headers, text)
                assert not to.startswith("//")
                return await self.get(to)
            return Shown(answer.status, urlsplit(str(answer.url)).path, answer.headers, text)

    async def join(self, link: str, **more: str) -> Shown:
        page = await self.get(link)
        assert page.status == 200, page.text
        return await self.post(f"{urlsplit(link).path}/join", **page.fields, **more)


@dataclass
class Office:
    """The pages over a store, and what labels are asked of."""

    origin: str
    store: Store
    labelling: Labelling
    debates: list[Debate]
    accounts: AccountsServer
    browsers: list[Browser] = field(default_factory=list)

    def browser(self) -> Browser:
        made = Browser(self.origin)
        self.browsers.append(made)
        return made

    async def task(self, name: str = "tea", **terms: Any) -> None:
        await self.labelling.create(Terms(name=name, **{"repeats": 0.0} | terms), ExportFilter())

    async def link(self, name: str = "tea", **more: Any) -> str:
        (token,) = await self.labelling.invite(name, **more)
        return f"/label/{name}?t={token}"

    async def votes(self) -> int:
        tasks = await self.labelling.tasks()
        work = [await self.store.labelling.work(task.name) for task in tasks]
        return sum(drawn.answered_at is not None for drawn in itertools.chain(*work))


async def hold(url: str) -> list[Debate]:
    async with Hall(url, AttentiveVenue(limits=LIMITS)).open(HeardModels()) as session:
        held = []
        for number in range(DEBATES):
            where = {"platform": "memory", "community": "club", "place": LOBBY, "seed": number}
            topic = HOSTILE if number == 0 else f"Is tea number {number} better than coffee?"
            started = await session.service.start(Order(**where, topic=topic), DEFAULTS)
            debate = await session.ended(started.debate.id)
            assert debate.status is Status.CLOSED, debate.reason
            held.append(debate)
        return held


def settings_of(accounts: AccountsServer, origin: str) -> Settings:
    app: dict[str, Any] = {
        f"{platform}_client_{what}": value
        for platform in ("discord", "slack")
        for what, value in (("id", CLIENT_ID), ("secret", SecretStr(CLIENT_SECRET)))
    }
    return Settings(
        web=WebSettings(url=origin, port=0, managers=(f"discord:{MANAGER}",), **app),
        discord=DiscordSettings(api_url=f"{accounts.origin}/api/v10"),
        slack=SlackSettings(api_url=f"{accounts.origin}/api"),
    )


@asynccontextmanager
async def serving(store: Store, accounts: AccountsServer, origin: str = "") -> AsyncIterator[str]:
    """Serve the pages; the address that they are told is that of the first process."""
    settings = settings_of(accounts, origin or "http://127.0.0.1:1")
    clock, site = SystemClock(), Site("127.0.0.1", 0)
    async with site.serving(await label_routes(store, clock, settings), furnish):
        yield "http://{}:{}".format(*some(site.address))


@pytest.fixture
async def office(database_url: str) -> AsyncIterator[Office]:
    debates = await hold(database_url)
    database = SqlDatabase(database_url)
    store = Store(database)
    async with AccountsServer() as accounts, serving(store, accounts) as origin:
        accounts.back |= {f"http://127.0.0.1:1/sign-in/{name}" for name in ("discord", "slack")}
        made = Office(origin, store, Labelling(store, SystemClock()), debates, accounts)
        yield made
        for browser in made.browsers:
            await browser.client.close()
    await database.close()


def answer(page: Shown, option: str = "first", **more: str) -> dict[str, str]:
    return {**page.fields, "option": option, **more}


async def test_from_an_invitation_to_the_completion_code(office: Office) -> None:
    await office.task(code="TEA-42", about="Thank you for <b>helping</b> us.")
    browser, link = office.browser(), await office.link()
    consent = await browser.get(link)
    assert "Thank you for &lt;b&gt;helping&lt;/b&gt; us." in consent.text
    page = await browser.join(link)
    topics = []
    for number in range(1, DEBATES + 1):
        assert page.status == 200
        assert f"Debate {number}" in page.text
        assert MODELS.search(page.text) is None
        for sealed in (*(one.id for one in office.debates), *(one.code for one in office.debates)):
            assert sealed not in page.text
        assert "<script>alert" not in page.text
        assert "\u202e" not in page.text
        assert {name: page.headers[name] for name in HEADERS} == HEADERS
        topics.append(page.heading)
        again = await browser.get("/label/tea/next")  # a reload, or another tab
        assert (again.path, again.heading) == (page.path, page.heading)
        thumb = {"thumb-1": "up", "confidence": "clear", "ground": "logic", "seconds": "12.5"}
        page = await browser.post(page.path, **answer(page, comment="Ünder\r\nlines", **thumb))
    assert len(set(topics)) == DEBATES
    assert page.path == "/label/tea/done"
    assert '<output class="code" id="code">TEA-42</output>' in page.text
    assert await office.votes() == DEBATES
    first = some(re.search(r"/label/tea/sheet/[\w-]{22}", page.text))
    sheet = await browser.get(first[0])
    for checked in ('value="first"', 'value="clear"', 'value="logic"', 'value="up"'):
        assert re.search(f"{checked}[^>]* checked>", sheet.text), checked
    assert "Ünder\nlines</textarea>" in sheet.text
    changed = await browser.post(sheet.path, **answer(sheet, "weak"))
    assert changed.path == "/label/tea/done"
    assert await office.votes() == DEBATES


async def test_double_clicks_retries_tabs_and_devices_are_one_person_and_one_answer(
    office: Office,
) -> None:
    await office.task()
    browser, link = office.browser(), await office.link()
    consent = await browser.get(link)
    pages = await asyncio.gather(
        *(browser.post("/label/tea/join", **consent.fields) for _ in range(3))
    )
    assert {page.path for page in pages} == {pages[0].path}
    assert pages[0].path.startswith("/label/tea/sheet/")
    # Opening the link again leads on; in another browser it is used.
    assert (await browser.get(link)).path == pages[0].path
    stranger = await office.browser().get(link)
    assert (stranger.status, stranger.heading) == (410, "This link has been used")
    page = await browser.get(pages[0].path)
    sent = await asyncio.gather(*(browser.post(page.path, **answer(page)) for _ in range(4)))
    assert all(one.status == 200 for one in sent)
    assert await office.votes() == 1
    # On a telephone, by the personal link, which needs a press.
    done = await browser.get("/label/tea/done")
    personal = some(re.search(r'value="http://127.0.0.1:1(/label/tea/back\?k=[^"]+)"', done.text))
    phone = office.browser()
    offered = await phone.get(personal[1])
    assert (offered.status, offered.heading) == (200, "Go on in this browser?")
    there = await phone.post("/label/tea/back", **offered.fields)
    here = await browser.get("/label/tea/next")
    assert there.path == here.path
    assert here.path != page.path
    await asyncio.gather(
        browser.post(here.path, **answer(here)), phone.post(there.path, **answer(there, "tie"))
    )
    assert await office.votes() == 2
    # Signed out, this browser is nobody; the telephone goes on.
    await browser.post("/label/tea/leave", token=here.fields["token"])
    assert (await browser.get("/label/tea/next")).status == 403
    assert (await phone.get("/label/tea/next")).status == 200


async def test_what_is_forged_or_somebody_elses_changes_nothing(office: Office) -> None:
    await office.task()
    ours, theirs = office.browser(), office.browser()
    page = await ours.join(await office.link())
    other = await theirs.join(await office.link())
    # Somebody else's sheet is not there.
    assert (await ours.get(other.path)).status == 404
    assert (await ours.post(other.path, **answer(page))).status == 404
    # Without the token of the session nothing is stored, but what was written is kept.
    for token in ("", "x", other.fields["token"]):
        said = {"option": "second", "comment": "Because of <i>this</i>", "token": token}
        late = await ours.post(page.path, **said)
        assert (late.status, late.path) == (403, page.path)
        assert "This page was open for too long" in late.text
        assert "Because of &lt;i&gt;this&lt;/i&gt;</textarea>" in late.text
    # A cookie that was tampered with, or of another kind, is none.
    (cookie,) = [one for one in ours.jar if one.key == "rostrum-label"]
    for forged in (cookie.value[:-3] + "AAA", "x", ""):
        async with (
            ClientSession(office.origin, cookies={"rostrum-label": forged}) as client,
            client.post(page.path, data=answer(page), allow_redirects=False) as said_no,
        ):
            assert said_no.status == 403
    for path in ("/label/tea/join", "/label/tea/back"):
        assert (await ours.post(path, link="x", token="x")).path == page.path  # is in already
        assert (await office.browser().post(path, link="x")).status == 403
    assert (await ours.post("/label/tea/leave", token="x")).status == 403
    # What is no answer is none.
    for wrong in (
        {},
        {"option": "A"},
        {"option": "first", "comment": "x" * 2001},
        {"option": ["first", "weak"][0], "comment": "x" * 5000},
    ):
        no = await ours.post(page.path, token=page.fields["token"], **wrong)
        assert (no.status, no.path) == (400, page.path)
        assert 'role="alert"' in no.text
    odd = {"thumb-99": "up", "thumb-1": "sideways", "seconds": "nan", "confidence": "<b>"}
    assert await office.votes() == 0
    async with ours.client.post(page.path, data=b"{}", headers={"Content-Type": "a/b"}) as no_form:
        assert no_form.status == 400
    body = io.BytesIO(b"comment=" + b"x" * 2**20)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    async with ours.client.post(page.path, data=body, headers=kind) as large:
        assert large.status == 413
    hostile = "</textarea><script>alert(1)</script>\x00\x1b[2J\u202eabc"
    stored = await ours.post(page.path, **answer(page, comment=hostile, **odd))
    assert stored.status == 200
    assert await office.votes() == 1
    shown = await ours.get(page.path)
    assert "</textarea><script>" not in shown.text
    assert "&lt;/textarea&gt;&lt;script&gt;" in shown.text
    for sign in ("\x00", "\x1b", "\u202e"):
        assert sign not in shown.text


async def test_each_link_that_does_not_lead_in_says_why(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.task()
    await office.task("milk")
    browser = office.browser()
    no_link = await browser.get("/label/tea")
    assert no_link.status == 200
    assert "Sign in with Discord" in no_link.text
    unknown = await browser.get("/label/nothing-at-all")
    assert unknown.text.replace("nothing-at-all", "tea") == no_link.text
    assert (await browser.get("/label/tea/next")).status == 403
    for path in ("/label/Tea", "/label/tea/sheet/x", "/label/tea/sheet/..%2f..", "/label/tea/x"):
        assert (await browser.get(path)).status == 404
    link = await office.link()
    astray = await browser.get(link.replace("/tea", "/milk"))
    assert (astray.status, astray.heading) == (404, "This link leads nowhere")
    expired = await office.link(days=1e-9)
    old = await browser.get(expired)
    assert (old.status, old.heading) == (410, "This link has expired")
    page = await browser.join(link)
    await office.labelling.close("tea")
    with monkeypatch.context() as over:
        over.setattr(labels, "GRACE", timedelta(0))
        late = await browser.post(page.path, **answer(page))
        assert (late.status, late.heading) == (410, "This task is closed")
        assert "not stored" in late.text
    assert await office.votes() == 0
    assert (await browser.post(page.path, **answer(page))).path == "/label/tea/done"
    assert await office.votes() == 1
    done = await browser.get("/label/tea/next")
    assert (done.path, done.heading) == ("/label/tea/done", "This task is closed")
    closed = await office.browser().get(await office.link())
    assert (closed.status, closed.heading) == (410, "This task is closed")
    german = await office.browser().get(link, headers={"Accept-Language": "de"})
    assert german.heading == "Diese Aufgabe ist geschlossen"
    # People who try many links have to wait; people with a valid one do not.
    guesser = office.browser()
    tried = [(await guesser.get(f"/label/milk?t={n}")).status for n in range(30)]
    assert set(tried) == {404, 429}
    assert tried[-1] == 429


async def test_a_recruiting_platforms_people_are_known_by_its_id(office: Office) -> None:
    await office.task(parameter="PROLIFIC_PID", code="C0DE", each=1)
    link = await office.link(people=2)
    first = office.browser()
    page = await first.join(f"{link}&PROLIFIC_PID=5f0a&STUDY_ID=1")
    # The same id on another device is the same person, and takes no other's place.
    same = await office.browser().join(f"{link}&PROLIFIC_PID=5f0a")
    assert same.path == page.path
    second = await office.browser().join(f"{link}&PROLIFIC_PID=6e1b")
    assert second.path != page.path
    full = await office.browser().get(link)
    assert (full.status, full.heading) == (410, "This link has been used")
    for odd in ("<script>", "a" * 65, "5f0a%20x"):
        refused = await office.browser().join(f"{link}&PROLIFIC_PID={odd}")
        assert refused.status in (404, 410)
    done = await first.post(page.path, **answer(page))
    assert "C0DE" in done.text
    assert "{n}" not in done.text
    assert "1 of 1 debates judged" in done.text


async def test_who_waits_for_others_is_told_so_and_not_led_in_a_circle(office: Office) -> None:
    """While others had every debate left, “Go on” led back to the same page."""
    await office.task(per_debate=1, repeats=0)
    people, pages = [office.browser() for _ in office.debates], []
    for browser in people:
        pages.append(await browser.join(await office.link()))
    late = office.browser()
    waiting = await late.join(await office.link())
    assert (waiting.path, waiting.heading) == (
        "/label/tea/done",
        "Other people are judging the rest",
    )
    assert "Look here again in 3 hours." in waiting.text
    assert 'id="next"' not in waiting.text
    done = await people[0].post(pages[0].path, **answer(pages[0]))
    assert (done.heading, 'id="next"' in done.text) == (waiting.heading, False)
    for browser, page in zip(people[1:], pages[1:], strict=True):
        last = await browser.post(page.path, **answer(page))
    assert last.heading == "You are done. Thank you!"
    nothing = await late.get("/label/tea/next")
    assert (nothing.heading, 'id="next"' in nothing.text) == ("Nothing is left to judge", False)


async def return_from(office: Office, browser: Browser, path: str, user: str) -> Shown:
    there = await browser.get(path)
    assert there.status == 303
    back = urlsplit(office.accounts.agree(there.path, user))
    return await browser.get(f"{back.path}?{back.query}")


async def sign_in(office: Office, browser: Browser, path: str, user: str) -> Shown:
    """Sign in, and agree to take part where that is asked."""
    page = await return_from(office, browser, path, user)
    if "signed_in" not in page.fields:
        return page
    return await browser.post(f"{path.partition('/sign-in')[0]}/join", **page.fields)


@pytest.mark.parametrize("with_link", [False, True], ids=["open", "link"])
async def test_who_signs_in_and_agrees_to_nothing_is_stored_nowhere(
    office: Office, with_link: bool
) -> None:
    await office.task(sign_in=() if with_link else ("discord",))
    path = "/label/tea/sign-in/discord"
    if with_link:
        path += "?" + (await office.link()).partition("?")[2]
    browser = office.browser()
    page = await return_from(office, browser, path, "8035111022")
    assert page.heading == "You are invited to judge debates"
    assert not (await office.store.privacy.traces("discord", "8035111022")).known
    assert (await browser.get("/label/tea/next")).status == 403
    # The answer is that browser's alone, and of this task alone.
    await office.task("milk", sign_in=("discord",))
    assert (await office.browser().post("/label/tea/join", **page.fields)).status == 403
    assert (await browser.post("/label/milk/join", **page.fields)).status == 403
    agreed = await browser.post("/label/tea/join", **page.fields)
    assert agreed.path.startswith("/label/tea/sheet/")
    assert (await return_from(office, browser, path, "8035111022")).path == agreed.path


@pytest.mark.slow
async def test_who_joins_too_often_or_returns_with_junk_locks_nobody_else_out(
    office: Office,
) -> None:
    await office.task()
    link = await office.link(people=100)
    joined = [(await office.browser().join(link)).status for _ in range(MOST_JOINS + 2)]
    assert joined == [200] * MOST_JOINS + [429] * 2
    other = office.browser()
    other.client.headers["X-Forwarded-For"] = "203.0.113.9"
    assert (await other.join(link)).status == 200
    await office.task("milk", sign_in=("discord",))
    for number in range(90):
        junk = office.browser()
        junk.client.headers["X-Forwarded-For"] = f"203.0.113.{number % 5}"
        there = await junk.get("/label/milk/sign-in/discord")
        state = dict(parse_qsl(urlsplit(there.path).query))["state"]
        await junk.get(f"/sign-in/discord?code=junk&state={state}")
    other = office.browser()
    other.client.headers["X-Forwarded-For"] = "203.0.113.10"
    page = await sign_in(office, other, "/label/milk/sign-in/discord", "8035111022")
    assert page.path.startswith("/label/milk/sheet/")


async def test_a_managers_cookie_cannot_be_made_from_the_database(office: Office) -> None:
    browser, response = office.browser(), web.Response()
    stored = await office.store.debates.secret("web")
    Sessions(stored, secure=False, kind="manager").begin(response, "operator")
    cookies = {name: one.value for name, one in response.cookies.items()}
    assert (await browser.get("/labels", cookies=cookies)).status == 403


@pytest.mark.parametrize(
    ("door", "exposed"),
    [
        ("/d/{id}", True),
        ("/d/{id}/result.png", True),
        ("/d/{id}/votes.svg", True),
        ("/c/{key}/agreement", True),
        ("/c/{key}/dataset.zip", True),
        ("/d/{id}/sealed.png", False),
        ("/d/{id}/turn-1.txt", False),
        ("/c/{key}/debates", True),  # with the outcomes
        ("/c/{key}/leaderboard", False),
    ],
)
async def test_whoever_was_shown_a_result_gives_no_gold_label(
    office: Office, monkeypatch: pytest.MonkeyPatch, door: str, exposed: bool
) -> None:
    async def draw(*_: object) -> Picture:  # nobody has voted, so that there is nothing to draw
        return Picture("<svg/>", "")

    monkeypatch.setattr(PublicReader, "drawing", draw)
    await office.task()
    browser = office.browser()
    page = await browser.join(await office.link())
    shows = CommunitySettings(public=tuple(PublicPart))
    await office.store.communities.change("memory", "club", lambda _: shows, NOW)
    key = await office.store.communities.page("memory", "club")
    await office.store.database.run("UPDATE debates SET rehearsal = FALSE")  # or none is public
    clock, site = SystemClock(), Site("127.0.0.1", 0)
    settings = settings_of(office.accounts, "http://127.0.0.1:1")
    saw = await noticing_of(office.store, clock, settings)
    public = PublicPages(PublicReader(office.store, clock, "1.2.3"), Permalinks(), drawn, saw)
    async with site.serving(public.routes(), furnish):
        assert site.address is not None
        for one in office.debates:
            path = door.format(id=one.id.lower(), key=key)
            address = "http://{}:{}".format(*site.address) + path
            async with browser.client.get(address) as answer_of:
                assert answer_of.status == 200, await answer_of.text()
    await browser.post(page.path, **answer(page))
    assert {one.exposed for one in await office.store.labelling.work("tea")} == {exposed}


@pytest.mark.parametrize(("platform", "user"), [("discord", "8035111022"), ("slack", "U0ADA")])
async def test_signed_in_people_are_those_of_chat(office: Office, platform: str, user: str) -> None:
    await office.task(sign_in=(platform,))
    await office.task("secret")
    browser = office.browser()
    page = await sign_in(office, browser, f"/label/tea/sign-in/{platform}", user)
    assert page.path.startswith("/label/tea/sheet/")
    assert not [one for one in browser.jar if one.key == "rostrum-sign-in" and one.value]
    traces = await office.store.privacy.traces(platform, user)
    assert traces.known
    # On another device, by signing in there.
    phone = office.browser()
    assert (await sign_in(office, phone, f"/label/tea/sign-in/{platform}", user)).path == page.path
    # Another task wants a link; with it they are the same person, and one link serves once.
    no = await sign_in(office, browser, f"/label/secret/sign-in/{platform}", user)
    assert (no.status, no.heading) == (404, "This link leads nowhere")
    nowhere = await sign_in(office, browser, f"/label/none-such/sign-in/{platform}", user)
    assert nowhere.text == no.text
    token = (await office.link("secret")).partition("?")[2]
    with_link = await sign_in(office, browser, f"/label/secret/sign-in/{platform}?{token}", user)
    assert with_link.path.startswith("/label/secret/sheet/")
    assert (await browser.get(page.path)).status == 200  # both tasks go on
    # Forgotten, they are no one here either, and nothing can be stored.
    await office.store.privacy.forget(platform, user)
    assert (await browser.post(page.path, **answer(page))).status == 403
    gone = await sign_in(office, browser, f"/label/tea/sign-in/{platform}", user)
    assert (gone.status, gone.heading) == (403, "Nothing of you may be stored")
    assert await office.votes() == 0


async def test_returns_from_a_platform_that_were_not_begun_here(office: Office) -> None:
    await office.task(sign_in=("discord",))
    ours, theirs = office.browser(), office.browser()
    there = await ours.get("/label/tea/sign-in/discord")
    back = urlsplit(office.accounts.agree(there.path, "8035111022"))
    # In another browser, with another state, at the other platform, or declined.
    await theirs.get("/label/tea/sign-in/discord")
    for browser, path, query in (
        (office.browser(), back.path, back.query),
        (theirs, back.path, back.query),
        (ours, "/sign-in/slack", back.query),
    ):
        page = await browser.get(f"{path}?{query}")
        assert (page.status, page.heading) == (403, "Signing in did not work")
    assert not [asked for asked in office.accounts.asked if "token" in asked]
    there = await ours.get("/label/tea/sign-in/discord")
    declined = urlsplit(office.accounts.decline(there.path))
    page = await ours.get(f"{declined.path}?{declined.query}")
    assert "You did not sign in" in page.text
    office.accounts.fault = 503
    away = await sign_in(office, ours, "/label/tea/sign-in/discord", "8035111022")
    assert (away.status, away.headers["Retry-After"]) == (503, "10")
    for path in ("/label/tea/sign-in/myspace", "/sign-in/myspace", "/label/tea/sign-in/..%2fx"):
        assert (await ours.get(path)).status == 404
    where = await ours.get("/label/tea/sign-in/discord?t=//evil.example&next=https://evil.example")
    assert where.path.startswith(office.accounts.origin)
    assert "evil" not in where.path


async def test_an_answer_survives_a_database_that_is_away_and_a_session_its_process(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.task()
    browser = office.browser()
    page = await browser.join(await office.link())

    async def away(*_: object) -> None:
        raise StoreError("The database at secret.example is away.")

    with monkeypatch.context() as patched:
        patched.setattr(type(office.store.labelling), "sheet", away)
        lost = await browser.post(page.path, **answer(page, "second", comment="Kept: <b>"))
        assert (lost.status, lost.headers["Retry-After"]) == (503, "10")
        assert "secret" not in lost.text
        assert (await browser.get(page.path)).status == 503
    assert lost.fields["comment"] == "Kept: <b>"
    assert (await browser.post(page.path, **lost.fields)).status == 200
    assert await office.votes() == 1
    cookies = {one.key: one.value for one in browser.jar}
    async with (
        serving(office.store, office.accounts) as other,
        ClientSession(other, cookies=cookies) as client,
        client.get(page.path) as same,
    ):
        assert same.status == 200


async def test_a_manager_makes_a_task_invites_and_closes_it(office: Office) -> None:
    browser = office.browser()
    door = await browser.get("/labels")
    assert (door.status, "Sign in with Slack" in door.text) == (403, True)
    for path in ("/labels", "/labels/task/tea/invite", "/labels/task/tea/close"):
        assert (await browser.post(path, name="tea")).status == 403
    # The printed link waits for a press, and serves once.
    token = await print_token(office.store, SystemClock())
    offered = await browser.get(f"/labels/enter?k={token}")
    page = await browser.post("/labels/enter", **offered.fields)
    assert (page.path, page.heading) == ("/labels", "Labelling tasks")
    late = office.browser()
    offered = await late.get(f"/labels/enter?k={token}")
    spent = await late.post("/labels/enter", **offered.fields)
    assert (spent.status, spent.heading) == (410, "This link is no longer valid")
    asked = {"per_debate": "2", "each": "0", "repeats": "0", "rehearsal": "on", "code": "<b>"}
    no = await browser.post("/labels", **page.fields, name="No good", **asked)
    assert (no.status, "not valid: “Name, of small letters" in no.text) == (400, True)
    assert (await browser.post("/labels", name="tea", **asked)).status == 403  # no token
    made = await browser.post("/labels", **page.fields, name="tea", **asked)
    assert (made.path, made.heading) == ("/labels/task/tea", "tea")
    twice = await browser.post("/labels", **page.fields, name="tea", **asked)
    assert (twice.status, 'role="alert"' in twice.text) == (400, True)
    shown = await browser.post(
        "/labels/task/tea/invite", **made.fields, links="2", people="1", days="7"
    )
    links = re.findall(r"<li>http://127.0.0.1:1(/label/tea\?t=[\w-]{43})</li>", shown.text)
    assert len(links) == 2
    assert "?t=" not in (await browser.get("/labels/task/tea")).text
    for wrong in ({"links": "x"}, {"links": "0"}, {"links": "1"}):
        odd = await browser.post("/labels/task/tea/invite", **made.fields, people="1", **wrong)
        assert odd.status == 400
    sheet = await office.browser().join(links[0])
    assert sheet.path.startswith("/label/tea/sheet/")
    closed = await browser.post("/labels/task/tea/close", **made.fields)
    assert "Close the task" not in closed.text
    assert (await browser.get("/labels/task/none")).status == 404
    # One who is named in the settings signs in; others do not get in.
    named = await sign_in(office, office.browser(), "/labels/sign-in/discord", MANAGER)
    assert named.path == "/labels"
    other = await sign_in(office, office.browser(), "/labels/sign-in/discord", "8035111022")
    assert (other.status, other.heading) == (403, "You do not manage tasks here")
    left = await browser.post("/labels/leave", **page.fields)
    assert left.status == 403


async def test_a_managers_page_does_what_the_command_line_does(office: Office) -> None:
    browser = office.browser()
    offered = await browser.get(f"/labels/enter?k={await print_token(office.store, SystemClock())}")
    page = await browser.post("/labels/enter", **offered.fields)
    asked = {**page.fields, "repeats": "0", "per_debate": "2", "each": "0", "rehearsal": "on"}
    assert '<option value="">every community</option>\n<option>club</option>' in page.text
    first, second, third = (debate.code for debate in office.debates)
    refused = {
        "club-2": ({"community": "elsewhere"}, "There is no debate to label"),
        "no-answer": ({"known": f"{first}"}, f"“{first}” is no debate with its answer"),
        "no-option": ({"known": f"{first}=C"}, "“C” is no answer for debate"),
        "no-debate": ({"known": "nnnnnn=A"}, "nnnnnn"),
        "braces": ({"known": "{first}"}, "“{first}” is no debate with its answer"),
        "no-code": ({"debates": "nnnnnn"}, "nnnnnn"),
    }
    for name, (given, said) in refused.items():
        no = await browser.post("/labels", **asked, name=name, **given)
        [problem] = re.findall(r'role="alert">(.*?)</p>', no.text)
        assert (no.status, said in unescape(problem)) == (400, True)
    browser.client.headers["Accept-Language"] = "de"
    no = await browser.post("/labels", **asked, name="x", known="?")
    del browser.client.headers["Accept-Language"]
    assert "„?“ ist keine Debatte mit ihrer Antwort" in no.text
    made = await browser.post(
        "/labels", **asked, name="tea", community="club", known=f"{first}=A\n{second}=tie"
    )
    assert made.path == "/labels/task/tea"
    queue = {one.debate: one.known for one in await office.store.labelling.queue("tea")}
    assert queue == dict(zip((one.id for one in office.debates), ("A", "tie", None), strict=True))
    await browser.post("/labels", **asked, name="two", debates=f"{second}, {third}")
    drawn = {one.debate for one in await office.store.labelling.queue("two")}
    assert drawn == {one.id for one in office.debates[1:]}
    # Two people who differ, and what it costs if each label is paid for.
    for option in ("A", "B"):
        (link,) = await office.labelling.invite("two")
        person = some((await office.labelling.join(link, option))[1])
        while (sheet := await office.labelling.next(person.key)) is not None:
            kept = some(await office.store.labelling.sheet(person.key, sheet.id))
            place = ("first", "second")[kept.order.index(option)]
            label = SheetAnswer.model_validate({"option": place})
            assert await office.labelling.save(person.key, sheet.id, label) == "stored"
    shown = (await browser.get("/labels/task/two?pay=0.5")).text
    assert '<th scope="row">Answers</th><td class="number">4 / 4</td>' in shown
    assert '<th scope="row">Pay</th><td class="number">$2.00</td>' in shown
    hard = shown[shown.index('id="hard"') : shown.index("Pseudonym")]
    assert (hard.count("🔵 A 1 · 🔴 B 1"), second in hard, third in hard) == (2, True, True)
    assert "too fast" in shown
    for odd in ("x", "-1", "nan", "1e9"):
        assert (
            '<th scope="row">Pay</th><td class="number">–</td>'
            in (await browser.get(f"/labels/task/two?pay={odd}")).text
        )
