"""Migrations: from nothing to this version's tables, once, and never back."""

import ast
import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import migrations
from adapters.database.database import SqlDatabase
from adapters.database.migrate import SCRIPT, described_schema, make_ready, migrate, require_newest
from engine.store import Store
from engine.store.tables import metadata
from engine.values.errors import StoreError
from migrations import newest, revisions
from tests.kit import HANG_SECONDS

FILES = sorted((Path(migrations.__file__).parent / "versions").glob("rev_*.py"))


@pytest.fixture
async def empty(empty_url: str) -> AsyncIterator[SqlDatabase]:
    database = SqlDatabase(empty_url)
    yield database
    await database.close()


def _differences(database: SqlDatabase) -> object:
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


async def test_migrating_an_empty_database_makes_this_versions_tables(empty: SqlDatabase) -> None:
    assert await migrate(empty) == newest()
    await require_newest(empty)
    assert empty.inspect().revision == newest()
    assert _differences(empty) == []
    await empty.run("ALTER TABLE debates DROP COLUMN gone")
    assert _differences(empty) != [], "a difference would be seen"


def test_the_script_for_new_databases_is_what_the_tables_describe() -> None:
    renew = "engine/store/tables.py describes other tables than the script; run: make schema"
    assert SCRIPT.read_text() == described_schema(), renew


@pytest.mark.sqlite
async def test_a_new_database_needs_no_alembic(
    empty: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.database.upgrade.upgrade", None)
    assert await migrate(empty) == newest()
    assert _differences(empty) == []


async def test_migrating_again_changes_nothing(database: SqlDatabase, store: Store) -> None:
    secret = await store.debates.secret("salt")
    await asyncio.gather(migrate(database), migrate(database))
    assert await store.debates.secret("salt") == secret


async def test_a_database_of_a_newer_version_is_left_alone(database: SqlDatabase) -> None:
    await database.run("UPDATE alembic_version SET version_num='9999'")
    await database.run("INSERT INTO installation (name, value) VALUES ('min_version', '9999')")
    newer = r"was made by a newer Rostrum \(revision 9999\); install that version"
    with pytest.raises(StoreError, match=newer):
        await migrate(database)
    assert database.inspect().revision == "9999"


async def test_a_database_from_before_the_first_release_is_left_alone(
    database: SqlDatabase, database_url: str
) -> None:
    await database.run("UPDATE alembic_version SET version_num='0038'")
    await database.run("INSERT INTO installation (name, value) VALUES ('min_version', '0034')")
    await database.close()
    before = await _contents(database_url)
    for use in (migrate, make_ready, require_newest):
        found = SqlDatabase(database_url)
        with pytest.raises(StoreError) as refused:
            await use(found)
        assert str(refused.value) == (
            f"The database {found.name} was made before the first release (revision 0038), and "
            "this version cannot read it; export its debates with the version that made it, then "
            f"point ROSTRUM_DATABASE_URL at a new {found.dialect.kind}."
        )
        await found.close()
    assert await _contents(database_url) == before


async def _contents(url: str) -> object:
    """Return the bytes of a file and what is beside it, or a server's tables."""
    database = SqlDatabase(url, writable=False)
    try:
        if (path := database.dialect.path) is not None:
            return path.read_bytes(), sorted(os.listdir(path.parent))
        rows = await database.rows("SELECT * FROM installation ORDER BY name")
        return database.inspect(), [tuple(row) for row in rows], _differences(database)
    finally:
        await database.close()


async def test_a_missing_database_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    path = tmp_path / "absent.db"
    database = SqlDatabase(f"sqlite+aiosqlite:///{path}", writable=False)
    with pytest.raises(
        StoreError, match=r"There is no database .*absent\.db yet: no debate was held"
    ):
        await require_newest(database)
    await database.close()
    assert os.listdir(tmp_path) == []


async def test_an_older_database_says_what_to_run(
    database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [*revisions(), "9999"]
    monkeypatch.setattr("migrations.revisions", lambda: later)
    older = rf"is at revision {later[-2]}, this version needs 9999; run rostrum migrate"
    with pytest.raises(StoreError, match=older):
        await require_newest(database)


async def test_a_database_of_something_else_or_never_migrated_is_refused(
    empty: SqlDatabase,
) -> None:
    with pytest.raises(StoreError, match=r"(such table|not exist).*Run rostrum migrate first"):
        await Store(empty).listings.recent()
    with pytest.raises(StoreError, match="has no tables of Rostrum yet; run rostrum migrate"):
        await require_newest(empty)
    await empty.run("CREATE TABLE other (x INTEGER)")
    for use in (require_newest, migrate):
        with pytest.raises(StoreError, match=r"belongs to another program.*at another"):
            await use(empty)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_migration_says_what_it_does(file: Path) -> None:
    module = ast.parse(file.read_text())
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    assert ast.get_docstring(module)
    assert {function.name for function in functions} >= {"upgrade"}
    assert all(ast.get_docstring(function) for function in functions)


def test_migrations_follow_one_another_by_number() -> None:
    first = int(revisions()[0])
    assert revisions() == [f"{first + at:04}" for at in range(len(FILES))]
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [scripts.get_current_head()] == scripts.get_heads() == [newest()]
    assert sorted(script.revision for script in scripts.walk_revisions()) == revisions()


def test_a_database_that_is_up_to_date_does_not_wait_for_sqlalchemy(
    database: SqlDatabase, database_url: str
) -> None:
    script = (
        "import asyncio, sys\n"
        "from adapters.database.database import SqlDatabase\n"
        "from adapters.database.migrate import migrate, require_newest\n"
        "from engine.store import Store\n"
        "async def look():\n"
        "    database = SqlDatabase(sys.argv[1], writable=False)\n"
        "    await migrate(database)\n"
        "    await require_newest(database)\n"
        "    await Store(database).listings.recent()\n"
        "    await database.close()\n"
        "asyncio.run(look())\n"
        "sys.exit(bool({'alembic', 'sqlalchemy'} & set(sys.modules)))\n"
    )
    root = Path(migrations.__file__).parents[1]
    subprocess.run(
        [sys.executable, "-c", script, database_url], cwd=root, check=True, timeout=HANG_SECONDS
    )
