"""The vote window on a real log; the oracle is what the platform itself holds."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from structlog.testing import capture_logs

import engine.votes.close
import engine.votes.window
from adapters.database.database import SqlDatabase
from engine.store import Store
from engine.values.debate import Debate, Status
from engine.values.errors import NotToldYetError, StoreError, VenueAwayError, VenueError
from engine.values.language import speaking
from engine.values.messages import Notice, Reveal
from engine.values.ports import ConnectionGap, Reactions, ReactionSeen, VenueLimits
from engine.values.verdicts import Log, Tally, Vote, VoteEvent
from engine.votes.outcome import tally_of
from engine.words.translation import say
from tests.doubles.poll import OPTIONS, THREAD, USERS, Poll, open_poll, options_of
from tests.doubles.venue import Fault, MemoryVenue
from tests.kit import HANG_SECONDS, some, until

SECOND = timedelta(seconds=1)
READING_REFUSED = VenueError("Reading is not allowed here; grant the right to read.")
AWAY = VenueAwayError("The platform cannot be reached; try again.", retry_after=0.01)


class HalfReadVenue(MemoryVenue):
    """A platform that shows nobody so many times, and says that it left somebody out.

    Before each reading it calls `looks`.
    """

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.looks: Callable[[], Awaitable[object]] | None = None

    async def reactions(self, place: str, message: str) -> Reactions:
        if self.looks is not None:
            await self.looks()
        read = await super().reactions(place, message)
        self.times -= 1
        return replace(read, holders={}, complete=False) if self.times >= 0 else read


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)


@pytest.fixture
async def poll(store: Store) -> Poll:
    return await open_poll(store)


async def closed_in_time(poll: Poll) -> None:
    """Let the deadline pass, and time with it until the vote has closed."""
    async with poll.watching():
        poll.clock.pass_minutes(31)
        await poll.until(lambda debate: debate.status is Status.CLOSED)


async def test_seeds_bots_other_messages_and_what_is_not_on_the_ballot_never_count(
    poll: Poll,
) -> None:
    poll.venue.bots = {"bot"}
    other = await poll.venue.post(THREAD, poll.venue.render(Notice(text="Turn"), "stem·2")[0])
    await poll.venue.react("eve", THREAD, other, "A")
    for user, option in (("bot", "A"), ("ann", "B"), ("ann", "party"), ("bob", "party")):
        await poll.react(user, option)
    assert options_of(await poll.close()) == {"ann": "B"}


async def test_what_was_missed_is_recovered_at_start_up(poll: Poll) -> None:
    poll.venue.listening = False
    await poll.react("ann", "A")
    poll.venue.listening = True
    await poll.start_again()
    # Known since then, it can be taken back.
    await poll.unreact("ann", "A")
    poll.venue.misbehave("reactions", Fault(READING_REFUSED))
    assert await poll.close() == {}


async def test_a_start_up_without_the_platform_is_made_up_for_at_the_close(poll: Poll) -> None:
    poll.venue.listening = False
    await poll.react("ann", "A")
    poll.venue.misbehave("reactions", Fault(AWAY))
    await poll.start_again()
    assert (await poll.debate()).reason == ""
    assert options_of(await poll.close()) == {"ann": "A"}


@pytest.mark.parametrize(
    ("course", "last"),
    [
        # What a process heard that never read may be the newer.
        ("miss A, restart, react B, restart", {"A+B"}),
        # What was heard since the last gap is newer than what was missed.
        ("miss A, restart, react B", {"B"}),
        # A reading tells what was missed before it from what was missed after it.
        ("miss A, read, react B, read", {"B"}),
        # What is found while the connection is lost may be newer than all.
        ("restart, react B, lose, miss A", {"A", "A+B"}),
        # A choice given again counts though its end was unheard.
        ("react A, react B, miss-end A, restart, react A", {"A"}),
    ],
)
async def test_which_choice_is_the_last_is_told_from_gaps_and_readings(
    poll: Poll, course: str, last: set[str]
) -> None:
    for step in course.split(", "):
        what, _, option = step.partition(" ")
        poll.venue.listening = not what.startswith("miss")
        match what:
            case "restart":
                poll.restart()
            case "read":
                await poll.start_again()
            case "lose":
                await poll.hear(ConnectionGap("lost"))
            case "miss-end":
                await poll.unreact("ann", option)
            case _:
                await poll.react("ann", option)
    poll.venue.listening = True
    vote = (await poll.close())["ann"]
    assert vote.option in last
    assert vote.ambiguous is ("+" in vote.option)


async def miss(poll: Poll, user: str, option: str) -> None:
    poll.venue.listening = False
    await poll.react(user, option)
    poll.venue.listening = True


async def test_a_reading_that_leaves_people_out_is_repeated(store: Store) -> None:
    venue, seen = HalfReadVenue(3), []
    poll = await open_poll(store, venue)

    async def look() -> None:
        seen.append(await poll.debate())

    venue.looks = look
    await poll.react("ann", "A")
    poll.venue.listening = False
    await poll.unreact("ann", "A")
    await poll.react("ann", "B")
    await closed_in_time(poll)
    assert {debate.status for debate in seen} == {Status.VOTING}
    assert seen[-1].reason
    votes = await poll.votes()
    assert options_of(votes) == {"ann": "B"}
    assert (votes["ann"].gold, votes["ann"].recovery) == (True, "complete")


async def test_one_that_always_leaves_people_out_withdraws_nothing_and_is_no_label(
    store: Store,
) -> None:
    poll = await open_poll(store, HalfReadVenue(1000))
    await poll.react("ann", "A")
    await closed_in_time(poll)
    votes = await poll.votes()
    assert options_of(votes) == {"ann": "A"}
    assert (votes["ann"].gold, votes["ann"].recovery) == (False, "unread")
    _, reveal = await poll.messages()
    assert (reveal.unread, reveal.tally.winner) == (True, None)


@pytest.mark.parametrize("trouble", ["refused", "deleted", "thread gone"])
async def test_what_can_never_be_read_closes_as_it_was_known_and_is_no_label(
    poll: Poll, trouble: str
) -> None:
    await poll.react("ann", "A")
    poll.venue.listening = False
    await poll.unreact("ann", "A")
    match trouble:
        case "refused":
            poll.venue.misbehave("reactions", Fault(READING_REFUSED))
        case "deleted":
            stored = poll.venue.messages.pop(poll.message)
        case _:
            poll.venue.delete(THREAD)
    await poll.window.close(poll.debate_id)
    if trouble == "deleted":
        poll.venue.messages[poll.message] = stored
    votes = await poll.votes()
    assert options_of(votes) == {"ann": "A"}
    assert (votes["ann"].gold, votes["ann"].recovery) == (False, "unread")
    if trouble != "thread gone":
        _, reveal = await poll.messages()
        assert (reveal.unread, reveal.tally.winner, reveal.agree) == (True, None, None)


async def test_a_vote_that_waits_for_the_platform_says_so_and_is_read_less_and_less_often(
    poll: Poll,
) -> None:
    poll.venue.misbehave("reactions", Fault(), *[Fault(AWAY)] * 7)
    await poll.react("ann", "A")
    poll.venue.listening = False
    await poll.react("bob", "B")
    with capture_logs() as logs:
        async with poll.watching():
            poll.clock.pass_minutes(31)
            waits = await poll.until(lambda debate: debate.reason)
            closed = await poll.until(lambda debate: debate.status is Status.CLOSED)
    assert waits.status is Status.VOTING
    assert waits.reason.startswith("Waiting for Memory: the votes could not be read")
    assert closed.reason == ""
    pauses = [line["again_in"] for line in logs if line["event"] == "vote reading postponed"]
    assert pauses == [pytest.approx(0.02 * 2**n) for n in range(7)]
    recovery = {user: vote.recovery for user, vote in (await poll.votes()).items()}
    assert recovery == {"ann": "complete", "bob": "complete"}


async def test_what_was_missed_is_read_again_though_the_vote_stays_open(poll: Poll) -> None:
    """A catch-up that failed for a passing reason was forgotten until the deadline."""
    poll.venue.listening = False
    await poll.react("ann", "A")
    poll.venue.misbehave("reactions", *[Fault(AWAY)] * 3)
    poll.restart()
    async with poll.watching(), asyncio.timeout(HANG_SECONDS):
        while not await poll.store.votes.events(poll.debate_id):
            poll.window.services.notifier.publish("votes/memory")
            await asyncio.sleep(0.005)
    debate = await poll.debate()
    assert (debate.status, debate.reason) == (Status.VOTING, "")


class MovingVenue(MemoryVenue):
    """A platform whose readings are torn: somebody moves while one is under way, untold."""

    def __init__(self, moves: list[tuple[str, str]]) -> None:
        super().__init__()
        self.moves = moves

    async def reactions(self, place: str, message: str) -> Reactions:
        first = await super().reactions(place, message)
        if not self.moves:
            return first
        left, right = self.moves.pop()
        self.listening = False
        await self.unreact("ann", place, message, left)
        await self.react("ann", place, message, right)
        then = await super().reactions(place, message)
        holders = {o: (first if o <= "A" else then).holders.get(o, frozenset()) for o in OPTIONS}
        return replace(then, holders=holders)


@pytest.mark.parametrize(("left", "right"), [("A", "B"), ("B", "A")])
async def test_who_moves_while_a_vote_is_read_at_its_close_is_where_they_went(
    store: Store, left: str, right: str
) -> None:
    """They were in both places, or in none and their vote was lost."""
    poll = await open_poll(store, MovingVenue([(left, right)]))
    await poll.react("ann", left)
    votes = await poll.close()
    assert options_of(votes) == {"ann": right}
    assert votes["ann"].gold


class SlowlyToldVenue(MemoryVenue):
    """A platform that tells again after a minute what it could not tell at first."""

    def __init__(self) -> None:
        super().__init__(limits=VenueLimits(redelivery_seconds=62))


async def told(poll: Poll, user: str, option: str, *, added: bool = True, seconds: float) -> None:
    """Tell what somebody did so many seconds ago."""
    when = poll.clock.now() - timedelta(seconds=seconds)
    await poll.hear(ReactionSeen(THREAD, poll.message, user, option, added, given_at=when))


async def test_a_vote_waits_for_what_may_still_be_told_of_its_order(store: Store) -> None:
    poll = await open_poll(store, SlowlyToldVenue())
    await told(poll, "bob", "B", seconds=0)  # so that the platform's clock is known
    for user, option in (("bob", "B"), ("ann", "A"), ("ann", "B")):
        await miss(poll, user, option)
    await told(poll, "ann", "B", seconds=0)
    poll.clock.pass_minutes(30)
    with pytest.raises(NotToldYetError):
        await poll.close()
    assert (await poll.debate()).reason == ""
    await told(poll, "ann", "A", seconds=1000)
    votes = await poll.close()
    assert options_of(votes) == {"ann": "A", "bob": "B"}
    assert votes["ann"].gold


@pytest.mark.parametrize(("minutes", "early"), [(1.1, False), (0, True)])
async def test_what_is_not_told_again_holds_no_vote_open_and_nothing_an_early_close(
    store: Store, minutes: float, early: bool
) -> None:
    poll = await open_poll(store, SlowlyToldVenue())
    for option in ("A", "B"):
        await miss(poll, "ann", option)
    poll.clock.pass_minutes(30)
    with pytest.raises(NotToldYetError):
        await poll.close()
    poll.clock.pass_minutes(minutes)
    await poll.window.close(poll.debate_id, early=early)
    assert (await poll.votes())["ann"].ambiguous


async def test_what_a_reading_has_overtaken_adds_nothing_and_takes_nothing_away(
    store: Store,
) -> None:
    poll = await open_poll(store, SlowlyToldVenue())
    for user, option in (("bob", "B"), ("ann", "A")):
        await miss(poll, user, option)
        await told(poll, user, option, seconds=0)
    poll.clock.pass_minutes(1)
    await poll.start_again()  # which reads
    # Given again before the reading, and taken back before it: the last is told of neither.
    await told(poll, "ann", "A", added=False, seconds=30)
    await told(poll, "cem", "A", seconds=30)
    events = await poll.store.votes.events(poll.debate_id)
    assert tally_of(await poll.debate(), events).counts["A"] == 1
    poll.venue.misbehave("reactions", Fault(READING_REFUSED))  # the close reads no more
    assert options_of(await poll.close()) == {"ann": "A", "bob": "B"}


async def test_it_closes_when_it_is_due_and_not_before(poll: Poll) -> None:
    await poll.react("ann", "A")
    async with poll.watching():
        poll.clock.pass_minutes(29)
        poll.window.services.notifier.publish("votes/memory")
        await asyncio.sleep(0.05)
        assert (await poll.debate()).status is Status.VOTING
        poll.clock.pass_minutes(2)
        debate = await poll.until(lambda debate: debate.status is Status.CLOSED)
    assert not debate.closed_early
    assert debate.revealed_at is not None


async def test_a_debate_that_is_deleted_while_its_votes_are_read_ends_no_other_vote(
    store: Store,
) -> None:
    """Its row was asked what to say, and the window of all votes ended."""
    venue = HalfReadVenue(0)
    poll = await open_poll(store, venue)
    read = asyncio.Event()

    async def look() -> None:
        assert await store.communities.purge("memory", (await poll.debate()).community) == 1
        read.set()
        raise AWAY

    watching = asyncio.create_task(poll.window.run())
    await until(lambda: any(seen.method == "reactions" for seen in venue.seen))
    venue.looks = look  # at the close
    poll.clock.pass_minutes(31)
    poll.window.services.notifier.publish("votes/memory")
    async with asyncio.timeout(HANG_SECONDS):
        await read.wait()
    await asyncio.sleep(0.1)
    assert not watching.done()
    watching.cancel()


async def test_a_deadline_that_passed_while_away_is_kept_late(poll: Poll) -> None:
    await poll.react("ann", "A")
    poll.venue.listening = False
    await poll.react("bob", "B")
    poll.clock.pass_minutes(600)
    poll.restart()
    async with poll.watching():
        await poll.until(lambda debate: debate.status is Status.CLOSED)
    votes = await poll.votes()
    assert {user: vote.late_seen for user, vote in votes.items()} == {"ann": False, "bob": True}
    assert votes["bob"].gold


async def test_below_the_quorum_it_is_extended_once_and_then_has_no_winner(store: Store) -> None:
    poll = await open_poll(store, quorum=5, extend=True)
    await poll.react("ann", "A")
    before = poll.clock.now()
    await poll.window.close(poll.debate_id)
    extended = await poll.debate()
    assert (extended.status, extended.vote_extended) == (Status.VOTING, True)
    assert timedelta(0) < some(extended.vote_deadline) - before - timedelta(minutes=30) < SECOND
    assert [message.text for message in await poll.messages()] == [
        "It takes 5 votes to decide. There are fewer so far, so the vote stays open for another "
        "30 minutes."
    ]
    votes = await poll.close()
    _, reveal = await poll.messages()
    assert options_of(votes) == {"ann": "A"}
    assert reveal.tally.counts["A"] == 1
    assert (reveal.tally.quorum_met, reveal.tally.winner, reveal.agree) == (False, None, None)


async def test_closed_early_by_several_at_once_it_is_revealed_once_and_takes_no_vote(
    store: Store,
) -> None:
    poll = await open_poll(store, quorum=5, extend=True)
    await asyncio.gather(*(poll.window.close(poll.debate_id, early=True) for _ in range(3)))
    debate = await poll.debate()
    assert (debate.status, debate.closed_early) == (Status.CLOSED, True)
    closed, reveal = await poll.messages()
    assert (closed.kind, closed.early, reveal.kind) == ("vote_closed", True, "reveal")
    seen = ReactionSeen(THREAD, poll.message, "ann", "A", True)
    assert (await poll.hear(seen)).outcome == "closed"
    assert await poll.votes() == {}


async def test_with_its_quorum_the_reveal_says_what_people_and_panel_chose(store: Store) -> None:
    poll = await open_poll(store, quorum=4, extend=True)
    for user, option in (("ann", "A"), ("bob", "A"), ("cem", "A"), ("dee", "B"), ("host", "B")):
        await poll.react(user, option)
    await poll.close()
    _, reveal = await poll.messages()
    assert isinstance(reveal, Reveal)
    assert reveal.models == {"A": "rehearsal/maple", "B": "rehearsal/birch"}
    assert reveal.tally.counts == {"A": 3, "B": 2, "tie": 0, "weak": 0}
    assert reveal.tally.gold == {"A": 3, "B": 1, "tie": 0, "weak": 0}
    assert (reveal.tally.quorum_met, reveal.tally.winner) == (True, "A")
    assert reveal.tally.share == 0.75
    # Wilson's interval for 3 of 4 at 95 %.
    assert reveal.tally.low == pytest.approx(0.3006, abs=1e-4)
    assert reveal.tally.high == pytest.approx(0.9544, abs=1e-4)
    assert reveal.verdict.p["A"] == 0.8
    assert reveal.agree is True


STEPS = st.one_of(
    st.tuples(
        st.sampled_from(["react", "unreact"]), st.sampled_from(USERS), st.sampled_from(OPTIONS)
    ),
    st.tuples(
        st.sampled_from(["deaf", "hear", "restart", "refused restart"]), st.just(""), st.just("")
    ),
)


async def live_through(poll: Poll, steps: Sequence[tuple[str, str, str]]) -> None:
    for what, user, option in steps:
        match what:
            case "react":
                await poll.react(user, option)
            case "unreact":
                await poll.unreact(user, option)
            case "deaf" | "hear":
                poll.venue.listening = what == "hear"
            case _:
                if what == "refused restart":
                    poll.venue.misbehave("reactions", Fault(READING_REFUSED))
                poll.venue.listening = True
                await poll.start_again()


@settings(max_examples=8)
@given(steps=st.lists(STEPS, max_size=20))
def test_the_stored_votes_are_what_the_platform_shows(
    migrated_file: Path, steps: list[tuple[str, str, str]]
) -> None:
    async def run(folder: str) -> tuple[dict[str, Vote], dict[str, set[str]]]:
        path = shutil.copy(migrated_file, Path(folder) / "votes.db")
        database = SqlDatabase(f"sqlite+aiosqlite:///{path}")
        poll = await open_poll(Store(database))
        await live_through(poll, steps)
        votes = await poll.close()
        await database.close()
        return votes, poll.venue.messages[poll.message].reactions

    with tempfile.TemporaryDirectory() as folder:
        votes, shown = asyncio.run(run(folder))
    held = {user: {o for o in shown if user in shown[o]} for user in USERS}
    assert set(votes) == {user for user in USERS if held[user]}
    for user, vote in votes.items():
        if vote.ambiguous:
            assert set(vote.option.split("+")) == held[user]
            assert len(held[user]) > 1
        else:
            assert vote.option in held[user]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("no tally"), "a bug in Rostrum"),
        (StoreError("The disk is full; free space."), "A problem with Rostrum's storage"),
    ],
)
async def test_a_vote_that_cannot_be_concluded_says_so_and_keeps_no_other_open(
    poll: Poll, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """An unexpected exception at one close ended the task that closes every vote.

    Members read what is wrong with the operator's disk, in English.
    """
    other = await open_poll(poll.store, poll.venue)

    def fail_for_the_first(
        debate: Debate, events: tuple[VoteEvent, ...], *more: frozenset[Log]
    ) -> Tally:
        if debate.id == poll.debate_id:
            raise error
        return tally_of(debate, events, *more)

    with monkeypatch.context() as patch:
        patch.setattr(engine.votes.close, "tally_of", fail_for_the_first)
        async with poll.watching():
            poll.clock.pass_minutes(31)
            waits = await poll.until(lambda debate: debate.reason)
            await other.until(lambda debate: debate.status is Status.CLOSED)
    assert waits.status is Status.VOTING
    assert waits.reason.startswith(f"Waiting to close the vote: {said}")
    with speaking("tr"):
        assert say(waits.reason).startswith("Oylama kapanmayı bekliyor: ")
        assert "Waiting" not in say(waits.reason)
    await poll.window.close(poll.debate_id)
    closed = await poll.debate()
    assert (closed.status, closed.reason) == (Status.CLOSED, "")
