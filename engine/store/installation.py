"""The installation's own values: secrets, each made on first use."""

from __future__ import annotations

import secrets

from engine.store.database import Database, SqlConnection

FIND = "SELECT value FROM installation WHERE name = :name"
ADD = "INSERT INTO installation (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
PUT = """
INSERT INTO installation (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
REMOVE = "DELETE FROM installation WHERE name = :name AND value = :value"
SCRATCH, ROOM = "scratch", "0" * 100_000
UNWIPED, DELETED = "unwiped", "deleted"


def find_secret(connection: SqlConnection, name: str) -> bytes | None:
    """Return the installation's random 32 bytes of that name, None before they are made."""
    known = connection.value(FIND, name=name)
    return None if known is None else bytes.fromhex(known)


def make_secret(connection: SqlConnection, name: str) -> bytes:
    """Return the installation's random 32 bytes of that name, made on first use."""
    drawn = secrets.token_bytes(32)
    connection.run(ADD, name=name, value=drawn.hex())
    return find_secret(connection, name) or drawn


def mark_unwiped(connection: SqlConnection) -> None:
    """Record that the write-ahead log still holds something that was deleted."""
    connection.run(PUT, name=UNWIPED, value=secrets.token_hex(8))


def mark_deleted(connection: SqlConnection) -> None:
    """Record that a debate was deleted, so that nothing worked out before stands any more."""
    connection.run(PUT, name=DELETED, value=secrets.token_hex(8))


async def wipe(database: Database) -> bool:
    """Empty the write-ahead log of deleted data; False: a reader still uses it, so try again."""
    seen = await database.value(FIND, name=UNWIPED)
    if seen is None:
        return True
    if not await database.checkpoint():
        return False
    # Later deletions have a mark of their own.
    await database.run(REMOVE, name=UNWIPED, value=seen)
    return True


async def write_scratch(database: Database) -> None:
    """Commit a row and delete it again. Raises StoreError if the database cannot be written."""
    await database.run(ADD, name=SCRATCH, value=ROOM)
    await database.run(REMOVE, name=SCRATCH, value=ROOM)
