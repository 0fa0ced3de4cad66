"""Debates of every format that are held alike each time: fixed seeds, a fixed clock, fixed ids.

Left out of what came of them: times that a machine takes, and the wording of fixed sentences.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import orjson
from pydantic import SecretStr

from adapters.discord import render as discord
from adapters.discord.render import DiscordPayload
from adapters.models.attempts import RetryPolicy
from adapters.models.router import open_models
from adapters.pictures import drawn
from adapters.site import Site
from adapters.slack import render as slack
from adapters.slack.render import SlackPayload
from adapters.web.application import furnish
from adapters.web.public import PublicPages
from adapters.web.reader import write_folder
from bot.research.labels import label_routes, print_token
from bot.settings.settings import Settings, WebSettings
from engine.dataset.entry import Keys
from engine.dataset.page import write_html, write_markdown
from engine.dataset.writer import write_export
from engine.labelling.tasks import Labelling
from engine.pages.public import PublicReader
from engine.pages.stored import StoredLibrary
from engine.run.order import Defaults, Order
from engine.store import ExportFilter, OpenQuestion, Store, Target
from engine.store.communities import CommunitySettings, PublicPart
from engine.store.labels import Terms
from engine.values.debate import BallotKind, Debate, Model, Scores, Status, TurnOrder
from engine.values.messages import Announcement, Message
from engine.values.options import BUILT_IN
from engine.values.ports import Clock, Permalinks, VenueLimits
from engine.values.verdicts import Question
from tests.doubles.hall import DEFAULTS as USUAL, LOBBY, Hall, Session, has_ended
from tests.doubles.rehearsed import DEFAULTS as REHEARSED
from tests.doubles.venue import AttentiveVenue, StoredMessage
from tests.kit import HANG_SECONDS, FixedClock, some, until_asked
from tests.scenario.test_label_pages import Browser, Shown, answer

BEGINNING = datetime(2001, 9, 9, 12, tzinfo=UTC)
LIMITS = VenueLimits(typing_seconds=60, send_seconds=4, state_seconds=0.02)
KEYS = Keys(splits=b"splits", master=b"master")
STARTER = "olga"
STANCE_SECONDS = 5.0
OTHER_TOPIC, THIRD_TOPIC = "Tea is better than coffee", "Museums should be free"
TOPIC = "Remote work is more productive than working from an office"
MODELS = tuple(Model.parse(f"rehearsal/{name}") for name in ("maple", "willow", "oak", "larch"))
JURORS = tuple(
    Model.parse(f"rehearsal/{name}")
    for name in ("birch", "elm?prefer=stronger", "rowan?prefer=first", "ash?garbage", "fir")
)
DEFAULTS = USUAL.model_copy(
    update={
        "topic": TOPIC,
        "models": MODELS,
        "jurors": JURORS,
        "sides": dict(zip("AB", MODELS, strict=False)),
        "stance_seconds": STANCE_SECONDS,
        "why": True,
        "sampling": REHEARSED.sampling,
        "limits": {**USUAL.limits, "team": {"free_minutes": 1.2}},
    }
)
VOTE_SECONDS = 60 * float((BUILT_IN | DEFAULTS).given()["vote_minutes"])
LONG = 120  # characters of a text that are kept as they are
NO_WAIT = RetryPolicy(tries=2, first_wait=0.0, longest_wait=0.0, max_retry_after=0.0)


class Recorded(NamedTuple):
    """What came of the debates: every table of their export, every thread, pages."""

    export: dict[str, list[Any]]
    threads: dict[str, list[Any]]
    pages: dict[str, list[Any]]


@dataclass(slots=True)
class World:
    """The hall where they are held, one after the other; a mirrored pair side by side."""

    hall: Hall
    clock: FixedClock
    venue: AttentiveVenue
    session: Session = field(init=False)
    started: int = 0

    @asynccontextmanager
    async def process(self) -> AsyncIterator[None]:
        async with self.hall.open(open_models({}, {}, NO_WAIT)) as session:
            session.service.new_id = self._next_id
            self.session = session
            yield

    def _next_id(self) -> str:
        self.started += 1
        return f"01J{self.started:023d}"

    async def start(self, defaults: Defaults = DEFAULTS, **asked: Any) -> list[str]:
        """Start a debate, and return its id and that of its mirror."""
        where = {"platform": "memory", "community": "club", "place": LOBBY, "user": STARTER}
        started = await self.session.service.start(Order(**where | {"seed": 7} | asked), defaults)
        return [debate.id for debate in (started.debate, started.mirror) if debate is not None]

    def pass_seconds(self, seconds: float) -> None:
        """Move the clock, and wake who waits for it."""
        self.clock.pass_seconds(seconds)
        self.session.service.notifier.publish("votes/memory")

    async def asks(self, debate_id: str, question: Question, step: str = "") -> Target:
        """Return a question, once it is asked and its time runs, which may be a moment later."""
        async with asyncio.timeout(HANG_SECONDS):
            while True:
                for target in await self.session.store.votes.targets(debate_id, question):
                    if step in ("", target.step) and await self._runs(target):
                        return target
                await asyncio.sleep(0.005)

    async def _runs(self, target: Target) -> bool:
        """Tell whether what ends by itself has its deadline: time that passed before is lost."""
        timed = target.question in (Question.STANCE_BEFORE, Question.AGAIN)
        asked = OpenQuestion(target.debate, target.question)
        return not timed or asked in await self.session.store.votes.due("memory")

    async def answer(self, target: Target, *answers: str) -> None:
        for said in answers:
            user, given, option = said.partition("+") if "+" in said else said.partition("-")
            act = self.venue.react if given == "+" else self.venue.unreact
            await act(user, target.place, target.message, option)

    async def press(self, target: Target, **answers: str | None) -> None:
        for user, option in answers.items():
            await self.venue.press(user, target.place, target.message, option)

    async def hear_stances(self, *debates: str) -> None:
        """Let people take their stance, and go on when the time for it is over."""
        for debate_id in debates:
            asked = await self.asks(debate_id, Question.STANCE_BEFORE)
            await self.answer(asked, "ann+up", "bob+down", "cem+unsure", "dee+up")
        self.pass_seconds(STANCE_SECONDS + 1)

    async def vote_opens(self, *debates: str) -> None:
        for debate_id in debates:
            await self._until(debate_id, lambda d: d.status is Status.VOTING and d.vote_opened_at)
        self.pass_seconds(600)

    async def close(self, *debates: str, early: bool = False) -> None:
        if early:
            await self.session.service.close_vote(debates[0])
        else:
            self.pass_seconds(VOTE_SECONDS)
        await self.ended(*debates)

    async def ended(self, *debates: str) -> None:
        for debate_id in debates:
            await self._until(debate_id, has_ended)
            async with asyncio.timeout(HANG_SECONDS):
                await self.session.delivery.settled(debate_id)
                while not self._is_announced(debate_id):  # noqa: ASYNC110
                    await asyncio.sleep(0.005)

    def _is_announced(self, debate_id: str) -> bool:
        code = debate_id[-6:]
        said = [m for m in self.venue.meant if isinstance(m, Announcement) and m.code == code]
        shown = said[-1].progress
        return shown is not None and (shown.phase == "failed" or shown.revealed == "thread")

    async def _until(self, debate_id: str, done: Callable[[Debate], object]) -> None:
        await until_asked(lambda: self.session.store.debates.get(debate_id), done)


async def hold_all(
    url: str, out: Path, move: Callable[[], Awaitable[str]] | None = None
) -> Recorded:
    """Hold them on a migrated database, and export them into a folder.

    `move` copies the database in the middle of the first debates' vote, and returns the address
    of the one on which all go on.
    """
    venue, clock = AttentiveVenue(limits=LIMITS), FixedClock(BEGINNING)
    world = World(Hall(url, venue, clock), clock, venue)
    async with world.process():
        pair = await _begin_mirrored(world)
        vote = await world.asks(pair[0], Question.VOTE)
    await _vote_unheard(world, vote)
    if move is not None:
        world.hall.url = await move()
    async with world.process():
        await _end_mirrored(world, pair)
        for hold in (_oxford, _roundtable, _structured, _audited, _team, _failing):
            await hold(world)
        archive = world.session.store.archive
        await asyncio.to_thread(write_export, archive, ExportFilter(), out, KEYS, version="0")
        pages = await read_pages(world.session.store, clock, out)
    return Recorded(_read_export(out), _read_threads(venue), pages)


# --- the debates ---------------------------------------------------------------------------


async def _begin_mirrored(world: World) -> list[str]:
    """Hold a classic debate and its mirror up to the vote, and vote while all is well."""
    asked = {"stance": True, "again": True, "again_minutes": 60.0}
    asking = DEFAULTS.model_copy(update=asked)
    first, second = pair = await world.start(asking, mirror=True, conditions="Only for offices.")
    await world.hear_stances(first, second)
    for debate_id in pair:
        await world._until(debate_id, lambda d: d.status is Status.VOTING and d.vote_opened_at)
    vote = await world.asks(first, Question.VOTE)
    world.pass_seconds(1)
    await world.answer(vote, "fay+weak")  # who can have read nothing
    await world.vote_opens(first, second)
    await world.answer(vote, "ann+A", "bob+A", "cem+tie", "dee+A", "bob-A", "bob+B", "dee-A")
    await world.answer(vote, f"{STARTER}+B", "gus+A", "gus+tie", "jon+B", "jon+unknown")
    after = await world.asks(first, Question.STANCE_AFTER)
    await world.answer(after, "ann+up", "bob+up", "cem+down", "eve+up")
    thumbs = await world.asks(first, Question.TURN, "turn/opening/A")
    await world.answer(thumbs, "ann+up", "bob+down", "cem+up", "cem-up", "dee+up")
    await world.answer(await world.asks(second, Question.VOTE), "ann+B", "hal+A", "bob+A")
    return pair


async def _vote_unheard(world: World, vote: Target) -> None:
    """Vote while no process runs, and let the deadline pass without one."""
    world.venue.listening = False
    await world.answer(vote, "eve+A", "eve+B", "ivy+B")
    world.venue.listening = True
    world.clock.pass_seconds(3600)


async def _end_mirrored(world: World, pair: Sequence[str]) -> None:
    await world.ended(*pair)
    again = await world.asks(pair[0], Question.AGAIN)
    await world.answer(again, "ann+B", "cem+tie")
    thumbs = await world.asks(pair[0], Question.TURN, "turn/closing/B")
    await world.answer(thumbs, "dee+up", "ann+down")
    world.pass_seconds(7200)


async def _oxford(world: World) -> None:
    """Vote in secret, where every reaction is taken away at once."""
    (debate_id,) = await world.start(format="oxford", ballot=BallotKind.SECRET, seed=11)
    stance = await world.asks(debate_id, Question.STANCE_BEFORE)
    await world.answer(stance, "ann+down", "bob+up", "cem+unsure")
    world.pass_seconds(STANCE_SECONDS + 1)
    await world.vote_opens(debate_id)
    vote = await world.asks(debate_id, Question.VOTE)
    await world.answer(vote, "ann+A", "bob+B", "cem+B", "ann+B")
    await world.press(vote, cem=None)
    after = await world.asks(debate_id, Question.STANCE_AFTER)
    await world.answer(after, "ann+up", "bob+up", "cem+down")
    await world.close(debate_id)


async def _roundtable(world: World) -> None:
    sent_back = {"1": "maple?over=once", "2": "willow?over=always"}
    models = {side: Model.parse(f"rehearsal/{name}") for side, name in sent_back.items()}
    sides = DEFAULTS.model_copy(update={"sides": {}})
    (debate_id,) = await world.start(
        sides, topic=OTHER_TOPIC, format="roundtable", models=models, options={"judges": 2}, seed=12
    )
    await world.vote_opens(debate_id)
    vote = await world.asks(debate_id, Question.VOTE)
    await world.answer(vote, "ann+1", "bob+2", "cem+2", "dee+tie")
    await world.close(debate_id)


async def _structured(world: World) -> None:
    """Vote by buttons alone, with a judge's scores in sight."""
    (debate_id,) = await world.start(
        format="structured", ballot=BallotKind.PRIVATE, scores=Scores.LIVE, seed=13
    )
    await world.vote_opens(debate_id)
    vote = await world.asks(debate_id, Question.VOTE)
    await world.press(vote, ann="A", bob="B", cem="weak")
    await world.press(vote, ann="B", cem=None)
    await world.close(debate_id)


async def _audited(world: World) -> None:
    """Extend a vote that is below its quorum, once."""
    extending = DEFAULTS.model_copy(update={"quorum": 4, "extend": True})
    (debate_id,) = await world.start(extending, format="audited", options={"turns": 4}, seed=14)
    await world.vote_opens(debate_id)
    vote = await world.asks(debate_id, Question.VOTE)
    await world.answer(vote, "ann+A", "bob+B")
    world.pass_seconds(VOTE_SECONDS)
    await world._until(debate_id, lambda debate: debate.vote_extended)
    await world.answer(vote, "cem+A")
    await world.close(debate_id)


async def _team(world: World) -> None:
    """Close a vote early, at a moderator's wish."""
    (debate_id,) = await world.start(format="team", topic=THIRD_TOPIC, seed=15)
    await world.vote_opens(debate_id)
    vote = await world.asks(debate_id, Question.VOTE)
    await world.answer(vote, "ann+B", "bob+B", "cem+A")
    await world.close(debate_id, early=True)


async def _failing(world: World) -> None:
    """Lose a speaker: what was said before is kept, and nobody is asked to vote."""
    sides = {"A": MODELS[0], "B": Model.parse("rehearsal/willow?fail=500")}
    failing = DEFAULTS.model_copy(update={"sides": sides})
    (debate_id,) = await world.start(failing, turn_order=TurnOrder.SEQUENTIAL, seed=16)
    await world.ended(debate_id)


# --- what came of them ---------------------------------------------------------------------


def _read_export(out: Path) -> dict[str, list[Any]]:
    """Return the rows of every file of an export, and what its manifest says of them."""
    manifest = orjson.loads((out / "manifest.json").read_bytes())
    del manifest["files"]  # whose sizes and hashes are those of the rows, and of the card's words
    found: dict[str, list[Any]] = {"manifest.json": [manifest]}
    for path in sorted(out.glob("data/*/*.jsonl")):
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        for row in rows:
            if row.get("latency_s") is not None:  # which the machine's own clock says
                row["latency_s"] = "…"
            if "record" in row:
                row["record"] = orjson.loads(row["record"])
        found[str(path.relative_to(out))] = rows
    return {name: _brief(value) for name, value in found.items()}


def _brief(value: Any) -> Any:
    """Shorten long texts to a head and a hash, and floats to what every machine computes."""
    match value:
        case str() if len(value) > LONG:
            return f"{value[: LONG // 2]}… {hashlib.sha256(value.encode()).hexdigest()[:16]}"
        case float():
            return float(f"{value:.12g}")
        case Mapping():
            return {name: _brief(each) for name, each in value.items()}
        case list() | tuple():
            return [_brief(each) for each in value]
        case _:
            return value


def _read_threads(venue: AttentiveVenue) -> dict[str, list[Any]]:
    """Return what stands where: what it is, who reacted, and how platforms show it.

    Threads are in their order; in the channel nobody can say which of a pair is announced first.
    """
    threads = {f"thread {venue.messages[t.message].reference}": t for t in venue.threads.values()}
    lobby = sorted(venue.places[LOBBY], key=lambda posted: posted.reference)
    shown = {name: threads[name].messages for name in sorted(threads)}
    return {
        name: [_post(venue, posted) for posted in messages]
        for name, messages in {LOBBY: lobby, **shown}.items()
    }


def _post(venue: AttentiveVenue, posted: StoredMessage) -> dict[str, Any]:
    meant = venue.meaning[posted.reference]
    last = meant[-1]
    stem = posted.reference.rpartition("·")[0]
    # Of reports and notices what they are made of is little.
    worded = WORDED | ({"text"} if last.kind in ("notice", "report") else set[str]())
    return {
        "reference": posted.reference,
        "kinds": list(dict.fromkeys(message.kind for message in meant)),
        "says": _brief(_leave_out(last.model_dump(mode="json"), worded)),
        "seeds": sorted(posted.seeds),
        "reactions": {o: sorted(users) for o, users in sorted(posted.reactions.items()) if users},
        "discord": _discord_shape(last, stem),
        "slack": _slack_shape(last, stem),
    }


WORDED = {"title", "alt", "notes", "columns", "reason", "problem", "content", "thread"}


def _leave_out(value: Any, names: set[str]) -> Any:
    match value:
        case Mapping():
            return {n: _leave_out(each, names) for n, each in value.items() if n not in names}
        case list():
            return [_leave_out(each, names) for each in value]
        case _:
            return value


def _discord_shape(message: Message, stem: str) -> list[Any]:
    payloads = [DiscordPayload.of(part) for part in discord.parts(message, stem)]
    return [
        {
            "embeds": [[*sorted(e), f"{e['color']:06x}"] for e in payload.body["embeds"]],
            "buttons": _named(payload.body["components"], "custom_id"),
            "files": [file.name for file in payload.files],
        }
        for payload in payloads
    ]


def _slack_shape(message: Message, stem: str) -> list[Any]:
    payloads = [SlackPayload.of(part) for part in slack.parts(message, stem)]
    return [
        {
            "blocks": [block["type"] for block in payload.blocks],
            "buttons": _named(payload.blocks, "action_id"),
            "files": [file.name for file in payload.files],
        }
        for payload in payloads
    ]


def _named(value: Any, name: str) -> list[str]:
    match value:
        case Mapping():
            own = [str(value[name])] if name in value else []
            return own + [found for each in value.values() for found in _named(each, name)]
        case list():
            return [found for each in value for found in _named(each, name)]
        case _:
            return []


URL = "http://127.0.0.1:1"
ACCOUNTS = {"discord_client_id": "7", "discord_client_secret": SecretStr("7")}
FAILED = f"{8:023d}-"
TERMS = Terms(name="tea", each=2, repeats=0, about="Thank you.", code="TEA-42")
COLUMNS = re.compile(r"\n(?:\| `|  +- name: |  +dtype: ).*")  # which docs/dataset.md has too
TIMED = re.compile(
    r'(?<=<rect class=")(?:spoke|lost)" x="[\d.]+" width="[\d.]+'
    r'|(?<=<rect class="waited" )x="[\d.]+" y="4" width="[\d.]+|(?<=>after )[\d.]+(?= s<)'
)
DRAWN_ANEW = re.compile(  # keys and tokens; ids of debates have 26 characters
    r"(?<=\?k=)[\w.-]+|(?<=link:)[\w-]{16}|(?<=/c/)\w{20}"
    r"|(?<![\w-])(?!rehearsal)[\w-]{22}(?:[\w-]{21})?(?![\w-])"
)


async def read_pages(store: Store, clock: Clock, out: Path) -> dict[str, list[str]]:
    """Return the lines of a page of each kind, and of the others a digest.

    `out` has an export, whose documents are told too.
    """
    told, kinds = dict[str, list[str]](), {"debates/croissant.json"}

    def keep(path: str, text: str) -> None:
        kind = re.sub(r"01j\d+|\d+", "…", path)
        if kind in kinds and path.startswith("debates/"):
            told[path] = [hashlib.sha256(text.encode()).hexdigest()[:16]]
        else:
            told[path] = text.split("\n")
        kinds.add(kind)

    card = (out / "README.md").read_text("utf-8")
    keep("README.md", COLUMNS.sub("", card))
    metadata = orjson.loads((out / "croissant.json").read_bytes())
    del metadata["distribution"]  # sizes and hashes of files, which have what a machine takes
    keep("debates/croissant.json", orjson.dumps(metadata).decode())
    debates = await store.listings.recent()
    for debate in debates:
        report = await StoredLibrary(store).report(debate.id)
        keep(f"report {debate.id}.md", write_markdown(report))
        if debate in debates[-3:]:
            keep(f"report {debate.id}.html", write_html(report))
    async for path, body in write_folder(StoredLibrary(store)):
        # What was asked side by side has no order, but in a debate that failed at its start.
        if not path.startswith("static") and ("-call" not in path or FAILED in path):
            keep(path, TIMED.sub("…", body.decode()))
    everything = CommunitySettings(public=tuple(PublicPart))
    await store.communities.change("memory", "club", lambda _: everything, clock.now())
    settings = Settings(web=WebSettings.model_validate({"url": URL, "port": 0} | ACCOUNTS))
    public = PublicPages(PublicReader(store, clock, "0"), Permalinks(URL), drawn)
    routes = [*public.routes(), *await label_routes(store, clock, settings)]
    site = Site("127.0.0.1", 0)
    async with site.serving(routes, furnish):
        browser = Browser("http://{}:{}".format(*some(site.address)))
        async for name, page in _walk(store, clock, browser):
            keep(name, DRAWN_ANEW.sub("…", page.text))
        await browser.client.close()
        public.end()
    return told


async def _walk(store: Store, clock: Clock, browser: Browser) -> AsyncIterator[tuple[str, Shown]]:
    """Yield each kind of page that is served."""
    debates = sorted(debate.id.lower() for debate in await store.listings.recent())
    for debate in debates[:2]:
        yield f"public debate {debate}", (page := await browser.get(f"/d/{debate}"))
    (front, *_) = re.findall(r'href="(/c/[\w-]+)', page.text)
    for part in PublicPart:
        yield f"public {part}", await browser.get(f"{front}/{part}")
    yield "nothing", await browser.get("/nowhere")
    yield "manager, signed out", await browser.get("/labels")
    offered = await browser.get(f"/labels/enter?k={await print_token(store, clock)}")
    yield "manager, by a link", offered
    yield "manager", await browser.post("/labels/enter", **offered.fields)
    labelling = Labelling(store, clock)
    with patch("secrets.token_hex", lambda size: "seed"):
        await labelling.create(TERMS)
    (token,) = await labelling.invite("tea")
    yield "invitation", (invited := await browser.get(f"/label/tea?t={token}"))
    with patch("secrets.randbelow", lambda sides: 0):
        sheet = await browser.post("/label/tea/join", **invited.fields)
        while "/sheet/" in sheet.path:
            yield "sheet", sheet
            yield "sheet, without an answer", await browser.post(sheet.path, **sheet.fields)
            sheet = await browser.post(sheet.path, **answer(sheet))
    yield "done", sheet
    yield "back", await browser.get("/label/tea/back?p=x")
    yield "task", await browser.get("/labels/task/tea")
    yield "left", await browser.post("/label/tea/leave", **sheet.fields)
    yield "uninvited", await browser.get("/label/tea")
