"""Makes a database's tables, or upgrades them to this version's, by Alembic.

Alembic (`adapters/database/upgrade.py`) takes a third of a second to import, so a new SQLite file
is made by a script instead (`migrations/schema.sql`), the migrations' file names list the
revisions, and a table of one row has the database's own.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

from adapters.database.database import SqlDatabase
from adapters.database.dialect import REVISION, VERSIONS, Inspection
from adapters.database.sqlite import TABLES
from engine.store.database import SqlConnection
from engine.values.errors import StoreError
from migrations import NOTE_MIN_VERSION, NUMBER, min_version, newest, revisions

OURS = frozenset({"installation", "debates", "vote_events"})  # in every version of Rostrum


def revision(connection: SqlConnection) -> str | None:
    """Return a database's revision; None if it is empty."""
    if connection.value(f"{TABLES} AND name = :name", name=VERSIONS) is None:
        return None
    known: str | None = connection.value(REVISION)
    return known


async def migrate(database: SqlDatabase) -> str:
    """Upgrade a database to the newest revision and return that.

    One of a newer Rostrum that suits this version stays as it is. Raises StoreError for one of any
    other version or of another program, which is not changed.
    """
    try:
        found = await asyncio.to_thread(_look, database)
        _refuse_others(database, found)
    except StoreError:
        database.dialect.discard_new_files()
        raise
    current = found.revision
    if database.dialect.upgrades:
        database.dialect.chmod_private()
        current = await database.write(revision)  # by the writer, which sets the WAL mode
    if current is not None and current > newest():
        return current
    if database.dialect.upgrades and current is None:
        await database.write(create_tables)
    elif current != newest():
        from adapters.database.upgrade import upgrade  # with Alembic: few databases need it

        await asyncio.to_thread(upgrade, database)
    if (oldest := min_version()) != (found.min_version or newest()):
        await database.run(NOTE_MIN_VERSION, oldest=oldest)
    return newest()


async def fill(database: SqlDatabase, load: Callable[[Any], None]) -> None:
    """Upgrade a server's database and load rows into it, in one transaction.

    `load` gets the driver's connection, and is called again if that is lost. Raises StoreError.
    """
    from adapters.database.upgrade import upgrade  # Alembic

    found = await asyncio.to_thread(_look, database)
    _refuse_others(database, found)
    if found.revision is not None and found.revision > newest():
        raise _newer(database, found)
    await asyncio.to_thread(upgrade, database, then=load)


async def make_ready(database: SqlDatabase) -> None:
    """Upgrade a file, as whatever starts on it does; a server's database must be ready already.

    Raises StoreError, also for an emptied file, which only `rostrum migrate` sets up again.
    """
    if database.dialect.emptied:
        raise _without_tables(database)
    if database.dialect.upgrades:
        await migrate(database)
    else:
        await require_newest(database)


def _look(database: SqlDatabase) -> Inspection:
    """Return what a database contains. Raises StoreError if this version cannot work with it."""
    found = database.inspect()
    mine = found.tables >= OURS and NUMBER.fullmatch(found.revision or "")
    if found.tables - {VERSIONS} and not mine:
        raise StoreError(
            f"The database {database.name} belongs to another program: its tables are not those of "
            "Rostrum. It was left as it is; point ROSTRUM_DATABASE_URL at another "
            f"{database.dialect.kind}."
        )
    return found


def _refuse_others(database: SqlDatabase, found: Inspection) -> None:
    """Raise StoreError for a database of a version that this one cannot work with."""
    known = revisions()
    if found.revision is None or found.revision in known:
        return
    if found.revision < known[0]:
        raise StoreError(
            f"The database {database.name} was made before the first release (revision "
            f"{found.revision}), and this version cannot read it; export its debates with the "
            "version that made it, then point ROSTRUM_DATABASE_URL at a new "
            f"{database.dialect.kind}."
        )
    if found.min_version is None or found.min_version > newest():
        raise _newer(database, found)


def _newer(database: SqlDatabase, found: Inspection) -> StoreError:
    return StoreError(
        f"The database {database.name} was made by a newer Rostrum (revision {found.revision}); "
        "install that version, or point ROSTRUM_DATABASE_URL at another "
        f"{database.dialect.kind}."
    )


async def require_newest(database: SqlDatabase) -> None:
    """Check that a database is ready to be read. Raises StoreError that says what to run."""
    if not database.dialect.exists():
        raise StoreError(
            f"There is no database {database.name} yet: no debate was held. rostrum debate holds "
            "one, and rostrum migrate makes an empty database."
        )
    found = await _require_tables(database)
    _refuse_others(database, found)
    if found.revision is not None and found.revision < newest():
        raise StoreError(
            f"The database {database.name} is at revision {found.revision}, this version needs "
            f"{newest()}; run rostrum migrate."
        )


async def require_ours(database: SqlDatabase) -> None:
    """Check that a database is any version's of Rostrum. Raises StoreError."""
    await _require_tables(database)


async def _require_tables(database: SqlDatabase) -> Inspection:
    found = await asyncio.to_thread(_look, database)
    if found.revision is None:
        raise _without_tables(database)
    return found


def _without_tables(database: SqlDatabase) -> StoreError:
    return StoreError(
        f"The database {database.name} has no tables of Rostrum yet; run rostrum migrate. "
        "If it held debates, it is damaged: restore it from a backup."
    )


# The newest tables as one script, `migrations/schema.sql`: a new SQLite file needs no Alembic.
#
# `make schema` writes the script from `engine/store/tables.py`, as the first migration makes the
# tables; a test holds that it is up to date.


SCRIPT = files("migrations") / "schema.sql"
HEAD = "-- Every table of revision {}, made from engine/store/tables.py by: make schema\n"
STAMP = "INSERT INTO alembic_version VALUES ('{}')"
TABLES_AND_INDEXES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
END_OF_STATEMENT = ";\n"


def schema_statements() -> list[str]:
    """Return the statements of the script."""
    _, _, text = SCRIPT.read_text(encoding="utf-8").partition("\n")
    return [statement for statement in text.split(END_OF_STATEMENT) if statement]


def create_tables(connection: SqlConnection) -> None:
    """Make the tables in an empty database."""
    for statement in schema_statements():
        connection.run(statement)


def described_schema() -> str:
    """Return the script that makes the tables as they are described now."""
    from adapters.database.upgrade import upgrade  # Alembic

    with tempfile.TemporaryDirectory() as folder:
        database = SqlDatabase(f"sqlite+aiosqlite:///{Path(folder) / 'new.db'}")
        upgrade(database)
        asyncio.run(database.close())
        with closing(sqlite3.connect(Path(folder) / "new.db")) as connection:
            made = [sql for (sql,) in connection.execute(TABLES_AND_INDEXES)]
    made.append(STAMP.format(newest()))
    return HEAD.format(newest()) + "".join(statement + END_OF_STATEMENT for statement in made)


if __name__ == "__main__":
    Path(str(SCRIPT)).write_text(described_schema(), encoding="utf-8")
