"""Leases: one conditional statement claims, and every guarded write checks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from engine.store import Lease
from engine.store.served import Served
from engine.values.errors import LeaseLostError
from engine.values.ports import utc_now

# A process that takes a lease over waits for the writes that it guarded, or they fail.
EPOCH = "SELECT epoch FROM leases WHERE name = :name /*+ FOR SHARE */"
# The only process on a file takes any other holder's lease: that holder is dead.
CLAIM = """
INSERT INTO leases (name, epoch, holder, until) VALUES (:name, 1, :holder, :clock_later)
ON CONFLICT (name) DO UPDATE
SET epoch = leases.epoch + 1, holder = excluded.holder, until = excluded.until
WHERE leases.until < :clock OR (:alone AND leases.holder <> excluded.holder)
RETURNING epoch
"""
# A released lease has no holder: an index has the others alone.
HELD = """
SELECT name, holder FROM leases
WHERE holder <> '' AND until >= :clock AND substr(name, 1, :length) = :prefix
    AND (holder = :holder OR NOT :alone)
"""
RENEW = "UPDATE leases SET until = :clock_later WHERE holder = :holder RETURNING name, epoch"
RELEASE = (
    "UPDATE leases SET until = :clock_later, holder = '' WHERE name = :name AND epoch = :epoch"
)


def guard(connection: SqlConnection, lease: Lease) -> None:
    """Raise LeaseLostError unless a lease is the newest of its name."""
    if connection.value(EPOCH, name=lease.name) != lease.epoch:
        raise LeaseLostError(
            f"Another process took over {lease.name}; this one has stopped writing for it."
        )


def run_guarded(connection: SqlConnection, lease: Lease, sql: str, **values: Any) -> int:
    """Run a change and return how many rows it changed. Raises LeaseLostError.

    Its condition must check `leases` for the newest epoch: `name = :lease AND epoch = :epoch`,
    locked as in EPOCH.
    """
    changed = connection.run(sql, lease=lease.name, epoch=lease.epoch, **values)
    if not changed:
        guard(connection, lease)
    return changed


def within(served: Served) -> dict[str, Any]:
    """Return the values of `coalesce(debates.lane, 0) % :shares IN :held` in a query."""
    return {"shares": served.total, "held": tuple(sorted(served.held))}


class LeaseTable:
    """The Leases part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def alone(self) -> bool:
        return self._database.sole

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        values = {"name": name, "holder": holder, "alone": self._database.sole}
        epoch = await self._database.write(
            lambda connection: connection.value(CLAIM, **values, **_clock(seconds))
        )
        return None if epoch is None else Lease(name=name, epoch=epoch)

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        rows = await self._database.write(
            lambda connection: connection.rows(RENEW, holder=holder, **_clock(seconds))
        )
        return {row.name: row.epoch for row in rows}

    async def held(self, prefix: str, holder: str) -> dict[str, str]:
        where = {"prefix": prefix, "length": len(prefix), "holder": holder, **_clock()}
        rows = await self._database.rows(HELD, alone=self._database.sole, **where)
        return {row.name: row.holder for row in rows}

    async def release(self, lease: Lease) -> None:
        await self._database.run(RELEASE, name=lease.name, epoch=lease.epoch, **_clock(-1))


def _clock(seconds: float = 0.0) -> dict[str, Any]:
    """Return this moment and a later one; a database that is shared has both by its own clock."""
    now = utc_now()
    return {"clock": now, "clock_later": now + timedelta(seconds=seconds), "seconds": seconds}
