"""Leases: one conditional statement claims, and every guarded write checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam, exists, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.prepared import Prepared
from adapters.storage.tables import leases
from engine.errors import LeaseLostError
from engine.ports import utc_now
from engine.store import Lease

EPOCH = Prepared(select(leases.c.epoch).where(leases.c.name == bindparam("lease")))
# The same check as a condition, for an update that makes do with one statement.
NEWEST = exists().where(
    leases.c.name == bindparam("lease"), leases.c.epoch == bindparam("lease_epoch")
)
_HOLDER = bindparam("by", type_=leases.c.holder.type)
_UNTIL = bindparam("till", type_=leases.c.until.type)


def insert_newest(
    table: Table, columns: Iterable[str], *also: ColumnElement[bool], repeatable: bool = False
) -> Prepared:
    """Prepare an insert that does nothing unless NEWEST, and whatever else is asked, holds.

    What is `repeatable` leaves a row that is there already as it is.
    """
    row = select(*(bindparam(name, type_=table.c[name].type) for name in columns))
    statement = insert(table).from_select(list(columns), row.where(NEWEST, *also))
    return Prepared(statement.on_conflict_do_nothing() if repeatable else statement)


def _claim(free: ColumnElement[bool]) -> Prepared:
    return Prepared(
        insert(leases)
        .values(name=bindparam("lease"), epoch=1, holder=_HOLDER, until=_UNTIL)
        .on_conflict_do_update(
            index_elements=["name"],
            set_={"epoch": leases.c.epoch + 1, "holder": _HOLDER, "until": _UNTIL},
            where=free,
        )
        .returning(leases.c.epoch)
    )


_RUN_OUT = leases.c.until < bindparam("now", type_=leases.c.until.type)
CLAIM = _claim(_RUN_OUT)
# Nobody else can run on this file, so another holder's lease died with it.
CLAIM_ALONE = _claim(or_(_RUN_OUT, leases.c.holder != _HOLDER))
RELEASE = Prepared(
    update(leases).where(
        leases.c.name == bindparam("lease"), leases.c.epoch == bindparam("lease_epoch")
    ),
    ("until", "holder"),
)


def guard(connection: Connection, lease: Lease) -> None:
    """Refuse to go on unless a lease is the newest of its name. Raises LeaseLostError."""
    newest = EPOCH.rows(connection, {"lease": lease.name})
    if not newest or newest[0].epoch != lease.epoch:
        raise LeaseLostError(
            f"Another process took over {lease.name}; this one has stopped writing for it."
        )


def change_guarded(
    connection: Connection, lease: Lease, statement: Prepared, values: Mapping[str, Any]
) -> int:
    """Run a change whose condition includes NEWEST, and return how many rows it changed.

    Raises LeaseLostError.
    """
    checked = {"lease": lease.name, "lease_epoch": lease.epoch}
    changed = statement.run(connection, {**values, **checked})
    if not changed:
        guard(connection, lease)
    return changed


class LeaseTable:
    """The Leases part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a lease that is free or has run out, raising its epoch; None if it is held."""
        now = utc_now()
        until = now + timedelta(seconds=seconds)
        claim = CLAIM_ALONE if self._database.sole else CLAIM
        values = {"lease": name, "by": holder, "now": now, "till": until}
        rows = await self._database.write(lambda connection: claim.rows(connection, values))
        return Lease(name=name, epoch=rows[0].epoch) if rows else None

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        """Hold on to all of a holder's leases from now; return the epochs by name."""
        until = utc_now() + timedelta(seconds=seconds)
        statement = (
            update(leases)
            .where(leases.c.holder == holder)
            .values(until=until)
            .returning(leases.c.name, leases.c.epoch)
        )
        rows = await self._database.write(lambda connection: connection.execute(statement).all())
        return {row.name: row.epoch for row in rows}

    async def release(self, lease: Lease) -> None:
        """Give a lease back, if it is still ours; the epoch stays, so that it never repeats."""
        values = {
            "lease": lease.name,
            "lease_epoch": lease.epoch,
            "until": utc_now() - timedelta(seconds=1),
            "holder": "",
        }
        await self._database.write(lambda connection: RELEASE.run(connection, values))
