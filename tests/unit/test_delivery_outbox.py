"""The deliverer alone, on a real outbox: promptness, leases, edits, typing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

import engine.delivery.outbox
import engine.delivery.seeds
from adapters.database.database import SqlDatabase
from engine.delivery.outbox import Delivery
from engine.fleet.leases import LeaseManager, Notifier, Services
from engine.store import AttemptStart, DeliveryState, Intent, Lease, Post, Store
from engine.values.debate import Debate, Status
from engine.values.errors import LeaseLostError, VenueAwayError, VenueError, VenueGoneError
from engine.values.messages import Message, Notice, VoteClosed, VoteInvite
from engine.values.ports import Attempt, Call, Part, SystemClock, VenueLimits, utc_now
from engine.values.protocols import Venue
from tests.doubles.venue import Fault, MemoryVenue
from tests.kit import (
    BIRCH,
    HANG_SECONDS,
    MAPLE,
    beside,
    create,
    new_debate,
    reveal,
    some,
    speech,
    until,
)

QUICK = VenueLimits(typing_seconds=0.02, send_seconds=0.1)


@dataclass(frozen=True, slots=True)
class Office:
    """An outbox with one debate in it, and the deliverer of its platform."""

    store: Store
    venue: MemoryVenue
    delivery: Delivery
    debate: Debate
    lease: Lease

    async def queue(self, *keys: str) -> None:
        await self.publish(*(Post(key=key, message=Notice(text=key)) for key in keys))

    async def publish(self, *posts: Post) -> None:
        await self.store.outbox.publish(self.lease, self.debate.id, posts)
        self.delivery.services.notifier.publish("outbox/memory", self.debate.id)

    async def settled(self) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            await self.delivery.settled(self.debate.id)

    async def another(self, **given: Any) -> Office:
        """Store a second debate on the same platform, and begin to think for it."""
        debate, lease = await _begin(self.store, **given)
        return replace(self, debate=debate, lease=lease)

    def said(self) -> list[str]:
        return said_on(self.venue)

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[None]:
        async with running(self.delivery):
            yield


@asynccontextmanager
async def running(delivery: Delivery) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(work)
            for work in (delivery.run(), delivery.services.lease_manager.run())
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


def deliverer(store: Store, venue: MemoryVenue, holder: str) -> Delivery:
    notifier = Notifier()
    kept = LeaseManager(store, notifier, holder)
    return Delivery(venue, Services(store, kept, notifier, SystemClock()))


async def _begin(store: Store, **given: Any) -> tuple[Debate, Lease]:
    debate = await create(store, new_debate(platform="memory", **given))
    lease = some(await store.leases.claim(f"debate/{debate.id}", "thinker", 60))
    await store.debates.advance(lease, debate.id, Status.RUNNING)
    return debate, lease


async def open_office(store: Store) -> Office:
    venue = MemoryVenue(limits=QUICK)
    return Office(store, venue, deliverer(store, venue, "first"), *await _begin(store))


@pytest.fixture
async def office(store: Store) -> Office:
    return await open_office(store)


def said_on(venue: Venue) -> list[str]:
    """Return what is posted on a platform, oldest first, each by its first line."""
    assert isinstance(venue, MemoryVenue)
    return [message.body.split("\n")[0] for message in venue.messages.values()]


async def let_leases_run_out(office: Office) -> None:
    await office.store.leases.renew("first", -1)


async def test_what_is_queued_while_the_last_look_comes_back_empty_is_delivered_at_once(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than the test may take: only a ring can make it prompt.
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 60.0)
    look = office.store.outbox.next
    empty: list[str] = []

    async def look_and_be_overtaken(debate_id: str) -> Intent | None:
        intent = await look(debate_id)
        if intent is None and not empty:
            empty.append(debate_id)
            await office.queue("late")
        return intent

    monkeypatch.setattr(office.store.outbox, "next", look_and_be_overtaken)
    async with office.delivering():
        await asyncio.sleep(0.05)
        office.delivery.services.notifier.publish("outbox/memory", office.debate.id)
        await until(lambda: office.said() == ["info: late"])


async def test_what_a_dead_process_left_is_delivered_at_once_by_the_next(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 60.0)
    left = Post(key="left", message=Notice(text="left"))
    await office.store.outbox.publish(office.lease, office.debate.id, [left])  # its ring is lost
    async with office.delivering():
        await until(lambda: office.said() == ["info: left"])


@pytest.fixture
async def shared(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Office, Delivery]]:
    """An office, and a second deliverer that shows what it sends on a platform of its own.

    Neither is the file's sole runner, so that leases count as they do between hosts.
    """
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    database = SqlDatabase(database_url, writable=False)
    office = await open_office(Store(database))
    yield office, deliverer(office.store, MemoryVenue(limits=QUICK), "second")
    await database.close()


async def test_a_second_deliverer_waits_for_the_first(shared: tuple[Office, Delivery]) -> None:
    office, second = shared
    async with AsyncExitStack() as late:
        async with office.delivering():
            await office.queue("one")
            await office.settled()
            await late.enter_async_context(running(second))
            await office.queue("two")
            second.services.notifier.publish("outbox/memory", office.debate.id)
            await office.settled()
            assert office.said() == ["info: one", "info: two"]
        await office.queue("three")
        await office.settled()
    assert said_on(second.venue) == ["info: three"]
    assert len(office.said()) == 2


async def test_a_successor_waits_out_lease_and_deadline(shared: tuple[Office, Delivery]) -> None:
    office, second = shared
    await office.queue("one")
    ghost = await office.store.leases.claim("connection/memory", "ghost", 60)
    intent = await office.store.outbox.next(office.debate.id)
    assert ghost is not None
    assert intent is not None
    deadline = utc_now() + timedelta(seconds=0.4)
    parts = second.venue.render(intent.message, "stem·1")
    sent = await office.store.outbox.sending(ghost, intent, parts, deadline)
    await office.store.leases.renew("ghost", 0.2)
    async with running(second):
        await office.settled()
    assert utc_now() >= deadline
    assert said_on(second.venue) == ["info: one"]
    with pytest.raises(LeaseLostError):
        await office.store.outbox.posted(ghost, sent, "m1")


async def test_a_deliverer_that_stood_still_past_its_deadline_sends_nothing(
    shared: tuple[Office, Delivery], monkeypatch: pytest.MonkeyPatch
) -> None:
    office, second = shared
    write = office.store.outbox.sending

    async def write_and_stand_still(*args: Any) -> Intent:
        intent = await write(*args)
        monkeypatch.setattr(office.store.outbox, "sending", write)
        # Another process takes over meanwhile, as it may once the lease has run out.
        await let_leases_run_out(office)
        task.cancel()
        second_task.append(asyncio.create_task(second.run()))
        await asyncio.sleep(0.2)
        woken.set()
        return intent

    woken = asyncio.Event()
    second_task: list[asyncio.Task[None]] = []
    monkeypatch.setattr(office.store.outbox, "sending", write_and_stand_still)
    await office.queue("one")
    first = asyncio.create_task(office.delivery.run())
    task = asyncio.create_task(office.delivery.services.lease_manager.run())
    await woken.wait()
    await office.settled()
    await asyncio.sleep(0.05)
    for running_task in (first, *second_task):
        running_task.cancel()
    await asyncio.gather(first, task, *second_task, return_exceptions=True)
    assert office.said() == []
    assert said_on(second.venue) == ["info: one"]


INVITATION = Post(key="vote", message=VoteInvite(options=("A", "B"), minutes=30, quorum=0))
CLOSED = Post(
    key="vote/closed", message=VoteClosed(options=("A", "B"), votes=3, early=True), target="vote"
)

TURN = speech("Tea.", round="Opening", total=4, words=1, limit=0)
REVEAL = reveal(topic="Tea or coffee", models={"A": MAPLE.ref, "B": BIRCH.ref}, calls=0)


AWAY = VenueAwayError("The platform is overloaded; try again.", retry_after=0.01)


@pytest.mark.parametrize(
    ("faults", "edits"),
    [
        ([], 1),
        ([AWAY, AWAY], 1),
        ([VenueError("There is no message m1; it may have been deleted.")], 0),
        # A workspace that restricts what is edited still takes messages.
        ([VenueGoneError("The workspace does not allow that.")], 0),
    ],
)
async def test_an_edit_replaces_its_message_waits_while_away_and_is_passed_over_if_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch, faults: list[VenueError], edits: int
) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    office.venue.misbehave("edit", *map(Fault, faults))
    async with office.delivering():
        await office.publish(CLOSED)  # of what was not posted yet
        await office.store.debates.advance(office.lease, office.debate.id, Status.VOTING)
        await office.publish(INVITATION, CLOSED.model_copy(update={"key": "vote/again"}))
        await office.queue("after")
        await office.settled()
    ballot, after = office.venue.messages.values()
    assert ballot.body.startswith("The vote closed early with 3 votes: A, B.") is bool(edits)
    assert (ballot.edits, ballot.seeds) == (edits, {"A", "B"})
    assert after.body.startswith("info: after")
    assert not (await office.store.debates.get(office.debate.id)).gone


async def test_only_the_part_in_doubt_is_missing_where_reading_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    lost = VenueAwayError("The answer was lost.", retry_after=0.01, maybe_stored=True)
    office.venue.misbehave("post", Fault(), Fault(lost))
    office.venue.refuse_reading()
    text = "\n\n".join(letter * 1500 for letter in "abcd")
    async with office.delivering():
        await office.publish(Post(key="long", message=Notice(text=text)))
        await office.queue("after")
        await office.settled()
    assert [line[-1] for line in office.said()] == ["a", "c", "d", "r"]


async def test_what_was_refused_for_now_was_not_sent_and_is_not_looked_for(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    busy = VenueAwayError("The platform asks to wait.", retry_after=0.01)
    office.venue.misbehave("post", Fault(busy), Fault(busy))
    async with office.delivering():
        await office.queue("said")
        await office.settled()
    assert office.said() == ["info: said"]
    assert [call.method for call in office.venue.seen] == ["post", "post", "post"]


async def test_what_waits_for_its_turn_is_neither_late_nor_in_doubt_nor_an_outage(
    office: Office,
) -> None:
    queue = Queue(office.venue)
    office.delivery.venue = cast(Venue, queue)
    async with office.delivering():
        await office.queue("said")
        await asyncio.wait_for(queue.asked.wait(), HANG_SECONDS)
        await asyncio.sleep(2 * QUICK.send_seconds)
        waiting = some(await office.store.outbox.next(office.debate.id))
        assert (waiting.state, waiting.deadline) == (DeliveryState.PENDING, None)
        queue.open.set()
        await office.settled()
        assert (await office.store.debates.get(office.debate.id)).reason == ""
    assert [call.method for call in office.venue.seen] == ["post"]


async def test_a_deliverer_that_lost_its_lease_while_it_waited_sends_nothing(
    shared: tuple[Office, Delivery],
) -> None:
    office, second = shared
    queue = Queue(office.venue)
    office.delivery.venue = cast(Venue, queue)
    await office.queue("one")
    async with beside(office.delivery.run()):  # and nobody who renews its lease
        await asyncio.wait_for(queue.asked.wait(), HANG_SECONDS)
        await let_leases_run_out(office)
        async with running(second):
            await office.settled()
            queue.open.set()
            await asyncio.sleep(0.1)
    assert office.venue.seen == []
    assert said_on(second.venue) == ["info: one"]


class Queue:
    """A venue whose every turn is waited for, until a test opens it."""

    def __init__(self, venue: MemoryVenue) -> None:
        self._venue = venue
        self.asked, self.open = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AsyncIterator[None]:
        self.asked.set()
        await self.open.wait()
        yield

    def __getattr__(self, name: str) -> Any:
        return getattr(self._venue, name)


async def test_typing_is_shown_while_a_seat_thinks_and_not_after(office: Office) -> None:
    await office.store.outbox.set_thread(office.lease, office.debate.id, "thread")
    start = AttemptStart(debate=office.debate.id, step="turn/opening/A", number=1, cost_max=0)
    sampling = office.debate.setup.sampling["debater"]
    call = Call(start.step, MAPLE, (), sampling, session=office.debate.id)
    office.venue.misbehave("typing", Fault(VenueError("Typing cannot be shown here.")))
    async with office.delivering():
        await office.store.journal.began(office.lease, start, call)
        await until(lambda: office.venue.thinking.get("thread") == ("A",))
        await office.store.journal.ended(office.lease, start, Attempt(number=1), None)
        await until(lambda: office.venue.thinking.get("thread") == ())


async def test_a_message_that_cannot_be_rendered_is_plain_and_the_others_come(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected exception at one message ended the delivery of all debates."""
    other, render = await office.another(), office.venue.render

    def render_but_one(message: Message, stem: str) -> tuple[Part, ...]:
        if message == Notice(text="two"):
            raise ZeroDivisionError("no such width")
        return render(message, stem)

    monkeypatch.setattr(office.venue, "render", render_but_one)
    async with office.delivering():
        await office.queue("one", "two", "three")
        await office.settled()
        await other.queue("x")
        await other.settled()
    assert office.said() == ["info: one", "two", "info: three", "info: x"]
    two = some(await office.store.outbox.find(office.debate.id, "two"))
    assert two.state is DeliveryState.SENT


async def test_what_another_process_queued_does_not_wait_for_the_bell_to_be_silent(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While debates here kept ringing, the outbox was never looked at as a whole."""
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.1)
    other = await office.another()

    async def ring_all_the_time() -> None:
        while True:
            office.delivery.services.notifier.publish("outbox/memory", office.debate.id)
            await asyncio.sleep(0.01)

    async with beside(ring_all_the_time()), office.delivering():
        await asyncio.sleep(0.05)
        x = Post(key="x", message=Notice(text="x"))
        await other.store.outbox.publish(other.lease, other.debate.id, [x])
        await until(lambda: office.said() == ["info: x"])


async def test_a_defect_posts_a_message_once_and_plain_where_it_kept_it_from_being_sent(
    office: Office,
) -> None:
    """After it was sent it was sent again as plain text, beside what was posted already."""
    lost = KeyError("body")
    office.venue.misbehave("post", Fault(KeyError("id"), stored=True), Fault(lost), Fault(lost))
    async with office.delivering():
        await office.queue("said", "after")
        await office.settled()
    assert office.said() == ["info: said", "info: after"]
    after = some(await office.store.outbox.find(office.debate.id, "after"))
    assert [part.plain for part in after.parts or ()] == [True]


async def test_a_debate_that_is_purged_while_it_is_delivered_ends_no_other(office: Office) -> None:
    """Its rows were gone when they were written to, and the delivery of all debates ended."""
    other = await office.another(community="other")
    await office.store.debates.advance(other.lease, other.debate.id, Status.PARTIAL)
    async with office.delivering():
        office.venue.misbehave("post", Fault(delay=0.05))
        await other.publish(Post(key="turn/opening/A", message=TURN))
        await until(lambda: office.venue.seen)
        assert await office.store.communities.purge("memory", "other") == 1
        await asyncio.sleep(0.1)  # posted, or noticed to be gone
        await office.queue("said")
        await office.settled()
    assert office.said()[-1] == "info: said"


async def test_reactions_of_a_debate_that_is_deleted_are_not_tried_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row was asked for, and the delivery of all debates ended."""
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.3)
    away = VenueAwayError("The platform asks to wait.", retry_after=0.01)
    office.venue.misbehave("seed", Fault(away), Fault(away), Fault(away))
    async with office.delivering():
        await office.store.debates.advance(office.lease, office.debate.id, Status.VOTING)
        await office.publish(INVITATION)
        await office.settled()
        assert await office.store.communities.purge("memory", office.debate.community) == 1
        await asyncio.sleep(0.5)
        other = await office.another()
        await other.queue("x")
        await other.settled()
    assert office.said()[-1] == "info: x"


async def test_a_turn_refused_in_its_middle_is_said_to_be_cut(office: Office) -> None:
    text = "\n\n".join(letter * 1500 for letter in "abc")
    long = TURN.model_copy(update={"text": text})
    refusal = VenueError("Invalid form body.")
    office.venue.misbehave("post", Fault(), Fault(refusal), Fault(refusal))
    async with office.delivering():
        await office.publish(Post(key="turn/opening/A", message=long))
        await office.queue("after")
        await office.settled()
    posted = [message.body for message in office.venue.messages.values()]
    assert len(posted) == 3
    assert "a" * 1500 in posted[0]
    assert "Part of **A · Opening · turn 1 of 4** is missing here" in posted[1]
    assert posted[2].startswith("info: after")
    assert (await office.store.debates.get(office.debate.id)).gaps == 1


async def test_a_reveal_that_is_for_nobody_known_or_that_its_thread_took_goes_nowhere_else(
    office: Office,
) -> None:
    """The one was tried without end, and the other, queued while its thread was away, twice."""
    await office.store.privacy.forget("memory", "user-1")
    aside, channel = (REVEAL.model_copy(update={"aside": to}) for to in ("starter", "channel"))
    async with office.delivering():
        await office.publish(
            Post(key="reveal/starter", message=aside),
            Post(key="reveal", message=REVEAL),
            Post(key="reveal/channel", message=channel),
        )
        await office.queue("after")
        await office.settled()
    assert office.said()[-1] == "info: after"
    assert sum("Tea or coffee" in m.body for m in office.venue.messages.values()) == 1
    given = some(await office.store.outbox.find(office.debate.id, "reveal/starter"))
    assert given.state is DeliveryState.REFUSED


async def test_a_result_for_a_server_that_was_left_logs_no_error(office: Office) -> None:
    aside = REVEAL.model_copy(update={"aside": "channel"})
    office.venue.gone_places |= {office.debate.place, office.debate.thread or ""}
    with capture_logs() as logs:
        async with office.delivering():
            await office.publish(Post(key="reveal/channel", message=aside))
            await office.settled()
    assert [one["event"] for one in logs if one["log_level"] == "error"] == []
    assert "message refused" in [one["event"] for one in logs]
