"""Releases expand before they contract: this version goes on beside the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, inspect

import migrations
from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.migrate import (
    NOTE_SUITS,
    make_ready,
    migrate,
    newest,
    require_newest,
    revisions,
    suits,
    upgrade,
)
from adapters.storage.store import SqlStore
from adapters.storage.tables import metadata
from engine.errors import StoreError
from engine.store import ExportFilter
from engine.store.installs import Install
from tests.doubles.whole_debate import hold_whole

NEXT = f"{int(newest()) + 1:04}"
NOTED = "SELECT value FROM installation WHERE name = 'suits'"
FILES = sorted((Path(migrations.__file__).parent / "versions").glob("rev_*.py"))
LAST_SILENT = "0022"  # the last one that says neither


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
    for oldest in (NEXT, "0019", "0020"):
        monkeypatch.setattr("adapters.storage.migrate.suits", lambda oldest=oldest: oldest)
        await migrate(database)
        assert await database.value(NOTED) == oldest
    assert await database.value("SELECT count(*) FROM installation WHERE name = 'suits'") == 1


def test_each_new_migration_says_whether_older_processes_go_on_beside_it() -> None:
    for file in FILES[int(LAST_SILENT) :]:
        text = file.read_text()
        alone = "may not go on beside this one" in " ".join(text.split())
        assert ("expands = True" in text.splitlines()) != alone, file.name


async def test_an_older_version_that_may_go_on_finds_what_it_knows_and_may_leave_out_the_rest(
    empty_url: str,
) -> None:
    database = Database(empty_url)
    await asyncio.to_thread(upgrade, database, LAST_SILENT)
    known = await asyncio.to_thread(_columns, database)
    for revision, file in list(zip(revisions(), FILES, strict=True))[int(LAST_SILENT) :]:
        await asyncio.to_thread(upgrade, database, revision)
        found = await asyncio.to_thread(_columns, database)
        for table in known if "expands = True" in file.read_text().splitlines() else ():
            old, new = known[table], found[table]
            assert {name: new[name] for name in old} == old, f"{revision}: {table}"
            assert all(new[name].optional for name in new.keys() - old.keys()), revision
        known = found
    await database.close()


async def test_a_migration_and_what_suits_it_are_stored_together(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(empty_url)
    monkeypatch.setattr("adapters.storage.migrate.suits", lambda: LAST_SILENT)
    await asyncio.to_thread(upgrade, database, noted=True)
    assert await database.value(NOTED) == LAST_SILENT
    await database.close()


class Column(NamedTuple):
    """A column as somebody who writes a row meets it."""

    type: str
    optional: bool
    unique: bool


def _columns(database: Database) -> dict[str, dict[str, Column]]:
    """Return every table's columns; `unique` are those of a key or of a unique index."""
    tables: dict[str, dict[str, Column]] = {}

    def look(connection: Connection) -> None:
        looking = inspect(connection)
        for table in looking.get_table_names():
            keys: list[Sequence[str | None]] = [
                looking.get_pk_constraint(table)["constrained_columns"]
            ]
            keys += [one["column_names"] for one in looking.get_unique_constraints(table)]
            keys += [one["column_names"] for one in looking.get_indexes(table) if one["unique"]]
            unique = {name for key in keys for name in key if name}
            tables[table] = {
                found["name"]: Column(
                    str(found["type"]),
                    found["nullable"] or found["default"] is not None,
                    found["name"] in unique,
                )
                for found in looking.get_columns(table)
            }

    database.dialect.upgrade(look)
    return tables


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
