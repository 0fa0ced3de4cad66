"""Servers that cannot be used as they are: one sentence each, and nothing was changed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from adapters.database.database import SqlDatabase
from adapters.database.migrate import make_ready, migrate, require_newest
from bot.operations.copy import _of_target
from engine.store.database import SqlConnection
from engine.values.errors import StoreError
from migrations import newest
from tests.doubles.databases import PostgresDouble
from tests.doubles.wire import Wire
from tests.slow import slow_after

USES = [make_ready, migrate, require_newest]


@pytest.fixture(scope="module")
def database_kind() -> str:
    return "postgresql"


@pytest.fixture
def plain_role(postgres: PostgresDouble) -> Iterator[str]:
    """A role without any right."""
    postgres.run("CREATE ROLE guest LOGIN")
    yield "guest"
    postgres.run("DROP ROLE guest")


async def refusal(
    url: str, use: Callable[[SqlDatabase], Awaitable[Any]] = make_ready, **how: Any
) -> str:
    with pytest.raises(StoreError) as caught:
        async with opened(url, **how) as database:
            await use(database)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "open-sesame" not in sentence
    assert sentence.endswith(".")
    return sentence


@asynccontextmanager
async def opened(url: str, **how: Any) -> AsyncIterator[SqlDatabase]:
    database = SqlDatabase(url, **{"start_seconds": 0.2, **how})
    try:
        yield database
    finally:
        await database.close()


async def test_a_server_that_is_too_old_and_a_newer_schema_are_refused(
    postgres: PostgresDouble, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.url(name)
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.ConnectionInfo, "server_version", 130_011)
        for use in USES:
            said = await refusal(url, use)
            assert "is on PostgreSQL 13, and Rostrum needs 14 or newer; upgrade it" in said
    postgres.run("UPDATE alembic_version SET version_num = '9999'", name)
    postgres.run("UPDATE installation SET value = '9999' WHERE name = 'min_version'", name)
    for use in USES:
        assert "was made by a newer Rostrum (revision 9999)" in await refusal(url, use)


async def test_a_database_that_takes_no_writes_is_read_and_not_run_on(
    postgres: PostgresDouble, name: str
) -> None:
    postgres.run(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    said = await refusal(postgres.url(name))
    assert "takes no writes. Point ROSTRUM_DATABASE_URL at the primary" in said
    async with opened(postgres.url(name), writable=False) as database:
        await require_newest(database)
        with pytest.raises(StoreError, match=r"read-only transaction\. Point ROSTRUM_DATABASE_URL"):
            await database.run("INSERT INTO installation VALUES ('x', 'y')")


async def test_a_role_without_rights_says_what_to_grant_and_leaves_an_empty_database(
    postgres: PostgresDouble, name: str, empty_url: str, plain_role: str
) -> None:
    for use in USES:
        said = await refusal(postgres.url(name, plain_role), use)
        assert "permission denied for" in said
        assert "Give its role the rights to use and create tables in its schema." in said
    said = await refusal(empty_url.replace("postgres@", f"{plain_role}@"), migrate)
    assert "permission denied for schema public. Give its role" in said
    async with opened(empty_url) as database:
        assert database.inspect() == (frozenset(), None, None)


async def test_a_full_disk_is_a_sentence_and_what_was_stored_stays(
    postgres: PostgresDouble, name: str
) -> None:
    def fill(connection: SqlConnection) -> None:
        connection.run("INSERT INTO installation VALUES ('more', 'y')")
        raise psycopg.errors.DiskFull("could not extend file: No space left on device")

    async with opened(postgres.url(name)) as database:
        await database.run("INSERT INTO installation VALUES ('x', 'y')")
        with pytest.raises(StoreError, match=r"No space left on device\. Free some space there"):
            await database.write(fill)
        kept = await database.column("SELECT name FROM installation WHERE name <> 'min_version'")
        assert kept == ["x"]
        await database.run("INSERT INTO installation VALUES ('z', 'y')")


async def test_tables_of_another_program_are_left_alone(empty_url: str) -> None:
    async with opened(empty_url) as database:
        await database.run("CREATE TABLE orders (id INTEGER)")
        before = database.inspect()
    for use in USES:
        said = await refusal(empty_url, use)
        assert "belongs to another program" in said
        assert "point ROSTRUM_DATABASE_URL at another database." in said
    async with opened(empty_url) as database:
        assert database.inspect() == before


@pytest.mark.parametrize("use", [make_ready, require_newest])
async def test_only_migrate_upgrades_an_older_schema(
    postgres: PostgresDouble, empty_url: str, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "has no tables of Rostrum yet; run rostrum migrate" in await refusal(empty_url, use)
    async with opened(empty_url) as database:
        await migrate(database)
    known = [newest(), "9999"]
    monkeypatch.setattr("migrations.revisions", lambda: known)
    said = await refusal(empty_url, use)
    assert "this version needs 9999; run rostrum migrate." in said


async def test_a_database_is_migrated_by_one_process_at_a_time(empty_url: str) -> None:
    async def upgrade() -> str:
        async with opened(empty_url, start_seconds=10) as database:
            return await migrate(database)

    assert set(await asyncio.gather(*(upgrade() for _ in range(3)))) == {newest()}


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (("open-sesame", "hunter2"), "Correct the password in ROSTRUM_DATABASE_URL."),
        (("/NAME", "/elsewhere"), "Create the database, or correct its name"),
        (("127.0.0.1:PORT", "no-such-host.invalid"), "Check the host's name"),
        ((":PORT/", ":1/"), "Start the server, or correct its address"),
        (("/NAME", "/NAME?sslmode=require"), "Set sslmode in ROSTRUM_DATABASE_URL"),
        (("postgres:open", "ann:open"), "Correct the password in ROSTRUM_DATABASE_URL."),
    ],
)
@pytest.mark.parametrize("writable", [True, False])
async def test_an_address_that_leads_nowhere_says_what_to_correct(
    postgres: PostgresDouble, name: str, change: tuple[str, str], advice: str, writable: bool
) -> None:
    before, after = (
        part.replace("NAME", name).replace("PORT", str(postgres.port)) for part in change
    )
    began = time.monotonic()
    url = postgres.tcp(name).replace(before, after)
    assert advice in await refusal(url, require_newest, writable=writable)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:open-sesame@host:five/db",
        "postgresql://ann:open-sesame@host/db?sslmod=require",
        "postgresql://ann:open%zzsesame@host/db",
        "postgresql+asyncpg://ann:open-sesame@host/db",
    ],
)
def test_an_address_with_a_typo_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="ROSTRUM_DATABASE_URL") as caught:
        SqlDatabase(url)
    assert "sesame" not in str(caught.value)


def test_without_the_driver_a_sentence_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"procrastinate": True}
    monkeypatch.setattr("adapters.database.database.find_spec", found.get)
    with pytest.raises(StoreError, match=r"needs psycopg, .* pip install 'psycopg\[binary\]"):
        SqlDatabase("postgresql://ann@host/db")
    monkeypatch.setattr("adapters.database.database.find_spec", lambda name: None)
    with pytest.raises(StoreError, match="needs psycopg and procrastinate, which are not") as told:
        SqlDatabase("postgresql://ann@host/db")
    assert str(told.value).endswith(", or set ROSTRUM_DATABASE_URL to a file.")
    of_copy = str(_of_target(told.value))
    assert of_copy.endswith("'procrastinate>=3.10'.")


STEPS = ["user", "SET TIME ZONE", "pg_tables", "alembic_version", "COMMIT", "pg_advisory"]
STEPS += ["debates"]


@pytest.mark.parametrize("step", slow_after(1, STEPS))
@pytest.mark.parametrize("arrives", [False, True])
async def test_a_start_goes_on_after_a_connection_is_lost_at_any_step(
    postgres: PostgresDouble, empty_url: str, wire: Wire, step: str, arrives: bool
) -> None:
    url = postgres.tcp(urlsplit(empty_url).path.strip("/"), port=wire.port)
    wire.lose(step, arrives=arrives)
    async with opened(url, start_seconds=10) as database:
        await migrate(database)
        await make_ready(database)
        assert await database.column("SELECT id FROM debates") == []
    assert wire.losses == 1


@pytest.mark.parametrize("step", STEPS)
async def test_a_server_that_vanishes_at_a_step_of_the_start_is_one_sentence(
    postgres: PostgresDouble, empty_url: str, wire: Wire, step: str
) -> None:
    url = postgres.tcp(urlsplit(empty_url).path.strip("/"), port=wire.port)
    wire.lose(step, arrives=False, for_good=True)

    async def start(database: SqlDatabase) -> None:
        await migrate(database)
        await require_newest(database)
        await database.column("SELECT id FROM debates")

    said = await refusal(url, start, writable=False)
    assert "could not be used: " in said
