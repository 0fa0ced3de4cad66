"""Several processes deliver to one platform: each its share, in order, once, whatever happens."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

import engine.delivery.outbox
from engine.delivery.outbox import Delivery
from engine.fleet import leases, shares
from engine.fleet.leases import LeaseManager, Notifier, Services
from engine.store import Intent, Lease, Post, Store
from engine.store.leases import Partition, partition_key_of
from engine.values.debate import Debate, Status
from engine.values.messages import Notice
from engine.values.ports import SystemClock, VenueLimits, utc_now
from engine.values.verdicts import Question
from engine.votes.window import VoteWindow
from tests.doubles.venue import MemoryVenue
from tests.kit import beside, create, new_debate, until, until_asked

COUNT = 4
QUICK = VenueLimits(typing_seconds=5, send_seconds=0.3)
SAID = re.compile(r"^info: (\d+)")


class DividedVenue(MemoryVenue):
    """A platform that processes divide among themselves."""

    async def shares(self) -> int | None:
        return COUNT


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.5)
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)


@dataclass
class Gateway:
    """One of the processes that deliver."""

    delivery: Delivery
    window: VoteWindow
    tasks: list[asyncio.Task[object]] = field(default_factory=list)

    @property
    def held(self) -> frozenset[int]:
        return self.delivery.shares.held

    async def die(self) -> None:
        """End at once, without giving anything back."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(self.delivery.services.store.leases, "release", _keep)
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)


async def _keep(_: Lease) -> None:
    """Give no lease back."""


@dataclass
class Hall:
    """A platform, its database, and one debate in each share."""

    store: Store
    venue: DividedVenue
    debates: list[Debate] = field(default_factory=list)
    lease: Lease | None = None
    queued: int = 0

    @asynccontextmanager
    async def gateway(self, name: str) -> AsyncIterator[Gateway]:
        notifier, clock = Notifier(), SystemClock()
        kept = LeaseManager(self.store, notifier, name)
        services = Services(self.store, kept, notifier, clock)
        delivery = Delivery(self.venue, services)
        window = VoteWindow(self.venue, services, delivery.shares)
        made = Gateway(delivery, window)
        async with beside(kept.run(), delivery.run(), window.run()) as made.tasks:
            yield made

    async def queue(self, number: int = 1) -> None:
        assert self.lease is not None
        for _ in range(number):
            self.queued += 1
            post = Post(key=f"n{self.queued}", message=Notice(text=str(self.queued)))
            for debate in self.debates:
                await self.store.outbox.publish(self.lease, debate.id, [post])

    def said(self, debate: Debate) -> list[int]:
        posted = self.venue.places[debate.place]
        return [int(found[1]) for message in posted if (found := SAID.match(message.body))]

    async def all_said(self) -> None:
        await until(lambda: all(len(self.said(one)) >= self.queued for one in self.debates))
        for debate in self.debates:
            assert self.said(debate) == list(range(1, self.queued + 1))


@pytest.fixture
async def hall(shared: Store) -> Hall:
    made = Hall(shared, DividedVenue(limits=QUICK))
    made.lease = await shared.leases.claim("debate/all", "thinker", 60)
    assert made.lease is not None
    for share in range(COUNT):
        community = str((share + COUNT) << 22)
        assert partition_key_of(community) % COUNT == share
        asked = {"quorum": 0, "extend": False}
        new = new_debate(
            platform="memory", community=community, place=f"hall{share}", request=asked
        )
        debate = await create(shared, new)
        await shared.debates.advance(made.lease, debate.id, Status.RUNNING)
        made.debates.append(debate)
    return made


async def test_only_the_holder_of_a_share_sees_what_waits_in_it(hall: Hall) -> None:
    await hall.queue()
    for share, debate in enumerate(hall.debates):
        served = Partition(COUNT, frozenset({share}))
        outbox, queue = hall.store.outbox, hall.store.queue
        assert await outbox.waiting("memory", served=served) == [debate.id]
        assert await queue.unfinished("memory", served=served) == [debate.id]
        assert await hall.store.votes.held_in("memory", served=served) == [debate.id]
    assert await hall.store.outbox.waiting("memory", served=Partition(COUNT, frozenset())) == []
    assert len(await hall.store.outbox.waiting("memory")) == COUNT


async def test_processes_come_and_go_and_every_message_is_posted_once_in_order(hall: Hall) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(hall.gateway("first"))
        await hall.queue(3)
        await hall.all_said()
        assert first.held == {0, 1, 2, 3}
        async with hall.gateway("second") as second:
            for _ in range(10):
                await hall.queue()
                await asyncio.sleep(0.01)
            await until(lambda: len(first.held) == len(second.held) == 2)
            await hall.queue(3)
            await hall.all_said()
        await hall.queue(3)
        await hall.all_said()
        await until(lambda: first.held == {0, 1, 2, 3})


async def test_what_a_dead_process_was_posting_is_settled_by_the_next(hall: Hall) -> None:
    async with hall.gateway("first") as first:
        await until(lambda: len(first.held) == COUNT)
        hall.venue.latency = 0.05
        async with hall.gateway("second") as second:
            await until(lambda: len(first.held) == len(second.held) == 2)
            await hall.queue(4)
            await until(lambda: any(map(hall.said, hall.debates)))
            await first.die()
            hall.venue.latency = 0.0
            await hall.all_said()
            assert second.held == {0, 1, 2, 3}


async def test_a_vote_is_closed_by_the_process_that_took_its_share_over_with_what_was_missed(
    hall: Hall,
) -> None:
    assert hall.lease is not None
    debate, votes = hall.debates[1], hall.store.votes
    async with hall.gateway("first") as first:
        await until(lambda: len(first.held) == COUNT)
        await hall.store.outbox.set_thread(hall.lease, debate.id, "thread")
        message = await hall.venue.post("thread", hall.venue.render(Notice(text="Vote!"), "s·1")[0])
        now = utc_now()
        await votes.open(hall.lease, debate.id, message, now, now + timedelta(minutes=5))
        await hall.store.debates.advance(hall.lease, debate.id, Status.VOTING)
        await hall.venue.seed("thread", message, ["A", "B"])
        hall.venue.listener = first.window.hearing.hear
        await hall.venue.react("ada", "thread", message, "A")
        async with hall.gateway("second") as second:
            await first.die()
            hall.venue.listening = False
            await hall.venue.react("ben", "thread", message, "B")
            await until(lambda: 1 in second.held)
            await until_asked(
                lambda: votes.events(debate.id, Question.VOTE), lambda found: len(found) >= 2
            )
            await second.window.close(debate.id)
    found = await votes.events(debate.id, Question.VOTE)
    assert sorted(str(event.how) for event in found) == ["live", "recovered"]
    assert (await hall.store.debates.get(debate.id)).status is Status.CLOSED


async def test_a_gateway_that_stood_still_posts_nothing_for_a_share_that_was_taken_over(
    hall: Hall,
) -> None:
    async with hall.gateway("first") as first:
        await until(lambda: len(first.held) == COUNT)
        hall.venue.latency = 0.05
        await hall.queue(6)
        await until(lambda: any(map(hall.said, hall.debates)))
        first.tasks[0].cancel()  # it renews nothing and notices nothing
        async with hall.gateway("second") as second:
            await until(lambda: second.held == {0, 1, 2, 3})
            assert first.held, "it still takes some for its own"
            await hall.queue(3)
            hall.venue.latency = 0.0
            await hall.all_said()


async def test_a_ring_for_a_debate_of_another_process_costs_one_look(hall: Hall) -> None:
    async with hall.gateway("first") as first, hall.gateway("second") as second:
        await until(lambda: len(first.held) == len(second.held) == 2)
        debate = next(d for n, d in enumerate(hall.debates) if n in second.held)
        looked = list[str]()
        look = first.delivery.services.store.outbox.next

        async def next_of(debate_id: str) -> Intent | None:
            looked.append(debate_id)
            return await look(debate_id)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(hall.venue, "latency", 0.5)  # so that it waits meanwhile
            await hall.queue()
            patched.setattr(first.delivery.services.store.outbox, "next", next_of)
            for _ in range(5):
                first.delivery.services.notifier.publish("outbox/memory", debate.id)
                await asyncio.sleep(0.05)
        assert looked.count(debate.id) <= 2, "the one that delivers looks as well"
        await hall.all_said()
