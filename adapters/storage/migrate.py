"""Bringing a database to this version's tables, by Alembic."""

from __future__ import annotations

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from adapters.storage.database import Database
from engine.errors import StoreError


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    return config


def newest() -> str:
    """Return the revision that this version of Rostrum needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise StoreError("This installation has no migrations; install Rostrum again.")
    return head


def revision(connection: Connection) -> str | None:
    """Return the revision a database is at; None when it is empty."""
    return MigrationContext.configure(connection).get_current_revision()


async def migrate(database: Database) -> str:
    """Bring a database to the newest revision and return that.

    Raises StoreError for a database that a newer Rostrum has made.
    """

    def upgrade(connection: Connection) -> str:
        known = {
            script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()
        }
        current = revision(connection)
        if current is not None and current not in known:
            raise StoreError(
                f"The database {database.path} was made by a newer Rostrum (revision {current}); "
                "install that version, or point ROSTRUM_DATABASE_URL at another file."
            )
        if current != newest():
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return newest()

    return await database.write(upgrade)


async def require_newest(database: Database) -> None:
    """Check that a database is ready to be read. Raises StoreError that says what to run."""
    if not database.path.exists():
        raise StoreError(
            f"There is no database {database.path}; run rostrum migrate, or start a debate first."
        )
    current = await database.read(revision)
    if current != newest():
        raise StoreError(
            f"The database {database.path} is at revision {current}, this version needs "
            f"{newest()}; run rostrum migrate."
        )
