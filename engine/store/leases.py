"""Leases, which say what process may write, and the partitions of a platform among processes.

One conditional statement claims a lease, and every guarded write checks it. Every community has a
partition key, a number that never changes; modulo the number of shares it is the community's share.
For numeric ids it is Discord's own rule, so that a server's messages are delivered by the process
that hears its events.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple
from zlib import crc32

from engine.store.database import Database, SqlConnection
from engine.values.debate import Value
from engine.values.errors import LeaseLostError
from engine.values.ports import utc_now


class Lease(Value):
    """The right to write for a debate or a connection; a higher epoch ends it."""

    name: str
    epoch: int


TIME_BITS = 22  # of a Discord id: what stands above them is the time
LANES = 2**42
OWN = "person-"  # begins the community of a person's own, in direct messages


def partition_key_of(community: str) -> int:
    """Return a community's partition key: of an id of digits its time, of any other text a hash.

    That of direct messages is the first, as platforms tell of them there.
    """
    if community.startswith(OWN):
        return 0
    if community.isascii() and community.isdigit():
        return (int(community) >> TIME_BITS) % LANES
    return crc32(community.encode())


class Partition(NamedTuple):
    """The shares of a platform that a process holds, out of how many."""

    total: int
    held: frozenset[int]

    def has(self, community: str) -> bool:
        """Return whether a community is served here."""
        return partition_key_of(community) % self.total in self.held


EVERYONE = Partition(1, frozenset({0}))
"""What a process serves that shares a platform with no other."""


def everyone() -> Partition:
    """Return what a process serves that shares a platform with no other."""
    return EVERYONE


# A server has its own clock, which all its processes go by.
NOW = "/*-*/ :clock /*+ clock_timestamp() */"
LATER = "/*-*/ :clock_later /*+ clock_timestamp() + make_interval(secs => :seconds) */"
# A process that takes a lease over waits for the writes that it guarded, or they fail.
EPOCH = "SELECT epoch FROM leases WHERE name = :name /*+ FOR SHARE */"
# The only process on a file takes any other holder's lease: that holder is dead.
CLAIM = f"""
INSERT INTO leases (name, epoch, holder, until) VALUES (:name, 1, :holder, {LATER})
ON CONFLICT (name) DO UPDATE
SET epoch = leases.epoch + 1, holder = excluded.holder, until = excluded.until
WHERE leases.until < {NOW} OR (:alone AND leases.holder <> excluded.holder)
RETURNING epoch
"""  # noqa: S608 - texts of this module
# A released lease has no holder: an index has the others alone.
HELD = f"""
SELECT name, holder FROM leases
WHERE holder <> '' AND until >= {NOW} AND substr(name, 1, :length) = :prefix
    AND (holder = :holder OR NOT :alone)
"""  # noqa: S608
RENEW = f"""
UPDATE leases SET until = {LATER} WHERE holder = :holder RETURNING name, epoch
"""  # noqa: S608
RELEASE = f"""
UPDATE leases SET until = {LATER}, holder = '' WHERE name = :name AND epoch = :epoch
"""  # noqa: S608


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


def value_guarded(connection: SqlConnection, lease: Lease, sql: str, **values: Any) -> Any:
    """Run a change and return what it RETURNS, None if it changed nothing; as `run_guarded`."""
    found = connection.value(sql, lease=lease.name, epoch=lease.epoch, **values)
    if found is None:
        guard(connection, lease)
    return found


def within(served: Partition) -> dict[str, Any]:
    """Return the values of `coalesce(debates.partition_key, 0) % :shares IN :held` in a query."""
    return {"shares": served.total, "held": tuple(sorted(served.held))}


class Leases:
    """Claims on debates (`debate/ID`) and on shares of platforms (`connection/NAME/K`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def alone(self) -> bool:
        """Whether no other process can hold leases here."""
        return self._database.exclusive

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a free or expired lease, raising its epoch; None if it is held."""
        values = {"name": name, "holder": holder, "alone": self._database.exclusive}
        epoch = await self._database.write(
            lambda connection: connection.value(CLAIM, **values, **_clock(seconds))
        )
        return None if epoch is None else Lease(name=name, epoch=epoch)

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        """Renew all of a holder's leases from now; return their epochs by name."""
        rows = await self._database.write(
            lambda connection: connection.rows(RENEW, holder=holder, **_clock(seconds))
        )
        return {row.name: row.epoch for row in rows}

    async def held(self, prefix: str, holder: str) -> dict[str, str]:
        """Return who holds each live lease whose name begins with `prefix`.

        Where `holder` is the only process there can be, only its own are live.
        """
        where = {"prefix": prefix, "length": len(prefix), "holder": holder, **_clock()}
        rows = await self._database.rows(HELD, alone=self._database.exclusive, **where)
        return {row.name: row.holder for row in rows}

    async def release(self, lease: Lease) -> None:
        """Give a lease back if it is still ours; its epoch stays, so that none repeats."""
        await self._database.run(RELEASE, name=lease.name, epoch=lease.epoch, **_clock(-1))


def _clock(seconds: float = 0.0) -> dict[str, Any]:
    """Return this moment and a later one; a database that is shared has both by its own clock."""
    now = utc_now()
    return {"clock": now, "clock_later": now + timedelta(seconds=seconds), "seconds": seconds}
