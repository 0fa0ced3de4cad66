"""Commands that read, over a damaged database and beside wrong settings; backups that end badly."""

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from adapters.database import backup
from adapters.database.database import SqlDatabase
from bot.operations.control import back_up
from bot.settings.load import load_store_settings
from engine.values.errors import RostrumError, SettingsError
from tests.doubles.command import environment_of, rostrum
from tests.scenario.test_command_line import contents
from tests.scenario.test_command_line_hostile import shell

TOPIC = "Sesame is the best seed"
PAGE = 4096


class Held:
    """A folder whose database holds one debate."""

    def __init__(self, folder: Path) -> None:
        said = rostrum(folder, "debate", TOPIC, "--votes", "A=2,B=1", "--seed", "1")
        said.done()
        self.folder = folder
        self.code = said.debate
        self.bytes = (folder / "rostrum.db").read_bytes()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    return Held(tmp_path_factory.mktemp("held"))


@pytest.fixture
def office(held: Held, tmp_path: Path) -> Path:
    return Path(shutil.copytree(held.folder, tmp_path / "office"))


def overwrite(data: bytes) -> bytes:
    """Write over every second page but the first."""
    noise = random.Random(1)
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    return pages[0] + b"".join(noise.randbytes(PAGE) if n % 2 else p for n, p in enumerate(pages))


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


DAMAGED = "The database rostrum.db is damaged; stop Rostrum and restore it from a backup."
NOT_ONE = "The database rostrum.db could not be used: file is not a database."
DISCORD = {"ROSTRUM_DISCORD__TOKEN": "x.y.z", "ROSTRUM_DISCORD__API_URL": "http://127.0.0.1:9"}
EMPTY = "The database rostrum.db has no tables of Rostrum yet; run rostrum migrate."


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (overwrite, DAMAGED),
        (cut, DAMAGED),
        # No UTF-8: SQLite itself finds nothing wrong with that.
        (lambda data: data.replace(TOPIC.encode(), b"Sesame \xff\xfe\xfd the best seed"), DAMAGED),
        (lambda data: data.replace(b'{"request"', b"{XXXXXXXXX"), DAMAGED),
        (lambda data: random.Random(1).randbytes(100) + data[100:], NOT_ONE),
        (lambda data: b"", EMPTY),
    ],
)
def test_a_damaged_database_is_said_to_be_damaged_without_bytes_of_it(
    held: Held, office: Path, harm: Callable[[bytes], bytes], sentence: str
) -> None:
    (office / "rostrum.db").write_bytes(harm(held.bytes))
    everything = "--include-rehearsal"
    export, stats = ("export", "--out", "x", everything), ("stats", everything)
    for words in (export, stats, ("list",), ("show", held.code)):
        said = rostrum(office, *words).failed(1)
        assert said.startswith(sentence)
        assert "damaged" in said
        assert "from a backup" in said
        assert "Sesame" not in said
        assert said.isprintable()
    assert not (office / "x").exists()


def hide_rows(file: Path) -> None:
    """Take the votes of a debate out of an index that readers go by, and leave the table."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("PRAGMA journal_mode = DELETE")
        of = "SELECT name, sql FROM sqlite_master WHERE name = 'ix_vote_events_debate_question'"
        [(name, sql)] = database.execute(of)
        partial = f"{sql} WHERE person < 0"
        same = ("UPDATE sqlite_master SET sql = ? WHERE name = ?", (partial, name))
        database.execute(*same)
        database.commit()
    with closing(sqlite3.connect(file)) as database:
        database.execute(f'REINDEX "{name}"')
        database.commit()
        database.execute("PRAGMA writable_schema = ON")
        database.execute(same[0], (sql, name))
        database.commit()


def test_votes_that_a_damaged_index_hides_are_not_left_out_in_silence(office: Path) -> None:
    hide_rows(office / "rostrum.db")
    for words in (("export", "--out", "x"), ("stats",), ("backup", "--out", "copy.db")):
        assert rostrum(office, *words).failed(1) == DAMAGED
    assert not (office / "x").exists()
    assert not (office / "copy.db").exists()


@pytest.mark.each_case
@pytest.mark.parametrize("harm", [overwrite, cut])
def test_damage_is_said_at_the_start_also_where_no_first_read_meets_it(
    held: Held, office: Path, harm: Callable[[bytes], bytes]
) -> None:
    (office / "rostrum.db").write_bytes(harm(held.bytes))
    before = (office / "rostrum.db").read_bytes()
    for words in (("run",), ("debate", "Tea", "--votes", "A=1"), ("migrate",)):
        assert rostrum(office, *words, **DISCORD).failed(1) == DAMAGED
    assert (office / "rostrum.db").read_bytes() == before


def test_a_file_that_lost_every_byte_is_not_taken_for_a_new_database(office: Path) -> None:
    (office / "rostrum.db").write_bytes(b"")
    for words in (("run",), ("debate", "Tea", "--votes", "A=1")):
        assert rostrum(office, *words, **DISCORD).failed(1).startswith(EMPTY)
        assert (office / "rostrum.db").stat().st_size == 0
    rostrum(office, "migrate").done()
    rostrum(office, "debate", "Tea", "--votes", "A=1").done()


WRONG = {
    "ROSTRUM_BACKENDS__ONLINE__PRESET": "opensesame",
    "ROSTRUM_BACKENDS__LOCAL__TIMEOUT_S": "soon",
    "ROSTRUM_BACKENDS__LOCAL__SPEED": "high",
    "ROSTRUM_MODELS": "nowhere/x",
    "ROSTRUM_JURORS": "x",
    "ROSTRUM_PRICES": '{"x": "cheap"',
    "ROSTRUM_SLACK__APP_TOKEN": "xapp-1",
    "ROSTRUM_SLACK__MODE": "pigeon",
    "ROSTRUM_SECRET_KEY": "short",
    "ROSTRUM_DEFAULT_FORMAT": "duel",
    "ROSTRUM_LOG__LEVEL": "loud",
    "ROSTRUM_TEMPLATES_DIR": "nowhere",
}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ("list",)),
        (0, ("show", "CODE")),
        (0, ("stats",)),
        (0, ("export", "--out", "x", "--include-rehearsal")),
        (0, ("backup", "--out", "copy.db")),
        (0, ("migrate",)),
        (2, ("cancel", "CODE")),
        (1, ("purge", "slack", "T0", "--yes")),
        (2, ("purge", "terminal", "terminal")),
    ],
)
def test_what_works_on_the_database_alone_needs_no_other_setting(
    held: Held, office: Path, code: int, words: tuple[str, ...]
) -> None:
    given = tuple(word.replace("CODE", held.code) for word in words)
    ended = rostrum(office, *given, **WRONG)
    assert (ended.code, "ROSTRUM_" in ended.err) == (code, False)
    assert bool(ended.out) == (code == 0)


def test_a_debate_is_not_held_with_settings_that_are_wrong(office: Path) -> None:
    ended = rostrum(office, "debate", "Tea", **WRONG)
    assert (ended.code, ended.out) == (1, "")
    assert re.fullmatch(r"rostrum: ROSTRUM_[^\n]+\n", ended.err)


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ROSTRUM_DATABASE_URL", "postgresql+asyncpg://ann:hunter2@db/x"),
        ("ROSTRUM_DATABSE_URL", "sqlite+aiosqlite:///other.db"),
        ("ROSTRUM_DATABASE__URL", "sqlite+aiosqlite:///other.db"),
        ("ROSTRUM_EXPORT__HMAC", "k"),
    ],
)
def test_a_wrong_address_of_the_database_stops_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name) as caught:
        load_store_settings()
    assert "hunter2" not in str(caught.value)


@pytest.mark.slow
def test_a_backup_that_does_not_fit_leaves_nothing(office: Path) -> None:
    before = set(contents(office))
    ended = shell(office, "ulimit -f 100\nrostrum backup --out copy.db")
    assert ended.returncode == 1
    assert re.fullmatch(
        r"rostrum: The backup could not be written to copy\.db: .+; free space or name [a-z ]+\.\n",
        ended.stderr,
    )
    assert set(contents(office)) == before


@pytest.fixture
def configured(office: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(office)
    return office


def lose_a_row(draft: Path) -> None:
    with closing(sqlite3.connect(draft)) as copy:
        copy.execute("DELETE FROM votes WHERE rowid = (SELECT min(rowid) FROM votes)")
        copy.commit()


def spoil(draft: Path) -> None:
    draft.write_bytes(overwrite(draft.read_bytes()))


@pytest.mark.each_case
@pytest.mark.parametrize("harm", [lose_a_row, spoil])
async def test_a_copy_that_lost_a_row_or_that_the_disk_spoiled_is_no_backup(
    configured: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    true_copy = backup._copy

    def harmed(database: SqlDatabase, draft: Path, go_on: Callable[[], None]) -> dict[str, int]:
        counts = true_copy(database, draft, go_on)
        harm(draft)
        return counts

    monkeypatch.setattr(backup, "_copy", harmed)
    before = set(contents(configured))
    with pytest.raises(RostrumError, match="The copy is not the same as the database"):
        await back_up(Path("copy.db"))
    assert set(contents(configured)) == before


async def test_what_came_to_the_place_meanwhile_is_not_overwritten(
    configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_copy = backup._copy

    def race(database: SqlDatabase, draft: Path, go_on: Callable[[], None]) -> dict[str, int]:
        Path("copy.db").write_text("the good one")
        return true_copy(database, draft, go_on)

    monkeypatch.setattr(backup, "_copy", race)
    with pytest.raises(Exception, match=r"copy\.db exists already"):
        await back_up(Path("copy.db"))
    assert (configured / "copy.db").read_text() == "the good one"
    assert [name for name in os.listdir() if name.startswith(".")] == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_backup_that_is_stopped_leaves_no_file(office: Path, how: signal.Signals) -> None:
    script = (
        "import sys, time\n"
        "from adapters.database import backup\n"
        "backup.PAGES_AT_ONCE = 1\n"
        "copying = backup._copy\n"
        "def slow(database, draft, go_on):\n"
        "    def wait():\n"
        "        print('copies', flush=True)\n"
        "        time.sleep(0.05)\n"
        "        go_on()\n"
        "    return copying(database, draft, wait)\n"
        "backup._copy = slow\n"
        "sys.argv = ['rostrum', 'backup', '--out', 'copy.db']\n"
        "from bot.cli import main; main()\n"
    )
    before = set(contents(office))
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=office,
        env=environment_of({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "copies\n"
        process.send_signal(how)
        assert "Copied" not in process.stdout.read()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 1
    assert set(contents(office)) == before


def test_a_backup_is_one_file_that_can_be_read_where_nothing_may_be_written(office: Path) -> None:
    rostrum(office, "backup", "--out", "copy.db").done()
    address = f"file:{office / 'copy.db'}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as copy:
        assert copy.execute("SELECT count(*) FROM votes").fetchone() == (3,)
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert [name for name in os.listdir(office) if name.startswith(("copy.db-", "."))] == []
