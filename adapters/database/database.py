"""The database: one writer that groups commits, and readers apart from it.

Writes are plain functions of a connection. They run in one thread, many to a commit: a commit costs
a disk flush, and grouping shares it (measured on SQLite with `synchronous=FULL`: 20,000 inserts/s
against 1,000–2,500 with a commit each). Single reads run on separate connections; reads that must
agree with one another run on a snapshot. What differs between databases is in `dialect.py`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from adapters.database.dialect import Dialect, Inspection
from adapters.database.file import sqlite_path
from adapters.database.sqlite import SqliteFile
from engine.store.database import Database, SqlConnection
from engine.values.errors import StoreError

T = TypeVar("T")
WOKEN_AT_ONCE = 8
COMPANY_TURNS = 3
MOST_IN_A_GROUP = 400  # a write that goes first waits for no more than these
REST_SECONDS = 0.00005  # per write of the crowd, which halves when the queue is empty
LONGEST_REST = 0.005
POOL = 4  # connections to a server that read; one more writes
START_SECONDS = 4.0  # how long a command waits for a server at its start
OR_A_FILE = ", or set ROSTRUM_DATABASE_URL to a file"
SERVERS = ("postgresql", "postgres")


@dataclass(slots=True)
class _Write:
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


def open_dialect(url: str, *, writable: bool, pool: int, start_seconds: float) -> Dialect:
    """Return what knows the kind of database that an address names. Raises StoreError."""
    if url.partition("://")[0].partition("+")[0] not in SERVERS:
        return SqliteFile(sqlite_path(url), writable=writable, waits=start_seconds == inf)
    missing = [name for name in ("psycopg", "procrastinate") if find_spec(name) is None]
    if missing:
        raise StoreError(
            f"PostgreSQL needs {' and '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed; run "
            f"pip install 'psycopg[binary]>=3.3' 'procrastinate>=3.10'{OR_A_FILE}."
        )
    # Only here: its driver comes with the extra `scale`.
    from adapters.database.postgres import open_server

    return open_server(url, writable=writable, pool=pool, start_seconds=start_seconds)


class SqlDatabase(Database):
    """An open database: an SQLite file, or a database of a PostgreSQL server.

    With `writable` this process runs debates on it: on SQLite it is then the only one, and on
    PostgreSQL it waits for a server that went away, at its start for `start_seconds`. One that
    waits without end (`inf`) also waits while the disk of a file is full. `pool` is
    how many connections to a server read. With `queues` a debate gets a job for workers when it is
    stored (`jobs.py`).
    """

    def __init__(
        self,
        url: str,
        *,
        writable: bool = True,
        pool: int = POOL,
        start_seconds: float = START_SECONDS,
        queues: bool = False,
    ) -> None:
        self.queues = queues
        self.dialect = open_dialect(url, writable=writable, pool=pool, start_seconds=start_seconds)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._first: deque[_Write] = deque()
        self._queue: deque[_Write] = deque()
        self._crowd = 0  # writes beyond the first of each group, of late
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def name(self) -> str:
        """What a person reads of its address."""
        return self.dialect.name

    @property
    def path(self) -> Path:
        """The file. Raises StoreError for a database of a server."""
        if self.dialect.path is None:
            raise StoreError(f"The database {self.name} is no file.")
        return self.dialect.path

    @property
    def exclusive(self) -> bool:
        return self.dialect.exclusive

    @property
    def away(self) -> bool:
        return self.dialect.away

    def enqueue(
        self, operation: Callable[[SqlConnection], T], *, first: bool = False
    ) -> asyncio.Future[T]:
        self._check_open()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        (self._first if first else self._queue).append(_Write(operation, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush(), name="writer")
        return done

    async def rows(self, sql: str, /, **values: Any) -> list[Any]:
        self._check_open()
        try:
            return await self.dialect.fetch(sql, values)
        except self.dialect.faults as error:
            raise self.explain(error) from error

    async def read_fast(self, sql: str, /, **values: Any) -> list[Any]:
        # While writes are on their way it goes with them: the trip to a thread and back is most
        # of what it costs.
        if not self.dialect.batches_reads or self._flushing is None or self._flushing.done():
            return await self.rows(sql, **values)
        return await self.enqueue(lambda connection: connection.rows(sql, **values))

    def read_snapshot(self, operation: Callable[[SqlConnection], T]) -> T:
        try:
            return self.dialect.read_snapshot(operation)
        except self.dialect.faults as error:
            raise self.explain(error) from error

    @contextmanager
    def snapshot(self) -> Iterator[SqlConnection]:
        try:
            with self.dialect.view() as view:
                yield view
        except self.dialect.faults as error:
            raise self.explain(error) from error

    def inspect(self) -> Inspection:
        """Inspect the database without changing anything. Raises StoreError."""
        try:
            return self.dialect.inspect()
        except self.dialect.faults as error:
            raise self.explain(error) from error

    async def is_sound(self, *, thorough: bool = False) -> bool:
        """Check the form of what is stored; False for a damaged database."""
        return await self.dialect.is_sound(thorough=thorough)

    async def checkpoint(self) -> bool:
        self._check_open()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self.dialect.empty_log)
        except self.dialect.faults as error:
            raise self.explain(error) from error

    def fail_fast(self) -> None:
        self.dialect.fail_fast()

    async def close(self) -> None:
        self._closed = True
        await self.dialect.close_readers()
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown()
        self.dialect.close()

    def explain(self, error: Exception) -> StoreError:
        """Return the message for a driver's error, without any stored data."""
        return self.dialect.explain(error)

    def damage(self) -> StoreError:
        """Return the error for a damaged database."""
        return self.dialect.damage()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The database {self.name} was closed; start Rostrum again.")

    async def _flush(self) -> None:
        while self._first or self._queue:
            # Writes of tasks that wake together arrive one loop turn after another. One that goes
            # first does not wait for them: where the loop is busy, its turns are long.
            for _ in range(0 if self._first else COMPANY_TURNS):
                await asyncio.sleep(0)
            batch = await self._store(MOST_IN_A_GROUP)
            for number, write in enumerate(batch, start=1):
                write.report()
                if number % WOKEN_AT_ONCE == 0:
                    # Each wakes a task: all in one turn would block the loop.
                    await asyncio.sleep(0)
                    if self._first:
                        for ahead in await self._store(len(self._first)):
                            ahead.report()
            # A commit costs the same for one write as for fifty: while writes keep coming, each
            # group waits a little longer for more of them.
            self._crowd += len(batch) - 1
            if self._crowd and not self._first:
                await asyncio.sleep(min(self._crowd * REST_SECONDS, LONGEST_REST))
        self._crowd //= 2

    async def _store(self, most: int) -> list[_Write]:
        """Commit the next writes, at most so many; return them, to be reported."""
        batch: list[_Write] = []
        while len(batch) < most and (queue := self._first or self._queue):
            batch.append(queue.popleft())
        await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, batch)
        return batch

    def _commit(self, batch: list[_Write]) -> None:
        """Commit a group; if one write fails, roll back and commit each alone."""
        try:
            results = self.dialect.commit([write.operation for write in batch])
            for write, result in zip(batch, results, strict=True):
                write.result = result
        except Exception as error:  # noqa: BLE001 - handed to the caller of the write
            if len(batch) == 1:
                known = isinstance(error, self.dialect.faults)
                batch[0].error = self.explain(error) if known else error
                return
            for write in batch:
                self._commit([write])
