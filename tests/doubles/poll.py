"""An open vote on a real log and a platform in memory, and the people who take part in it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ulid import ULID

from engine.fleet.leases import LeaseManager, Notifier, Services
from engine.store import DeliveryState, Store
from engine.values.debate import BallotKind, Debate, Status
from engine.values.messages import Notice
from engine.values.ports import ButtonPressed, Inbound
from engine.values.verdicts import Vote
from engine.votes.outcome import EventOutcome
from engine.votes.window import VoteWindow
from tests.doubles.venue import MemoryVenue
from tests.kit import (
    HANG_SECONDS,
    ballot,
    beside,
    create,
    new_debate,
    record_of,
    some,
    verdict,
    votes_in,
)

THREAD, OPTIONS = "thread", ("A", "B", "tie", "weak")
USERS = ("ann", "bob", "cem", "dee", "eve")


class HandSetClock:
    """A clock that a test moves; every look at it takes a millisecond."""

    def __init__(self) -> None:
        self._now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    def pass_minutes(self, minutes: float) -> None:
        self._now += timedelta(minutes=minutes)

    async def sleep(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass(slots=True)
class Poll:
    """An open vote of half an hour, and the people who take part in it."""

    store: Store
    venue: MemoryVenue
    clock: HandSetClock
    debate_id: str
    message: str
    window: VoteWindow

    async def react(self, user: str, option: str) -> None:
        await self.venue.react(user, THREAD, self.message, option)

    async def unreact(self, user: str, option: str) -> None:
        await self.venue.unreact(user, THREAD, self.message, option)

    async def hear(self, event: Inbound) -> EventOutcome:
        return await self.window.hearing.hear(event)

    async def press(self, user: str, option: str | None, event: str | None = None) -> EventOutcome:
        return await self.hear(ButtonPressed(THREAD, self.message, user, option, event))

    async def debate(self) -> Debate:
        return await self.store.debates.get(self.debate_id)

    def restart(self) -> None:
        """Let another process watch the vote from now on."""
        self.window = watcher(self.store, self.venue, self.clock)

    async def start_again(self) -> None:
        """Let another process begin to watch, and wait until it has read what it missed."""
        self.restart()
        async with self.watching(), asyncio.timeout(HANG_SECONDS):
            notifier = self.window.services.notifier
            while isinstance(notifier, WatchedNotifier) and not notifier.quiet:  # noqa: ASYNC110
                await asyncio.sleep(0)

    def watching(self) -> AbstractAsyncContextManager[object]:
        """Let the window close votes when they are due."""
        return beside(self.window.run())

    async def until(self, done: Callable[[Debate], object]) -> Debate:
        """Let some time pass with every look, so that pauses between tries end soon."""
        async with asyncio.timeout(HANG_SECONDS):
            while not done(debate := await self.debate()):
                await self.clock.sleep(0.02)
                self.window.services.notifier.publish("votes/memory")
                await asyncio.sleep(0.005)
        return debate

    async def close(self) -> dict[str, Vote]:
        """Close the vote as its deadline does, and return the votes that were stored, by user."""
        await self.window.close(self.debate_id)
        return await self.votes()

    async def votes(self) -> dict[str, Vote]:
        held = [m.reactions for m in self.venue.messages.values()]
        users = sorted({user for options in held for users in options.values() for user in users})
        users += [user for user in USERS if user not in users]
        people = await self.store.votes.people("memory", users)
        by_person = {
            vote.person: vote for vote in votes_in(await record_of(self.store, self.debate_id))
        }
        return {user: by_person[people[user]] for user in users if people[user] in by_person}

    async def messages(self) -> list[Any]:
        found = []
        lease = some(await self.store.leases.claim(f"test/{ULID()}", "test", 60))
        while (intent := await self.store.outbox.next(self.debate_id)) is not None:
            found.append(intent.message)
            await self.store.outbox.settle(lease, intent, DeliveryState.SENT)
        return found


class WatchedNotifier(Notifier):
    """A notifier that shows whether those who read votes and thumbs both wait for more to do."""

    @property
    def quiet(self) -> bool:
        return {"votes/memory", "thumbs/memory"} <= self._waiting.keys()


def watcher(store: Store, venue: MemoryVenue, clock: HandSetClock) -> VoteWindow:
    notifier = WatchedNotifier()
    lease_manager = LeaseManager(store, notifier, holder=str(ULID()))
    return VoteWindow(venue, Services(store, lease_manager, notifier, clock))


async def open_poll(
    store: Store, venue: MemoryVenue | None = None, *, minutes: float = 30, **request: Any
) -> Poll:
    venue, clock = venue or MemoryVenue(), HandSetClock()
    window = watcher(store, venue, clock)
    await window.listen()
    new = new_debate(
        platform="memory",
        user="host",
        request={"quorum": 0, "extend": False, "vote_minutes": minutes} | request,
    )
    debate = await create(store, new)
    lease = some(await store.leases.claim(f"debate/{debate.id}", "thinker", 60))
    await store.debates.advance(lease, debate.id, Status.RUNNING)
    await store.outbox.set_thread(lease, debate.id, THREAD)
    message = await venue.post(THREAD, venue.render(Notice(text="Vote!"), "stem·1")[0])
    if debate.request.ballot is not BallotKind.PRIVATE:
        await venue.seed(THREAD, message, OPTIONS)
    now = clock.now()
    await store.votes.open(lease, debate.id, message, now, now + timedelta(minutes=minutes))
    await store.journal.record_verdict(lease, debate.id, verdict("A"), {"jury/oak": ballot()})
    await store.debates.advance(lease, debate.id, Status.VOTING)
    await store.leases.release(lease)
    poll = Poll(store, venue, clock, debate.id, message, window)
    venue.listener = poll.hear
    return poll


def options_of(votes: dict[str, Vote]) -> dict[str, str]:
    return {user: vote.option for user, vote in votes.items()}
