"""What the tests share: a real store on a file of its own, and a log that stays silent."""

import asyncio
import gc
import importlib
import itertools
import os
import secrets
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bot.exits import COLLECT_AFTER
from engine.store import Store
from tests.doubles.databases import PostgresDouble
from tests.doubles.model_server import ModelServer
from tests.doubles.wire import Wire, wired

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


# As the command line does. To look through all that was loaded and collected for garbage, as often
# as Python does by itself, took a twentieth of the tests' time.
gc.set_threshold(*COLLECT_AFTER)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave out of collections of garbage what stays until the end."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
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


def pytest_collection(session: pytest.Session) -> None:
    """Compile this worker's share of the tests first, so that it finds the other shares compiled.

    All workers collect all tests in the same order, and would compile each of them at once. What
    fails to load is told when it is collected.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not worker:
        return
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    named = [Path(name.partition("::")[0]).resolve() for name in session.config.args]
    files = [file for path in named for file in ([path] if path.is_file() else _tests_in(path))]
    share = len(files) / workers
    for file in files[round(int(worker) * share) : round((int(worker) + 1) * share)]:
        name = ".".join(file.relative_to(session.config.rootpath).with_suffix("").parts)
        with suppress(Exception):
            importlib.import_module(name)


def _tests_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("test_*.py"))


# The folders whose tests run over every kind of database.
EVERY_KIND = ("contract", "migration", "scenario", "crash")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the modules of kills, whose processes mostly wait, among the first half of others."""
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    waiting = [path for path in modules if path.parent.name == "crash"]
    others = [path for path in modules if path not in waiting]
    step = max(len(others) // max(2 * len(waiting), 1), 1)
    for at, path in enumerate(waiting):
        others.insert(at * (step + 1), path)
    items[:] = [item for path in others for item in modules[path]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of some folders over both kinds, but for those that look inside a file.

    Contracts prove the store over both: most whole debates over PostgreSQL are slow tests.
    """
    test = metafunc.definition
    folder = test.path.parent.name
    if "database_kind" not in metafunc.fixturenames or folder not in EVERY_KIND:
        return
    # One kind is given too: what fixtures made would otherwise outlive its change.
    kinds = [pytest.param("sqlite")]
    if not test.get_closest_marker("sqlite"):
        quick = folder in ("contract", "migration") or test.get_closest_marker("postgresql")
        kinds += [pytest.param("postgresql", marks=() if quick else pytest.mark.slow)]
    metafunc.parametrize("database_kind", kinds, scope="session")


@pytest.fixture(scope="session")
def database_kind() -> str:
    return "sqlite"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresDouble]:
    server = PostgresDouble()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def migrated_name(postgres: PostgresDouble) -> str:
    name = postgres.create()
    asyncio.run(_migrate(postgres.url(name)))
    return name


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database at the newest revision, to copy: migrating for each test would be slow."""
    path = tmp_path_factory.mktemp("migrated") / "rostrum.db"
    asyncio.run(_migrate(f"sqlite+aiosqlite:///{path}"))
    return path


async def _migrate(url: str) -> None:
    database = SqlDatabase(url)
    await migrate(database)
    await database.close()


@pytest.fixture
def database_url(
    database_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[str]:
    """The address of a migrated database that is this test's own."""
    if database_kind == "postgresql":
        server = request.getfixturevalue("postgres")
        name = server.create(request.getfixturevalue("migrated_name"))
        yield server.url(name)
        server.drop(name)
        return
    path = tmp_path / "rostrum.db"
    shutil.copy(request.getfixturevalue("migrated_file"), path)
    yield f"sqlite+aiosqlite:///{path}"


@pytest.fixture
def name(postgres: PostgresDouble, migrated_name: str) -> Iterator[str]:
    """The name of a migrated database on a server."""
    name = postgres.create(migrated_name)
    yield name
    postgres.drop(name)


@pytest.fixture
def url(postgres: PostgresDouble, name: str) -> str:
    """The address of a migrated database that several processes may share."""
    return postgres.url(name)


@pytest.fixture
def wire(postgres: PostgresDouble) -> Iterator[Wire]:
    with wired(postgres.port) as wire:
        yield wire


@pytest.fixture
def empty_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without any table, or of none yet."""
    if database_kind == "postgresql":
        server = request.getfixturevalue("postgres")
        name = server.create()
        yield server.url(name)
        server.drop(name)
        return
    yield f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[SqlDatabase]:
    database = SqlDatabase(database_url)
    yield database
    await database.close()


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[SqlDatabase]:
    """The same database, as another process has it open."""
    database = SqlDatabase(database_url)
    yield database
    await database.close()


@pytest.fixture
def store(database: SqlDatabase) -> Store:
    return Store(database)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def shared(database_url: str) -> AsyncIterator[Store]:
    """A store that other processes could write to as well."""
    database = SqlDatabase(database_url, writable=False)
    yield Store(database)
    await database.close()
