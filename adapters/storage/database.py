"""A connection to the database: one writer that groups commits, and readers apart from it.

Operations are plain functions of a SQLAlchemy connection. Writes run in one thread, many to a
commit: with `synchronous=FULL` a commit costs a disk flush, and grouping shares it (measured:
20,000 inserts/s against 1,000–2,500 with a commit each). Reads go through aiosqlite.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar
from urllib.parse import quote

import structlog
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from adapters.storage.prepared import Prepared
from engine.errors import StoreError
from engine.private_files import open_private, tighten

T = TypeVar("T")
# What SQLite and its drivers raise; a name or a text that is no UTF-8 passes them by.
FAULTS = (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)
READERS = 4
WOKEN_AT_ONCE = 8
COMPANY_TURNS = 3
# The pages that a thousand debates write to: with SQLite's own 2 MB most are read again for each
# write (measured: 0.5 ms of system time a model call instead of 0.2).
CACHE_KB = 8_000
REST_SECONDS = 0.00005  # for each write that had company since the queue was empty
LONGEST_REST = 0.005
BUSY_MS = 10_000  # how long another process may hold the file
READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"
BESIDE = ("-wal", "-shm", ".lock")  # the files that go with a database, by how their names end
DAMAGE = ("malformed", "Could not decode to UTF-8")
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
VERSIONS = "alembic_version"
REVISION = "SELECT version_num FROM alembic_version"
log = structlog.get_logger(__name__)


class Peek(NamedTuple):
    """What a file holds: its tables, and the revision that Alembic noted."""

    tables: frozenset[str]
    revision: str | None


@dataclass(slots=True)
class Write:
    """A write that waits for its commit."""

    operation: Callable[[Connection], Any]
    done: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def report(self) -> None:
        """Wake whoever asked for the write, with what came of it."""
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
        self._made_lock = writable and not self.path.with_name(self.path.name + ".lock").exists()
        self._lock = _lock(self.path) if writable else None
        if writable:
            _create(self.path)
        address = _address(self.path, frozen=not writable and _is_frozen(self.path))
        self._writer = _sync_engine(address, begin=WRITE)
        self._snapshots = _sync_engine(address, begin=READ)
        self._readers = _async_engine(address)
        self._reading = asyncio.Semaphore(READERS)
        self._idle: list[AsyncConnection] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._connection: Connection | None = None
        self._queue: list[Write] = []
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def sole(self) -> bool:
        """Whether this process holds the file's lock, so that older leases are void."""
        return self._lock is not None

    async def write(self, operation: Callable[[Connection], T]) -> T:
        """Run a write in the next group and return its result once that is committed.

        A write that raises is undone alone, so an operation may run twice; it changes nothing
        but the database. Raises StoreError when the commit fails.
        """
        return await self.enqueue(operation)

    def enqueue(self, operation: Callable[[Connection], T]) -> asyncio.Future[T]:
        """Queue a write behind those that wait already; see `write`."""
        self._check_open()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(Write(operation, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush(), name="writer")
        return done

    async def read(self, operation: Callable[[Connection], T]) -> T:
        """Run a read on a connection of its own. Raises StoreError."""
        return await self._with_reader(lambda connection: connection.run_sync(operation))

    async def fetch(self, query: Prepared, values: Mapping[str, Any]) -> list[Any]:
        """Run a prepared query on a reader; a fifth of what `read` costs. Raises StoreError."""

        async def run(connection: AsyncConnection) -> list[Any]:
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            return query.read(await driver.execute_fetchall(query.sql, query.bind(values)))

        return await self._with_reader(run)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open one consistent view, for a worker thread."""
        try:
            with self._snapshots.connect() as connection, connection.begin():
                yield connection
        except FAULTS as error:
            raise self.explain(error) from error

    def peek(self) -> Peek:
        """Look at the file without changing a byte of it. Raises StoreError."""
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
            return await self.read(lambda connection: _answer(connection, check) == ["ok"])
        except StoreError:
            return False

    def keep_private(self) -> None:
        """Take the rights of others from files that an older version made."""
        for ending in ("", *BESIDE):
            if tighten(file := self.path.with_name(self.path.name + ending)):
                log.info("file made private", file=str(file))

    def withdraw(self) -> None:
        """Take away the lock file that this process made beside somebody else's database."""
        if self._made_lock:
            self.path.with_name(self.path.name + ".lock").unlink(missing_ok=True)

    async def checkpoint(self) -> bool:
        """Empty the write-ahead log, which holds older states of pages; False while one is read.

        Whoever reads one is not waited for, as every write would wait too. Raises StoreError.
        """
        self._check_open()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._empty_log)
        except FAULTS as error:
            raise self.explain(error) from error

    async def close(self) -> None:
        """Finish what was asked for, and close every connection; nothing can be asked after."""
        self._closed = True
        if self._flushing is not None:
            await self._flushing
        if self._connection is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()
        for _ in range(READERS):
            await self._reading.acquire()
        self._reading.release()
        for reader in self._idle:
            await reader.close()
        await self._readers.dispose()
        if self._lock is not None:
            self._lock.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The database {self.path} was closed; start Rostrum again.")

    async def _with_reader(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        async with self._reading:
            self._check_open()
            try:
                connection = self._idle.pop() if self._idle else await self._readers.connect()
                try:
                    result = await work(connection)
                except BaseException:
                    # An interrupted read leaves a connection that refuses every read after it.
                    await asyncio.shield(connection.close())
                    raise
            except FAULTS as error:
                raise self.explain(error) from error
            self._idle.append(connection)
            return result

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        crowd = 0
        while self._queue:
            # Calls that begin together take a turn of the loop each to come here.
            for _ in range(COMPANY_TURNS):
                await asyncio.sleep(0)
            batch, self._queue = self._queue, []
            await loop.run_in_executor(self._thread, self._commit, batch)
            for number, write in enumerate(batch, start=1):
                write.report()
                if number % WOKEN_AT_ONCE == 0:
                    # Each goes on where it waited: all in one turn would hold the loop up.
                    await asyncio.sleep(0)
            # A commit costs the same for one write as for fifty: while they keep coming from all
            # sides, each group waits for more company than the one before it.
            crowd += len(batch) - 1
            if crowd:
                await asyncio.sleep(min(crowd * REST_SECONDS, LONGEST_REST))

    def _commit(self, batch: list[Write]) -> None:
        """Commit a group; when one of it fails, undo the group and commit each alone."""
        try:
            if self._connection is None:
                self._connection = self._writer.connect()
            with self._connection.begin():
                for write in batch:
                    write.result = write.operation(self._connection)
        except Exception as error:  # noqa: BLE001 - handed to whoever asked for the write
            if len(batch) == 1:
                known = isinstance(error, FAULTS)
                batch[0].error = self.explain(error) if known else error
                return
            for write in batch:
                self._commit([write])

    def _empty_log(self) -> bool:
        if self._connection is None:
            self._connection = self._writer.connect()
        cursor = self._connection.connection.cursor()
        try:
            cursor.execute("PRAGMA busy_timeout = 0")
            busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            cursor.close()

    def explain(self, error: Exception) -> StoreError:
        """Return the sentence for what SQLite raised, without bytes of what is stored."""
        if isinstance(error, UnicodeDecodeError):
            return self.damage()
        detail = str(getattr(error, "orig", None) or error)
        if any(word in detail for word in DAMAGE):
            return self.damage()
        return StoreError(
            f"The database {self.path} could not be used: {detail}. {_advice(detail)}"
        )

    def damage(self) -> StoreError:
        """Return the sentence for a file that is damaged."""
        return StoreError(
            f"The database {self.path} is damaged; stop Rostrum and restore it from a backup."
        )


def sqlite_path(url: str) -> Path:
    """Return the file of a `sqlite+aiosqlite:///…` URL. Raises StoreError for another kind."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(
            "ROSTRUM_DATABASE_URL is no database's address; set it to sqlite+aiosqlite:///FILE."
        ) from None
    if parsed.drivername != "sqlite+aiosqlite" or parsed.database in (None, "", ":memory:"):
        raise StoreError(
            f"The database {parsed.render_as_string()} is of a kind this version cannot use; "
            "set ROSTRUM_DATABASE_URL to sqlite+aiosqlite:///FILE."
        )
    return Path(parsed.database)


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


def _create(path: Path) -> None:
    """Make an empty file that only its owner may read; SQLite's others take its rights."""
    try:
        os.close(open_private(path, os.O_RDWR))
    except OSError:
        return  # a file that may only be read can still be looked at


def _lock(path: Path) -> IO[str]:
    """Hold the file lock beside the database. Raises StoreError when another runner does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock")
        handle = os.fdopen(open_private(lock, os.O_WRONLY | os.O_APPEND), "a")
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be written: {error.strerror}. "
            "Check its folder's permissions, or set ROSTRUM_DATABASE_URL."
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        raise StoreError(
            f"Another Rostrum already runs on {path}; stop it first, or set "
            "ROSTRUM_DATABASE_URL to another file."
        ) from error
    return handle


def open_unchanged(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing of it changes, not even by a checkpoint at the end.

    Where a write-ahead log lies beside it, that is read too.
    """
    logged = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if logged else "immutable=1"
    return sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=BUSY_MS / 1000)


def _answer(connection: Connection, pragma: str) -> list[Any]:
    return list(connection.exec_driver_sql(f"PRAGMA {pragma}").scalars())


def _is_frozen(path: Path) -> bool:
    """Whether a database lies in a folder that is read-only, with nobody running on it."""
    running = path.with_name(path.name + "-wal").exists()
    return not running and not os.access(path.parent, os.W_OK)


def _address(path: Path, *, frozen: bool) -> URL:
    """Return where SQLite finds the file.

    The WAL mode needs a second file even for reading, which a read-only folder has no place
    for: there the file is read as one that cannot change.
    """
    if not frozen:
        return URL.create("sqlite", database=str(path))
    name = f"file:{quote(str(path))}"
    return URL.create("sqlite", database=name, query={"immutable": "1", "uri": "true"})


def _sync_engine(address: URL, *, begin: str) -> Engine:
    """Make an engine for one thread that begins every transaction with `begin`.

    The driver's own handling would begin it too late, after the first read.
    """
    url = address.set(drivername="sqlite+pysqlite")
    engine = create_engine(url, poolclass=NullPool, connect_args={"check_same_thread": False})
    _prepare(engine, journal=begin == WRITE)

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _async_engine(address: URL) -> AsyncEngine:
    """Make the readers' engine; each statement is its own transaction, which saves trips."""
    url = address.set(drivername="sqlite+aiosqlite")
    engine = create_async_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    _prepare(engine.sync_engine, journal=False)
    return engine


def _prepare(engine: Engine, *, journal: bool) -> None:
    """Set each new connection up.

    The WAL mode stays with the file, so only the writer sets it: a reader of a read-only
    file could not.
    """
    pragmas = [f"busy_timeout = {BUSY_MS}", "synchronous = FULL", "foreign_keys = ON"]
    if journal:
        # What is deleted is overwritten: who was forgotten must not lie on in free pages.
        pragmas[1:1] = ["journal_mode = WAL", "secure_delete = ON"]
        pragmas.append(f"cache_size = -{CACHE_KB}")

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
