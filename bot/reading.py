"""The store for commands that only read, without the rest of the program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from json import JSONDecodeError

from pydantic import ValidationError

from adapters.storage.database import Database
from adapters.storage.migrate import require_newest
from adapters.storage.store import SqlStore
from bot.settings.settings import Settings
from engine.errors import RostrumError

# Errors of parsing a corrupted text.
GARBLED = (UnicodeDecodeError, JSONDecodeError, ValidationError)


@asynccontextmanager
async def read_store(settings: Settings, *, whole: bool = False) -> AsyncIterator[SqlStore]:
    """Open the store for reading, beside a running process.

    `whole` verifies the whole file first: a damaged index would silently hide rows from an export.
    Raises StoreError, also for errors of the body that a damaged file causes.
    """
    database = Database(settings.database_url.get_secret_value(), writable=False)
    store = SqlStore(database, settings.vault_keys())
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
