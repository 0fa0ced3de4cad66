"""What several processes on one PostgreSQL server must not do to one another, and its absences."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from adapters.database import postgres
from adapters.database.database import SqlDatabase
from engine.store import Lease, Store
from engine.store.database import SqlConnection
from engine.store.leases import guard
from engine.store.outbox import insert_posts
from engine.store.people import ensure_person, find_key
from engine.store.privacy import forget
from engine.values.debate import Status
from engine.values.errors import BudgetError, LeaseLostError, StoreError
from engine.values.ports import _SharedTime, machine_now, utc_now
from tests.doubles.databases import PostgresDouble, held, waiting
from tests.doubles.wire import Wire
from tests.kit import HANG_SECONDS, NO_CAPS, new_debate, notice, some

NUMBERS = "SELECT id FROM notes ORDER BY id"
INSERT = "INSERT INTO notes VALUES (:id)"


@pytest.fixture(scope="module")
def database_kind() -> str:
    return "postgresql"


@pytest.fixture
def others(other: SqlDatabase) -> Store:
    return Store(other)


@pytest.fixture
async def far(wire: Wire, postgres: PostgresDouble) -> AsyncIterator[SqlDatabase]:
    """A database with one table, at the end of a wire."""
    name = postgres.create()
    postgres.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)", name)
    database = SqlDatabase(postgres.tcp(name, port=wire.port))
    await database.value("SELECT 1")
    await database.write(lambda connection: connection.value("SELECT 1"))
    yield database
    wire.mend()
    await database.close()
    postgres.drop(name)


@pytest.fixture
def crashing() -> Iterator[PostgresDouble]:
    server = PostgresDouble()
    yield server
    server.stop()


async def test_a_lease_is_not_taken_over_between_a_guard_and_its_commit(
    store: Store, database: SqlDatabase, others: Store
) -> None:
    lease = some(await store.leases.claim("debate/x", "first", -1))
    async with held(database, lambda connection: guard(connection, lease)):
        claiming = await waiting(others.leases.claim("debate/x", "second", 9))
    assert await claiming == Lease(name="debate/x", epoch=2)
    with pytest.raises(LeaseLostError):
        await database.write(lambda connection: guard(connection, lease))


async def test_a_guard_waits_for_a_claim_that_came_first_and_fails(
    store: Store, database: SqlDatabase, other: SqlDatabase
) -> None:
    lease = some(await store.leases.claim("debate/x", "first", 60))
    take = "UPDATE leases SET epoch = 2 WHERE name = 'debate/x'"
    async with held(other, lambda connection: connection.run(take)):
        writing = await waiting(database.write(lambda c: guard(c, lease)))
    with pytest.raises(LeaseLostError):
        await writing


async def test_messages_of_two_processes_are_numbered_one_by_one(
    store: Store, database: SqlDatabase, other: SqlDatabase
) -> None:
    new = new_debate()
    await store.debates.create([(new, [])], NO_CAPS)

    def post(key: str) -> Callable[[SqlConnection], None]:
        return lambda connection: insert_posts(connection, new.id, [notice(key)])

    async with held(database, post("one")):
        following = await waiting(other.write(post("two")))
    await following
    writes = [base.write(post(f"{n}")) for n in range(20) for base in (database, other)]
    await asyncio.gather(*writes)
    numbers = await database.rows("SELECT key, number FROM outbox ORDER BY number")
    assert numbers[:2] == [("one", 1), ("two", 2)]
    assert [row.number for row in numbers] == list(range(1, 23))


async def test_groups_that_lock_one_another_are_written_in_the_end(
    store: Store, database: SqlDatabase, other: SqlDatabase
) -> None:
    debates = [new_debate() for _ in range(6)]
    await store.debates.create([(new, []) for new in debates], NO_CAPS)

    async def post(base: SqlDatabase, name: str) -> None:
        order = debates if base is database else debates[::-1]
        await asyncio.gather(
            *(
                base.write(lambda c, i=new.id: insert_posts(c, i, [notice(name)]))  # type: ignore[misc]
                for new in order
            )
        )

    await asyncio.gather(
        *(post(b, f"{b is other}{n}") for n in range(15) for b in (database, other))
    )
    rows = await database.rows("SELECT debate, number FROM outbox ORDER BY debate, number")
    assert len(rows) == len(set(rows)) == 6 * 30


async def test_the_cap_of_debates_that_run_holds_across_processes(
    database: SqlDatabase, store: Store, others: Store
) -> None:
    caps = NO_CAPS.model_copy(update={"max_live_per_community": 1})
    starts = [one.debates.create([(new_debate(), [])], caps) for one in (store, others) * 4]
    results = await asyncio.gather(*starts, return_exceptions=True)
    assert sum(isinstance(result, list) for result in results) == 1
    assert sum(isinstance(result, BudgetError) for result in results) == 7


async def test_a_debate_that_two_processes_queue_again_is_paid_for_once(
    database: SqlDatabase, store: Store, others: Store
) -> None:
    new = new_debate(reserved=1.0)
    await store.debates.create([(new, [])], NO_CAPS)
    lease = some(await store.leases.claim(f"debate/{new.id}", "x", 60))
    await store.debates.advance(lease, new.id, Status.RUNNING)
    await store.debates.advance(lease, new.id, Status.FAILED, "cut off")
    queue = [one.queue.requeue(new.id, NO_CAPS, utc_now()) for one in (store, others) * 3]
    await asyncio.gather(*queue)
    reserved = await database.value("SELECT sum(reserved_usd) FROM usage")
    assert reserved == 1.0


async def test_a_user_who_is_forgotten_meanwhile_is_not_stored_again_nor_added_just_after(
    database: SqlDatabase, other: SqlDatabase, others: Store
) -> None:
    def add(connection: SqlConnection) -> object:
        return ensure_person(connection, "chat", "ann", find_key(connection))

    async with held(database, add):
        forgetting = await waiting(others.privacy.forget("chat", "ann"))
    await forgetting
    assert await database.column('SELECT "user" FROM people') == [None]
    async with held(other, lambda connection: forget(connection, "chat", "ann")):
        adding = await waiting(database.write(add))
    assert await adding is None
    assert await database.column('SELECT "user" FROM people') == [None]


async def test_a_broken_rule_of_the_database_is_a_sentence_without_what_is_stored(
    far: SqlDatabase,
) -> None:
    await far.run(INSERT, id=1234)
    with pytest.raises(StoreError, match=r"could not be used: duplicate key value") as caught:
        await far.run(INSERT, id=1234)
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize("arrives", [False, True])
async def test_a_commit_whose_answer_is_lost_is_neither_lost_nor_repeated(
    far: SqlDatabase, wire: Wire, arrives: bool
) -> None:
    wire.lose("COMMIT", arrives=arrives)
    ran: list[int] = []

    def write(connection: SqlConnection) -> int:
        ran.append(connection.run(INSERT, id=7))
        return 7

    assert await far.write(write) == 7
    assert wire.losses == 1
    assert len(ran) == (1 if arrives else 2)
    assert await far.column(NUMBERS) == [7]


async def test_reads_and_writes_wait_for_a_server_that_was_cut_off(
    far: SqlDatabase, wire: Wire
) -> None:
    wire.cut()
    writes = [asyncio.ensure_future(far.run(INSERT, id=n)) for n in range(5)]
    reading = asyncio.ensure_future(far.value("SELECT 42"))
    done, _ = await asyncio.wait([*writes, reading], timeout=0.7)
    assert not done
    wire.mend()
    async with asyncio.timeout(HANG_SECONDS):
        assert await asyncio.gather(*writes) == [1] * 5
        assert await reading == 42
    assert await far.column(NUMBERS) == list(range(5))


async def test_a_server_that_falls_silent_is_given_up_and_asked_again(
    far: SqlDatabase, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "SILENCE_SECONDS", 0.3)
    wire.cut()  # so that the connections to come have that patience
    await asyncio.sleep(0.1)
    wire.mend()
    await far.run(INSERT, id=1)
    wire.hold()
    writing = asyncio.ensure_future(far.run(INSERT, id=2))
    done, _ = await asyncio.wait([writing], timeout=1)
    assert not done
    wire.mend()
    async with asyncio.timeout(HANG_SECONDS):
        await writing
    assert await far.column(NUMBERS) == [1, 2]


@pytest.mark.slow
async def test_nothing_is_lost_while_the_server_crashes_under_load(
    crashing: PostgresDouble,
) -> None:
    crashing.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    database = SqlDatabase(crashing.url())
    written: list[int] = []

    reached = {at: asyncio.Event() for at in (100, 250, 400)}

    async def write(number: int) -> None:
        await database.run(INSERT, id=number)
        written.append(number)
        if len(written) in reached:
            reached[len(written)].set()

    async def work() -> None:
        for start in range(0, 600, 10):
            await asyncio.gather(*map(write, range(start, start + 10)))

    working = asyncio.create_task(work())
    for event in reached.values():
        await event.wait()
        await asyncio.to_thread(crashing.crash)
        await asyncio.to_thread(crashing.start)
    await working
    assert await database.column(NUMBERS) == list(range(600))
    await database.close()


@pytest.mark.slow
async def test_a_process_ends_though_its_server_is_away(far: SqlDatabase, wire: Wire) -> None:
    wire.cut()
    writing = asyncio.ensure_future(far.run(INSERT, id=1))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(6):
        await far.close()
    with pytest.raises(StoreError, match="could not be used"):
        await writing


async def test_leases_and_the_time_of_day_are_the_databases(
    store: Store, others: Store, database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, shared = machine_now, _SharedTime()
    monkeypatch.setattr("engine.values.ports.SHARED_TIME", shared)
    monkeypatch.setattr(postgres, "SHARED_TIME", shared)
    assert await store.leases.claim("debate/x", "first", 60)
    assert abs(shared.ahead) < timedelta(seconds=0.1)
    for minutes in (5, -5):
        off = timedelta(minutes=minutes)
        for module in ("engine.values.ports", "adapters.database.postgres"):
            monkeypatch.setattr(f"{module}.machine_now", lambda off=off: real() + off)
        assert await others.leases.claim("debate/x", "second", 60) is None
        assert await others.leases.renew("first", 60) == {"debate/x": 1}
        assert abs(utc_now() - real()) < timedelta(seconds=1)


@pytest.mark.slow
def test_processes_whose_clocks_differ_by_minutes_agree_on_leases_and_on_the_time(
    database_url: str,
) -> None:
    """Each lease is taken over when its two seconds are over, not five minutes early or late."""
    script = [sys.executable, "-m", "tests.doubles.other_clock"]
    came: list[float] = []
    for holder, minutes in enumerate(("0", "5", "-5")):
        command = [*script, minutes, database_url, f"process {holder}"]
        done = subprocess.run(command, check=True, capture_output=True, timeout=60)
        at, told, shown = map(float, done.stdout.split())
        assert abs(told - at) < 1
        assert abs(shown - at - 60 * int(minutes)) < 1
        came.append(at)
    for before, after in pairwise(came):
        assert 2 - 0.1 <= after - before < 30


def test_a_difference_that_the_way_explains_changes_no_clock() -> None:
    shared, noon = _SharedTime(), datetime(2026, 3, 1, 12, tzinfo=UTC)
    shared.tell(noon + timedelta(seconds=0.4), noon, noon + timedelta(seconds=1))
    assert shared.ahead == timedelta()
    shared.tell(noon + timedelta(seconds=10), noon, noon + timedelta(seconds=1))
    assert shared.ahead == timedelta(seconds=9.5)
