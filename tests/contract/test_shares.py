"""The shares of a platform between processes: joining, leaving, dying, freezing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from engine.fleet import leases, shares
from engine.fleet.leases import LeaseManager, Notifier
from engine.fleet.shares import PartitionLeases
from engine.store import Store
from engine.values.errors import VenueAwayError
from engine.values.ports import SystemClock
from tests.kit import beside, until


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.4)


@dataclass
class Process:
    """One that shares a platform; `ended` are the shares that it stopped working for."""

    shares: PartitionLeases
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    ended: list[tuple[int, bool]] = field(default_factory=list)

    async def end(self, share: int, lost: bool) -> None:
        assert share not in self.shares.held
        self.ended.append((share, lost))

    def freeze(self) -> None:
        """Renew nothing from now on, as a process that is suspended."""
        self.tasks[1].cancel()


@asynccontextmanager
async def process(store: Store, name: str, count: int | None = 4) -> AsyncIterator[Process]:
    kept = LeaseManager(store, Notifier(), name)
    made = Process(PartitionLeases("hall", store, kept, SystemClock()))

    async def divide() -> int | None:
        return count

    async with asyncio.TaskGroup() as group:
        works = (made.shares.run(divide, made.end), kept.run())
        made.tasks = [group.create_task(work) for work in works]
        try:
            yield made
        finally:
            for task in made.tasks:
                task.cancel()


def holding(*numbers: int) -> Callable[..., bool]:
    def look(*processes: Process) -> bool:
        return [len(one.shares.held) for one in processes] == list(numbers)

    return look


async def test_one_that_joins_gets_its_share_and_loses_none_when_the_other_leaves(
    shared: Store,
) -> None:
    async with process(shared, "one") as one:
        await until(lambda: holding(4)(one))
        assert (one.shares.held, one.shares.count) == (frozenset({0, 1, 2, 3}), 4)
        assert one.shares.alone
        async with process(shared, "two") as two:
            await until(lambda: holding(2, 2)(one, two))
            assert not one.shares.held & two.shares.held
            assert one.ended == [(2, False), (3, False)]
            assert two.shares.since("11534336") is not None  # of partition key 2
            await one.shares.leave()
            assert one.ended == [(2, False), (3, False), (0, False), (1, False)]
            await until(lambda: holding(0, 4)(one, two))


async def test_never_do_two_processes_hold_the_same_share(shared: Store) -> None:
    async with AsyncExitStack() as stack:
        crowd = [
            await stack.enter_async_context(process(shared, f"p{number}", 8)) for number in range(4)
        ]
        for _ in range(200):
            held = [share for one in crowd for share in one.shares.held]
            assert len(held) == len(set(held))
            if sorted(map(len, (one.shares.held for one in crowd))) == [2, 2, 2, 2]:
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail("they never divide the shares fairly")


async def test_what_a_frozen_process_held_is_taken_and_it_notices_when_it_wakes(
    shared: Store,
) -> None:
    async with process(shared, "one") as one, process(shared, "two") as two:
        await until(lambda: holding(2, 2)(one, two))
        one.freeze()
        taken = one.shares.held
        await until(lambda: two.shares.held >= taken)
        async with beside(one.shares.lease_manager.run()):
            await until(lambda: set(one.ended) >= {(share, True) for share in taken})


async def test_what_is_not_divided_has_one_holder_and_the_next_stands_by(shared: Store) -> None:
    async with process(shared, "one", None) as one:
        await until(lambda: holding(1)(one))
        async with process(shared, "two", None) as two:
            await asyncio.sleep(0.1)
            assert (two.shares.held, two.shares.count) == (frozenset(), 1)
            one.tasks[0].cancel()
            await until(lambda: holding(0, 1)(one, two))


async def test_a_newcomer_goes_by_the_number_of_shares_that_the_others_go_by(shared: Store) -> None:
    async with process(shared, "one", 2) as one:
        await until(lambda: holding(2)(one))
        async with process(shared, "two", 5) as two:
            await until(lambda: holding(1, 1)(one, two))
            assert two.shares.count == 2


@pytest.mark.sqlite
async def test_the_only_process_on_a_file_takes_a_dead_ones_shares_at_once(store: Store) -> None:
    for share in range(4):
        await store.leases.claim(f"connection/hall/{share}", "dead", 3600)
    await store.leases.claim("connection/hall/of/4/dead", "dead", 3600)
    async with process(store, "alive") as alive:
        await until(lambda: holding(4)(alive))
        assert alive.shares.since("11534336") is None


async def test_a_platform_that_is_away_is_asked_again_how_it_is_divided(shared: Store) -> None:
    kept, asked = LeaseManager(shared, Notifier(), "one"), 0

    async def divide() -> int | None:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise VenueAwayError("away", retry_after=0.01)
        return 1

    mine = PartitionLeases("hall", shared, kept, SystemClock())
    async with beside(mine.run(divide)):
        await until(lambda: mine.held == {0})
    assert asked == 3
