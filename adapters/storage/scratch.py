"""A write for its own sake: whether the database takes one."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.tables import installation

NAME, ROOM = "scratch", 100_000


async def write_scratch(database: Database) -> None:
    """Commit a row and take it away again. Raises StoreError when the database takes no write."""

    def write(connection: Connection) -> None:
        row = insert(installation).values(name=NAME, value="0" * ROOM)
        connection.execute(row.on_conflict_do_nothing())

    def erase(connection: Connection) -> None:
        connection.execute(delete(installation).where(installation.c.name == NAME))

    await database.write(write)
    await database.write(erase)
