"""The bot's own reactions: added after a refusal for now, and removed once a question closed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest

import engine.delivery.seeds
from engine.delivery.seeds import SeedReactions
from engine.fleet.leases import Notifier
from engine.store import Store
from engine.values.debate import BallotKind
from engine.values.errors import VenueAwayError, VenueError, VenueGoneError
from engine.values.ports import Reactions, SystemClock
from engine.values.verdicts import Question
from engine.votes.recovery import Recovered
from tests.doubles.poll import OPTIONS, THREAD, Poll, open_poll
from tests.doubles.venue import Fault, MemoryVenue
from tests.kit import beside, until, until_asked


class BusyVenue(MemoryVenue):
    """A platform that takes no reaction of the bot while it is `busy`."""

    busy = False

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        if self.busy:
            raise VenueAwayError("The platform is busy; try again.", retry_after=0.01)
        await super().seed(place, message, options)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(engine.delivery.seeds, "LOOK_SECONDS", 0.01)


async def test_the_next_process_adds_what_was_refused_for_now(store: Store) -> None:
    venue = BusyVenue()
    poll = await open_poll(store, venue)
    venue.messages[poll.message].seeds.clear()
    venue.busy = True
    await SeedReactions(venue, store, Notifier(), SystemClock()).plant(
        poll.debate_id, Question.VOTE, poll.message, OPTIONS
    )
    venue.busy = False
    async with beside(SeedReactions(venue, store, Notifier(), SystemClock()).run()):
        seen = partial(venue.reactions, THREAD, poll.message)
        await until_asked(seen, lambda read: read.seeded == set(OPTIONS))


class UnreadVenue(MemoryVenue):
    """A platform that lets no message be looked at; it keeps what was said before each look."""

    poll: Poll | None = None
    error: VenueError = VenueError("Grant it Read Message History.")

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[str] = []

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        if self.poll is None:
            await super().seed(place, message, options)
            return
        self.reasons.append((await self.poll.debate()).reason)
        raise self.error


@pytest.mark.parametrize("then_away", [False, True])
async def test_a_look_that_is_refused_does_not_take_back_what_the_one_before_said(
    store: Store, then_away: bool
) -> None:
    venue = UnreadVenue()
    venue.poll = await open_poll(store, venue)
    async with beside(SeedReactions(venue, store, Notifier(), SystemClock()).run()):
        await until(lambda: len(venue.reasons) >= 2)
        if then_away:
            venue.error = VenueAwayError("The platform is busy.", retry_after=0.01)
        await until(lambda: len(venue.reasons) >= 5)
    assert venue.reasons[0] == ""
    assert all("Read Message History" in said for said in venue.reasons[1:])


@asynccontextmanager
async def removing(poll: Poll, *, adding: bool = False) -> AsyncIterator[None]:
    """Let another process remove what is left."""
    seeds = SeedReactions(poll.venue, poll.store, Notifier(), SystemClock())
    if adding:
        (target,) = await poll.store.votes.targets(poll.debate_id, Question.VOTE)
        seeds._left[target] = OPTIONS
    async with beside(seeds._keep_removing()):
        yield


async def _until_none_is_left(poll: Poll) -> None:
    await poll.messages()  # the reveal comes first
    await until_asked(lambda: poll.store.votes.seeds_left("memory"), lambda left: not left)


def _removals(poll: Poll) -> list[str]:
    return [seen.said for seen in poll.venue.seen if seen.method == "unseed"]


@pytest.mark.parametrize("ballot", list(BallotKind))
async def test_they_go_when_the_vote_closes(store: Store, ballot: BallotKind) -> None:
    poll = await open_poll(store, ballot=ballot)
    await poll.react("ann", "A")
    async with removing(poll):
        await asyncio.sleep(0.05)
        assert _removals(poll) == []
        await poll.close()
        await _until_none_is_left(poll)
    private = ballot is BallotKind.PRIVATE
    assert _removals(poll) == ([] if private else list(OPTIONS))
    assert poll.venue.messages[poll.message].seeds == set()
    assert poll.venue.messages[poll.message].reactions == {"A": {"ann"}}


async def test_a_removal_cut_short_is_finished_by_the_next_process(store: Store) -> None:
    poll = await open_poll(store)
    await poll.react("ann", "A")
    await poll.react("bob", "B")
    await poll.unreact("bob", "B")
    await poll.close()
    votes = await poll.votes()
    poll.venue.messages[poll.message].seeds -= {"A", "B"}  # and then it was killed
    poll.restart()
    await poll.start_again()  # who reads again sees no moderator's clearing in that
    assert await poll.votes() == votes
    assert await store.votes.interventions(poll.debate_id) == ()
    away = VenueAwayError("The platform cannot be reached; try again.", retry_after=0.01)
    poll.venue.misbehave("unseed", Fault(away), Fault(away, stored=True))
    async with removing(poll):
        await _until_none_is_left(poll)
    assert poll.venue.messages[poll.message].seeds == set()
    assert await poll.votes() == votes


async def test_what_a_moderator_cleared_before_still_withdraws_nothing(store: Store) -> None:
    poll = await open_poll(store)
    await poll.react("ann", "A")
    poll.venue.listening = False
    await poll.venue.clear(poll.message)
    poll.restart()
    assert {user: vote.option for user, vote in (await poll.close()).items()} == {"ann": "A"}
    async with removing(poll):
        await _until_none_is_left(poll)
    assert list(await poll.votes()) == ["ann"]


@pytest.mark.parametrize("trouble", ["deleted", "gone", "refused"])
async def test_what_cannot_be_removed_holds_up_no_other(store: Store, trouble: str) -> None:
    poll = await open_poll(store)
    other = await open_poll(store, poll.venue)
    await poll.close()
    await other.close()
    error = {"gone": VenueGoneError("The thread is gone."), "refused": VenueError("Not allowed.")}
    if trouble == "deleted":
        del poll.venue.messages[poll.message]
    else:
        poll.venue.misbehave("unseed", Fault(error[trouble]))
    await poll.messages()
    await other.messages()
    async with removing(poll):
        await _until_none_is_left(poll)
    assert poll.venue.messages[other.message].seeds == set()


class ClosingVenue(MemoryVenue):
    """A platform on which another process closes the question while its reactions are read."""

    close: Callable[[], Awaitable[None]]
    complete = True

    async def reactions(self, place: str, message: str) -> Reactions:
        await self.close()
        self.messages[message].seeds -= {"A", "B"}
        return replace(await super().reactions(place, message), complete=self.complete)


@pytest.mark.parametrize("complete", [True, False])
async def test_a_reading_while_they_went_says_nothing(store: Store, complete: bool) -> None:
    """A round's question closes under its own lease, while the vote's close reads it too."""
    venue = ClosingVenue()
    venue.complete = complete
    poll = await open_poll(store, venue)
    await poll.react("ann", "A")
    await poll.react("bob", "tie")
    poll.venue.listening = False
    await poll.unreact("bob", "tie")
    lease_manager = poll.window.services.lease_manager
    async with (
        lease_manager.hold("debate/other") as other,
        lease_manager.hold("debate/one") as lease,
    ):
        venue.close = lambda: store.votes.close(other, poll.debate_id, poll.clock.now())
        reader, debate = poll.window.hearing.reader, await poll.debate()
        assert await reader.recover(debate, lease, Question.VOTE) == Recovered()
    assert len(await store.votes.events(poll.debate_id)) == 2


async def test_none_is_removed_while_it_is_being_added(store: Store) -> None:
    poll = await open_poll(store)
    await poll.close()
    async with removing(poll, adding=True):
        await asyncio.sleep(0.05)
    assert _removals(poll) == []
    seeds = SeedReactions(poll.venue, store, Notifier(), SystemClock())
    poll.venue.messages[poll.message].seeds.clear()
    await seeds.plant(poll.debate_id, Question.VOTE, poll.message, OPTIONS)
    assert poll.venue.messages[poll.message].seeds == set()  # it has closed
