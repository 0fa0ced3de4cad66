"""Leases: held, renewed, lost, and stopped when somebody asks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from adapters.database.database import SqlDatabase
from engine.fleet.leases import LEASE_SECONDS, LeaseManager, Notifier
from engine.store import Lease, Store
from engine.values.errors import LeaseLostError, PausedError, StoppedError
from engine.values.limits import Caps
from tests.kit import HANG_SECONDS, beside, cancelled, create, new_debate, setup_of, some

DEBATE = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
NAME = f"debate/{DEBATE}"


@asynccontextmanager
async def running(store: Store, notifier: Notifier, holder: str) -> AsyncIterator[LeaseManager]:
    lease_manager = LeaseManager(store, notifier, holder)
    async with beside(lease_manager.run()):
        yield lease_manager


async def test_a_debate_that_is_asked_to_stop_interrupts_its_holder_but_not_what_ends_it(
    store: Store,
) -> None:
    notifier = Notifier()
    await create(store, new_debate(id=DEBATE, user=None, setup=setup_of()), Caps())

    async def ask() -> None:
        await store.queue.ask_stop(DEBATE, "enough")
        notifier.publish("stop")

    async with running(store, notifier, "one") as lease_manager:
        with pytest.raises(StoppedError, match="enough"):
            await hold_until_interrupted(lease_manager, ask)
        async with lease_manager.hold(NAME, stoppable=False):
            notifier.publish("stop")
            await asyncio.sleep(0.1)


async def hold_until_interrupted(
    lease_manager: LeaseManager, meanwhile: Callable[[], Awaitable[object]]
) -> None:
    """Hold the lease for long, while something happens."""
    async with lease_manager.hold(NAME):
        await meanwhile()
        await asyncio.sleep(HANG_SECONDS)


async def test_a_lease_that_somebody_holds_is_left_to_them(store: Store) -> None:
    lease_manager = LeaseManager(store, Notifier(), "one")
    lease = some(await store.leases.claim(NAME, "one", 9))
    with pytest.raises(LeaseLostError, match=f"Another process holds {NAME}"):
        await lease_manager.hold(NAME).__aenter__()
    await store.leases.release(lease)
    async with lease_manager.hold(NAME) as again:
        assert again.epoch > lease.epoch
    lease_manager.check()
    lease_manager.draining = True  # a process that ends begins nothing new
    with pytest.raises(PausedError, match="goes on when Rostrum runs again"):
        lease_manager.check()


async def test_within_a_process_holders_take_turns_also_after_one_that_was_cancelled(
    store: Store,
) -> None:
    lease_manager, order, held = LeaseManager(store, Notifier(), "one"), [], asyncio.Event()

    async def hold() -> None:
        async with lease_manager.hold(NAME):
            held.set()
            await asyncio.sleep(5)

    async def work(name: str) -> None:
        async with lease_manager.hold(NAME):
            order.append(f"{name} in")
            await asyncio.sleep(0.01)
            order.append(f"{name} out")

    task = asyncio.create_task(hold())
    await held.wait()
    await cancelled(task)  # an ordinary cancellation stays one
    await asyncio.wait_for(asyncio.gather(work("a"), work("b")), HANG_SECONDS)
    assert order == ["a in", "a out", "b in", "b out"]


async def test_who_holds_a_lease_is_interrupted_when_it_is_taken_over(store: Store) -> None:
    notifier = Notifier()

    async def take_over() -> None:
        await store.leases.claim(NAME, "two", 9)
        notifier.publish("stop")

    async with running(store, notifier, "one") as lease_manager:
        with pytest.raises(LeaseLostError, match="took over"):
            await hold_until_interrupted(lease_manager, take_over)
    renewed = await store.leases.renew("two", 9)
    assert NAME in renewed, "what the successor holds is not released by the one that lost it"


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_and_an_error_of_the_body_outlive_the_loss_of_a_lease(
    store: Store, fails: bool
) -> None:
    """The loss would otherwise be told in place of the cancellation, and the holder go on."""
    held = asyncio.Event()

    async def hold() -> int:
        try:
            async with lease_manager.hold(NAME):
                held.set()
                try:
                    await asyncio.sleep(5)
                except asyncio.CancelledError:
                    if fails:
                        raise ValueError("of the body") from None
                    raise
        except ValueError:
            task = some(asyncio.current_task())
            return task.cancelling()
        except LeaseLostError:
            return -1
        return -2

    async with running(store, Notifier(), "one") as lease_manager:
        holder = asyncio.create_task(hold())
        await held.wait()
        lease_manager._holds[NAME].fail(LeaseLostError("Another process took over."))
        if fails:
            assert await holder == 0, "the interruption was taken back"
        else:
            await cancelled(holder)


async def test_a_lease_claimed_while_all_are_renewed_is_not_taken_for_lost(store: Store) -> None:
    """A debate that began, or wrote down its end, just then was left to nobody."""
    notifier = Notifier()

    async def look_all_the_time() -> None:
        while True:
            notifier.publish("stop")
            await asyncio.sleep(0)

    async with beside(look_all_the_time()), running(store, notifier, "one") as lease_manager:
        for _ in range(30):
            async with lease_manager.hold(NAME):
                await asyncio.sleep(0.002)


async def test_a_claim_interrupted_while_it_is_stored_leaves_the_lease_free(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever came next had to wait until the lease of nobody ran out."""
    # Not the file's sole runner, so that a lease counts as it does between hosts.
    database = SqlDatabase(database_url, writable=False)
    store = Store(database)
    claim, stored, answer = store.leases.claim, asyncio.Event(), asyncio.Event()

    async def claim_and_stall(name: str, holder: str, seconds: float) -> Lease | None:
        lease = await claim(name, holder, seconds)
        stored.set()
        await answer.wait()
        return lease

    monkeypatch.setattr(store.leases, "claim", claim_and_stall)
    holding = asyncio.create_task(LeaseManager(store, Notifier(), "one").hold(NAME).__aenter__())
    await stored.wait()
    holding.cancel()
    await asyncio.sleep(0)
    answer.set()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert await claim(NAME, "two", 9) is not None
    await database.close()


class Hours:
    """A process's own clock, which a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def test_a_process_cut_off_from_its_database_gives_its_leases_up_in_time(
    shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It paid for calls that another process, which had taken over, paid for too."""
    hours, notifier, cut_off = Hours(), Notifier(), asyncio.Event()

    async def hang(holder: str, seconds: float) -> dict[str, int]:
        cut_off.set()
        return await asyncio.Future()

    monkeypatch.setattr("engine.fleet.leases.WATCH_SECONDS", 0.001)
    lease_manager = LeaseManager(shared, notifier, "one", hours)

    async def time_passes() -> None:
        monkeypatch.setattr(shared.leases, "renew", hang)
        notifier.publish("stop")
        await cut_off.wait()
        hours.now += LEASE_SECONDS - 0.1
        await asyncio.sleep(0.02)  # nothing happens before the lease runs out
        lease_manager.check_lease(lease_manager._holds[NAME].lease)
        hours.now += 0.2

    async with beside(lease_manager.run()):
        with pytest.raises(LeaseLostError, match="could not renew"):
            await hold_until_interrupted(lease_manager, time_passes)


async def test_a_lease_counts_from_when_its_renewal_was_sent(
    shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that took long says nothing about the time since."""
    hours, notifier, renewed = Hours(), Notifier(), asyncio.Event()
    renew = shared.leases.renew

    async def answer_late(holder: str, seconds: float) -> dict[str, int]:
        hours.now += 5
        epochs = await renew(holder, seconds)
        hours.now += 3
        renewed.set()
        return epochs

    lease_manager = LeaseManager(shared, notifier, "one", hours)
    async with beside(lease_manager.run()), lease_manager.hold(NAME) as lease:
        monkeypatch.setattr(shared.leases, "renew", answer_late)
        notifier.publish("stop")
        await renewed.wait()
        await asyncio.sleep(0)
        lease_manager.check_lease(lease)
        hours.now = 1_000.0 + LEASE_SECONDS + 0.1
        with pytest.raises(LeaseLostError):
            lease_manager.check_lease(lease)


async def test_on_a_file_of_its_own_a_slow_process_loses_nothing(store: Store) -> None:
    hours = Hours()
    lease_manager = LeaseManager(store, Notifier(), "one", hours)
    async with lease_manager.hold(NAME) as lease:
        hours.now += 3600
        lease_manager.check_lease(lease)
