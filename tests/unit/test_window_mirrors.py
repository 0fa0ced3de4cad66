"""Votes on two debates that mirror each other: they close together, and none spoils the other."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import engine.votes.window
from engine.fleet.leases import LeaseManager, Notifier
from engine.store import DeliveryState, Lease, Store
from engine.values.debate import Debate, Status
from engine.values.errors import StoreError, VenueAwayError
from engine.values.messages import Notice, VoteClosed
from tests.doubles.poll import OPTIONS, HandSetClock, WatchedNotifier, watcher
from tests.doubles.venue import Fault, MemoryVenue
from tests.kit import (
    NO_CAPS,
    ballot,
    beside,
    make_setup,
    new_debate,
    record_of,
    some,
    until,
    verdict,
    votes_in,
)

FIRST, SECOND = "first", "second"
AWAY = VenueAwayError("The platform cannot be reached; try again.", retry_after=0.01)


@dataclass(slots=True)
class Pair:
    """A debate and its mirror, each in a thread of its own; their votes open when a test says."""

    store: Store
    venue: MemoryVenue
    clock: HandSetClock
    ids: dict[str, str]
    messages: dict[str, str]

    async def debate(self, which: str) -> Debate:
        return await self.store.debates.get(self.ids[which])

    async def _hold(self, which: str, work: Callable[[Lease, str], Awaitable[None]]) -> None:
        lease_manager = LeaseManager(self.store, Notifier(), holder="thinker")
        async with lease_manager.hold(f"debate/{self.ids[which]}") as lease:
            await work(lease, self.ids[which])

    async def open(self, which: str, minutes: float = 30) -> None:

        async def work(lease: Lease, debate_id: str) -> None:
            await self.store.outbox.set_thread(lease, debate_id, which)
            posted = self.venue.render(Notice(text="Vote!"), f"{which}·1")[0]
            message = self.messages[which] = await self.venue.post(which, posted)
            await self.venue.seed(which, message, OPTIONS)
            await self.store.votes.accept(lease, debate_id, message)
            sealed = verdict("A"), {"jury/oak": ballot()}
            await self.store.journal.record_verdict(lease, debate_id, *sealed)
            await self.store.debates.advance(lease, debate_id, Status.VOTING)
            now = self.clock.now()
            until = now + timedelta(minutes=minutes)
            await self.store.votes.open(lease, debate_id, message, now, until)

        await self._hold(which, work)

    async def end(self, which: str, status: Status) -> None:
        await self._hold(which, lambda lease, id: self.store.debates.advance(lease, id, status))

    async def lose(self, which: str) -> None:
        await self._hold(
            which, lambda lease, id: self.store.deliveries.abandon(lease, id, "deleted")
        )

    async def react(self, which: str, option: str, *users: str) -> None:
        for user in users:
            await self.venue.react(user, which, self.messages[which], option)

    async def look(self, looks: int = 3) -> None:
        window = watcher(self.store, self.venue, self.clock)
        notifier = window.services.notifier
        assert isinstance(notifier, WatchedNotifier)
        self.venue.listener = window.hearing.hear
        async with beside(window.run()):
            for _ in range(looks):
                notifier.publish("votes/memory")
                await asyncio.sleep(0.01)
                await until(lambda: notifier.quiet)

    async def statuses(self) -> list[Status]:
        return [(await self.debate(which)).status for which in (FIRST, SECOND)]

    async def golds(self, which: str) -> list[bool]:
        """Return of each stored vote whether it is a label."""
        return [vote.gold for vote in votes_in(await record_of(self.store, self.ids[which]))]


OPEN = [Status.VOTING, Status.VOTING]
OVER = [Status.CLOSED, Status.CLOSED]


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)


@pytest.fixture
async def pair(store: Store) -> Pair:
    """Return a pair of which both are still held, without a quorum."""
    return await make_pair(store)


async def make_pair(store: Store, **request: Any) -> Pair:
    asked: dict[str, Any] = {"quorum": 0, "extend": False, "vote_minutes": 30.0} | request
    setup = make_setup(**asked)
    first = new_debate(platform="memory", user=None, setup=setup)
    exchanged = setup.model_copy(update={"mirror_of": first.id})
    second = new_debate(platform="memory", user=None, setup=exchanged)
    await store.debates.create([(first, []), (second, [])], NO_CAPS)
    pair = Pair(store, MemoryVenue(), HandSetClock(), {FIRST: first.id, SECOND: second.id}, {})
    for which in (FIRST, SECOND):
        await pair.end(which, Status.RUNNING)
    pair.venue.listener = watcher(store, pair.venue, pair.clock).hearing.hear
    return pair


@pytest.mark.parametrize(
    ("earlier", "later", "minutes"), [(FIRST, SECOND, 31), (SECOND, FIRST, 20)]
)
async def test_the_vote_that_opens_last_gives_both_its_deadline_and_both_are_gold(
    pair: Pair, earlier: str, later: str, minutes: float
) -> None:
    await pair.open(earlier)
    await pair.react(earlier, "A", "ann", "bob")
    pair.clock.pass_minutes(minutes)
    await pair.look()
    assert (await pair.debate(earlier)).status is Status.VOTING
    await pair.open(later)
    deadlines = [(await pair.debate(which)).vote_deadline for which in (FIRST, SECOND)]
    assert deadlines[0] == deadlines[1]
    pair.clock.pass_minutes(20)
    await pair.react(later, "B", "ann", "bob", "cem")
    await pair.look()
    assert await pair.statuses() == OPEN
    pair.clock.pass_minutes(11)
    await pair.look()
    assert await pair.statuses() == OVER
    assert await pair.golds(earlier) == [True, True]
    assert await pair.golds(later) == [True, True, True]


@pytest.mark.parametrize("status", [Status.FAILED, Status.PARTIAL, Status.CANCELLED])
async def test_a_mirror_without_a_vote_is_not_waited_for(pair: Pair, status: Status) -> None:
    await pair.open(FIRST)
    pair.clock.pass_minutes(31)
    await pair.end(SECOND, status)
    await pair.look()
    assert await pair.statuses() == [Status.CLOSED, status]


async def test_a_mirror_whose_thread_is_gone_is_revealed_with_the_other_and_spoils_nothing(
    pair: Pair,
) -> None:
    await pair.open(FIRST)
    await pair.open(SECOND)
    await pair.lose(SECOND)
    await pair.look()
    assert await pair.statuses() == OPEN
    await pair.react(FIRST, "A", "ann")
    pair.clock.pass_minutes(31)
    await pair.look()
    assert await pair.statuses() == OVER
    assert await pair.golds(FIRST) == [True]


async def test_a_vote_waits_a_day_for_its_mirrors_to_open_and_no_longer(pair: Pair) -> None:
    await pair.open(FIRST)
    pair.clock.pass_minutes(30 + 24 * 60 - 1)
    await pair.look()
    assert await pair.statuses() == [Status.VOTING, Status.RUNNING]
    pair.clock.pass_minutes(2)
    await pair.look()
    assert await pair.statuses() == [Status.CLOSED, Status.RUNNING]


async def test_below_the_quorum_on_one_of_them_both_stay_open(store: Store) -> None:
    pair = await make_pair(store, quorum=2, extend=True)
    await pair.open(FIRST)
    await pair.open(SECOND)
    await pair.react(FIRST, "A", "ann", "bob")
    pair.clock.pass_minutes(31)
    await pair.look()
    assert await pair.statuses() == OPEN
    first, second = [await pair.debate(which) for which in (FIRST, SECOND)]
    assert (first.vote_extended, second.vote_extended) == (False, True)
    assert first.vote_deadline == second.vote_deadline
    await pair.react(SECOND, "B", "ann", "bob")
    pair.clock.pass_minutes(31)
    await pair.look()
    assert await pair.statuses() == OVER
    assert await pair.golds(SECOND) == [True, True]


async def test_what_cannot_be_read_on_one_of_them_keeps_both_open(pair: Pair) -> None:
    await pair.open(FIRST)
    await pair.open(SECOND)
    await pair.react(SECOND, "A", "ann")
    pair.clock.pass_minutes(31)
    pair.venue.misbehave("reactions", *[Fault(), Fault(AWAY)] * 40)
    await pair.look()
    assert await pair.statuses() == OPEN


async def test_a_kill_between_the_two_spoils_only_what_is_chosen_in_between(pair: Pair) -> None:
    await pair.open(FIRST)
    await pair.open(SECOND)
    last = sorted((FIRST, SECOND), key=lambda which: pair.ids[which])[1]
    await pair.react(last, "A", "ann")
    pair.clock.pass_minutes(31)
    window = watcher(pair.store, pair.venue, pair.clock)
    close = pair.store.votes.close
    closed: list[object] = []

    async def dies_at_the_second(*asked: Any) -> None:
        if closed:
            raise StoreError("killed")
        await close(*asked)
        closed.append(asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair.store.votes, "close", dies_at_the_second)
        with pytest.raises(StoreError):
            await window.close(pair.ids[FIRST])
    assert sorted(await pair.statuses()) == [Status.CLOSED, Status.VOTING]
    await pair.react(last, "B", "bob")
    await pair.look()
    assert await pair.statuses() == OVER
    assert await pair.golds(last) == [True, False]


async def test_closed_early_both_close(pair: Pair) -> None:
    await pair.open(FIRST)
    await pair.open(SECOND)
    window = watcher(pair.store, pair.venue, pair.clock)
    await window.close(pair.ids[SECOND], early=True)
    assert await pair.statuses() == OVER
    for which in (FIRST, SECOND):
        assert (await pair.debate(which)).closed_early
        lease = some(await pair.store.leases.claim(f"test/{which}", "test", 60))
        intent = some(await pair.store.outbox.next(pair.ids[which]))
        assert isinstance(intent.message, VoteClosed)
        await pair.store.outbox.settle(lease, intent, DeliveryState.SENT)
