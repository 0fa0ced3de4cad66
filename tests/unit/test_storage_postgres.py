"""What several processes on one PostgreSQL server must not do to one another, and its absences."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.leases import guard
from adapters.storage.store import SqlStore
from engine.errors import LeaseLostError
from engine.store import Lease
from tests.doubles.postgres import PostgresDouble
from tests.doubles.wire import Wire, wired

NUMBERS = "SELECT id FROM notes ORDER BY id"
INSERT = "INSERT INTO notes VALUES (:id)"


@pytest.fixture(scope="module")
def database_kind() -> str:
    return "postgresql"


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """The same database, as another process has it open."""
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
def others(other: Database) -> SqlStore:
    return SqlStore(other)


@pytest.fixture
def wire(postgres: PostgresDouble) -> Iterator[Wire]:
    with wired(postgres.port) as wire:
        yield wire


@pytest.fixture
async def far(wire: Wire, postgres: PostgresDouble) -> AsyncIterator[Database]:
    """A database with one table, at the end of a wire."""
    name = postgres.create()
    postgres.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)", name)
    database = Database(postgres.tcp(name, port=wire.port))
    await database.value("SELECT 1")
    await database.write(lambda connection: connection.value("SELECT 1"))
    yield database
    wire.mend()
    await database.close()
    postgres.drop(name)


class Held:
    """A write that does one thing, then stands still in its transaction until it is let go."""

    def __init__(self, operation: Callable[[SqlConnection], object]) -> None:
        self._operation = operation
        self._begun, self._go = threading.Event(), threading.Event()

    def __call__(self, connection: SqlConnection) -> object:
        result = self._operation(connection)
        self._begun.set()
        assert self._go.wait(20)
        return result

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, 20)

    def go_on(self) -> None:
        self._go.set()


async def is_waiting(task: asyncio.Future[Any]) -> bool:
    """Whether something goes on to wait for a lock, past that of a group."""
    done, _ = await asyncio.wait([task], timeout=0.3)
    return not done


# --- writes of several processes -----------------------------------------------------------


async def test_a_lease_is_not_taken_over_between_a_guard_and_its_commit(
    store: SqlStore, database: Database, others: SqlStore
) -> None:
    lease = await store.leases.claim("debate/x", "first", -1)
    assert lease is not None
    held = Held(lambda connection: guard(connection, lease))
    writing = asyncio.ensure_future(database.write(held))
    await held.begun()
    claiming = asyncio.ensure_future(others.leases.claim("debate/x", "second", 9))
    assert await is_waiting(claiming)
    held.go_on()
    await writing
    assert await claiming == Lease(name="debate/x", epoch=2)
    with pytest.raises(LeaseLostError):
        await database.write(lambda connection: guard(connection, lease))


async def test_a_guard_waits_for_a_claim_that_came_first_and_fails(
    store: SqlStore, database: Database, other: Database
) -> None:
    lease = await store.leases.claim("debate/x", "first", 60)
    assert lease is not None
    taking = Held(lambda c: c.run("UPDATE leases SET epoch = 2 WHERE name = 'debate/x'"))
    claiming = asyncio.ensure_future(other.write(taking))
    await taking.begun()
    writing = asyncio.ensure_future(database.write(lambda c: guard(c, lease)))
    assert await is_waiting(writing)
    taking.go_on()
    await claiming
    with pytest.raises(LeaseLostError):
        await writing
