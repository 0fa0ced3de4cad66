"""Thumbs that nobody heard of, read back on a real log; the oracle is what the platform holds."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

import engine.votes.window
from engine.store import DeliveryState, Store
from engine.values.debate import Status
from engine.values.errors import VenueAwayError, VenueError
from engine.values.ports import ConnectionGap, Reactions
from engine.values.verdicts import How, Question, TurnLabel, VoteEvent
from tests.doubles.poll import THREAD, Poll, open_poll
from tests.doubles.venue import MemoryVenue
from tests.kit import (
    HANG_SECONDS,
    new_debate,
    record_of,
    run,
    some,
    turn,
    turn_post,
    until,
    until_asked,
    until_true,
)

REFUSED = VenueError("Reading is not allowed here; grant the right to read.")
AWAY = VenueAwayError("The platform cannot be reached; try again.", retry_after=0.01)
PLATFORM = "memory"


class ListedVenue(MemoryVenue):
    """A platform that lists which messages are read, and where reading some of them fails."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.failing: dict[str, VenueError] = {}
        self.hanging: set[str] = set()
        self.released = asyncio.Event()

    async def reactions(self, place: str, message: str) -> Reactions:
        self.read.append(message)
        if message in self.hanging:
            await self.released.wait()
        if message in self.failing:
            raise self.failing[message]
        return await super().reactions(place, message)


@pytest.fixture
def venue() -> ListedVenue:
    return ListedVenue()


@pytest.fixture
async def poll(store: Store, venue: ListedVenue, monkeypatch: pytest.MonkeyPatch) -> Poll:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)
    return await open_poll(store, venue)


async def speak(poll: Poll, number: int = 1, parts: int = 1) -> list[str]:
    store, debate_id = poll.store, poll.debate_id
    lease = some(await store.leases.claim("test", f"speaker {number}", 60))
    await store.journal.record_turn(lease, debate_id, turn(number), turn_post(number))
    intent = some(await store.outbox.next(debate_id))
    part = poll.venue.render(intent.message, f"turn·{number}")[0]
    refs = [await poll.venue.post(THREAD, part) for _ in range(parts)]
    posted = intent.model_copy(update={"refs": tuple(refs)})
    await store.outbox.settle(lease, posted, DeliveryState.SENT)
    await store.leases.release(lease)
    return refs


async def give(poll: Poll, message: str, *users: str, thumb: str = "up") -> None:
    for user in users:
        await poll.venue.react(user, THREAD, message, thumb)


async def take_back(poll: Poll, message: str, *users: str, thumb: str = "up") -> None:
    for user in users:
        await poll.venue.unreact(user, THREAD, message, thumb)


@asynccontextmanager
async def away(poll: Poll) -> AsyncIterator[None]:
    """Let things happen that nobody hears of, and a process that reads them begin."""
    poll.venue.listening = False
    yield
    poll.venue.listening = True
    await poll.start_again()


async def labels(poll: Poll) -> list[tuple[str, int, str]]:
    people = await poll.store.votes.people(PLATFORM, ["ann", "bob", "cem", "dee"])
    names = {number: user for user, number in people.items()}
    return [
        (names[label.person], int(label.step.removeprefix("turn/")), "up" if label.up else "down")
        for label in await _labels(poll)
    ]


async def _labels(poll: Poll) -> Sequence[TurnLabel]:
    if (await poll.debate()).status is Status.VOTING:
        await poll.window.close(poll.debate_id)
    return (await record_of(poll.store, poll.debate_id)).labels


async def log_of(poll: Poll) -> tuple[VoteEvent, ...]:
    return await poll.store.votes.events(poll.debate_id, Question.TURN)


async def test_thumbs_changed_in_an_absence_are_as_people_hold_them(poll: Poll) -> None:
    (first,), (second,) = await speak(poll), await speak(poll, 2)
    await give(poll, first, "ann", "bob")
    await give(poll, second, "cem", thumb="down")
    async with away(poll):
        await take_back(poll, first, "ann")
        await give(poll, first, "dee", thumb="down")
        await take_back(poll, second, "cem", thumb="down")
        await give(poll, second, "cem")
    recovered = [event for event in await log_of(poll) if event.how is How.RECOVERED]
    assert len(recovered) == 4
    assert await poll.store.votes.events(poll.debate_id) == ()
    await poll.start_again()
    assert len(await log_of(poll)) == 7
    assert await labels(poll) == [("bob", 1, "up"), ("dee", 1, "down"), ("cem", 2, "up")]


async def test_what_a_lost_session_missed_of_thumbs_is_read_while_it_runs(poll: Poll) -> None:
    (message,) = await speak(poll)
    async with poll.watching():
        poll.venue.listening = False
        await give(poll, message, "ann")
        poll.venue.listening = True
        await poll.hear(ConnectionGap("missed"))
        await until_true(lambda: log_of(poll))
    assert await labels(poll) == [("ann", 1, "up")]


async def test_a_thumb_missed_is_the_last_of_two_nobody_knows_and_bots_have_none(
    poll: Poll,
) -> None:
    (message,) = await speak(poll)
    poll.venue.bots = {"bot"}
    await give(poll, message, "ann")
    async with away(poll):
        await give(poll, message, "ann", "bob", thumb="down")
        await give(poll, message, "bob", "bot")
        await give(poll, message, "cem", thumb="unsure")
        await give(poll, message, "dee", thumb="A")
    assert len(await log_of(poll)) == 4
    assert await labels(poll) == [("ann", 1, "down")]


async def test_a_thumb_on_two_parts_of_a_turn_is_one_until_it_is_off_both(poll: Poll) -> None:
    one, two = await speak(poll, parts=2)
    missed = await speak(poll, 2, parts=2)
    for message in (one, two, *missed):
        await give(poll, message, "ann", "bob")
    await take_back(poll, two, "ann", "bob")
    await take_back(poll, one, "bob")
    async with away(poll):
        await take_back(poll, missed[0], "ann", "bob")
        await take_back(poll, missed[1], "bob")
        await give(poll, missed[1], "cem")
    assert await labels(poll) == [("ann", 1, "up"), ("ann", 2, "up"), ("cem", 2, "up")]


async def test_what_is_found_after_the_reveal_is_not_blind(poll: Poll, venue: ListedVenue) -> None:
    (message,) = await speak(poll)
    await give(poll, message, "ann")
    async with away(poll):
        await give(poll, message, "bob")
    venue.listening = False
    await give(poll, message, "cem")
    venue.hanging = {message}
    poll.clock.pass_minutes(31)
    poll.restart()
    async with poll.watching():
        await poll.until(lambda debate: debate.status is Status.CLOSED)
        venue.released.set()
        await until_asked(lambda: log_of(poll), lambda log: len(log) == 3)
    assert [label.blind for label in await _labels(poll)] == [True, True, False]


async def test_a_clear_that_was_told_takes_no_thumb_back(poll: Poll) -> None:
    (first,), (second,) = await speak(poll), await speak(poll, 2)
    await give(poll, first, "ann")
    await give(poll, second, "ann")
    await poll.venue.clear(first, "up")
    await give(poll, first, "bob")
    async with away(poll):
        await take_back(poll, first, "bob")
        await take_back(poll, second, "ann")
    assert await labels(poll) == [("ann", 1, "up")]


async def test_of_several_thumbs_gone_at_once_a_clear_is_taken_to_be_the_cause(poll: Poll) -> None:
    (first,), (second,) = await speak(poll), await speak(poll, 2)
    await give(poll, first, "ann", "bob")
    await give(poll, first, "cem", thumb="down")
    await give(poll, second, "ann", "bob")
    async with away(poll):
        await poll.venue.clear(first, "up")
        await take_back(poll, first, "cem", thumb="down")
        await take_back(poll, second, "bob")
    assert await labels(poll) == [("ann", 1, "up"), ("bob", 1, "up"), ("ann", 2, "up")]


async def test_a_deleted_message_keeps_its_turns_thumbs_as_they_were(
    poll: Poll, venue: ListedVenue
) -> None:
    one, two = await speak(poll, parts=2)
    (other,) = await speak(poll, 2)
    await give(poll, one, "ann")
    await give(poll, two, "bob")
    async with away(poll):
        venue.delete_message(one)
        await take_back(poll, two, "bob")
        await give(poll, two, "cem")
        await give(poll, other, "cem")
    venue.read.clear()
    await poll.start_again()
    assert one not in venue.read
    notes = await poll.store.votes.interventions(poll.debate_id)
    assert [(note.act, note.step) for note in notes] == [("deleted", "turn/1")]
    expected = [("ann", 1, "up"), ("bob", 1, "up"), ("cem", 1, "up"), ("cem", 2, "up")]
    assert await labels(poll) == expected


async def test_a_thread_found_gone_ends_a_running_debate(poll: Poll, store: Store) -> None:
    thought = await run(store, new_debate(platform=PLATFORM))
    await store.outbox.set_thread(thought.lease, thought.id, THREAD)
    running = replace(poll, debate_id=thought.id)
    (message,) = await speak(running)
    await give(running, message, "ann")
    running.venue.delete(THREAD)
    await running.start_again()
    debate = await thought.get()
    assert debate.gone
    assert "was deleted" in debate.reason
    assert [event.option for event in await log_of(running)] == ["up"]


async def test_votes_come_before_thumbs_and_closing_one_reads_no_turns(
    poll: Poll, store: Store, venue: ListedVenue
) -> None:
    messages = await speak(poll, parts=3)
    other = await open_poll(store, venue)
    await poll.start_again()
    assert set(venue.read[:2]) == {poll.message, other.message}
    assert sorted(venue.read[2:]) == messages
    venue.read.clear()
    await poll.close()
    assert venue.read == [poll.message]


async def test_a_vote_closes_while_thumbs_cannot_be_read(poll: Poll, venue: ListedVenue) -> None:
    (message,) = await speak(poll)
    venue.hanging = {message}
    async with poll.watching():
        await until(lambda: message in venue.read)
        poll.clock.pass_minutes(31)
        await poll.until(lambda debate: debate.status is Status.CLOSED)


@pytest.mark.parametrize("error", [REFUSED, AWAY])
async def test_where_one_turn_cannot_be_read_the_others_are(
    poll: Poll, venue: ListedVenue, error: VenueError
) -> None:
    (first,), (second,) = await speak(poll), await speak(poll, 2)
    await give(poll, first, "ann")
    venue.failing = {first: error}
    with capture_logs() as logs:
        async with away(poll):
            await take_back(poll, first, "ann")
            await give(poll, second, "bob")
    assert await labels(poll) == [("ann", 1, "up"), ("bob", 2, "up")]
    said = "vote reading postponed" if isinstance(error, VenueAwayError) else "reactions unreadable"
    line, *_ = [line for line in logs if line["event"] == said]
    assert line["why"] == str(error)
    assert (await poll.debate()).reason == ""


async def test_thumbs_are_read_until_the_platform_answers(poll: Poll, venue: ListedVenue) -> None:
    (message,) = await speak(poll)
    venue.failing = {message: AWAY}
    async with away(poll):
        await give(poll, message, "ann")
    async with poll.watching(), asyncio.timeout(HANG_SECONDS):
        while venue.read.count(message) < 12:  # more often than it is asked at once
            poll.window.services.notifier.publish(f"thumbs/{PLATFORM}")
            await asyncio.sleep(0.005)
        venue.failing = {}
        while not await log_of(poll):
            poll.window.services.notifier.publish(f"thumbs/{PLATFORM}")
            await asyncio.sleep(0.005)
    assert await labels(poll) == [("ann", 1, "up")]


async def test_a_platform_briefly_away_is_asked_again(poll: Poll, venue: ListedVenue) -> None:
    (message,) = await speak(poll)
    venue.limits = replace(venue.limits, read_seconds=7)
    venue.failing = {message: AWAY}
    poll.venue.listening = False
    await give(poll, message, "ann")
    began = poll.clock.now()
    await poll.start_again()
    assert venue.read.count(message) == 5
    assert (poll.clock.now() - began).total_seconds() > 4 * 7
    venue.failing = {}
    await poll.start_again()
    assert await labels(poll) == [("ann", 1, "up")]


async def test_only_debates_that_go_on_or_are_asked_again_are_read(
    store: Store, venue: ListedVenue
) -> None:
    over, again = await open_poll(store, venue), await open_poll(store, venue)
    going = await open_poll(store, venue)
    messages = [(await speak(each))[0] for each in (over, again, going)]
    for each in (over, again):
        await each.close()
    lease = some(await store.leases.claim(f"debate/{again.debate_id}", "deliverer", 60))
    await store.votes.accept(lease, again.debate_id, "again", Question.AGAIN)
    due = some((await again.debate()).vote_deadline)
    await store.votes.open(lease, again.debate_id, "again", again.clock.now(), due, Question.AGAIN)
    await store.leases.release(lease)
    await going.start_again()
    assert [message in venue.read for message in messages] == [False, True, True]


async def test_whoever_thinks_for_a_running_debate_is_not_interrupted(
    poll: Poll, store: Store, venue: ListedVenue
) -> None:
    thought = await run(store, new_debate(platform=PLATFORM))
    await store.outbox.set_thread(thought.lease, thought.id, THREAD)
    running = replace(poll, debate_id=thought.id)
    (message,) = await speak(running)
    async with away(running):
        await give(running, message, "ann")
    assert [event.option for event in await log_of(running)] == ["up"]
    await thought.advance(Status.CANCELLED)
    assert await labels(running) == [("ann", 1, "up")]
