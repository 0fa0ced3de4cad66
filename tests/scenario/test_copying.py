"""`rostrum copy`: a file moves to PostgreSQL whole, or not at all, and stays as it was."""

import asyncio
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import psycopg
import pytest
from pydantic import SecretStr

from adapters.database import transfer
from adapters.database.database import SqlDatabase
from adapters.database.file import lock
from adapters.database.transfer import LAYOUTS, CopyProgress, CopyStage, copy
from bench.past_debates import Scale, fill
from engine.store import Store
from engine.store.database import make_secret
from engine.store.installs import Install
from engine.values.errors import RostrumError, StoreError
from migrations import newest
from tests.doubles.command import Ended, environment_of, rostrum
from tests.doubles.databases import PASSWORD, PostgresDouble
from tests.kit import HANG_SECONDS, NOW, some

DEBATES, VOTES = 3, 5
KEY = "an-old-key-of-the-operator"
INSTALL = Install(
    platform="slack",
    community="T1",
    name="Team",
    account="U1",
    token=SecretStr("xoxb-canary"),
    installed_at=NOW,
)
SOME = "holds something already"
PERSON = """
INSERT INTO people (id, platform, "user", opted_out) VALUES (:id, :platform, :user, FALSE)
"""


@pytest.fixture(scope="module")
def filled(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with debates, and with what must be the same afterwards."""
    path = tmp_path_factory.mktemp("filled") / "rostrum.db"
    shutil.copy(migrated_file, path)
    asyncio.run(_fill(path))
    return path


async def _fill(path: Path) -> None:
    database = SqlDatabase(f"sqlite+aiosqlite:///{path}")
    store = Store(database, [KEY])
    await fill(database, Scale(DEBATES, VOTES))
    await database.write(lambda connection: make_secret(connection, "export"))
    await store.installs.keep(INSTALL)
    await store.privacy.forget("memory", "zoe")
    assert await store.leases.claim("debate/x", "a process", 3600)
    await database.run(PERSON, id=2**31 - 1, platform="memory", user="Ö\U0001f600\n\t'\"\\")
    await store.close()


@pytest.fixture
def file(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "rostrum.db"))


@dataclass(frozen=True, slots=True)
class Target:
    """A database on the server; it is empty."""

    server: PostgresDouble
    name: str

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    def run(self, sql: str) -> Any:
        return self.server.run(sql, self.name)

    async def is_empty(self) -> bool:
        database = SqlDatabase(self.url, writable=False)
        try:
            return not (await asyncio.to_thread(database.inspect)).tables
        finally:
            await database.close()


@pytest.fixture
def target(postgres: PostgresDouble) -> Iterator[Target]:
    name = postgres.create()
    yield Target(postgres, name)
    postgres.drop(name)


def of_file(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


def contents(*files: Path) -> list[bytes]:
    return [file.read_bytes() for file in files]


def stored(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def change(path: Path, sql: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


async def copied(path: Path, url: str, report: transfer.Report = lambda headway: None) -> Any:
    target = SqlDatabase(url, writable=False, start_seconds=60)
    try:
        return await copy(path, target, report)
    finally:
        await target.close()


async def refusal(path: Path, url: str, report: transfer.Report = lambda headway: None) -> str:
    with pytest.raises(RostrumError) as caught:
        await copied(path, url, report)
    said = str(caught.value)
    assert "\n" not in said
    assert PASSWORD not in said
    assert said.endswith(".")
    return said


async def test_every_row_is_there_and_the_file_is_as_it_was(file: Path, target: Target) -> None:
    before = contents(file)
    sums = await copied(file, target.url)
    assert contents(file) == before
    assert not file.with_name("rostrum.db-wal").exists()
    for layout in LAYOUTS:
        there = target.run(layout.select())
        here = stored(file, layout.select())
        assert len(there) == len(here) == sums[layout.name].rows
    assert sums["votes"].rows == DEBATES * VOTES
    known = dict(stored(file, 'SELECT id, "user" FROM people'))
    assert dict(target.run('SELECT id, "user" FROM people')) == known
    for table in ("tombstones", "installation"):
        everything = f"SELECT * FROM {table}"  # noqa: S608
        assert sorted(target.run(everything)) == sorted(stored(file, everything)) != []


async def test_keys_tokens_and_times_mean_the_same_and_numbers_go_on(
    file: Path, target: Target
) -> None:
    change(file, "DELETE FROM people WHERE id = ?", 2**31 - 1)
    [(highest,)] = stored(file, "SELECT max(id) FROM people")
    await copied(file, target.url)
    stores = [Store(SqlDatabase(url), [KEY]) for url in (of_file(file), target.url)]
    found = []
    for store in stores:
        [install] = await store.installs.every("slack")
        debate = (await store.listings.recent(limit=1))[0]
        forgotten = await store.privacy.traces("memory", "zoe")
        found.append((install, debate, forgotten))
    assert found[0] == found[1]
    assert found[1][2].forgotten
    # No lease is held there, and the next one is newer.
    lease = await stores[1].leases.claim("debate/x", "another", 9)
    people = await stores[1].votes.people("memory", ["new"])
    for store in stores:
        await store.close()
    assert some(lease).epoch == 2
    assert people["new"] == highest + 1
    added = (
        "INSERT INTO connection_gaps (platform, ended_at) VALUES ('memory', now()) RETURNING number"
    )
    assert target.run(added) == [(1,)]


async def test_a_file_goes_to_a_database_that_was_migrated_before(file: Path, url: str) -> None:
    assert (await copied(file, url))["debates"].rows == DEBATES


async def test_a_log_beside_the_file_is_copied_too_and_stays(file: Path, target: Target) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("INSERT INTO tombstones VALUES ('late')")
        other.commit()
        log = file.with_name("rostrum.db-wal")
        before = contents(file, log)
        sums = await copied(file, target.url)
        assert contents(file, log) == before
    assert sums["tombstones"].rows == 2
    assert ("late",) in target.run("SELECT digest FROM tombstones")


MISFITS = [
    ("reason = 'a' || char(0)", "reason contains a NUL char"),
    ("reason = CAST(x'ff' AS TEXT)", "reason is not UTF-8"),
    ("reason = CAST(x'eda080' AS TEXT)", "reason is not UTF-8"),
    ("reason = x'00ff'", "reason is not a text"),
    ("language = substr(hex(zeroblob(50)), 1, 36)", "language is longer than 35 characters"),
    ("gaps = 2147483648", "gaps is out of range"),
    ("gaps = 'many'", "gaps is not a whole number"),
    ("gaps = 0.5", "gaps is not a whole number"),
    ("reserved_usd = 'much'", "reserved_usd is not a number"),
    ("gone = 2", "gone is neither true nor false"),
    ("created_at = 'noon'", "created_at is not a time"),
    ("created_at = '2026-01-01 00:00:00+03:00'", "created_at is a time with a zone"),
]


@pytest.mark.parametrize(("sql", "said"), MISFITS)
async def test_what_postgresql_does_not_take_is_named_before_anything_is_written(
    file: Path, target: Target, sql: str, said: str
) -> None:
    change(file, f"UPDATE debates SET {sql} WHERE number = 1")  # noqa: S608
    found = await refusal(file, target.url)
    assert f": {said}" in found
    assert ", row " in found
    assert "nothing was copied" in found
    assert await target.is_empty()


async def test_what_is_wrong_in_many_rows_in_a_reference_or_in_the_file_is_named(
    file: Path, target: Target
) -> None:
    change(file, "INSERT INTO tombstones VALUES (CAST(x'c3' AS TEXT))")
    assert "digest is not UTF-8" in await refusal(file, target.url)
    change(file, "DELETE FROM tombstones")
    change(file, "UPDATE debates SET starter = 99999999 WHERE number = 1")
    assert "refers to no row of people" in await refusal(file, target.url)
    change(file, "UPDATE votes SET body = body || char(0)")
    found = await refusal(file, target.url)
    assert found.count(", row ") == 5
    assert ", and more. Correct that in the file" in found
    with file.open("r+b") as stream:
        stream.seek(4096 * 3)
        stream.write(b"\xff" * 4096 * 3)
    assert "is damaged" in await refusal(file, target.url)
    assert await target.is_empty()


async def test_a_file_of_another_version_is_not_copied(file: Path, target: Target) -> None:
    change(file, "UPDATE alembic_version SET version_num = '0021'")
    assert "made before the first release" in await refusal(file, target.url)
    change(file, "UPDATE alembic_version SET version_num = '9998'")
    change(file, "INSERT INTO installation VALUES ('min_version', '9998')")
    assert "made by a newer Rostrum" in await refusal(file, target.url)
    change(file, "UPDATE installation SET value = ? WHERE name = 'min_version'", newest())
    assert "copy it with that version" in await refusal(file, target.url)
    assert await target.is_empty()


@pytest.mark.slow
async def test_a_database_that_holds_something_or_is_newer_is_left_alone(
    file: Path, postgres: PostgresDouble, target: Target, migrated_name: str
) -> None:
    target.run("CREATE TABLE orders (id INTEGER)")
    assert "belongs to another program" in await refusal(file, target.url)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert target.run(tables) == [("orders",)]
    target.run("DROP TABLE orders")
    await copied(file, target.url)
    held = target.run("SELECT count(*) FROM votes")
    assert f"{SOME} (in communities)" in await refusal(file, target.url)
    assert target.run("SELECT count(*) FROM votes") == held
    newer = Target(postgres, postgres.create(migrated_name))
    newer.run("UPDATE alembic_version SET version_num = '9998'")
    newer.run("INSERT INTO installation VALUES ('min_version', '9998')")
    for oldest in ("9998", newest()):
        newer.run(f"UPDATE installation SET value = '{oldest}' WHERE name = 'min_version'")  # noqa: S608
        assert "made by a newer Rostrum" in await refusal(file, newer.url)
    postgres.drop(newer.name)


async def test_a_file_that_is_in_use_is_not_copied_and_none_is_used_meanwhile(
    file: Path, target: Target
) -> None:
    tried: list[str] = []

    def start(headway: CopyProgress) -> None:
        if not tried:
            with pytest.raises(StoreError) as caught:
                lock(file)
            tried.append(str(caught.value))

    with lock(file):
        assert "Another Rostrum already runs on" in await refusal(file, target.url)
    await copied(file, target.url, start)
    assert "already runs" in tried[0]


async def test_a_command_that_writes_meanwhile_is_noticed(file: Path, target: Target) -> None:
    def write(headway: CopyProgress) -> None:
        if headway == CopyProgress("Copying", "votes", headway.done, headway.total):
            change(file, "INSERT INTO tombstones VALUES ('meanwhile')")

    said = await refusal(file, target.url, write)
    assert "was changed while it was copied, so nothing was copied. Run rostrum copy again" in said
    assert await target.is_empty()


async def test_what_arrives_otherwise_is_noticed(
    file: Path, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_write = transfer._write

    def lose(driver: Any, layout: Any, rows: transfer.Rows) -> None:
        true_write(driver, layout, rows)
        if layout.name == "votes":
            driver.execute("UPDATE votes SET body = replace(body, 'A', 'B')")

    monkeypatch.setattr(transfer, "_write", lose)
    assert "is not what is in" in await refusal(file, target.url)
    assert await target.is_empty()


@pytest.mark.slow
@pytest.mark.parametrize("stage", get_args(CopyStage))
async def test_a_copy_that_is_stopped_leaves_an_empty_database(
    file: Path, target: Target, stage: CopyStage
) -> None:
    def stop(headway: CopyProgress) -> None:
        if headway.stage == stage and headway.table == "votes":
            raise RostrumError("Stopped.")

    assert await refusal(file, target.url, stop) == "Stopped."
    assert await target.is_empty()
    assert (await copied(file, target.url))["votes"].rows == DEBATES * VOTES


@pytest.mark.slow
@pytest.mark.parametrize("table", ["people", "votes"])
async def test_a_connection_that_is_lost_is_tried_again_from_the_beginning(
    file: Path, postgres: PostgresDouble, target: Target, table: str
) -> None:
    cut: list[str] = []

    def lose(headway: CopyProgress) -> None:
        if headway.stage == "Verifying" and headway.table == table and not cut:
            cut.append(table)
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
            postgres.run(ended.format(target.name))

    assert (await copied(file, target.url, lose))["votes"].rows == DEBATES * VOTES
    assert cut
    assert target.run("SELECT count(*) FROM votes") == [(DEBATES * VOTES,)]


@pytest.mark.slow
@pytest.mark.parametrize("committed", [False, True])
async def test_a_commit_whose_answer_is_lost_is_neither_lost_nor_repeated(
    file: Path, target: Target, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    true_commit, lost = psycopg.Connection.commit, list[bool]()

    def commit(self: Any) -> None:
        if committed or lost:
            true_commit(self)
        if not lost:
            lost.append(True)
            self.close()
            raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    assert (await copied(file, target.url))["votes"].rows == DEBATES * VOTES
    assert lost
    assert target.run("SELECT count(*) FROM votes") == [(DEBATES * VOTES,)]


def run(folder: Path, *arguments: str, **settings: str) -> Ended:
    where = {"ROSTRUM_DATABASE_URL": of_file(folder / "rostrum.db")}
    return rostrum(folder, *arguments, **where | settings)


@pytest.mark.slow
def test_the_command_counts_every_table_and_says_what_to_do_next(
    file: Path, target: Target
) -> None:
    records = file.with_name("rostrum.db.terminal")
    records.mkdir(mode=0o700)
    (records / "ABC.jsonl").write_text("{}")
    ended = run(file.parent, "copy", "--out", target.server.tcp(target.name))
    assert ended.code == 0, ended
    assert PASSWORD not in ended.out + ended.err
    assert f"votes: {DEBATES * VOTES} rows, checksum " in ended.out
    assert "Set ROSTRUM_DATABASE_URL to the new address" in ended.out
    assert "Copying votes: " in ended.err
    moved = file.with_name(f"127.0.0.1-{target.name}.terminal")
    assert (moved / "ABC.jsonl").read_text() == "{}"
    assert moved.stat().st_mode & 0o777 == 0o700
    listed = rostrum(file.parent, "list", ROSTRUM_DATABASE_URL=target.url).done()
    assert listed == run(file.parent, "list").done()


@pytest.mark.slow
def test_a_terminal_shows_a_bar(file: Path, target: Target) -> None:
    main, side = pty.openpty()
    command = [sys.executable, "-c", "from bot.cli import main; main()", "copy", "--out"]
    settings = {"ROSTRUM_DATABASE_URL": of_file(file), "TERM": "xterm"}
    with subprocess.Popen(
        [*command, target.url],
        cwd=file.parent,
        env=environment_of(settings),
        stdout=subprocess.DEVNULL,
        stderr=side,
    ) as process:
        os.close(side)
        shown = b"".join(iter(lambda: _read(main), b""))
    os.close(main)
    assert process.returncode == 0, shown
    assert b"Checking" in shown
    assert b"Verifying" in shown
    assert b"%" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side has closed it
        return b""


@pytest.mark.slow
def test_a_stop_leaves_an_empty_database_and_says_so(file: Path, target: Target) -> None:
    code = (
        "import os, signal, time\n"
        "from adapters.database import transfer\n"
        "true = transfer._write\n"
        "def write(driver, layout, rows):\n"
        "    true(driver, layout, rows)\n"
        "    if layout.name == 'votes':\n"
        f"        os.kill(os.getpid(), {int(signal.SIGTERM)})\n"
        "        time.sleep(0.2)\n"
        "transfer._write = write\n"
        "from bot.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "copy", "--out", target.url],
        cwd=file.parent,
        env=environment_of({"ROSTRUM_DATABASE_URL": of_file(file)}),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert ended.returncode == 1, ended
    assert "The copy was stopped; the new database is as it was before." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert asyncio.run(target.is_empty())


REFUSED: list[tuple[Callable[[PostgresDouble], str], int, str]] = [
    (lambda server: "sqlite+aiosqlite:///other.db", 2, "--out is not an address of PostgreSQL"),
    (lambda server: "postgresql://a:b:c@[", 1, "--out is no address of PostgreSQL"),
    (lambda server: server.tcp(password="wrong"), 1, "Correct the password in --out."),
    (lambda server: server.url("absent"), 1, "Create the database, or correct its name in --out."),
]


@pytest.mark.parametrize(("to", "code", "said"), REFUSED)
def test_a_wrong_address_is_one_sentence_about_the_option(
    file: Path, postgres: PostgresDouble, to: Callable[[PostgresDouble], str], code: int, said: str
) -> None:
    ended = run(file.parent, "copy", "--out", to(postgres))
    last = ended.err.splitlines()[-1]
    assert (ended.code, said in last, "ROSTRUM_DATABASE_URL" in last) == (code, True, False), ended


def test_the_source_must_be_a_file(tmp_path: Path, target: Target) -> None:
    where = {"ROSTRUM_DATABASE_URL": target.server.tcp(target.name)}
    ended = run(tmp_path, "copy", "--out", target.url, **where)
    assert (ended.code, "pg_dump" in ended.err) == (2, True), ended
    assert PASSWORD not in ended.err
    ended = run(tmp_path, "copy", "--out", target.url)
    assert ended.failed(1).startswith("There is no database ")
    assert not list(tmp_path.iterdir())
