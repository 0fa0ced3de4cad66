"""Migrations: from nothing to this version's tables, once, and never back."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import migrations
from adapters.storage import schema
from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.dialect import REVISION
from adapters.storage.migrate import migrate, newest, require_newest, revisions, upgrade
from adapters.storage.store import SqlStore
from adapters.storage.tables import metadata
from engine.errors import StoreError
from engine.store import NewDebate
from tests.doubles.waiting import HANG_SECONDS
from tests.sample import new_debate, real

FILES = sorted((Path(migrations.__file__).parent / "versions").glob("rev_*.py"))


@pytest.fixture
async def empty(empty_url: str) -> AsyncIterator[Database]:
    database = Database(empty_url)
    yield database
    await database.close()


def _differences(database: Database) -> object:
    # Procrastinate's tables are its own: its package has their form.
    theirs = "procrastinate_"
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, _: kind != "table" or not name.startswith(theirs),
    }
    found: list[object] = []

    def compare(connection: Connection) -> None:
        connection.dialect.supports_comments = False  # which are for who reads tables.py
        context = MigrationContext.configure(connection, opts=options)
        found.extend(compare_metadata(context, metadata))

    database.dialect.upgrade(compare)
    return found


async def test_migrating_an_empty_database_makes_this_versions_tables(empty: Database) -> None:
    assert await migrate(empty) == newest()
    assert empty.peek().revision == newest()
    assert _differences(empty) == []


async def test_the_script_for_new_databases_is_what_the_migrations_make(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'migrated.db'}")
    await asyncio.to_thread(upgrade, database)
    renew = "The migrations make other tables than migrations/schema.sql; run: make schema"
    assert schema.script() == schema.dump(database.path, newest()), renew
    assert await database.value(REVISION) == newest()
    tables = await database.column("SELECT name FROM sqlite_master WHERE type = 'table'")
    filled = [name for name in tables if await database.value(f"SELECT 1 FROM {name}")]  # noqa: S608
    assert filled == ["alembic_version"], "the script would lose rows that migrations write"
    await database.close()


@pytest.mark.sqlite
async def test_a_new_database_needs_no_alembic(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.storage.migrate.upgrade", None)
    assert await migrate(empty) == newest()
    assert _differences(empty) == []


@pytest.mark.sqlite
async def test_a_script_that_was_not_renewed_is_not_used(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = [statement.replace(newest(), "0001") for statement in schema.script()]
    monkeypatch.setattr(schema, "script", lambda: older)
    assert await migrate(empty) == newest()
    assert empty.peek().revision == newest()
    assert _differences(empty) == []


async def test_a_difference_between_tables_and_migrations_would_be_seen(empty: Database) -> None:
    await migrate(empty)
    await empty.run("ALTER TABLE debates DROP COLUMN gone")
    assert _differences(empty) != []


async def test_debates_held_before_are_known_as_rehearsals(empty: Database) -> None:
    await asyncio.to_thread(upgrade, empty, "0001")
    held = [real(new_debate()), new_debate()]
    for new in held:
        await empty.write(partial(_insert_old, new=new))
    await migrate(empty)
    found = await empty.rows("SELECT id, rehearsal FROM debates")
    assert {row.id: row.rehearsal for row in found} == {held[0].id: False, held[1].id: True}


async def test_migrating_again_changes_nothing(database: Database, store: SqlStore) -> None:
    secret = await store.debates.secret("salt")
    await asyncio.gather(migrate(database), migrate(database))
    assert await store.debates.secret("salt") == secret


async def test_a_database_of_a_newer_version_is_left_alone(database: Database) -> None:
    await database.run("UPDATE alembic_version SET version_num='9999'")
    await database.run("UPDATE installation SET value='9999' WHERE name='suits'")
    with pytest.raises(
        StoreError, match=r"was made by a newer Rostrum \(revision 9999\); install that version"
    ):
        await migrate(database)
    assert database.peek().revision == "9999"


async def test_a_migrated_database_is_ready(database: Database) -> None:
    await require_newest(database)


async def test_a_missing_database_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    path = tmp_path / "absent.db"
    database = Database(f"sqlite+aiosqlite:///{path}", writable=False)
    with pytest.raises(StoreError, match=r"There is no database .*absent\.db; run rostrum migrate"):
        await require_newest(database)
    await database.close()
    assert os.listdir(tmp_path) == []


async def test_an_older_database_says_what_to_run(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [*revisions(), "9999"]
    monkeypatch.setattr("adapters.storage.migrate.revisions", lambda: later)
    older = rf"is at revision {later[-2]}, this version needs 9999; run rostrum migrate"
    with pytest.raises(StoreError, match=older):
        await require_newest(database)


async def test_a_database_of_something_else_is_refused(empty: Database) -> None:
    with pytest.raises(StoreError, match="has no tables of Rostrum yet; run rostrum migrate"):
        await require_newest(empty)
    await empty.run("CREATE TABLE other (x INTEGER)")
    for use in (require_newest, migrate):
        with pytest.raises(StoreError, match=r"belongs to another program.*at another"):
            await use(empty)


async def test_a_database_that_was_never_migrated_says_what_to_run(empty: Database) -> None:
    store = SqlStore(empty)
    with pytest.raises(StoreError, match=r"(such table|not exist).*Run rostrum migrate first"):
        await store.debates.recent()


def _insert_old(connection: SqlConnection, new: NewDebate) -> None:
    """Store a debate as the first tables had it."""
    plain = {
        **{name: getattr(new, name) for name in ("id", "number", "platform", "community", "place")},
        **{"status": "closed", "reason": "", "format": "classic", "language": "en"},
        **{"setup": new.setup.model_dump_json(), "reserved_usd": 0.0, "settled_usd": 0.0},
        **{"budget_day": "2026-03-01", "created_at": new.created_at},
        **dict.fromkeys(("gone", "vote_extended", "closed_early"), False),
    }
    names = ", ".join(plain)
    places = ", ".join(f":{name}" for name in plain)
    connection.run(f"INSERT INTO debates ({names}) VALUES ({places})", **plain)  # noqa: S608


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_migration_says_what_it_does(file: Path) -> None:
    module = ast.parse(file.read_text())
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    assert ast.get_docstring(module)
    assert {function.name for function in functions} >= {"upgrade"}
    assert all(ast.get_docstring(function) for function in functions)


def test_migrations_follow_one_another_by_number() -> None:
    assert [re.sub(r"rev_(\d{4})_.*", r"\1", file.stem) for file in FILES] == [
        f"{number:04}" for number in range(1, len(FILES) + 1)
    ]
    assert newest() == f"{len(FILES):04}"
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [scripts.get_current_head()] == scripts.get_heads() == [newest()]
    assert sorted(script.revision for script in scripts.walk_revisions()) == revisions()


def test_a_database_that_is_up_to_date_does_not_wait_for_sqlalchemy(
    database: Database, database_url: str
) -> None:
    script = (
        "import asyncio, sys\n"
        "from adapters.storage.database import Database\n"
        "from adapters.storage.migrate import migrate, require_newest\n"
        "from adapters.storage.store import SqlStore\n"
        "async def look():\n"
        "    database = Database(sys.argv[1], writable=False)\n"
        "    await migrate(database)\n"
        "    await require_newest(database)\n"
        "    await SqlStore(database).debates.recent()\n"
        "    await database.close()\n"
        "asyncio.run(look())\n"
        "sys.exit(bool({'alembic', 'sqlalchemy'} & set(sys.modules)))\n"
    )
    root = Path(migrations.__file__).parents[1]
    subprocess.run(
        [sys.executable, "-c", script, database_url], cwd=root, check=True, timeout=HANG_SECONDS
    )
