"""The store for commands that only read, with nothing else of the program around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.storage.database import Database
from adapters.storage.migrate import require_newest
from adapters.storage.store import SqlStore
from bot.settings import Settings


@asynccontextmanager
async def read_store(settings: Settings) -> AsyncIterator[SqlStore]:
    """Open the store for reading, beside whatever runs on it. Raises StoreError."""
    database = Database(settings.database_url.get_secret_value(), writable=False)
    store = SqlStore(database, settings.vault_keys())
    try:
        await require_newest(database)
        yield store
    finally:
        await store.close()
