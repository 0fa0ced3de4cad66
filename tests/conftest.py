"""What the tests share: a real store on a file of its own, and a log that stays silent."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from adapters.storage.database import Database
from adapters.storage.migrate import migrate
from adapters.storage.store import SqlStore

# Machines are shared: an example that takes long says nothing about the code.
settings.register_profile(
    "rostrum", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rostrum")

# Databases wait for the disk at each commit, which tests that end no machine have no use of.
IN_MEMORY, ROOM = Path("/dev/shm"), 2**30  # noqa: S108
if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))

# What is started in the background ignores Ctrl-C, and so would all that tests start and stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let recorded outputs be recorded again: `make record`."""
    parser.addoption("--record", action="store_true", help="record outputs that tests hold")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed the debates of each test alike: by chance, some panels have more jurors."""
    drawn = itertools.count(1)
    secrets.randbits = lambda k: next(drawn)


@pytest.fixture(autouse=True)
def _silent_log() -> None:
    structlog.reset_defaults()
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database at the newest revision, to copy: migrating for each test would be slow."""
    path = tmp_path_factory.mktemp("migrated") / "rostrum.db"

    async def make() -> None:
        database = Database(f"sqlite+aiosqlite:///{path}")
        await migrate(database)
        await database.close()

    asyncio.run(make())
    return path


@pytest.fixture
def database_url(migrated_file: Path, tmp_path: Path) -> str:
    """The address of a migrated database that is this test's own."""
    path = tmp_path / "rostrum.db"
    shutil.copy(migrated_file, path)
    return f"sqlite+aiosqlite:///{path}"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The database, opened as the sole runner."""
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> SqlStore:
    """The store over it."""
    return SqlStore(database)
