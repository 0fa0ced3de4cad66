"""The limits of backends, divided among the processes on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random

from adapters.models.backends import Backend
from adapters.models.pace import Gate, Weighed
from engine.fleet.leases import RENEW_SECONDS, LeaseManager, Notifier
from engine.fleet.limits import Fleet, FleetMember
from engine.stage.steps import Pace
from engine.store import Store
from tests.kit import beside, some, until

LIMIT = 12
BACKEND = Backend.of("x", base_url="http://127.0.0.1:1", max_concurrency=LIMIT)


@dataclass
class Process:
    fleet: Fleet
    member: FleetMember
    gate: Gate

    @classmethod
    def open(cls, store: Store, name: str, notifier: Notifier | None = None) -> Process:
        notifier, fleet = notifier or Notifier(), Fleet()
        member = FleetMember(fleet, store, LeaseManager(store, notifier, name), notifier)
        return cls(fleet, member, Gate(BACKEND, Pace(), fleet))


@asynccontextmanager
async def calling(process: Process, calls: int) -> AsyncIterator[list[int]]:
    """Keep so many calls wanting a slot while the body runs; the list counts those in flight."""
    going, over = [0], asyncio.Event()

    async def call() -> None:
        async with process.gate:
            going[0] += 1
            await over.wait()
            going[0] -= 1

    async with beside(*(call() for _ in range(calls))):
        yield going


async def settle() -> None:
    for _ in range(3 * LIMIT):
        await asyncio.sleep(0)


async def test_alone_a_process_has_the_whole_limit(shared: Store) -> None:
    one = Process.open(shared, "one")
    async with calling(one, 2 * LIMIT) as going:
        await settle()
        assert going == [0], "nothing begins before it has looked"
        assert await one.member.look()
        await settle()
        assert going == [LIMIT]


async def test_a_newcomer_begins_once_the_others_keep_to_less(shared: Store) -> None:
    one, two = Process.open(shared, "one"), Process.open(shared, "two")
    assert await one.member.look()
    async with calling(two, LIMIT) as of_two:
        async with calling(one, LIMIT) as of_one:
            await settle()
            assert of_one == [LIMIT]
            assert not await two.member.look()
            assert not await one.member.look(), "too many calls are in flight"
            assert not await two.member.look()
            await settle()
            assert of_two == [0]
        assert await one.member.look()
        assert await two.member.look()
        await settle()
        assert (of_two, one.fleet.whole(LIMIT)) == ([LIMIT // 2], LIMIT // 2)


async def test_whoever_leaves_gives_their_part_back_and_who_was_not_counted_joins_anew(
    shared: Store,
) -> None:
    one, two = Process.open(shared, "one"), Process.open(shared, "two")
    for process in (one, two, one, two):
        await process.member.look()
    assert (one.fleet.size, two.fleet.size) == (2, 2)
    await two.member._leave()
    assert await one.member.look()
    assert one.fleet.size == 1
    await shared.leases.release(some(one.member._shown))  # it ran out while the process stood still
    three = Process.open(shared, "three")
    assert await three.member.look()
    assert three.fleet.size == 1
    assert not await one.member.look()
    assert one.fleet.whole(LIMIT) == 0
    fleet = Fleet(5)  # no part is nothing, and a rate is divided exactly
    assert (fleet.whole(3), fleet.part(3)) == (1, 0.6)
    assert fleet.whole(12) * 5 <= 12


async def test_through_any_coming_and_going_the_limit_holds(shared: Store) -> None:
    """At every moment: processes join, look, call, leave and vanish in any order."""
    random = Random(7)
    living: list[tuple[Process, list[int]]] = []
    async with AsyncExitStack() as calls:
        for step in range(150):
            act = random.choice(("join", "look", "look", "look", "leave"))
            if act == "join" and len(living) < 5:
                process = Process.open(shared, f"p{step}")
                living.append((process, await calls.enter_async_context(calling(process, LIMIT))))
            elif act == "leave" and len(living) > 1:
                process, going = living.pop(random.randrange(len(living)))
                process.fleet.resize(0)
                going[0] = 0  # its calls end with it
                await process.member._leave()
            elif living:
                await random.choice(living)[0].member.look()
            await settle()
            shares = [process.fleet.whole(LIMIT) for process, _ in living]
            shown = [process.member._size for process, _ in living]
            assert sum(shares) <= LIMIT, (step, shares, shown)


async def test_with_a_bell_all_of_it_takes_no_time(shared: Store) -> None:
    here, there = Notifier(), Notifier()
    here.outward, there.outward = there.receive, here.receive
    one, two = Process.open(shared, "one", here), Process.open(shared, "two", there)
    async with asyncio.timeout(RENEW_SECONDS - 0.5), beside(one.member.run()):
        await until(lambda: one.fleet.size == 1)
        async with beside(two.member.run()):
            await until(lambda: (one.fleet.size, two.fleet.size) == (2, 2))
        await until(lambda: one.fleet.size == 1)


async def test_a_limit_of_tokens_counts_what_was_used() -> None:
    backend = Backend.of("x", base_url="http://127.0.0.1:1", tokens_per_minute=600_000)
    gate = Gate(backend, Pace())
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(10):  # 20 × 50,000 would take two minutes
        for _ in range(20):
            slot = gate.slot(lambda: 50_000)
            assert isinstance(slot, Weighed)
            async with slot:
                slot.used(1_000)
    waited = asyncio.get_running_loop().time() - began
    assert waited > 0.9, "at a burst of 60,000, ten begin at once; then 9,000 a second leak"
