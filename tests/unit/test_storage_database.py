"""The database on SQLite: grouped commits, failures one by one, readers beside the writer."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import adapters.database.sqlite
from adapters.database.database import MOST_IN_A_GROUP, SqlDatabase
from adapters.database.migrate import make_ready, require_newest
from engine.store import Store
from engine.store.database import SqlConnection
from engine.values.errors import NotFoundError, StoreError
from tests.kit import HANG_SECONDS

NOBODY = 65534
NUMBERS = "SELECT id FROM notes ORDER BY id"


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[SqlDatabase]:
    """A database with one table of its own."""
    database = SqlDatabase(f"sqlite+aiosqlite:///{tmp_path / 'notes.db'}")
    await database.write(_make_table)
    yield database
    await database.close()


INSERT = "INSERT INTO notes VALUES (:id, 'x')"


def _make_table(connection: SqlConnection) -> None:
    connection.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")


def insert(connection: SqlConnection, number: int, body: str = "x") -> int:
    connection.run("INSERT INTO notes VALUES (:id, :body)", id=number, body=body)
    return number


def numbers(connection: SqlConnection) -> list[int]:
    return connection.column(NUMBERS)


def pragma(connection: SqlConnection, name: str) -> object:
    return connection.value(f"PRAGMA {name}")


def frames(path: Path) -> int:
    """Return the commits that the write-ahead log shows: frames that end a transaction."""
    log = path.with_name(path.name + "-wal").read_bytes()
    size = int.from_bytes(log[8:12], "big")
    step = 24 + size
    commits = [log[at + 4 : at + 8] for at in range(32, len(log) - step + 1, step)]
    return sum(1 for after in commits if after != b"\0\0\0\0")


async def test_a_thousand_writes_at_once_share_a_few_commits_in_their_order(
    notes: SqlDatabase,
) -> None:
    before, order = frames(notes.path), list[int]()

    async def write(number: int) -> int:
        def operation(connection: SqlConnection) -> int:
            order.append(number)
            return insert(connection, number)

        return await notes.write(operation)

    assert await asyncio.gather(*map(write, range(1000))) == list(range(1000))
    assert order == await notes.column(NUMBERS) == list(range(1000))
    assert 1 <= frames(notes.path) - before <= 3


async def test_a_write_for_which_a_person_waits_goes_before_those_that_were_queued(
    notes: SqlDatabase,
) -> None:
    ended: list[int] = []

    def write(number: int, *, first: bool = False) -> asyncio.Future[int]:
        def operation(connection: SqlConnection) -> int:
            ended.append(number)
            return insert(connection, number)

        return notes.enqueue(operation, first=first)

    queued = [write(number) for number in range(2 * MOST_IN_A_GROUP)]
    ahead = [write(-2, first=True), write(-1, first=True)]
    await asyncio.wait(ahead)
    await write(-3, first=True)  # while those of that group still hear, a few at a time
    assert not queued[MOST_IN_A_GROUP // 2].done()
    await asyncio.gather(*queued)
    first_group = range(MOST_IN_A_GROUP - 2)
    assert ended == [-2, -1, *first_group, -3, *range(len(first_group), 2 * MOST_IN_A_GROUP)]


async def test_a_write_that_fails_is_undone_alone(notes: SqlDatabase) -> None:
    async def write(number: int) -> int:
        def operation(connection: SqlConnection) -> int:
            insert(connection, number)
            if number % 10 == 3:
                raise NotFoundError(f"number {number}")
            return insert(connection, number + 1000)

        return await notes.write(operation)

    results = await asyncio.gather(*map(write, range(100)), return_exceptions=True)
    for number, result in enumerate(results):
        if number % 10 == 3:
            assert isinstance(result, NotFoundError)
            assert str(result) == f"number {number}"
        else:
            assert result == number + 1000
    kept = [number for number in range(100) if number % 10 != 3]
    assert await notes.column(NUMBERS) == kept + [number + 1000 for number in kept]


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), KeyError("k"), OSError("pipe")])
async def test_an_error_of_an_operation_reaches_its_caller_as_it_is(
    notes: SqlDatabase, error: Exception
) -> None:
    def fail(connection: SqlConnection) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await notes.write(fail)
    assert caught.value is error
    with pytest.raises(type(error)) as caught, notes.snapshot() as connection:
        fail(connection)
    assert caught.value is error
    assert await notes.write(lambda connection: insert(connection, 1)) == 1
    with pytest.raises(StoreError, match=r"The database .*notes\.db could not be used: UNIQUE"):
        await notes.write(lambda connection: insert(connection, 1))


async def test_a_write_whose_caller_was_cancelled_still_happens(notes: SqlDatabase) -> None:
    go = threading.Event()
    blocking = asyncio.create_task(notes.write(lambda _: go.wait(5)))
    await asyncio.sleep(0)
    writing = asyncio.create_task(notes.write(lambda connection: insert(connection, 7)))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    go.set()
    await blocking
    await notes.write(lambda connection: insert(connection, 8))
    assert await notes.column(NUMBERS) == [7, 8]


async def test_a_read_that_is_interrupted_or_fails_does_not_harm_the_next(
    notes: SqlDatabase,
) -> None:
    slow = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000) "
        "SELECT count(*) FROM n"
    )
    for _ in range(8):
        reading = asyncio.create_task(notes.value(slow))
        await asyncio.sleep(0.005)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        with pytest.raises(StoreError, match="no such table: missing"):
            await notes.rows("SELECT * FROM missing")
    reads = await asyncio.gather(*(notes.column(NUMBERS) for _ in range(20)))
    assert reads == [[]] * 20


async def connect_and_interrupt(file: Path, turns: int, reads: int = 0) -> None:
    """Interrupt a first read after so many turns of the loop, then read again."""
    database = SqlDatabase(f"sqlite+aiosqlite:///{file}")
    reading = asyncio.create_task(database.value("SELECT 1"))
    for _ in range(turns):
        await asyncio.sleep(0)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    found = await asyncio.gather(*(database.value("SELECT 2") for _ in range(reads)))
    assert found == [2] * reads
    await database.close()


async def test_a_read_that_is_interrupted_while_it_connects_harms_nothing(tmp_path: Path) -> None:
    for turns in range(6):
        await connect_and_interrupt(tmp_path / f"{turns}.db", turns, reads=20 * (turns % 2))
    left = [one for one in threading.enumerate() if "connection_worker" in one.name]
    for thread in left:
        thread.join(10)
        assert not thread.is_alive()


def test_a_loop_may_end_after_a_read_that_was_interrupted_while_it_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    for number in range(30):
        asyncio.run(connect_and_interrupt(tmp_path / f"{number % 6}.db", number % 6))
    assert not complaints


async def test_rows_are_named_by_their_own_statement(notes: SqlDatabase) -> None:
    await notes.write(lambda connection: insert(connection, 1))
    for _ in range(3):
        (row,) = await notes.rows("SELECT id, body FROM notes")
        assert row._asdict() == {"id": 1, "body": "x"}
        assert await notes.value("SELECT count(*) FROM notes") == 1
        row = await notes.first("SELECT body, id AS number FROM notes WHERE id IN :ids", ids=[1, 2])
        assert row._asdict() == {"body": "x", "number": 1}


async def test_reads_do_not_wait_for_a_write(notes: SqlDatabase) -> None:
    go = threading.Event()

    def wait(connection: SqlConnection) -> bool:
        insert(connection, 1)
        return go.wait(60)

    writing = asyncio.create_task(notes.write(wait))
    await asyncio.sleep(0.01)
    async with asyncio.timeout(HANG_SECONDS):
        assert await notes.column(NUMBERS) == []
    go.set()
    assert await writing
    assert await notes.column(NUMBERS) == [1]


async def test_a_glance_goes_with_the_writes_under_way_and_alone_without_any(
    notes: SqlDatabase,
) -> None:
    assert await notes.read_fast(NUMBERS) == []
    writing = asyncio.gather(*(notes.run(INSERT, id=n) for n in range(3)))
    await asyncio.sleep(0)
    commits = frames(notes.path)
    assert await notes.read_fast(NUMBERS) == [(0,), (1,), (2,)]  # with what was asked before it
    await writing
    assert frames(notes.path) - commits == 1
    reader = SqlDatabase(f"sqlite+aiosqlite:///{notes.path}", writable=False)
    assert await reader.read_fast(NUMBERS) == [(0,), (1,), (2,)]
    await reader.close()


async def test_a_full_disk_is_a_sentence_and_leaves_a_valid_database(notes: SqlDatabase) -> None:
    await notes.write(lambda connection: insert(connection, 0))
    pages = await notes.write(lambda connection: pragma(connection, "page_count"))
    await notes.write(lambda connection: pragma(connection, f"max_page_count = {pages}"))

    async def write(number: int) -> int:
        return await notes.write(lambda c: insert(c, number, "y" * 3000))

    results = await asyncio.gather(*map(write, range(1, 20)), return_exceptions=True)
    refused = [result for result in results if not isinstance(result, int)]
    assert refused
    for error in refused:
        assert isinstance(error, StoreError)
        assert "database or disk is full. Free some space and start again" in str(error)
    await notes.write(lambda connection: pragma(connection, "max_page_count = 100000"))
    assert await write(50) == 50
    kept = [result for result in results if isinstance(result, int)]
    assert await notes.column(NUMBERS) == [0, *kept, 50]
    assert await notes.value("PRAGMA integrity_check") == "ok"


async def test_a_file_or_folder_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "letter.db"
    path.write_text("Dear reader, " * 1000)
    for writable in (True, False):
        database = SqlDatabase(f"sqlite+aiosqlite:///{path}", writable=writable)
        with pytest.raises(StoreError, match=r"not a database\. Point ROSTRUM_DATABASE_URL at an"):
            await require_newest(database)
        with pytest.raises(StoreError, match="not a database"):
            await database.write(numbers)
        await database.close()
        with pytest.raises(StoreError, match=r"is a folder; set ROSTRUM_DATABASE_URL to a file\.$"):
            SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}", writable=writable)
    assert path.read_text() == "Dear reader, " * 1000


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ann:hunter2@localhost/rostrum",
        "sqlite:///rostrum.db",
        "sqlite+aiosqlite://",
        "sqlite+aiosqlite:///:memory:",
        "rostrum.db",
        "",
    ],
)
def test_another_kind_of_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match=r"ROSTRUM_DATABASE_URL.*sqlite\+aiosqlite:///FILE") as e:
        SqlDatabase(url)
    assert "hunter2" not in str(e.value)


async def test_a_second_runner_is_refused_until_the_first_has_ended(database_url: str) -> None:
    for _ in range(2):
        database = SqlDatabase(database_url)
        assert database.exclusive
        with pytest.raises(StoreError, match=r"Another Rostrum already runs on .*rostrum\.db; sto"):
            SqlDatabase(database_url)
        await database.value("SELECT 1")
        await database.close()


async def test_readers_work_beside_a_runner(store: Store, database_url: str) -> None:
    secret = await store.debates.secret("salt")
    database = SqlDatabase(database_url, writable=False)
    reader = Store(database)
    await require_newest(database)
    assert await reader.debates.secret("salt") == secret
    assert await reader.listings.recent() == []
    await reader.close()
    await store.debates.next_number()


@contextmanager
def without_privilege() -> Iterator[None]:
    if os.getuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def locked_folder(database_url: str, tmp_path: Path) -> Iterator[Path]:
    """A database that may be read only, in a folder that may be read only."""
    opened = [folder for folder in tmp_path.parents if folder.stat().st_uid == os.getuid()]
    modes = {folder: folder.stat().st_mode for folder in opened if len(folder.parts) > 2}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o055)
    (tmp_path / "rostrum.db").chmod(0o444)
    tmp_path.chmod(0o555)
    yield tmp_path
    tmp_path.chmod(0o755)
    for folder, mode in modes.items():
        folder.chmod(mode)


async def test_a_read_only_file_can_be_read_and_says_why_it_cannot_be_run_on(
    locked_folder: Path, database_url: str
) -> None:
    with without_privilege():
        reader = Store(SqlDatabase(database_url, writable=False))
        assert await reader.listings.recent() == []
        with pytest.raises(StoreError, match=r"could not be used: .*\. Make the file and its fold"):
            await reader.debates.next_number()
        await reader.close()
        with pytest.raises(StoreError, match=r"cannot be written: Permission denied\. Check its"):
            SqlDatabase(database_url)


async def test_closing_finishes_the_writes_that_wait_and_the_reads_under_way(
    tmp_path: Path,
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'notes.db'}"
    database = SqlDatabase(url)
    await database.write(_make_table)
    writes = [asyncio.create_task(database.write(lambda c: insert(c, 1)))]
    await asyncio.sleep(0)
    writes.append(asyncio.create_task(database.write(lambda c: insert(c, 2))))
    await asyncio.sleep(0)
    await database.close()
    assert await asyncio.gather(*writes) == [1, 2]
    for use in (lambda: database.write(numbers), lambda: database.column(NUMBERS)):
        with pytest.raises(StoreError, match=r"The database .*notes\.db was closed"):
            await use()
    again = SqlDatabase(url)
    reads = [asyncio.create_task(again.column(NUMBERS)) for _ in range(10)]
    await asyncio.sleep(0)
    await again.close()
    results = await asyncio.gather(*reads, return_exceptions=True)
    assert results[0] == [1, 2]
    assert all(result == [1, 2] or isinstance(result, StoreError) for result in results)


@pytest.mark.parametrize("full", [False, True], ids=["before any write", "on a full disk"])
async def test_a_first_start_that_failed_leaves_no_file_that_passes_for_an_emptied_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """The next start refused it, though settings were mended or there was room again."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'rostrum.db'}"
    first = SqlDatabase(url)
    if full:
        with monkeypatch.context() as patched:
            patched.setattr(adapters.database.sqlite, "connect", _no_room)
            with pytest.raises(StoreError, match="disk is full"):
                await make_ready(first)
    assert full or not (tmp_path / "rostrum.db").exists(), "however it ends"
    await first.close()
    second = SqlDatabase(url)
    try:
        await make_ready(second)
    finally:
        await second.close()


def _no_room(*_: object, **__: object) -> SqlConnection:
    raise sqlite3.OperationalError("database or disk is full")
