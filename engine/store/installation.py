"""The installation's own values: secrets, each made on first use."""

from __future__ import annotations

import secrets

from engine.store.database import SqlConnection

FIND = "SELECT value FROM installation WHERE name = :name"
ADD = "INSERT INTO installation (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
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
