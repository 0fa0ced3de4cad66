"""What is fixed for this installation: secrets, each made when it is first asked for."""

from __future__ import annotations

import secrets

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.tables import installation

# Built once, as votes ask for one: that costs twice what running it does.
FIND = select(installation.c.value).where(installation.c.name == bindparam("of"))


def find_secret(connection: Connection, name: str) -> bytes | None:
    """Return this installation's own random 32 bytes of that name, None before they are made."""
    known = connection.scalar(FIND, {"of": name})
    return None if known is None else bytes.fromhex(known)


def make_secret(connection: Connection, name: str) -> bytes:
    """Return this installation's own random 32 bytes of that name, made when first asked."""
    drawn = secrets.token_bytes(32)
    row = insert(installation).values(name=name, value=drawn.hex())
    connection.execute(row.on_conflict_do_nothing())
    return find_secret(connection, name) or drawn
