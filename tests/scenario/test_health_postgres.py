"""Health of a process whose PostgreSQL is killed, and is back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from adapters.storage.database import Database
from adapters.storage.migrate import migrate
from adapters.storage.store import SqlStore
from bot import health as rooms
from bot.health import Health
from tests.doubles.postgres import PASSWORD, PostgresDouble
from tests.doubles.waiting import HANG_SECONDS
from tests.unit.test_health import ask, fetch, read, served


@pytest.fixture
async def server() -> AsyncIterator[PostgresDouble]:
    """A server that a test may kill."""
    server = await asyncio.to_thread(PostgresDouble)
    yield server
    await asyncio.to_thread(server.stop)


async def test_a_killed_postgresql_is_said_without_its_address_until_it_is_back(
    server: PostgresDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(rooms, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(rooms, "FIGURES_SECONDS", 0.0)
    database = Database(server.tcp())
    await migrate(database)
    store = SqlStore(database)
    async with served(Health(store, {})) as url, ClientSession() as session:
        async with asyncio.timeout(HANG_SECONDS):
            while (await ask(f"{url}/livez"))[0] != 200:  # noqa: ASYNC110 - it is asked anew
                await asyncio.sleep(0.05)
        server.crash()
        for page in ("livez", "readyz"):
            status, body = await ask(f"{url}/{page}")
            [said] = body["problems"]
            assert (status, body["database"]) == (503, False)
            assert said.startswith("The database ")
            assert not [one for one in (PASSWORD, "postgres", str(server.port)) if one in said]
        began = time.monotonic()
        text = await (await fetch(session, f"{url}/metrics")).text()
        assert time.monotonic() - began < 5
        found = read(text)
        assert found["rostrum_database_writable"] == {(): 0}
        assert found["rostrum_debates"] == {}, "what is unknown is not shown as none"
        await asyncio.to_thread(server.start)
        async with asyncio.timeout(HANG_SECONDS):
            while (await ask(f"{url}/livez"))[0] != 200:  # noqa: ASYNC110 - it is asked anew
                await asyncio.sleep(0.05)
            while len(found["rostrum_debates"]) != 3:
                found = read(await (await fetch(session, f"{url}/metrics")).text())
    await store.close()
