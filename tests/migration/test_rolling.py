"""Releases expand before they contract: this version goes on beside the next one."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, inspect

import migrations
from adapters.database.database import SqlDatabase
from adapters.database.migrate import make_ready, migrate, require_newest
from adapters.database.upgrade import upgrade
from engine.store import ExportFilter, Store
from engine.store.installs import Install
from engine.values.errors import StoreError
from migrations import min_version, newest
from tests.doubles.whole_debate import hold_whole
from tests.slow import slow_after

NOW, NEXT, LAST = (f"{int(newest()) + ahead:04}" for ahead in (0, 1, 2))
NOTED = "SELECT value FROM installation WHERE name = 'min_version'"
FOLDER = Path(migrations.__file__).parent
# What the next release may do while processes of this one run, and what it may not.
EXPANDING = f'''"""Every table gets more columns, and there is one table more."""

import sqlalchemy as sa
from alembic import op

from engine.store.tables import metadata

revision = "{NEXT}"
down_revision = "{NOW}"
expands = True


def upgrade() -> None:
    """Apply."""
    for table in metadata.tables:
        op.add_column(table, sa.Column("later", sa.Text()))
        sure = sa.Column("sure", sa.Boolean(), nullable=False, server_default=sa.false())
        op.add_column(table, sure)
    op.create_table("lately", sa.Column("id", sa.Integer(), primary_key=True))
    op.create_index("ix_debates_later", "debates", ["later"])
'''
CONTRACTING = f'''"""No score has a spread; an older version may not go on beside this one."""

from alembic import op

revision = "{LAST}"
down_revision = "{NEXT}"


def upgrade() -> None:
    """Apply."""
    op.drop_column("scores", "spread")
'''
Release: TypeAlias = Callable[..., None]


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Release:
    """Makes this process a release with more migrations; without any, this one again."""

    def come(*texts: str) -> None:
        folder = shutil.copytree(FOLDER, tmp_path / f"migrations{len(texts)}")
        for number, text in zip((NEXT, LAST), texts, strict=False):
            (folder / "versions" / f"rev_{number}_next.py").write_text(text)
        monkeypatch.setattr("migrations.files", lambda _: folder)

    return come


@pytest.mark.parametrize("format", slow_after(1, ["classic", "structured", "audited"]))
async def test_a_debate_is_held_on_a_database_that_is_one_migration_ahead(
    database_url: str, tmp_path: Path, release: Release, format: str
) -> None:
    database = SqlDatabase(database_url)
    release(EXPANDING)
    assert await migrate(database) == NEXT
    release()
    await make_ready(database)
    assert await migrate(database) == NEXT
    await require_newest(database)
    await database.close()
    whole = await hold_whole(database_url, tmp_path / "out", topic="Tea or coffee", format=format)
    assert whole.table("turns")
    database = SqlDatabase(database_url)
    store = Store(database)
    assert await asyncio.to_thread(store.archive.size, ExportFilter()) == 1
    sealed = Store(database, ["a-key-of-sixteen-characters"])
    install = Install(
        platform="memory", community="club", name="Club", account="b1",
        token=SecretStr("token"), installed_at=whole.debate.created_at,
    )  # fmt: skip
    await sealed.installs.keep(install)
    assert await sealed.installs.find("memory", "club") == install
    await store.privacy.forget("memory", "ann")
    await store.communities.left("memory", "club", whole.debate.created_at)
    assert await store.communities.purge("memory", "club") == 1
    await store.close()


async def test_a_database_that_is_ahead_and_contracted_is_refused(
    database: SqlDatabase, release: Release
) -> None:
    release(EXPANDING, CONTRACTING)
    await migrate(database)
    release()
    for use in (make_ready, migrate, require_newest):
        with pytest.raises(StoreError, match=rf"newer Rostrum \(revision {LAST}\)"):
            await use(database)


async def test_a_migration_and_what_suits_it_are_stored_together(
    database: SqlDatabase, release: Release
) -> None:
    for texts, oldest in (([EXPANDING], NOW), ([EXPANDING, CONTRACTING], LAST)):
        release(*texts)
        await asyncio.to_thread(upgrade, database)
        assert (await database.value(NOTED), min_version()) == (oldest, oldest)


async def test_what_suits_a_new_database_is_noted(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = SqlDatabase(empty_url)
    for oldest in (NEXT, "0019", "0020"):
        for place in ("migrations.min_version", "adapters.database.migrate.min_version"):
            monkeypatch.setattr(place, lambda oldest=oldest: oldest)
        await migrate(database)
        assert await database.value(NOTED) == oldest
    assert await database.value("SELECT count(*) FROM installation WHERE name = 'min_version'") == 1
    await database.close()


@pytest.mark.parametrize(
    "text",
    [EXPANDING, CONTRACTING, *(file.read_text() for file in sorted(FOLDER.rglob("rev_*.py"))[1:])],
)
def test_each_migration_says_whether_older_processes_go_on_beside_it(text: str) -> None:
    alone = "may not go on beside this one" in " ".join(text.split())
    assert ("expands = True" in text.splitlines()) != alone


async def test_an_older_version_that_may_go_on_finds_what_it_knows_and_may_leave_out_the_rest(
    database: SqlDatabase, release: Release
) -> None:
    known = await asyncio.to_thread(_columns, database)
    release(EXPANDING)
    await asyncio.to_thread(upgrade, database)
    found = await asyncio.to_thread(_columns, database)
    for table, old in known.items():
        new = found[table]
        assert {name: new[name] for name in old} == old, table
        assert all(new[name].optional for name in new.keys() - old.keys()), table


class Column(NamedTuple):
    """A column as somebody who writes a row meets it."""

    type: str
    optional: bool
    unique: bool


def _columns(database: SqlDatabase) -> dict[str, dict[str, Column]]:
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
    monkeypatch.setattr("migrations.files", lambda _: tmp_path)
    assert (newest(), min_version()) == ("0004", "0002")
    (folder / "rev_0005_x.py").write_text('"""X."""\n')
    assert min_version() == "0005"
