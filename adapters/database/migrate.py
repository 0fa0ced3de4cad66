"""Makes a database's tables, or upgrades them to this version's, by Alembic.

Alembic takes a third of a second to import, so a new SQLite file is made by a script instead
(`adapters/database/schema.py`), the migrations' file names list the revisions, and a table of one
row has the database's own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from adapters.database import schema
from adapters.database.database import SqlDatabase
from adapters.database.dialect import REVISION, VERSIONS, Inspection
from adapters.database.sqlite import TABLES
from engine.store.database import SqlConnection
from engine.values.errors import StoreError

NUMBERED = re.compile(r"rev_(\d{4})_\w+\.py")
NUMBER = re.compile(r"\d{4}")
EXPANDS = "\nexpands = True\n"
NOTE_MIN_VERSION = """
INSERT INTO installation (name, value) VALUES ('min_version', :oldest)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
RENEW_MIN_VERSION = "UPDATE installation SET value = :oldest WHERE name = 'min_version'"
OURS = frozenset({"installation", "debates", "vote_events"})  # in every version of Rostrum


def revisions() -> list[str]:
    """Return every revision that has a migration, oldest first."""
    versions = files("migrations").joinpath("versions")
    found = (NUMBERED.fullmatch(file.name) for file in versions.iterdir())
    return sorted(name[1] for name in found if name)


def newest() -> str:
    """Return the revision that this version of Rostrum needs."""
    known = revisions()
    if not known:
        raise StoreError("This installation has no migrations; install Rostrum again.")
    return known[-1]


def revision(connection: SqlConnection) -> str | None:
    """Return a database's revision; None if it is empty."""
    if connection.value(f"{TABLES} AND name = :name", name=VERSIONS) is None:
        return None
    known: str | None = connection.value(REVISION)
    return known


def min_version() -> str:
    """Return the oldest revision whose version of Rostrum may go on beside this one.

    Its processes then do so while a release is rolled out. A migration that only adds what they
    need not know says so: `expands = True`.
    """
    known = revisions()
    while len(known) > 1 and _expands(known[-1]):
        known.pop()
    return known[-1]


def _expands(revision: str) -> bool:
    versions = files("migrations").joinpath("versions")
    found = (file for file in versions.iterdir() if file.name.startswith(f"rev_{revision}_"))
    return any(EXPANDS in file.read_text(encoding="utf-8") for file in found)


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
        await database.write(schema.create)
    elif current != newest():
        await asyncio.to_thread(upgrade, database)
    if (oldest := min_version()) != (found.min_version or newest()):
        await database.run(NOTE_MIN_VERSION, oldest=oldest)
    return newest()


async def fill(database: SqlDatabase, load: Callable[[Any], None]) -> None:
    """Upgrade a server's database and load rows into it, in one transaction.

    `load` gets the driver's connection, and is called again if that is lost. Raises StoreError.
    """
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


def upgrade(database: SqlDatabase, then: Callable[[Any], None] | None = None) -> None:
    """Make a database's tables or run the migrations it lacks, all or nothing. Raises StoreError.

    What comes `then` gets the driver's connection, and belongs to the same transaction.
    """
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import inspect, text
    from sqlalchemy.exc import SQLAlchemyError

    config = Config()
    config.set_main_option("script_location", str(files("migrations")))

    def run(connection: Any) -> None:
        config.attributes["connection"] = connection
        if inspect(connection).has_table(VERSIONS):
            command.upgrade(config, "head")
        else:
            command.upgrade(config, revisions()[0])  # which makes every table of today
            command.stamp(config, "head")
        if then is not None:
            then(connection.connection.driver_connection)
        # In the same transaction: older processes read it once the revision is a newer one.
        note = NOTE_MIN_VERSION if min_version() != newest() else RENEW_MIN_VERSION
        connection.execute(text(note), {"oldest": min_version()})

    try:
        database.dialect.upgrade(run)
    except SQLAlchemyError as error:
        raise database.explain(getattr(error, "orig", None) or error) from error
    except database.dialect.faults as error:
        raise database.explain(error) from error


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
