"""SQLite: its connections, and one file as a database."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import structlog

from adapters import tighten
from adapters.database.dialect import (
    MIN_VERSION,
    REVISION,
    VERSIONS,
    Dialect,
    Inspection,
    Operation,
)
from adapters.database.file import (
    BESIDE,
    BUSY_SECONDS,
    create_file,
    is_frozen,
    lock,
    lock_file,
    open_unchanged,
)
from engine.store.database import SqlConnection, shape
from engine.values.errors import StoreError

if TYPE_CHECKING:
    import aiosqlite

T = TypeVar("T")
BUSY_MS = int(BUSY_SECONDS * 1000)  # how long another process may hold the file
# The pages that a thousand debates write to: with SQLite's own 2 MB most are read again for each
# write (measured: 0.5 ms of system time a model call instead of 0.2).
CACHE_KB = 8_000
# Pages of the log before it is copied into the file (16 MB). Hot pages, such as the ends of tables,
# are in it many times and are copied once: with SQLite's own 1,000 that was a fifth of all writing.
LOG_PAGES = 4_000
STATEMENTS = 512  # texts that a connection keeps parsed; there are about 200
READER = (f"busy_timeout = {BUSY_MS}", "synchronous = FULL", "foreign_keys = ON")
# Deleted data is overwritten: a forgotten user must not remain in free pages. The WAL mode stays
# with the file, so only a writer sets it: a reader of a read-only file could not.
WRITER = (
    *READER,
    "journal_mode = WAL",
    "secure_delete = ON",
    f"cache_size = -{CACHE_KB}",
    f"wal_autocheckpoint = {LOG_PAGES}",
)
LIST = re.compile(r"\bIN :(\w+)")
SETTINGS: dict[str, Any] = {
    "uri": True,
    "isolation_level": None,  # explicit BEGIN: the driver's own would come too late
    "check_same_thread": False,
    "detect_types": sqlite3.PARSE_DECLTYPES,
    "cached_statements": STATEMENTS,
}
# What SQLite and its driver raise; text that is not UTF-8 raises the second.
FAULTS = (sqlite3.Error, UnicodeDecodeError)
DAMAGE = ("malformed", "Could not decode to UTF-8")
# What a later try may do: there is room again, or another process has let the file go.
PASSING = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
)
PRIMARY = 0xFF  # of a code of SQLite, whose other bits say more
QUICK_BYTES = 25_000_000  # a file of which every page is looked at within 0.2 s
AGAIN_SECONDS = 1.0  # between two tries on a disk that is full
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
log = structlog.get_logger(__name__)


class _SqliteConnection(SqlConnection):
    """Runs statements on a connection of sqlite3."""

    driver: sqlite3.Connection

    def __init__(self, driver: sqlite3.Connection) -> None:
        self.driver = driver

    def execute(self, sql: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        return self.driver.execute(*spell_out(sql, values))

    def lock(self, sql: str, /, **values: Any) -> bool:
        return False  # a write holds the whole file

    def leave(self, cursor: sqlite3.Cursor) -> None:
        cursor.close()  # or its statement goes on

    def run_each(self, sql: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        self.driver.executemany(sql, rows)

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        self.driver.execute(begin)
        try:
            yield
            self.driver.execute("COMMIT")
        except BaseException:
            if self.driver.in_transaction:
                self.driver.execute("ROLLBACK")
            raise


class SqliteFile(Dialect):
    """An SQLite file. With `writable`, this process is the only runner on it.

    One that `waits` tries again for as long as the disk is full.
    """

    faults = FAULTS
    kind = "file"
    upgrades = True
    path: Path

    def __init__(self, path: Path, *, writable: bool, waits: bool = False) -> None:
        self.path, self.name = path, str(path)
        self._waits, self._away_since = waits, 0.0
        self._ending = threading.Event()
        if path.is_dir():
            raise StoreError(
                f"The database {path} is a folder; set ROSTRUM_DATABASE_URL to a file."
            )
        self._made_lock = writable and not lock_file(path).exists()
        self._lock = lock(path) if writable else None
        self.exclusive = self.batches_reads = writable
        # SQLite would take such a file for a new database.
        self.emptied = writable and path.exists() and not path.stat().st_size
        self._made = False
        self._frozen = not writable and is_frozen(path)
        self._readers: _Readers | None = None
        self._connection: SqlConnection | None = None

    @property
    def away(self) -> bool:  # type: ignore[override]
        return self._away_since > 0

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        def attempt() -> list[Any]:
            connection = self._writing()
            with connection.transaction("BEGIN IMMEDIATE"):
                return [operation(connection) for operation in operations]

        return self._persist(attempt)

    async def fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        return await self._open_readers().fetch(sql, values)

    @contextmanager
    def view(self) -> Iterator[SqlConnection]:
        with closing(connect(self.path, frozen=self._frozen)) as view, view.transaction():
            yield view

    def read_snapshot(self, operation: Callable[[SqlConnection], T]) -> T:
        with self.view() as view:
            return operation(view)

    def exists(self) -> bool:
        return self.path.exists()

    def inspect(self) -> Inspection:
        """Inspect the file without changing a byte of it.

        Raises StoreError for a malformed page, before a process runs on the file.
        """
        if not self.path.exists():
            return Inspection(frozenset(), None)
        with closing(open_unchanged(self.path)) as connection:
            quick = self.exclusive and self.path.stat().st_size <= QUICK_BYTES
            if quick and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise self.damage()
            tables = {name for (name,) in connection.execute(TABLES)}
            at = connection.execute(REVISION).fetchone() if VERSIONS in tables else None
            noted = (
                connection.execute(MIN_VERSION).fetchone()
                if at and "installation" in tables
                else None
            )
        return Inspection(frozenset(tables), at and str(at[0]), noted and noted[0])

    async def is_sound(self, *, thorough: bool = False) -> bool:
        """Check the form of every page; False for a damaged file. Takes about two seconds a GB.

        A `thorough` check also holds every index against its table.
        """
        check = "integrity_check(1)" if thorough else "quick_check(1)"
        try:
            return await self.fetch(f"PRAGMA {check}", {}) == [("ok",)]
        except FAULTS:
            return False

    def upgrade(self, run: Callable[[Any], None]) -> None:
        from sqlalchemy import NullPool, create_engine, event

        engine = create_engine(
            "sqlite://",
            creator=lambda: connect(self.path, WRITER).driver,
            poolclass=NullPool,
            native_datetime=True,
        )

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        with engine.begin() as connection:
            run(connection)

    def chmod_private(self) -> None:
        for ending in ("", *BESIDE):
            if tighten(file := self.path.with_name(self.path.name + ending)):
                log.info("file made private", file=str(file))

    def discard_new_files(self) -> None:
        """Delete the lock file that this process created beside another program's database."""
        if self._made_lock:
            lock_file(self.path).unlink(missing_ok=True)

    def empty_log(self) -> bool:
        """Empty the write-ahead log; False while a reader uses it.

        Does not wait for readers, as every write would wait too.
        """

        def attempt() -> bool:
            connection = self._writing()
            connection.run("PRAGMA busy_timeout = 0")
            try:
                return not connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.run(f"PRAGMA busy_timeout = {BUSY_MS}")

        return self._persist(attempt)

    def fail_fast(self) -> None:
        self._ending.set()

    async def close_readers(self) -> None:
        await self._open_readers().close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._made and self.path.exists() and not self.path.stat().st_size:
            self.path.unlink()  # or the next start takes it for an emptied one
        if self._lock is not None:
            self._lock.close()

    def explain(self, error: Exception) -> StoreError:
        if isinstance(error, UnicodeDecodeError):
            return self.damage()
        detail = str(error)
        if any(word in detail for word in DAMAGE):
            return self.damage()
        return StoreError(
            f"The database {self.path} could not be used: {detail}. {_advice(detail)}",
            passing=_code(error) in PASSING,
        )

    def _persist(self, attempt: Callable[[], T]) -> T:
        """Try until the disk has room, as long as this process waits for it."""
        while True:
            try:
                result = attempt()
            except sqlite3.Error as error:
                full = _code(error) == sqlite3.SQLITE_FULL
                if not full or not self._waits or self._ending.is_set():
                    raise
                if not self.away:
                    self._away_since = time.monotonic()
                    log.warning("database away", database=self.name, why=str(error))
                self._ending.wait(AGAIN_SECONDS)
            else:
                if self.away:
                    seconds = round(time.monotonic() - self._away_since, 1)
                    self._away_since = 0.0
                    log.warning("database back", database=self.name, seconds=seconds)
                return result

    def _writing(self) -> SqlConnection:
        if self._connection is None:
            if self.exclusive and not self.path.exists():
                create_file(self.path)
                self._made = True
            self._connection = connect(self.path, WRITER, frozen=self._frozen)
        return self._connection

    def _open_readers(self) -> _Readers:
        if self._readers is None:
            pass  # dropped  # which opens connections as this does

            self._readers = _Readers(self.path, frozen=self._frozen)
        return self._readers


def connect(path: Path, pragmas: Iterable[str] = READER, *, frozen: bool = False) -> SqlConnection:
    """Open a file; see `address`."""
    driver = sqlite3.connect(address(path, frozen=frozen), **SETTINGS)
    set_pragmas(driver, pragmas)
    return _SqliteConnection(driver)


def address(path: Path, *, frozen: bool = False) -> str:
    """Return a file's URI for SQLite; a `frozen` one cannot change, so it needs no second file.

    In WAL mode even reading needs one, which cannot be created in a read-only folder.
    """
    return f"file:{quote(str(path))}" + ("?immutable=1" if frozen else "")


def set_pragmas(driver: sqlite3.Connection, pragmas: Iterable[str]) -> None:
    """Set a new connection up."""
    for pragma in pragmas:
        driver.execute(f"PRAGMA {pragma}")


def spell_out(sql: str, values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Expand each list into one parameter per item."""
    if " IN :" not in sql:
        return sql, values
    items = {
        f"{name}_{number}": item
        for name in LIST.findall(sql)
        for number, item in enumerate(values[name])
    }

    def spell(match: re.Match[str]) -> str:
        names = (f":{match[1]}_{number}" for number in range(len(values[match[1]])))
        return f"IN ({', '.join(names) or 'NULL'})"

    return LIST.sub(spell, sql), {**values, **items}


def _code(error: Exception) -> int:
    """Return what SQLite says went wrong; 0 where it says nothing."""
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY


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


def _write_datetime(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _read_datetime(stored: bytes) -> datetime:
    return datetime.fromisoformat(stored.decode()).replace(tzinfo=UTC)


# SQLite has neither datetimes nor booleans: the driver converts them by a column's declared type.
# An expression has no declared type, so queries select columns.
sqlite3.register_adapter(datetime, _write_datetime)
sqlite3.register_converter("DATETIME", _read_datetime)
sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")


# Connections for reading: a few of aiosqlite's, each in its own thread.
#
# A read is one statement and one trip to a thread. Reads that must agree with one another use
# `Database.snapshot`.


CONNECTIONS = 4


class _Readers:
    """Connections to one file, opened when they are needed."""

    def __init__(self, path: Path, *, frozen: bool = False) -> None:
        self._address = address(path, frozen=frozen)
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[aiosqlite.Connection] = []
        self._closed = False

    async def fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        """Return a query's rows as named tuples. Raises the errors of SQLite and its driver."""
        connection = await self._take()
        try:
            rows = await connection.execute_fetchall(*spell_out(sql, values))
        except BaseException:
            self._end(connection)
            raise
        if self._closed:
            self._end(connection)
        else:
            self._idle.append(connection)
            self._free.release()
        return list(rows)

    async def close(self) -> None:
        """Let every read finish, then end the threads."""
        self._closed = True
        ended = [connection.stop() for connection in self._idle]
        self._idle.clear()
        for _ in range(CONNECTIONS):
            await self._free.acquire()
        for end in filter(None, ended):
            await end
        for _ in range(CONNECTIONS):
            self._free.release()

    async def _take(self) -> aiosqlite.Connection:
        await self._free.acquire()
        if self._idle:
            return self._idle.pop()
        opening = asyncio.ensure_future(self._open())
        try:
            return await asyncio.shield(opening)
        except BaseException:
            opening.add_done_callback(self._end_opened)
            raise

    async def _open(self) -> aiosqlite.Connection:
        # Only here: it takes two milliseconds, and not every command reads.
        import aiosqlite

        return await aiosqlite.connect(self._address, factory=_Reader, **SETTINGS)

    def _end_opened(self, opening: asyncio.Future[aiosqlite.Connection]) -> None:
        failed = opening.cancelled() or opening.exception() is not None
        self._end(None if failed else opening.result())

    def _end(self, connection: aiosqlite.Connection | None) -> None:
        """Drop a connection; its place is free once its thread, which may still read, has ended.

        The next read must not wait for a cancelled or failed one, nor share its connection.
        """
        ended = None if connection is None else connection.stop()
        if ended is None:
            self._free.release()
        else:
            ended.add_done_callback(lambda _: self._free.release())


class _Reader(sqlite3.Connection):
    """A driver's connection that sets itself up, which saves trips to its thread."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        set_pragmas(self, READER)
        self.row_factory = _Rows()


class _Rows:
    """Turns a connection's rows into named tuples; caches the last statement's description."""

    def __init__(self) -> None:
        self._description: Any = None
        self._make: Any = None

    def __call__(self, cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Any:
        if cursor.description is not self._description:
            self._description = cursor.description
            self._make = shape(self._description)
        return self._make(row)
