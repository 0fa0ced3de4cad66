"""Releases expand before they contract: this version goes on beside the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.migrate import (
    NOTE_SUITS,
    make_ready,
    migrate,
    newest,
    require_newest,
    suits,
)
from adapters.storage.store import SqlStore
from adapters.storage.tables import metadata
from engine.errors import StoreError
from engine.store import ExportFilter
from engine.store.installs import Install
from tests.doubles.whole_debate import hold_whole

NEXT = f"{int(newest()) + 1:04}"


def expand(connection: SqlConnection) -> None:
    """Do what the next release's migration may do while processes of this one run."""
    for table in metadata.tables:
        connection.run(f'ALTER TABLE "{table}" ADD COLUMN later TEXT')
        connection.run(f'ALTER TABLE "{table}" ADD COLUMN sure BOOLEAN NOT NULL DEFAULT FALSE')
    connection.run("CREATE TABLE lately (id INTEGER PRIMARY KEY, debate VARCHAR(26))")
    connection.run("CREATE INDEX ix_debates_later ON debates (later)")
    connection.run("UPDATE alembic_version SET version_num = :next", next=NEXT)
    connection.run(NOTE_SUITS, oldest=newest())


@pytest.mark.parametrize("format", ["classic", "structured", "audited"])
async def test_a_debate_is_held_on_a_database_that_is_one_migration_ahead(
    database_url: str, tmp_path: Path, format: str
) -> None:
    database = Database(database_url)
    await database.write(expand)
    await make_ready(database)
    assert await migrate(database) == NEXT
    await require_newest(database)
    await database.close()
    whole = await hold_whole(database_url, tmp_path / "out", topic="Tea or coffee", format=format)
    assert whole.table("turns")
    database = Database(database_url)
    store = SqlStore(database)
    assert await asyncio.to_thread(store.archive.size, ExportFilter()) == 1
    sealed = SqlStore(database, ["a-key-of-sixteen-characters"])
    install = Install(
        platform="memory", community="club", name="Club", account="b1",
        token=SecretStr("token"), installed_at=whole.debate.created_at,
    )  # fmt: skip
    await sealed.installs.keep(install)
    assert await sealed.installs.find("memory", "club") == install
    await store.people.forget("memory", "ann")
    await store.communities.left("memory", "club", whole.debate.created_at)
    assert await store.communities.purge("memory", "club") == 1
    await store.close()


async def test_a_database_that_is_ahead_and_contracted_is_refused(database: Database) -> None:
    await database.write(expand)
    await database.run("UPDATE installation SET value = :next WHERE name = 'suits'", next=NEXT)
    for use in (make_ready, migrate, require_newest):
        with pytest.raises(StoreError, match=rf"newer Rostrum \(revision {NEXT}\)"):
            await use(database)


async def test_what_a_migration_says_of_itself_is_noted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = "SELECT value FROM installation WHERE name = 'suits'"
    for oldest in (NEXT, "0019", "0020"):
        monkeypatch.setattr("adapters.storage.migrate.suits", lambda oldest=oldest: oldest)
        await migrate(database)
        assert await database.value(noted) == oldest
    assert await database.value("SELECT count(*) FROM installation WHERE name = 'suits'") == 1


def test_each_migration_in_a_row_that_expands_lets_an_older_version_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "versions"
    folder.mkdir()
    for number, says in enumerate(["", "", "expands = True\n", "expands = True\n"], start=1):
        (folder / f"rev_{number:04}_x.py").write_text(f'"""X."""\n\nrevision = "{number}"\n{says}')
    monkeypatch.setattr("adapters.storage.migrate.files", lambda _: tmp_path)
    assert (newest(), suits()) == ("0004", "0002")
    (folder / "rev_0005_x.py").write_text('"""X."""\n')
    assert suits() == "0005"
