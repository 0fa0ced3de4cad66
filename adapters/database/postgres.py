"""PostgreSQL: its connections, and one database of a server.

Each group of writes is one transaction of READ COMMITTED; the rows that an operation decides on are
locked by its texts. A server that goes away is waited for. A commit whose answer was lost is asked
for by its transaction's id, so that nothing is written twice and nothing is lost.
"""

from __future__ import annotations

import asyncio
import random
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.string import StrBinaryDumper, StrDumper

from adapters.database.dialect import (
    MIN_VERSION,
    REVISION,
    VERSIONS,
    Dialect,
    Inspection,
    Operation,
)
from engine.store.database import SqlConnection
from engine.values.errors import StoreError
from engine.values.ports import SHARED_TIME, Backoff, machine_now

T = TypeVar("T")
OLDEST = 14
# How long a group waits for a row that another process holds, before each of its writes is tried
# alone; and how long each of them then waits.
GROUP_LOCK_MS, LOCK_MS = 100, 5_000
# A process that was frozen in a transaction holds its rows no longer than this.
IDLE_MS = 5_000
STATEMENT_MS = 30_000  # for a write; purging twenty debates takes a tenth of a second
# Without a word from the server, before a connection counts as lost though the network carries it.
# Longer than what a statement may take: one that is cut off is begun again.
SILENCE_SECONDS = STATEMENT_MS / 1000 + 5
READ_SILENCE_SECONDS = 300.0  # for a read, such as a report on a million debates
FIRST_DELAY, LONGEST_DELAY = 0.05, 1.0
LAST_SECONDS = 3.0  # how long a process that ends waits for a server that is away
CONFLICT_SECONDS = 30.0
MIGRATING = 7_310_557_221  # the advisory lock of migrations, as a number of Rostrum's own
# What waits for a table keeps everyone from it who comes later, so a migration does that in turns.
MIGRATION_LOCK_MS, MIGRATION_PAUSE = 1_000, 3.0
PREPARE_AFTER = 3
NETWORK = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "rostrum",
}
HELLO = (
    "SET TIME ZONE 'UTC'; "
    "SELECT current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() AS read_only, "
    "current_setting('synchronous_commit') IN ('off', 'local') AS hasty, clock_timestamp() AS now"
)
BEGIN = (
    "BEGIN; SET LOCAL lock_timeout = {lock}; SET LOCAL statement_timeout = {statement}; "
    "SET LOCAL idle_in_transaction_session_timeout = {idle}; {durably}"
    "SELECT pg_current_xact_id()::text, clock_timestamp()"
)
DURABLY = "SET LOCAL synchronous_commit = on; "
VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
STATUS = "SELECT pg_xact_status(:id::xid8)"
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
LOCK = f"SELECT pg_advisory_xact_lock({MIGRATING})"
# Locks that others hold: the same write can succeed next.
LOCKS = ("55P03", "40P01", "40001")
# Rows that others added or deleted meanwhile: it then finds them, unless the write is wrong.
RULES = ("23505", "23503")
MOST_TRIES = 3
# Disk, memory, time or files that the server lacks for now.
SHORT = ("53", "57014", "58")
# Ends of a connection, a server that starts, stops or is full of connections, and one that became
# a standby: it will be back, or another one in its place.
READ_ONLY = "25006"
PASSING = ("08", "57P01", "57P02", "57P03", "57P05", "53300", "25P03", READ_ONLY)
# What a server says, while a process starts, that waiting does not change.
PASSWORD = ("password authentication failed", "no password supplied")
FINAL = (
    *PASSWORD,
    "does not exist",
    "no pg_hba.conf entry",
    "is not permitted to log in",
    "does not support SSL",
    "certificate",
)
log = structlog.get_logger(__name__)


class _Driver(psycopg.Connection[Any]):
    """A driver's connection that gives up a server which has been silent for too long."""

    silence: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.silence)
        except psycopg.OperationalError:
            if self.info.transaction_status is TransactionStatus.ACTIVE:
                self.close()  # what it answers later belongs to no statement
            raise


class _PostgresConnection(SqlConnection):
    """Runs statements on a connection of psycopg."""

    driver: _Driver

    def __init__(self, driver: _Driver) -> None:
        self.driver = driver
        # One for all statements, as each is read at once: a new one takes as long as most of them.
        self._cursor = driver.cursor(binary=True)

    def execute(self, sql: str, values: Mapping[str, Any]) -> Any:
        text, lists = spell(sql)
        if lists:
            values = {**values, **{name: list(values[name]) for name in lists}}
        return self._cursor.execute(text, values)

    def lock(self, sql: str, /, **values: Any) -> bool:
        self.execute(sql, values)
        return True

    def leave(self, cursor: Any) -> None:
        """Change nothing: every row is here already."""

    def run_each(self, sql: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        self._cursor.executemany(spell(sql)[0], list(rows))

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        self.several(begin)
        try:
            yield
            self.commit()
        except BaseException:
            self.roll_back()
            raise

    def several(self, sql: str) -> Any:
        """Run several statements in one trip; return the row of the last one, if any."""
        cursor = self.driver.execute(sql, prepare=False)
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def begin(self, sql: str) -> str:
        """Begin a transaction and return its id; what time it is there becomes known here."""
        [number] = self.tell_time(sql)
        return str(number)

    def tell_time(self, sql: str) -> Sequence[Any]:
        """Run statements whose last row ends with the time there; return the rest of that row."""
        asked_at = machine_now()
        *found, now = self.several(sql)
        SHARED_TIME.tell(now, asked_at, machine_now())
        return tuple(found)

    def commit(self) -> None:
        """Commit. Raises the error of a transaction that could not be."""
        if self.driver.execute("COMMIT", prepare=False).statusmessage != "COMMIT":
            raise psycopg.OperationalError("the transaction was rolled back")

    def roll_back(self) -> None:
        """Undo an open transaction, if the connection still can."""
        if self.driver.info.transaction_status is not TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                self.driver.execute("ROLLBACK", prepare=False)


@dataclass
class _Group:
    """Writes that are committed together, and what is known of that."""

    operations: Sequence[Operation]
    results: list[Any] = field(default_factory=list)
    doubtful: str | None = None  # the id of a transaction whose commit was not answered


class _PostgresServer(Dialect):
    """A database of a PostgreSQL server, on which any number of processes run."""

    faults = (psycopg.Error,)

    def __init__(
        self, address: Mapping[str, Any], *, writable: bool, pool: int, start_seconds: float
    ) -> None:
        self._shown, self._address = address, {**NETWORK, **address}
        self._password = str(address.get("password") or "")
        where = address.get("host") or address.get("hostaddr") or "this machine"
        port = address.get("port")
        self.name = f"{address.get('dbname') or address.get('user')} at {where}" + (
            f":{port}" if port else ""
        )
        self.batches_reads = self._runs = writable
        self._start_seconds = start_seconds
        self._known = False
        self._ending_since: float | None = None
        self._away_since: float | None = None
        self._telling = threading.Lock()
        self._threads = ThreadPoolExecutor(pool, thread_name_prefix="reader")
        self._idle: list[_PostgresConnection] = []
        self._writer: _PostgresConnection | None = None
        self._durably = ""

    @property
    def away(self) -> bool:  # type: ignore[override]
        return self._away_since is not None

    def exists(self) -> bool:
        return True

    # --- writing -----------------------------------------------------------------------

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        group = _Group(operations)
        until = time.monotonic() + CONFLICT_SECONDS
        for number in count(1):
            try:
                return self._persist(lambda: self._commit(group))
            except psycopg.Error as error:
                late = time.monotonic() > until and not self._waits
                last = number >= MOST_TRIES if error.sqlstate in RULES else late
                if last or len(operations) > 1 or error.sqlstate not in (*RULES, *LOCKS):
                    raise
                if time.monotonic() > until:
                    log.warning("database busy", database=self.name, why=self._say(error))
                    until = time.monotonic() + CONFLICT_SECONDS
            time.sleep(random.uniform(0.005, 0.05))
        raise AssertionError("unreachable")

    def _commit(self, group: _Group) -> list[Any]:
        """Commit a group once, unless an earlier try turns out to have done so."""
        if self._writer is None or _is_lost(self._writer):
            self._writer = None  # in case the next line fails
            self._writer = self._connect(SILENCE_SECONDS)
        connection = self._writer
        if group.doubtful is not None and self._was_committed(connection, group.doubtful):
            return group.results
        group.doubtful, number = None, None
        try:
            number = connection.begin(
                BEGIN.format(
                    lock=LOCK_MS if len(group.operations) == 1 else GROUP_LOCK_MS,
                    statement=STATEMENT_MS,
                    idle=IDLE_MS,
                    durably=self._durably,
                )
            )
            group.results = [operation(connection) for operation in group.operations]
        except BaseException as error:
            connection.roll_back()
            if getattr(error, "sqlstate", None) == READ_ONLY:
                connection.close()  # the next one may lead to the primary
            raise
        try:
            connection.commit()
        except psycopg.Error:
            if _is_lost(connection):
                group.doubtful = number
            connection.roll_back()
            raise
        return group.results

    def _was_committed(self, connection: _PostgresConnection, number: str) -> bool:
        """Return whether a transaction was committed. Raises OperationalError while it goes on."""
        try:
            status = connection.value(STATUS, id=number)
        except psycopg.errors.InvalidParameterValue:
            return False  # this server, which took the other's place, never knew it
        if status == "in progress":
            raise psycopg.OperationalError("the server still ends an earlier transaction")
        return bool(status == "committed")

    # --- reading -----------------------------------------------------------------------

    async def fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, self._persist, lambda: self._fetch(sql, values)
        )

    def _fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect(READ_SILENCE_SECONDS)
        try:
            return connection.rows(sql, **values)
        finally:
            if not _is_lost(connection):
                self._idle.append(connection)

    @contextmanager
    def view(self) -> Iterator[SqlConnection]:
        opened = self._persist(lambda: self._connect(None))
        with closing(opened) as view, view.transaction(VIEW):
            yield view

    def read_snapshot(self, operation: Callable[[SqlConnection], T]) -> T:
        def attempt() -> T:
            with closing(self._connect(READ_SILENCE_SECONDS)) as view, view.transaction(VIEW):
                return operation(view)

        return self._persist(attempt)

    def inspect(self) -> Inspection:
        return self.read_snapshot(_inspect)

    async def is_sound(self, *, thorough: bool = False) -> bool:
        """Return True: a server checks what it stores by itself."""
        return True

    def upgrade(self, run: Callable[[Any], None]) -> None:
        from sqlalchemy import NullPool, create_engine
        from sqlalchemy.exc import DBAPIError

        def connect() -> _Driver:
            connection = self._connect(None)
            connection.driver.autocommit = False
            return connection.driver

        def attempt() -> None:
            engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
            try:
                with engine.begin() as connection:
                    connection.exec_driver_sql(LOCK)
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_MS}")
                    run(connection)
            except DBAPIError as error:
                raise error.orig or error from error

        # All of it is one transaction, and done again it finds that nothing is left to do.
        while True:
            try:
                return self._persist(attempt)
            except psycopg.Error as error:
                if error.sqlstate not in LOCKS:
                    raise
                log.warning("migration waits", database=self.name, why=self._say(error))
            time.sleep(MIGRATION_PAUSE)

    # --- the connection ----------------------------------------------------------------

    def _connect(self, silence: float | None) -> _PostgresConnection:
        """Open a connection. Raises StoreError for a server that cannot be used as it is."""
        driver = _Driver.connect(**self._address, autocommit=True, prepare_threshold=PREPARE_AFTER)
        driver.silence = silence
        driver.adapters.register_dumper(str, StrBinaryDumper)
        driver.adapters.register_dumper(str, StrDumper)
        connection = _PostgresConnection(driver)
        try:
            # Set a new connection up, and look at what kind of server it leads to.
            version = connection.driver.info.server_version
            if version < OLDEST * 10_000:
                raise StoreError(
                    f"The database {self.name} is on PostgreSQL {version // 10_000}, and Rostrum "
                    f"needs {OLDEST} or newer; upgrade it, or point ROSTRUM_DATABASE_URL at "
                    "another server."
                )
            read_only, hasty = connection.tell_time(HELLO)
            if read_only and self._runs:
                raise psycopg.errors.ReadOnlySqlTransaction("the server takes no writes")
            self._durably = DURABLY if hasty else ""
        except BaseException:
            connection.close()
            raise
        self._known = True
        return connection

    def _persist(self, attempt: Callable[[], T]) -> T:
        """Try until the server answers, as long as this process waits for it."""
        began, backoff = time.monotonic(), Backoff(FIRST_DELAY, LONGEST_DELAY)
        while True:
            try:
                result = attempt()
            except psycopg.Error as error:
                if not self._is_passing(error):
                    raise
                with self._telling:
                    if self._away_since is None and self._runs:
                        self._away_since = time.monotonic()
                        log.warning("database away", database=self.name, why=self._say(error))
                if time.monotonic() + backoff.pause > self._gives_up_at(began):
                    raise
            else:
                self._note_back()
                return result
            time.sleep(backoff.next() * random.uniform(0.5, 1.0))

    def _is_passing(self, error: psycopg.Error) -> bool:
        """Return whether the server may answer later what it did not answer now."""
        if error.sqlstate is not None:
            known = error.sqlstate.startswith(PASSING)
            return known and (error.sqlstate != READ_ONLY or (self._runs and self._known))
        if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return False
        return self._known or not any(text in str(error) for text in FINAL)

    def _gives_up_at(self, began: float) -> float:
        """Return until when a server that is away is waited for, on the monotonic clock.

        A process that ends waits once for all that it still asks.
        """
        if self._ending_since is not None:
            return max(self._ending_since, self._away_since or began) + LAST_SECONDS
        return began + (float("inf") if self._waits else self._start_seconds)

    @property
    def _waits(self) -> bool:
        """Whether what the server cannot do now is waited for, for however long."""
        return self._runs and self._known and self._ending_since is None

    def _note_back(self) -> None:
        if self._away_since is None:
            return
        with self._telling:
            if self._away_since is not None:
                away = time.monotonic() - self._away_since
                self._away_since = None
                log.warning("database back", database=self.name, seconds=round(away, 1))

    def dump_command(self, out: Path) -> str:
        shown = {name: self._shown[name] for name in self._shown if name != "password"}
        address = conninfo.make_conninfo(**shown)
        return shlex.join(("pg_dump", "--format=custom", f"--file={out}", f"--dbname={address}"))

    def chmod_private(self) -> None:
        """Change nothing: who may read it is its server's to say."""

    def discard_new_files(self) -> None:
        """Change nothing: opening it created nothing."""

    # --- the end -----------------------------------------------------------------------

    def fail_fast(self) -> None:
        self._ending_since = self._ending_since or time.monotonic()

    async def close_readers(self) -> None:
        self.fail_fast()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    # --- trouble -----------------------------------------------------------------------

    def explain(self, error: Exception) -> StoreError:
        state = getattr(error, "sqlstate", None)
        # What passes may succeed later, as nothing about it is wrong.
        if state is None:
            passing = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        else:
            passing = str(state).startswith((*PASSING, *LOCKS, *SHORT))
        return StoreError(
            f"The database {self.name} could not be used: {self._say(error)}. "
            f"{_advice(state, str(error))}",
            passing=passing,
            misconfigured=any(text in str(error) for text in PASSWORD),
        )

    def _say(self, error: Exception) -> str:
        """Return what the server or its driver says, without stored data or a password."""
        said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        first = (said or str(error)).strip().partition("\n")[0].rstrip(".,: ")
        # What comes before is the driver's: where it went, and that it failed.
        first = first.rpartition(" failed: ")[2].removeprefix("FATAL:").strip()
        return first.replace(self._password, "•••") if self._password else first


def open_server(url: str, *, writable: bool, pool: int, start_seconds: float) -> _PostgresServer:
    """Return a database of a server. Raises StoreError for an address that is none."""
    kind, _, rest = url.partition("://")
    if kind not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise StoreError(
            f"ROSTRUM_DATABASE_URL begins with {kind}://; write postgresql:// instead."
        )
    try:
        address = conninfo.conninfo_to_dict(f"postgresql://{rest}")
        _ = [int(port) for port in str(address.get("port") or 0).split(",") if port]
    except (psycopg.ProgrammingError, ValueError):
        raise StoreError(
            "ROSTRUM_DATABASE_URL is no address of PostgreSQL; write it as "
            "postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %-escapes for special characters."
        ) from None
    return _PostgresServer(address, writable=writable, pool=pool, start_seconds=start_seconds)


def _inspect(connection: SqlConnection) -> Inspection:
    tables = frozenset(connection.column(TABLES))
    at = connection.value(REVISION) if VERSIONS in tables else None
    noted = connection.value(MIN_VERSION) if at and "installation" in tables else None
    return Inspection(tables, at and str(at), noted)


def _is_lost(connection: _PostgresConnection) -> bool:
    return connection.driver.closed or connection.driver.broken


def _advice(state: str | None, detail: str) -> str:
    by_state = {
        "53100": "Free some space there and start again; what was stored before is kept.",
        READ_ONLY: "Point ROSTRUM_DATABASE_URL at the primary, with a role that may write.",
        "42501": "Give its role the rights to use and create tables in its schema.",
        "42P01": "Run rostrum migrate first.",
        "53300": "Raise max_connections there, or lower ROSTRUM_DATABASE_POOL.",
    }
    by_text = {
        "password authentication failed": "Correct the password in ROSTRUM_DATABASE_URL.",
        "no password supplied": "Add the password to ROSTRUM_DATABASE_URL.",
        "role": "Create the role, or correct its name in ROSTRUM_DATABASE_URL.",
        "does not exist": "Create the database, or correct its name in ROSTRUM_DATABASE_URL.",
        "pg_hba.conf": "Let this machine in there, with TLS if it asks for that.",
        "SSL": "Set sslmode in ROSTRUM_DATABASE_URL to what the server offers.",
        "translate host name": "Check the host's name in ROSTRUM_DATABASE_URL.",
        "resolve host": "Check the host's name in ROSTRUM_DATABASE_URL.",
        "refused": "Start the server, or correct its address in ROSTRUM_DATABASE_URL.",
    }
    if state in by_state:
        return by_state[state]
    known = (advice for text, advice in by_text.items() if text in detail)
    return next(known, "Try again once it answers.")


# A text as PostgreSQL and its driver take it: its own spellings, and named parameters.


PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
LIST = re.compile(r"\b(NOT )?IN :(\w+)")
OURS = re.compile(r"(?:/\*-\*/[^*]*)?/\*\+ (.*?) \*/", re.DOTALL)


@cache
def spell(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return a text as psycopg takes it, and the names of its lists."""
    lists = tuple(name for _, name in LIST.findall(sql))
    text = OURS.sub(r"\1", sql).replace("%", "%%")
    text = LIST.sub(
        lambda found: f"<> ALL(%({found[2]})s)" if found[1] else f"= ANY(%({found[2]})s)", text
    )
    return PARAMETER.sub(r"%(\1)s", text), lists
