"""Upgrades a database to this version's tables, by Alembic.

Alembic takes a third of a second to import, so only an upgrade imports it: a new database is made
by a script (`adapters/storage/schema.py`), the migrations' file names list the revisions, and a
table of one row has the database's own.
"""

from __future__ import annotations

import asyncio
import re
from importlib.resources import files
from typing import Any

from adapters.storage import schema
from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.dialect import REVISION, VERSIONS
from adapters.storage.sqlite import TABLES
from engine.errors import StoreError

NUMBERED = re.compile(r"rev_(\d{4})_\w+\.py")
NUMBER = re.compile(r"\d{4}")
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


async def migrate(database: Database) -> str:
    """Upgrade a database to the newest revision and return that.

    Raises StoreError for a newer Rostrum's database, and for another program's, which is not
    changed.
    """
    try:
        known = await asyncio.to_thread(_refuse_foreign, database)
    except StoreError:
        database.dialect.withdraw()
        raise
    if not database.dialect.upgrades:
        return await _upgrade_server(database, known)
    database.dialect.keep_private()
    current = await database.write(revision)  # by the writer, which sets the WAL mode
    _refuse_newer(database, current)
    if current is None and await database.write(lambda c: schema.create(c, newest())):
        return newest()
    if current != newest():
        await asyncio.to_thread(upgrade, database)
    return newest()


async def make_ready(database: Database) -> None:
    """Upgrade a file, as whatever starts on it does; a server's database must be ready already.

    Raises StoreError.
    """
    if database.dialect.upgrades:
        await migrate(database)
    else:
        await require_newest(database)


async def _upgrade_server(database: Database, current: str | None) -> str:
    """Upgrade a server's database; only `rostrum migrate` does so."""
    _refuse_newer(database, current)
    if current != newest():
        await asyncio.to_thread(upgrade, database)
    return newest()


def _refuse_foreign(database: Database) -> str | None:
    """Return a database's revision; None if it is empty. Raises StoreError."""
    tables, current = database.peek()
    mine = tables >= OURS and NUMBER.fullmatch(current or "")
    if tables - {VERSIONS} and not mine:
        raise StoreError(
            f"The database {database.name} belongs to another program: its tables are not those of "
            "Rostrum. It was left as it is; point ROSTRUM_DATABASE_URL at another "
            f"{database.dialect.kind}."
        )
    return current


def _refuse_newer(database: Database, current: str | None) -> None:
    if current is not None and current not in revisions():
        raise StoreError(
            f"The database {database.name} was made by a newer Rostrum (revision {current}); "
            "install that version, or point ROSTRUM_DATABASE_URL at another "
            f"{database.dialect.kind}."
        )


def upgrade(database: Database, to: str = "head") -> None:
    """Run the migrations up to a revision, all or none of them. Raises StoreError."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy.exc import SQLAlchemyError

    config = Config()
    config.set_main_option("script_location", str(files("migrations")))

    def run(connection: Any) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, to)

    try:
        database.dialect.upgrade(run)
    except SQLAlchemyError as error:
        raise database.explain(getattr(error, "orig", None) or error) from error
    except database.dialect.faults as error:
        raise database.explain(error) from error


async def require_newest(database: Database) -> None:
    """Check that a database is ready to be read. Raises StoreError that says what to run."""
    if not database.dialect.exists():
        raise StoreError(
            f"There is no database {database.name}; run rostrum migrate, or start a debate first."
        )
    current = await require_ours(database)
    _refuse_newer(database, current)
    if current != newest():
        raise StoreError(
            f"The database {database.name} is at revision {current}, this version needs "
            f"{newest()}; run rostrum migrate."
        )


async def require_ours(database: Database) -> str:
    """Return the revision of any version's Rostrum database. Raises StoreError."""
    current = await asyncio.to_thread(_refuse_foreign, database)
    if current is None:
        raise StoreError(
            f"The database {database.name} has no tables of Rostrum yet; run rostrum migrate. "
            "If it held debates, it is damaged: restore it from a backup."
        )
    return current
