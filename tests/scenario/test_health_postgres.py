"""Health of a process whose PostgreSQL is killed, and is back."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

import pytest
from aiohttp import ClientSession

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bot.app import App
from bot.database import Role
from bot.serve import health as rooms
from bot.serve.health import Health
from bot.serve.run import serving
from engine.store import Store
from tests.doubles.databases import PASSWORD, PostgresDouble
from tests.doubles.wire import wired
from tests.kit import HANG_SECONDS, cancelled, until_asked
from tests.scenario.discord_stage import free_port, settings_of
from tests.unit.test_health import ask, fetch, read, served


@pytest.fixture
async def server() -> AsyncIterator[PostgresDouble]:
    """A server that a test may kill."""
    server = await asyncio.to_thread(PostgresDouble)
    yield server
    await asyncio.to_thread(server.stop)


@pytest.mark.slow
async def test_a_killed_postgresql_is_said_without_its_address_until_it_is_back(
    server: PostgresDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(rooms, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(rooms, "FIGURES_SECONDS", 0.0)
    database = SqlDatabase(server.tcp())
    await migrate(database)
    store = Store(database)
    async with served(Health(store, {})) as url, ClientSession() as session:
        ready = partial(ask, f"{url}/readyz")
        await until_asked(ready, lambda answer: answer[0] == 200)
        server.crash()
        status, body = await ask(f"{url}/readyz")
        [said] = body["problems"]
        assert (status, body["database"]) == (503, False)
        assert said.startswith("The database ")
        assert not [one for one in (PASSWORD, "postgres", str(server.port)) if one in said]
        assert (await ask(f"{url}/livez"))[0] == 200, "a restart mends no database"
        began = time.monotonic()
        text = await (await fetch(session, f"{url}/metrics")).text()
        assert time.monotonic() - began < 5
        found = read(text)
        assert found["rostrum_database_writable"] == {(): 0}
        assert found["rostrum_debates"] == {}, "what is unknown is not shown as none"
        await asyncio.to_thread(server.start)
        await until_asked(ready, lambda answer: answer[0] == 200)
        async with asyncio.timeout(HANG_SECONDS):
            while len(found["rostrum_debates"]) != 3:
                found = read(await (await fetch(session, f"{url}/metrics")).text())
    await store.close()


async def test_a_start_waits_for_its_database_says_so_and_can_be_stopped(
    postgres: PostgresDouble, migrated_name: str
) -> None:
    name, port = postgres.create(migrated_name), free_port()
    url = f"http://127.0.0.1:{port}"
    with wired(postgres.port) as wire:
        wire.cut()
        settings = settings_of(postgres.tcp(name, port=wire.port), health={"port": port})
        async with AsyncExitStack() as running:

            def start() -> asyncio.Task[App]:
                served = serving(settings, role=Role.GATEWAY)
                return asyncio.create_task(running.enter_async_context(served))

            stopped = start()
            await asyncio.sleep(0.5)
            async with asyncio.timeout(HANG_SECONDS):
                await cancelled(stopped)
            starting = start()
            status, body = await ask(f"{url}/readyz")
            said = ["Rostrum is starting; it waits for its database."]
            assert (status, body["problems"]) == (503, said)
            assert (await ask(f"{url}/livez"))[0] == 200
            wire.mend()
            await starting
            assert (await ask(f"{url}/readyz"))[0] == 200
    postgres.drop(name)
