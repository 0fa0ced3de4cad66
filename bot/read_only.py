"""The store for commands that only read, without the rest of the program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from json import JSONDecodeError

from pydantic import ValidationError

from adapters.database.database import START_SECONDS, SqlDatabase
from adapters.database.migrate import require_newest
from bot.settings.settings import Settings
from engine.store import Store
from engine.values.errors import RostrumError

SERVER_SECONDS = 60.0  # how long a process that stays waits at its start for a database server
# Errors of parsing a corrupted text.
GARBLED = (UnicodeDecodeError, JSONDecodeError, ValidationError)


def open_database(
    settings: Settings, *, writable: bool = True, start_seconds: float = START_SECONDS
) -> SqlDatabase:
    """Return the database of the settings; see `SqlDatabase`. Raises StoreError."""
    return SqlDatabase(
        settings.database_url.get_secret_value(),
        writable=writable,
        pool=settings.database_pool,
        start_seconds=start_seconds,
    )


@asynccontextmanager
async def read_store(settings: Settings, *, whole: bool = False) -> AsyncIterator[Store]:
    """Open the store for reading, beside a running process.

    `whole` verifies the whole file first: a damaged index would silently hide rows from an export.
    Raises StoreError, also for errors of the body that a damaged file causes.
    """
    database = open_database(settings, writable=False)
    store = Store(database, settings.vault_keys())
    try:
        await require_newest(database)
        if whole and not await database.is_sound(thorough=True):
            raise database.damage()
        yield store
    except (RostrumError, OSError):
        raise
    except Exception as error:
        if isinstance(error, GARBLED) or not await database.is_sound():
            raise database.damage() from error
        raise
    finally:
        await store.close()
