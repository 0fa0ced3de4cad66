"""What passes on PostgreSQL decides nothing: others' locks, a full disk, a newer version."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from adapters.database import postgres
from adapters.database.database import SqlDatabase
from adapters.database.processes import JobTable
from adapters.models.router import open_models
from bot.app import MainLine
from bot.database import Role
from engine.fleet import leases
from engine.fleet.leases import LeaseManager, Notifier
from engine.prompts import load_prompts
from engine.run.order import Order
from engine.run.run import Runner
from engine.store import Store
from engine.store.database import SqlConnection
from engine.store.people import ensure_person
from engine.store.vote_log import append
from engine.values.debate import Status
from engine.values.errors import StoreError
from engine.values.ports import _SharedTime, machine_now, utc_now
from tests.doubles.databases import held
from tests.doubles.rehearsed import DEFAULTS
from tests.doubles.venue import MemoryVenue
from tests.kit import HANG_SECONDS, NO_CAPS, NOW, create, new_debate, run, some

SHORT_OF = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''could not extend file'' USING ERRCODE = ''{state}''; END';
CREATE TRIGGER refuse BEFORE INSERT ON calls FOR EACH ROW EXECUTE FUNCTION refuse()
"""


@pytest.fixture(scope="module")
def database_kind() -> str:
    return "postgresql"


async def test_a_write_waits_for_a_lock_however_long_another_process_holds_it(
    database: SqlDatabase, other: SqlDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "CONFLICT_SECONDS", 0.2)
    monkeypatch.setattr(postgres, "LOCK_MS", 50)
    monkeypatch.setattr(postgres, "IDLE_MS", 20_000)
    new = new_debate()
    await create(store, new, NO_CAPS)
    lock = "LOCK TABLE debates IN SHARE MODE"  # as making an index does
    async with held(other, lambda connection: connection.run(lock)):
        stopping = asyncio.ensure_future(store.queue.ask_stop(new.id, "enough"))
        done, _ = await asyncio.wait([stopping], timeout=1.5)
        assert not done, "it was given up"
    await stopping
    assert (await store.debates.stops())[new.id].text == "enough"


@pytest.mark.parametrize(("state", "ends"), [("53100", False), ("57014", False), ("22023", True)])
async def test_a_database_that_cannot_be_used_now_ends_no_debate(
    database: SqlDatabase, store: Store, state: str, ends: bool
) -> None:
    models = open_models({})
    line = MainLine(store, models, load_prompts(), (), role=Role.GATEWAY)
    order = Order(platform="series", community="club", place="lobby", topic="Tea beats coffee")
    debate = (await line.service.start(order, DEFAULTS)).debate.id
    await database.write(lambda c: c.driver.execute(SHORT_OF.format(state=state), prepare=False))
    notifier = Notifier()
    running = Runner(store, models, LeaseManager(store, notifier, "one"), notifier).run_debate(
        debate
    )
    if ends:
        await running
    else:
        with pytest.raises(StoreError, match="could not extend file"):
            await running
    await models.aclose()
    found = await store.debates.get(debate)
    assert (found.status is Status.FAILED) == ends
    assert "could not extend file" in found.reason or not ends
    assert await store.leases.held("debate/", "two") == {}, "another process may go on with it"


async def test_a_process_goes_by_the_databases_clock_from_its_first_look(
    database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, shared = machine_now, _SharedTime()
    monkeypatch.setattr("engine.values.ports.SHARED_TIME", shared)
    monkeypatch.setattr(postgres, "SHARED_TIME", shared)
    for module in ("engine.values.ports", "adapters.database.postgres"):
        monkeypatch.setattr(f"{module}.machine_now", lambda: real() + timedelta(minutes=5))
    await asyncio.to_thread(database.inspect)  # as a start does, before anything is written
    assert abs(utc_now() - real()) < timedelta(seconds=1)


async def test_a_newer_versions_debate_does_not_end_a_process_that_queues(
    database: SqlDatabase, store: Store
) -> None:
    new = new_debate()
    await create(store, new, NO_CAPS)
    await database.run("UPDATE debates SET setup = replace(setup, '\"seed\"', '\"sown\"')")
    assert await JobTable(database).submit(new.id) is None
    assert await database.column("SELECT id FROM procrastinate_jobs") == []


async def test_a_newer_versions_debate_is_left_to_its_processes(
    database: SqlDatabase, store: Store
) -> None:
    models, notifier = open_models({}), Notifier()
    line = MainLine(store, models, load_prompts(), (), role=Role.GATEWAY)
    order = Order(platform="series", community="club", place="lobby", topic="Tea beats coffee")
    debate = (await line.service.start(order, DEFAULTS)).debate
    version = f'"format_version":{debate.setup.format_version}'
    later = "UPDATE debates SET setup = replace(setup, :was, :now)"
    assert await database.run(later, was=version, now='"format_version":99')
    await Runner(store, models, LeaseManager(store, notifier, "one"), notifier).run_debate(
        debate.id
    )
    await models.aclose()
    assert (await store.debates.get(debate.id)).status.live
    assert await store.leases.held("debate/", "two") == {}


async def test_who_votes_meanwhile_is_not_taken_for_a_stranger(
    database: SqlDatabase, other: SqlDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = new_debate(user=None)
    await create(store, new, NO_CAPS)
    await database.write(lambda c: ensure_person(c, "chat", "ann", None))

    def vote(connection: SqlConnection) -> None:
        ann = some(ensure_person(connection, "chat", "ann", None))
        row = {"debate": new.id, "person": ann.id, "question": "vote", "how": "live"}
        append(connection, option="A", added=True, received_at=NOW, **row)

    async with held(other, vote):
        dropping = asyncio.ensure_future(store.retention.drop_strangers())
        await asyncio.wait([dropping], timeout=0.4)
    assert await dropping == 0
    assert await database.column('SELECT "user" FROM people') == ["ann"]


async def test_no_one_waits_for_a_migration_that_waits_for_a_long_read(
    database: SqlDatabase, other: SqlDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "MIGRATION_LOCK_MS", 100)
    monkeypatch.setattr(postgres, "MIGRATION_PAUSE", 0.1)
    new = new_debate()
    await create(store, new, NO_CAPS)

    def change(connection: Any) -> None:
        connection.exec_driver_sql("ALTER TABLE debates ADD COLUMN extra TEXT")

    with other.snapshot() as view:
        assert view.value("SELECT count(*) FROM debates") == 1  # as an export reads, for long
        migrating = asyncio.create_task(asyncio.to_thread(other.dialect.upgrade, change))
        await asyncio.sleep(0.5)
        async with asyncio.timeout(HANG_SECONDS):
            await store.queue.ask_stop(new.id, "enough")
        assert not migrating.done()
    await migrating
    assert await database.column("SELECT extra FROM debates") == [None]


async def test_the_lease_of_a_process_that_was_killed_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.0)
    dead = some(await store.leases.claim("debate/1", "dead", 0.3))
    async with LeaseManager(store, Notifier(), "new").hold("debate/1", patient=True) as lease:
        assert lease.epoch > dead.epoch


async def test_a_vote_that_another_process_counts_is_noted_as_to_close(
    store: Store, other: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.2)  # of which it waits for one
    running = await run(store)
    await running.open_vote()
    venue, models = MemoryVenue(), open_models({})
    line = MainLine(Store(other), models, load_prompts(), [venue], role=Role.GATEWAY)
    line.service.windows = {"chat": line.service.windows[venue.platform]}
    noted = await line.service.close_vote(running.id)
    assert noted.status is Status.VOTING
    assert noted.close_asked_at is not None
    await models.aclose()
