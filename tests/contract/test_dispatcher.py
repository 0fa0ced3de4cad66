"""The Dispatcher port, over tasks of one process and over a queue that several share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from adapters.database.database import SqlDatabase
from adapters.database.processes import JobTable
from adapters.dispatch.procrastinate import ProcrastinateDispatcher
from engine.delivery.reasons import NO_ROOM, why
from engine.fleet.leases import Notifier
from engine.store import Store
from engine.store.jobs import defer
from engine.values.debate import Model
from tests.doubles.databases import PostgresDouble
from tests.kit import NO_CAPS, beside, create, new_debate, setup_of, some, until, until_true

Think = Callable[[str], Awaitable[None]]
JOBS = "SELECT CAST(status AS text) AS status, queue_name FROM procrastinate_jobs ORDER BY id"


@pytest.fixture
async def server(postgres: PostgresDouble, migrated_name: str) -> AsyncIterator[SqlDatabase]:
    name = postgres.create(migrated_name)
    database = SqlDatabase(postgres.url(name), queues=True)
    yield database
    await database.close()
    postgres.drop(name)


@pytest.fixture
def store(server: SqlDatabase) -> Store:
    return Store(server)


def dispatcher_on(
    database: SqlDatabase,
    *,
    backends: tuple[str, ...] = ("near",),
    slots: int = 5,
    notifier: Notifier | None = None,
) -> ProcrastinateDispatcher:
    return ProcrastinateDispatcher(JobTable(database), notifier or Notifier(), backends, slots)


@asynccontextmanager
async def dispatching(dispatcher: ProcrastinateDispatcher, think: Think) -> AsyncIterator[None]:
    async with beside(dispatcher.run(think)):
        yield
        await dispatcher.stop(0.1)


async def a_debate(store: Store) -> str:
    new = new_debate(user=None, setup=setup_of())
    await create(store, new, NO_CAPS)
    return new.id


async def test_a_debate_has_its_job_when_it_is_stored(server: SqlDatabase, store: Store) -> None:
    debate = await a_debate(store)
    assert [(row.status, row.queue_name) for row in await server.rows(JOBS)] == [
        ("todo", "debates/near")
    ]
    dispatcher = dispatcher_on(server)
    await dispatcher.submit(debate)
    assert len(await server.rows(JOBS)) == 1, "queueing it again changes nothing"


async def test_a_verdict_that_a_juror_still_explains_is_queued_again(
    server: SqlDatabase, store: Store
) -> None:
    debate = await a_debate(store)
    await server.run("DELETE FROM procrastinate_jobs")
    await server.run("UPDATE debates SET status = 'voting'")
    await dispatcher_on(server).submit(debate)
    assert len(await server.rows(JOBS)) == 1
    await server.run("DELETE FROM procrastinate_jobs")
    await server.run("UPDATE debates SET status = 'closed'")
    await dispatcher_on(server).submit(debate)
    assert not await server.rows(JOBS)


async def test_what_is_queued_is_run_once_and_its_job_deleted(
    server: SqlDatabase, store: Store
) -> None:
    begun: list[str] = []

    async def think(debate: str) -> None:
        begun.append(debate)

    async with dispatching(dispatcher_on(server), think), dispatching(dispatcher_on(server), think):
        debates = [await a_debate(store) for _ in range(10)]
        await until(lambda: len(begun) >= 10)
        await until_true(lambda: _none(server))
    assert sorted(begun) == sorted(debates)


async def _none(server: SqlDatabase) -> bool:
    return not await server.rows(JOBS)


async def test_a_process_takes_no_more_than_it_has_room_for(
    server: SqlDatabase, store: Store
) -> None:
    going, most, go_on = [0], [0], asyncio.Event()

    async def think(debate: str) -> None:
        going[0] += 1
        most[0] = max(most[0], going[0])
        await go_on.wait()
        going[0] -= 1

    for _ in range(6):
        await a_debate(store)
    async with dispatching(dispatcher_on(server, slots=2), think):
        await until(lambda: going[0] == 2)
        await asyncio.sleep(0.1)
        assert most == [2]
        go_on.set()
        await until_true(lambda: _none(server))


async def test_a_paused_debate_is_queued_for_others_at_once(
    server: SqlDatabase, store: Store
) -> None:
    pausing, first, second = asyncio.Event(), [], []

    async def pause(debate: str) -> None:
        first.append(debate)
        await pausing.wait()

    async def think(debate: str) -> None:
        second.append(debate)

    debate = await a_debate(store)
    leaving = dispatcher_on(server)
    running = asyncio.create_task(leaving.run(pause))
    await until(lambda: first)
    async with dispatching(dispatcher_on(server), think):
        stopping = asyncio.create_task(leaving.stop(10))
        await asyncio.sleep(0.05)
        pausing.set()
        await stopping
        await until(lambda: second)
    await running
    assert first == second == [debate]


async def test_what_does_not_end_in_time_is_interrupted(server: SqlDatabase, store: Store) -> None:
    begun, interrupted = asyncio.Event(), asyncio.Event()

    async def think(debate: str) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            interrupted.set()

    await a_debate(store)
    dispatcher = dispatcher_on(server)
    running = asyncio.create_task(dispatcher.run(think))
    await begun.wait()
    await dispatcher.stop(0.05)
    assert interrupted.is_set()
    await running
    assert await _none(server)


async def test_a_debate_whose_backend_a_process_lacks_waits_for_one_that_has_it(
    server: SqlDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.dispatch.procrastinate.SAY_SECONDS", 0.0)
    begun: list[str] = []

    async def refuse(debate: str) -> None:
        raise AssertionError("it lacks the backend")

    async def think(debate: str) -> None:
        begun.append(debate)

    async with dispatching(dispatcher_on(server, backends=("far", "else")), refuse):
        debate = await a_debate(store)

        async def waits() -> bool:
            return (await store.debates.get(debate)).reason != ""

        await until_true(waits)
        stored = await store.debates.get(debate)
        assert stored.reason == "Needs a worker that has the backend “near”, and room for it."
        assert why(stored) == NO_ROOM, "members read no backend's name before the reveal"
        has_more = dispatcher_on(server, backends=("near", "far", "else"))
        async with dispatching(has_more, think):
            await until(lambda: begun == [debate])


async def test_a_debate_that_goes_on_with_another_model_waits_for_its_backend(
    server: SqlDatabase, store: Store
) -> None:
    debate = await a_debate(store)
    stored = await store.debates.get(debate)
    near = stored.setup.request
    sides = {side: Model.parse("far/x") for side in near.sides}
    moved = stored.setup.model_copy(update={"request": near.model_copy(update={"sides": sides})})
    await server.write(lambda connection: defer(connection, debate, moved))
    assert [row.queue_name for row in await server.rows(JOBS)] == ["debates/far+near"]


async def test_what_a_killed_worker_left_is_swept_and_queued_again(
    server: SqlDatabase, store: Store
) -> None:
    debate = await a_debate(store)
    await server.run("UPDATE procrastinate_jobs SET status = 'doing'")
    assert await store.queue.unheld() == [debate]
    lease = some(await store.leases.claim(f"debate/{debate}", "one", 9))
    assert await store.queue.unheld() == [], "somebody holds it, whatever its job says"
    jobs = JobTable(server)
    await jobs.sweep()
    assert len(await server.rows(JOBS)) == 1
    await store.leases.release(lease)
    await jobs.sweep()
    assert await _none(server)
    assert await store.queue.unheld() == [debate]
    await dispatcher_on(server).submit(debate)
    assert await store.queue.unheld() == [], "a job waits for it"
