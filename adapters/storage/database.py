"""The database: one writer that groups commits, and readers apart from it.

Writes are plain functions of a connection. They run in one thread, many to a commit: with
`synchronous=FULL` a commit costs a disk flush, and grouping shares it (measured: 20,000 inserts/s
against 1,000–2,500 with a commit each). Single reads run on separate connections (see
`readers.py`); reads that must agree with one another run on a snapshot.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import structlog

from adapters.storage.connection import BUSY_MS, WRITER, SqlConnection, connect
from adapters.storage.file import (
    create_file,
    is_frozen,
    lock,
    lock_file,
    open_unchanged,
    sqlite_path,
)
from adapters.storage.readers import Readers
from engine.errors import StoreError
from engine.private_files import tighten

T = TypeVar("T")
# What SQLite and its driver raise; text that is not UTF-8 raises the second.
FAULTS = (sqlite3.Error, UnicodeDecodeError)
WOKEN_AT_ONCE = 8
COMPANY_TURNS = 3
REST_SECONDS = 0.00005  # per write beyond the first of each group since the queue was empty
LONGEST_REST = 0.005
BESIDE = ("-wal", "-shm", ".lock")  # endings of the files beside a database
DAMAGE = ("malformed", "Could not decode to UTF-8")
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
VERSIONS = "alembic_version"
REVISION = "SELECT version_num FROM alembic_version"
log = structlog.get_logger(__name__)


class Peek(NamedTuple):
    """What a file contains: its tables, and Alembic's revision."""

    tables: frozenset[str]
    revision: str | None


@dataclass(slots=True)
class Write:
    """A write that waits for its commit."""

    operation: Callable[[SqlConnection], Any]
    done: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def report(self) -> None:
        """Wake the caller of the write with its result."""
        if self.done.done():
            return
        if self.error is not None:
            self.done.set_exception(self.error)
        else:
            self.done.set_result(self.result)


class Database:
    """An open SQLite file. With `writable`, this process is the only runner on it."""

    def __init__(self, url: str, *, writable: bool = True) -> None:
        self.path = sqlite_path(url)
        if self.path.is_dir():
            raise StoreError(
                f"The database {self.path} is a folder; set ROSTRUM_DATABASE_URL to a file."
            )
        self._made_lock = writable and not lock_file(self.path).exists()
        self._lock = lock(self.path) if writable else None
        if writable:
            create_file(self.path)
        self._frozen = not writable and is_frozen(self.path)
        self._readers = Readers(self.path, frozen=self._frozen)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._connection: SqlConnection | None = None
        self._queue: list[Write] = []
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def sole(self) -> bool:
        """Whether this process holds the file's lock, so that older leases are void."""
        return self._lock is not None

    async def write(self, operation: Callable[[SqlConnection], T]) -> T:
        """Run a write in the next group and return its result once that is committed.

        A write that raises is rolled back alone, so an operation may run twice; it must change
        nothing but the database. Raises StoreError when the commit fails.
        """
        return await self.enqueue(operation)

    def enqueue(self, operation: Callable[[SqlConnection], T]) -> asyncio.Future[T]:
        """Queue a write behind those already waiting; see `write`."""
        self._check_open()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(Write(operation, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush(), name="writer")
        return done

    async def run(self, sql: str, /, **values: Any) -> int:
        """Run one change in the next group; return how many rows it changed."""
        return await self.enqueue(lambda connection: connection.run(sql, **values))

    async def rows(self, sql: str, /, **values: Any) -> list[Any]:
        """Return a query's rows as named tuples. Raises StoreError."""
        self._check_open()
        try:
            return await self._readers.fetch(sql, values)
        except FAULTS as error:
            raise self.explain(error) from error

    async def first(self, sql: str, /, **values: Any) -> Any:
        """Return a query's first row, None without any."""
        rows = await self.rows(sql, **values)
        return rows[0] if rows else None

    async def value(self, sql: str, /, **values: Any) -> Any:
        """Return the first column of the first row, None without any."""
        rows = await self.rows(sql, **values)
        return rows[0][0] if rows else None

    async def column(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the first column of every row."""
        return [row[0] for row in await self.rows(sql, **values)]

    async def glance(self, sql: str, /, **values: Any) -> list[Any]:
        """Return what a short query finds, as named tuples. Raises StoreError.

        While writes are on their way it goes with them: the trip to a thread and back is most of
        what it costs.
        """
        if self._lock is None or self._flushing is None or self._flushing.done():
            return await self.rows(sql, **values)
        return await self.enqueue(lambda connection: connection.rows(sql, **values))

    @contextmanager
    def snapshot(self) -> Iterator[SqlConnection]:
        """Open one consistent view, for a worker thread."""
        try:
            with closing(connect(self.path, frozen=self._frozen)) as view, view.transaction():
                yield view
        except FAULTS as error:
            raise self.explain(error) from error

    def peek(self) -> Peek:
        """Inspect the file without changing a byte of it. Raises StoreError."""
        if not self.path.exists():
            return Peek(frozenset(), None)
        try:
            with closing(open_unchanged(self.path)) as connection:
                tables = {name for (name,) in connection.execute(TABLES)}
                at = connection.execute(REVISION).fetchone() if VERSIONS in tables else None
        except FAULTS as error:
            raise self.explain(error) from error
        return Peek(frozenset(tables), at and str(at[0]))

    async def is_sound(self, *, thorough: bool = False) -> bool:
        """Check the form of every page; False for a damaged file. Takes about two seconds a GB.

        A `thorough` check also holds every index against its table.
        """
        check = "integrity_check(1)" if thorough else "quick_check(1)"
        try:
            return await self.column(f"PRAGMA {check}") == ["ok"]
        except StoreError:
            return False

    def keep_private(self) -> None:
        """Remove others' access to files that an older version created."""
        for ending in ("", *BESIDE):
            if tighten(file := self.path.with_name(self.path.name + ending)):
                log.info("file made private", file=str(file))

    def withdraw(self) -> None:
        """Delete the lock file that this process created beside another program's database."""
        if self._made_lock:
            self.path.with_name(self.path.name + ".lock").unlink(missing_ok=True)

    async def checkpoint(self) -> bool:
        """Empty the write-ahead log, which holds older pages; False while a reader uses one.

        Does not wait for readers, as every write would wait too. Raises StoreError.
        """
        self._check_open()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._empty_log)
        except FAULTS as error:
            raise self.explain(error) from error

    async def close(self) -> None:
        """Finish queued work and close every connection; further calls are refused."""
        self._closed = True
        await self._readers.close()
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The database {self.path} was closed; start Rostrum again.")

    def _writing(self) -> SqlConnection:
        if self._connection is None:
            self._connection = connect(self.path, WRITER, frozen=self._frozen)
        return self._connection

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        crowd = 0
        while self._queue:
            # Writes of tasks that wake together arrive one loop turn after another.
            for _ in range(COMPANY_TURNS):
                await asyncio.sleep(0)
            batch, self._queue = self._queue, []
            await loop.run_in_executor(self._thread, self._commit, batch)
            for number, write in enumerate(batch, start=1):
                write.report()
                if number % WOKEN_AT_ONCE == 0:
                    # Each wakes a task: all in one turn would block the loop.
                    await asyncio.sleep(0)
            # A commit costs the same for one write as for fifty: while writes keep coming, each
            # group waits a little longer for more of them.
            crowd += len(batch) - 1
            if crowd:
                await asyncio.sleep(min(crowd * REST_SECONDS, LONGEST_REST))

    def _commit(self, batch: list[Write]) -> None:
        """Commit a group; if one write fails, roll back and commit each alone."""
        try:
            connection = self._writing()
            with connection.transaction("BEGIN IMMEDIATE"):
                for write in batch:
                    write.result = write.operation(connection)
        except Exception as error:  # noqa: BLE001 - handed to the caller of the write
            if len(batch) == 1:
                known = isinstance(error, FAULTS)
                batch[0].error = self.explain(error) if known else error
                return
            for write in batch:
                self._commit([write])

    def _empty_log(self) -> bool:
        connection = self._writing()
        connection.run("PRAGMA busy_timeout = 0")
        try:
            return not connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.run(f"PRAGMA busy_timeout = {BUSY_MS}")

    def explain(self, error: Exception) -> StoreError:
        """Return the message for an SQLite error, without any stored data."""
        if isinstance(error, UnicodeDecodeError):
            return self.damage()
        detail = str(error)
        if any(word in detail for word in DAMAGE):
            return self.damage()
        return StoreError(
            f"The database {self.path} could not be used: {detail}. {_advice(detail)}"
        )

    def damage(self) -> StoreError:
        """Return the error for a damaged file."""
        return StoreError(
            f"The database {self.path} is damaged; stop Rostrum and restore it from a backup."
        )


def _advice(detail: str) -> str:
    known = {
        "full": "Free some space and start again; what was stored before is kept.",
        "readonly": "Make the file and its folder writable, and start again.",
        "no such table": "Run rostrum migrate first.",
        "unable to open": "Check that its folder exists and may be written to.",
        "not a database": "Point ROSTRUM_DATABASE_URL at another file; if it was one, it is "
        "damaged: restore it from a backup.",
    }
    return next((advice for word, advice in known.items() if word in detail), "Try again.")
