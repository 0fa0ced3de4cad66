"""The page of a public debate: it grows as its chat does, and opens when its chat tells."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from aiohttp import ClientSession
from structlog.testing import capture_logs

from adapters.database.database import SqlDatabase
from adapters.discord import render as discord
from adapters.models.router import open_models
from adapters.pictures import drawn
from adapters.slack import render as slack
from adapters.terminal import render as terminal
from adapters.web import crowd, public
from adapters.web.application import DRAWN, FAILURES
from adapters.web.public import PublicPages
from bot.app import MainLine
from engine.chat.answers import to_markdown
from engine.chat.commands import Commands, parse_command
from engine.chat.context import Requester
from engine.delivery.board import Board
from engine.delivery.reasons import cause_of, needing, reason_of, waiting_for, why
from engine.pages import public as values
from engine.prompts import load_prompts
from engine.store import Closing, DeliveryState, Post, Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.values.debate import Cause, Model, PanelSetup, Status
from engine.values.errors import (
    BudgetError,
    ModelError,
    StoppedError,
    StoreError,
    VenueLockedError,
)
from engine.values.ports import Permalinks
from engine.values.verdicts import VoteEvent
from engine.votes.outcome import standing
from tests.doubles.hall import DEFAULTS
from tests.doubles.venue import MemoryVenue
from tests.doubles.wire import serving
from tests.kit import (
    HANG_SECONDS,
    LATER,
    NO_CAPS,
    NOW,
    FixedClock,
    Running,
    announcement,
    ballot,
    cast,
    make_setup,
    new_debate,
    notice,
    run,
    some,
    turn,
    turn_post,
    verdict,
)
from tests.scenario.test_public_pages import Reader, Seen, again_until

PEOPLE = ("ann-canary", "bob-canary")
SEALED = ("maple", "birch", "oak", "juror-canary", *PEOPLE)
BELOW = ("ballots", "verdict", "people", "timeline-votes")


@asynccontextmanager
async def shown(store: Store) -> AsyncIterator[Reader]:
    shows = CommunitySettings(public=tuple(PublicPart))
    await store.communities.change("chat", "club", lambda _: shows, NOW)
    found = values.PublicReader(store, FixedClock(), "test")
    pages = PublicPages(found, Permalinks("https://x.example"), drawn)
    async with serving(pages.routes()) as port:
        async with ClientSession(f"http://127.0.0.1:{port}") as client:
            yield Reader(client)
        pages.end()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name in ((public, "LOOK_SECONDS"), (public, "SHARED_SECONDS")):
        monkeypatch.setattr(where, name, 0.01)
    monkeypatch.setattr(crowd, "SHARED_SECONDS", 0.0)


async def post(running: Running) -> None:
    intent = some(await running.store.outbox.next(running.id))
    sent = intent.model_copy(update={"refs": (f"message-{running.id}",)})
    await running.store.outbox.settle(running.lease, sent, DeliveryState.SENT)


def turns_of(seen: Seen) -> list[str]:
    return re.findall('<article id="t([0-9]+)"', seen.text)


@pytest.mark.postgresql
async def test_a_page_grows_by_what_was_posted_and_by_nothing_else(store: Store) -> None:
    running = await run(store, new_debate(community="club"))
    await store.outbox.set_thread(running.lease, running.id, "thread")
    path = f"/d/{running.id.lower()}"
    async with shown(store) as reader, reader.client.get(f"{path}/events") as events:
        assert events.headers["Content-Type"] == "text/event-stream"
        said = turn(1, "Unposted canary.")
        await store.journal.record_turn(running.lease, running.id, said, turn_post(1))
        before = await reader.see(path)
        assert f'data-events="{path}/events?seen=' in before.text
        assert "debate.js" in before.text
        assert turns_of(before) == []
        assert "canary" not in before.text
        assert (await reader.see(f"{path}/turn-1.txt")).status == 404
        await post(running)
        async with asyncio.timeout(HANG_SECONDS):
            assert await events.content.readuntil(b"data: 1\n\n")
        after = await reader.see(path)
        assert turns_of(after) == ["1"]
        assert after.headers["Cache-Control"] == "no-store"
        assert "Unposted canary." in (await reader.see(f"{path}/turn-1.txt")).text
        for never in (f"/d/{'0' * 26}", f"/d/{(await running.get()).code}", "/d/x"):
            for rest in ("", "/events", "/turn-1.txt", "/votes.svg"):
                assert (await reader.see(f"{never}{rest}")).status == 404


async def test_a_debate_stays_sealed_while_people_vote_on_its_mirror(store: Store) -> None:
    first = new_debate(user=None)
    mirrored = make_setup().model_copy(update={"mirror_of": first.id})
    second = new_debate(user=None, setup=mirrored)
    await store.debates.create([(first, []), (second, [])], NO_CAPS)
    one, other = await opened(store, first.id, "one"), await opened(store, second.id, "two")
    path = f"/d/{first.id.lower()}"
    async with shown(store) as reader:
        await tell(one)
        assert (await one.get()).status is Status.CLOSED
        sealed = await reader.see(path)
        assert "data-events" in sealed.text  # it opens by itself
        text = await reader.see(f"{path}/turn-1.txt")
        assert [seen.headers["Cache-Control"] for seen in (sealed, text)] == ["no-store"] * 2
        for seen in (sealed, text, await reader.see(f"{path}/sealed.png")):
            assert seen.status == 200
            told = f"{seen.headers}{seen.text}".lower()
            assert [canary for canary in SEALED if canary in told] == []
        assert not any(f'id="{key}"' in sealed.text for key in BELOW)
        for rest in ("/votes.svg", "/result.png"):
            assert (await reader.see(f"{path}{rest}")).status == 404
        await tell(other)
        page = await again_until(reader, path, lambda seen: "ETag" in seen.headers)
        assert [key for key in BELOW if f'id="{key}"' not in page.text] == []
        assert "maple" in page.text
        assert "juror-canary" in page.text
        assert "data-events" not in page.text
        picture = re.findall(r'<img src="(/d/[^"]+\.svg)"', page.text)[0]
        drawing = await reader.see(picture)
        assert drawing.headers["Content-Security-Policy"] == DRAWN["Content-Security-Policy"]
        for seen in (page, drawing):
            assert [name for name in PEOPLE if name in seen.text] == []


async def opened(store: Store, debate_id: str, thread: str, **read: Any) -> Running:
    lease = some(await store.leases.claim(f"debate/{debate_id}", "runner", 60))
    held = Running(store, debate_id, lease)
    await held.advance(Status.RUNNING)
    await store.outbox.set_thread(lease, debate_id, thread)
    await store.journal.record_turn(lease, debate_id, turn(), turn_post())
    await post(held)
    given = {"panel/1": ballot(reasons="A juror-canary.", **read)}
    await store.journal.record_verdict(lease, debate_id, verdict(), given)
    await store.votes.open(lease, debate_id, f"vote-{thread}", NOW, LATER)
    await held.advance(Status.VOTING)
    for minute, person in enumerate(PEOPLE, 1):
        at = NOW + timedelta(minutes=minute)
        where = {"place": thread, "message": f"vote-{thread}"}
        await store.votes.cast(cast(person, "A", received_at=at, **where))
    return held


async def tell(held: Running) -> None:

    debate = await held.get()

    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        votes = standing(debate, events)
        return Closing(votes=votes, posts=(Post(key="reveal", message=notice("r").message),))

    await held.store.votes.close(held.lease, held.id, LATER, False, conclude)
    await post(held)


async def test_a_dataset_over_its_limit_is_refused_and_one_within_it_has_rows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Model(backend="online", name="maple", family="maple")
    setup = make_setup(sides={"A": real, "B": real})
    setup = setup.model_copy(update={"panel": PanelSetup(roster=(real,))})
    held = new_debate(user=None, setup=setup)
    await store.debates.create([(held, [])], NO_CAPS)
    unread = {"juror": "online/oak", "valid": False, "verdict": None}
    voting = await opened(store, held.id, "one", **unread)
    async with shown(store) as reader:
        key = await store.communities.page("chat", "club")
        assert "No debate was held yet." in (await reader.see(f"/c/{key}/dataset")).text
        assert (await reader.see(f"/c/{key}/dataset.zip")).status == 404
    await tell(voting)
    async with shown(store) as reader:
        assert f"/c/{key}/dataset.zip" in (await reader.see(f"/c/{key}/dataset")).text
        bundle = await reader.see(f"/c/{key}/dataset.zip")
        assert bundle.status == 200, bundle.text
        found = ZipFile(BytesIO(bundle.body))
        rows = [found.read(name) for name in found.namelist() if "debates" in name]
        assert sum(row.count(b"Tea or coffee") for row in rows) > 0, found.namelist()
    monkeypatch.setattr(values, "MOST_BYTES", 10)
    async with shown(store) as reader:
        refused = await reader.see(f"/c/{key}/dataset.zip")
        assert refused.status == 503
        assert "too large to be downloaded here" in refused.text
        await store.communities.change("chat", "club", lambda _: CommunitySettings(), NOW)
        assert (await reader.see(f"/c/{key}/dataset.zip")).status == 404


async def test_pages_say_that_the_database_is_away(
    store: Store, database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await run(store, new_debate())
    async with shown(store) as reader:
        key = await store.communities.page("chat", "club")

        async def away(*_: object, **__: object) -> None:
            raise StoreError("The database at secret.example is away.")

        for name in ("rows", "first", "value", "column", "read_fast"):
            monkeypatch.setattr(database, name, away)
        at = f"/d/{running.id.lower()}"
        rest = ("", "/sealed.png", "/votes.svg", "/turn-1.txt", "/events")
        parts = [f"/c/{key}/{part}" for part in PublicPart]
        for path in (*(f"{at}{one}" for one in rest), *parts, f"/c/{key}/dataset.zip"):
            seen = await reader.see(path)
            assert (seen.status, seen.headers["Retry-After"]) == (503, "10"), path
            assert FAILURES[503].title in seen.text
            assert "secret.example" not in seen.text


CHANNEL = "4242424242"
HIDDEN = ("birch", "near-canary", "/srv/canary", CHANNEL, "canary.internal")
AWAY = ModelError(
    "Backend “near-canary” could not be reached at http://canary.internal (model “birch”).",
    model="near-canary/birch",
)
FULL = StoreError("The database /srv/canary.db could not be used: full.")
LOCKED_THERE = VenueLockedError("<#4242424242> is locked; unlock it.")
REFUSED = ModelError(str(AWAY), model="near-canary/birch", refused=True)
CAPPED = BudgetError("It would pass 1 USD for near-canary/birch (ROSTRUM_BUDGET__DEBATE_USD).")
DELETED = StoppedError(
    "<#4242424242> was deleted; nothing can be posted there any more.", ends="thread"
)
WAITS = [
    (Status.QUEUED, waiting_for(AWAY), None),
    (Status.VOTING, waiting_for(AWAY), None),
    (Status.QUEUED, needing(["near-canary"]), None),
    (Status.RUNNING, f"Waiting to post: {LOCKED_THERE}", None),
    (Status.VOTING, f"Reactions to vote with are missing: {LOCKED_THERE}", None),
    *((Status.FAILED, reason_of(one), cause_of(one)) for one in (AWAY, REFUSED, FULL, DELETED)),
    (Status.PARTIAL, reason_of(CAPPED), cause_of(CAPPED)),
]


@pytest.mark.each_case
@pytest.mark.parametrize(("status", "reason", "cause"), WAITS)
async def test_what_a_debate_waits_for_names_nothing_on_pages_cards_commands_nor_in_logs(
    store: Store, status: Status, reason: str, cause: Cause | None
) -> None:
    """A vote that follows is gold only while no model is named; its chat may know its channels."""
    running = await run(store, new_debate(community="club"))
    await store.debates.advance(running.lease, running.id, status, reason, cause=cause)
    debate = await running.get()
    line = MainLine(store, open_models({}), load_prompts(), [MemoryVenue()])
    asking = Requester(platform="chat", community="club", place="lobby", user="user-1")
    async with shown(store) as reader:
        key = await store.communities.page("chat", "club")
        page = await reader.see(f"/d/{debate.id.lower()}")
        listed = await reader.see(f"/c/{key}/debates")
    with capture_logs() as logs:
        progress = await Board(MemoryVenue(), store, FixedClock())._progress(debate)
        card = announcement(progress=progress)
        rendered = [draw(card, "K7F2") for draw in (discord.parts, slack.parts, terminal.parts)]
        answers = [
            await Commands(line.service, store, DEFAULTS, "1").run(asking, parse_command(words))
            for words in (f"status {debate.code}", f"result {debate.code}", "list")
        ]
    assert page.status == 200
    assert bool(why(debate)) == ('<span dir="auto">' in page.text)
    for said in (f"{page.text}{listed.text}{page.headers}", str(logs)):
        assert [word for word in HIDDEN if word in said] == []
    cards = f"{rendered}{terminal.plain(card, 'K7F2·1')}"
    told = "".join(map(to_markdown, answers))
    assert why(debate) in told
    assert progress.reason in cards
    for said in (cards, told, str(answers)):
        assert [word for word in HIDDEN if word in said and word != CHANNEL] == []
