"""The store for commands that only read, with nothing else of the program around it."""

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

# What a text of the database raises that is not what was written there.
GARBLED = (UnicodeDecodeError, JSONDecodeError, ValidationError)


@asynccontextmanager
async def read_store(settings: Settings, *, whole: bool = False) -> AsyncIterator[SqlStore]:
    """Open the store for reading, beside whatever runs on it.

    `whole` looks at the whole file first, for what is made of all of it: a damaged index would
    hide rows in silence. Raises StoreError, also for whatever the body meets in a damaged file,
    where any text can be read as anything.
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
