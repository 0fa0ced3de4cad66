"""Public pages of communities on Discord and Slack, over the wire."""

import asyncio
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from html import unescape
from typing import NamedTuple

import pytest
from aiohttp import ClientSession

import bot.app
import engine.series.schedule
from adapters.pictures import drawn
from adapters.web import crowd
from adapters.web.application import FAILURES
from adapters.web.public import PublicPages
from bot.app import App
from bot.serve.run import pages_of
from engine.pages import public
from engine.pages.debate_page import A_PAGE
from engine.pages.public import PublicReader
from engine.store import Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.values.debate import Debate, Status
from engine.values.ports import Permalinks
from tests.doubles.faults import hang
from tests.doubles.wire import serving
from tests.kit import NOW, FixedClock, new_debate, run, turn, turn_post, until, until_asked
from tests.scenario.chat_stage import Chat, OnDiscord, close, vote
from tests.scenario.conftest import Shifted
from tests.scenario.discord_stage import DiscordStage, settings_of, voting
from tests.scenario.test_leagues import begun, league, vote as decide
from tests.scenario.test_rematches import NAMES
from tests.scenario.test_suggested_topics import change

URL = "https://debates.example"
TOPIC = 'Tea <script>alert("x")</script> beats coffee'
JURORS = ("birch", "elm", "rowan", "oak", "ash", "fir")
PLAYERS = ("maple", "cedar", "larch")  # of whom no one is a juror
EVERY_PART = ("debates", "leaderboard", "agreement", "leagues", "dataset")


class Seen(NamedTuple):
    """An answer with everything in it."""

    status: int
    text: str
    headers: Mapping[str, str]
    body: bytes


class Reader:
    """Someone who reads pages, and follows no redirect."""

    def __init__(self, client: ClientSession) -> None:
        self.client = client

    async def see(self, path: str, **headers: str) -> Seen:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.get(path, headers=named, allow_redirects=False) as answer:
            body = await answer.read()
            text = body.decode("utf-8", "replace")
            return Seen(answer.status, text, answer.headers, body)


async def again_until(reader: Reader, path: str, done: Callable[[Seen], bool]) -> Seen:
    """Read a page again until it is as expected; an answer is shared for a moment."""
    return await until_asked(lambda: reader.see(path), done)


@asynccontextmanager
async def reading(app: App) -> AsyncIterator[Reader]:
    settings = settings_of("sqlite+aiosqlite:///unused.db", web={"url": URL, "port": 0})
    async with (
        serving(pages_of(settings, app)) as port,
        ClientSession(f"http://127.0.0.1:{port}") as client,
    ):
        yield Reader(client)


def switched(chat: Chat) -> None:
    chat.stage.settings["web"] = {"url": URL, "port": 0}


async def newest(app: App) -> Debate:
    return (await app.store.listings.recent())[0]


def names_nobody(seen: Seen) -> None:
    """Check that nothing sealed is in any byte of an answer."""
    told = f"{seen.headers}{seen.text}".lower()
    assert re.findall(rf"\b(?:rehearsal/|{'|'.join((*NAMES, *JURORS))}\b)", told) == []


async def test_what_is_public_is_a_setting_and_off_at_first(chat: Chat) -> None:
    async with chat.stage.process():  # which serves no pages
        refused = await change(chat, "public", "all")
        assert "serves no web pages here" in refused
        shown = await change(chat, "quorum", "3")
        assert "`public`: nothing (Rostrum serves no web pages here)" in shown
    switched(chat)
    async with chat.stage.process():
        shown = await change(chat, "quorum", "4")
        assert "`public`: nothing" in shown
        assert URL not in shown
        assert "choose from debates" in await change(chat, "public", "votes")
        shown = await change(chat, "public", "all")
        assert f"`public`: {', '.join(EVERY_PART)} (set here)" in shown
        page = re.search(rf"{URL}/c/[0-9a-f]{{20}}", shown)
        assert page
        shown = await change(chat, "public", "dataset, debates")
        assert "`public`: debates, dataset (set here)" in shown
        assert page[0] in shown
        assert "show on public web pages" in await chat.ask("ada", "privacy")
        shown = await change(chat, "public", "none")
        assert "`public`: nothing" in shown
        assert URL not in shown
        assert "show on public web pages" not in await chat.ask("ada", "privacy")


async def test_a_debate_is_public_as_its_chat_shows_it(chat: Chat) -> None:
    switched(chat)
    async with chat.stage.process() as app, reading(app) as reader:
        answer = await change(chat, "public", "debates")
        front = re.findall(rf"{URL}(/c/[0-9a-f]{{20}})", answer)[0]
        ballot = await vote(chat, topic=TOPIC)
        await voting(app)
        debate = await newest(app)
        path = f"/d/{debate.id.lower()}"
        assert f"{URL}{path}" in chat.card
        listed = await chat.ask("ada", "list")
        assert f"{URL}{path}" in listed
        assert f"{URL}{front}" in listed
        # Sealed: no name in any byte, and nothing is kept anywhere.
        sealed = await reader.see(path)
        assert sealed.status == 200
        names_nobody(sealed)
        assert sealed.headers["Cache-Control"] == "no-store"
        assert "ETag" not in sealed.headers
        assert "Results stay sealed until the vote closes." in sealed.text
        assert len(re.findall('<article id="t[1-8]" class="turn', sealed.text)) == 8
        assert "<script>" not in sealed.text
        assert sealed.text.count("<script") == 1  # the page grows by itself
        assert "&lt;script&gt;" in sealed.text
        preview = re.findall(rf'og:image" content="{URL}([^"]+)"', sealed.text)[0]
        assert preview == f"{path}/sealed.png"
        picture = await reader.see(preview)
        assert picture.body.startswith(b"\x89PNG")
        names_nobody(picture)
        assert (await reader.see(f"{path}/result.png")).status == 404
        # Its code can be guessed, so it leads nowhere.
        assert (await reader.see(f"/d/{debate.code}")).status == 404
        posted = len(chat.thread())
        await chat.react("ben", ballot, "A")
        reveal = await close(chat)
        assert f"{URL}{path}" in reveal
        await chat.ended(app)
        await until(lambda: "🏁" in chat.card and URL in chat.card)
        assert len(chat.thread()) - posted in (1, 2)  # the reveal; on Slack its picture, too

        opened = await again_until(reader, path, lambda seen: "ETag" in seen.headers)
        assert all(name in opened.text for name in NAMES)
        assert "max-age=60" in opened.headers["Cache-Control"]
        again = await reader.see(path, If_None_Match=opened.headers["ETag"])
        assert (again.status, again.body) == (304, b"")
        result = await reader.see(f"{path}/result.png")
        assert result.body.startswith(b"\x89PNG")
        here = await reader.see(f"{front}/debates")
        assert f'href="{path}"' in here.text
        assert (await reader.see(front)).headers["Location"] == f"{front}/debates"
        for part in EVERY_PART[1:]:
            assert (await reader.see(f"{front}/{part}")).status == 404
        # In the reader's language around the debate's own.
        german = await reader.see(f"{front}/debates", Accept_Language="de")
        assert "<h1>Debatten hier</h1>" in german.text
        for language, title in (("de", "KI-Modellen"), ("en", "AI models")):
            root = await reader.see("/", Accept_Language=language)
            assert title in root.text
            assert front not in root.text  # whose pages there are is not everyone's to know


async def test_what_is_not_public_answers_as_what_never_was(chat: Chat) -> None:
    switched(chat)
    async with chat.stage.process() as app:
        answer = await change(chat, "public", "all")
        front = re.findall(rf"{URL}(/c/[0-9a-f]{{20}})", answer)[0]
        await vote(chat)
        await voting(app)
        debate = await newest(app)
        await close(chat)
        await chat.ended(app)
        paths = [f"/d/{debate.id.lower()}", f"/d/{debate.id.lower()}/sealed.png"]
        paths += [f"{front}/{part}" for part in EVERY_PART]
        async with reading(app) as reader:
            assert [(await reader.see(path)).status for path in paths] == [200] * len(paths)
            never = await reader.see("/d/01arz3ndektsv4rrffq69g5fav")
            assert (never.status, FAILURES[404].title in never.text) == (404, True)
        await change(chat, "public", "none")
        async with reading(app) as reader:
            for path in paths:
                assert (await reader.see(path))[:2] == never[:2]
        await change(chat, "public", "all")
        deleted = await chat.ask("olga", "delete", debate=debate.code, confirm=True)
        assert deleted
        async with reading(app) as reader:
            missing = await again_until(reader, paths[0], lambda seen: seen.status == 404)
            assert missing[:2] == never[:2]
            assert debate.id.lower() not in (await reader.see(f"{front}/debates")).text


@pytest.mark.slow
async def test_a_long_debate_has_parts_and_a_long_list_has_pages(store: Store) -> None:
    shows = CommunitySettings(public=(PublicPart.DEBATES,))
    await store.communities.change("chat", "club", lambda _: shows, NOW)
    key = await store.communities.page("chat", "club") or ""
    held = [await run(store, new_debate(community="club")) for _ in range(A_PAGE + 2)]
    long = held[0]
    said = "A <b>word</b> & another. " * 100
    for number in range(1, 201):
        told = turn(number, said, step=f"turn/{number}/A")
        await store.journal.record_turn(long.lease, long.id, told, turn_post(number))
    await long.advance(Status.PARTIAL)
    seen = list[str]()
    routes = PublicPages(PublicReader(store, FixedClock(), "test"), Permalinks(URL), drawn).routes()
    async with serving(routes) as port, ClientSession(f"http://127.0.0.1:{port}") as client:
        reader = Reader(client)
        parts = 0
        while parts < 30:
            parts += 1
            page = await reader.see(f"/d/{long.id.lower()}?part={parts}")
            assert len(page.body) < 200_000
            seen += re.findall('id="t([0-9]+)"', page.text)
            if "Later turns" not in page.text:
                break
        assert seen == [str(number) for number in range(1, 201)]
        assert parts > 3
        first = await reader.see(f"/c/{key}/debates")
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        second = await reader.see(older)
        listed = re.findall('href="(/d/[^"]+)"', first.text + second.text)
        assert sorted(listed) == sorted(f"/d/{one.id.lower()}" for one in held)
        for odd in ("page=x", "page=999999", "page=0", "q=%00", f"q={'w+' * 200}"):
            assert (await reader.see(f"/c/{key}/debates?{odd}")).status == 200
        for odd in ("part=-1", "part=٣", "part=99999999", "part="):
            assert (await reader.see(f"/d/{long.id.lower()}?{odd}")).status == 200


def told(seen: Seen) -> str:
    """Return everything that an answer says, in its pictures too."""
    drawings = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", seen.text)
    said = [unescape(seen.text), *(b64decode(unescape(one)).decode() for one in drawings)]
    return "\n".join([f"{seen.headers}", *said]).lower()


def played(seen: Seen) -> set[str]:
    return {name for name in PLAYERS if name in told(seen)}


def sides_of(debate: Debate) -> set[str]:
    return {model.name for model in debate.setup.request.sides.values()}


@pytest.mark.slow
async def test_a_leagues_page_has_the_matches_that_were_told_and_nothing_of_others(
    on_discord: DiscordStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, chat = Shifted(), OnDiscord(on_discord)
    monkeypatch.setattr(bot.app, "SystemClock", lambda: clock)
    monkeypatch.setattr(engine.series.schedule, "LOOK_SECONDS", 0.05)
    for where, name in ((crowd, "SHARED_SECONDS"), (public, "LONGEST_SECONDS")):
        monkeypatch.setattr(where, name, -1.0)  # every page is made again
    switched(chat)
    chat.stage.settings["models"] = ", ".join(f"rehearsal/{name}" for name in PLAYERS)
    async with chat.stage.process() as app, reading(app) as reader:
        front = re.findall(rf"{URL}(/c/[0-9a-f]{{20}})", await change(chat, "public", "leagues"))[0]
        await league(chat, "olga", "start", quorum=1, every="1d")
        await begun(app, 1)
        listed = await reader.see(f"{front}/leagues")
        (path,) = re.findall(rf'href="({front}/leagues/[^"]+)"', listed.text)
        # Before the first result, and while people vote on the second match.
        assert played(await reader.see(path)) == set()
        await decide(chat, app)
        first = await newest(app)
        one = await again_until(reader, path, lambda seen: "1 of 3 matches" in seen.text)
        clock.skip(days=1)
        await begun(app, 2)
        second = await newest(app)
        one = await reader.see(path)
        assert played(one) == sides_of(first) != sides_of(second)
        assert "1 of 3 matches" in one.text
        for seen in (one, await reader.see(f"{front}/leagues")):
            assert not [key for key in (second.id, second.code) if key.lower() in told(seen)]
        # Its result is none here before the chat shows it.
        chat.discord.fail(hang(), "POST", "/channels/*/messages", text='"Reveal"')
        await chat.react("ben", await chat.ballot(), "A")
        closing = asyncio.create_task(chat.stage.close())
        await chat.discord.faults.hung()
        assert (await app.store.debates.get(second.id)).revealed_at is not None
        one = await reader.see(path)
        assert played(one) == sides_of(first)
        assert "1 of 3 matches" in one.text
        assert not [key for key in (second.id, second.code) if key.lower() in told(one)]
        chat.discord.faults.release()
        await closing
        await chat.ended(app)
        two = await again_until(reader, path, lambda seen: "2 of 3 matches" in seen.text)
        assert played(two) == set(PLAYERS)
        # The standing, and the report with its pictures; no person is in either.
        assert "<h1>League</h1>" in two.text
        assert 'alt="The standing by points.' in two.text
        assert two.text.count("data:image/svg+xml;base64,") > 1
        people = [chat.discord.users[name] for name in ("ben", "olga")]
        names = [name for who in people for name in (str(who.id), who.name)]
        assert [n for n in names if re.search(rf"\b{re.escape(n.lower())}\b", told(two))] == []
