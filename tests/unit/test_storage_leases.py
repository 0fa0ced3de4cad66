"""Leases on SQLite: the sole runner's claim is at once, several processes wait for expiry."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Lease
from engine.store.leases import Leases
from tests.kit import some


@pytest.fixture
async def several(database_url: str) -> AsyncIterator[Leases]:
    database = SqlDatabase(database_url, writable=False)
    yield Leases(database)
    await database.close()


async def test_to_the_sole_runner_no_other_holder_is_alive(database: SqlDatabase) -> None:
    leases = Leases(database)
    assert await leases.claim("debate/0", "dead", 3600) == Lease(name="debate/0", epoch=1)
    assert await leases.claim("debate/1", "alive", 3600)
    assert await leases.held("debate/", "alive") == {"debate/1": "alive"}
    assert await leases.claim("debate/0", "alive", 3600) == Lease(name="debate/0", epoch=2)
    assert await leases.renew("dead", 9) == {}


async def test_among_several_a_second_holder_waits_for_expiry(several: Leases) -> None:
    assert await several.claim("debate/x", "first", 60)
    assert await several.claim("debate/x", "second", 9) is None
    await several.renew("first", 0.01)
    await asyncio.sleep(0.02)
    assert await several.claim("debate/x", "second", 9) == Lease(name="debate/x", epoch=2)
    assert await several.renew("first", 9) == {}
    assert await several.claim("debate/x", "first", 9) is None


async def test_among_several_renewing_keeps_a_second_holder_out_and_releasing_lets_it_in(
    several: Leases,
) -> None:
    lease = some(await several.claim("debate/x", "first", 0.2))
    assert await several.renew("first", 9) == {"debate/x": 1}
    await asyncio.sleep(0.21)
    assert await several.claim("debate/x", "second", 9) is None
    await several.release(lease)
    assert await several.claim("debate/x", "second", 9) == Lease(name="debate/x", epoch=2)


async def test_among_several_live_leases_are_listed_with_their_holders(several: Leases) -> None:
    await several.claim("connection/hall/0", "first", 60)
    gone = await several.claim("connection/hall/1", "second", 60)
    await several.claim("connection/hall/2", "second", -1)
    await several.claim("connection/hallway/0", "third", 60)
    assert gone is not None
    both = {"connection/hall/0": "first", "connection/hall/1": "second"}
    assert await several.held("connection/hall/", "first") == both
    await several.release(gone)
    assert await several.held("connection/hall/", "x") == {"connection/hall/0": "first"}
