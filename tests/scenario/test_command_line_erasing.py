"""`rostrum forget`, `unforget` and `purge` as an operator types them, and whose files there are."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.doubles.command import ROOT, Ended, environment_of, rostrum, run_forked
from tests.doubles.waiting import HANG_SECONDS
from tests.scenario.test_command_line import contents

VOTED = ("debate", "Tea is best", "--votes", "A=2,B=1", "--seed", "1")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose database holds two debates of this terminal, each with three votes."""
    folder = tmp_path_factory.mktemp("held")
    for _ in range(2):
        rostrum(folder, *VOTED).done()
    return folder


@pytest.fixture
def office(held: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(held, tmp_path / "office"))


def ask(folder: Path, *words: str, typed: str) -> Ended:
    """Run a command at a terminal, and type an answer."""
    ours, its_end = os.openpty()
    os.write(ours, typed.encode())
    try:
        with tempfile.TemporaryFile() as out:
            streams = (its_end, out.fileno(), its_end)
            code = run_forked(folder, words, environment_of({}), streams)
            os.close(its_end)
            out.seek(0)
            return Ended(code, out.read().decode(), os.read(ours, 10_000).decode())
    finally:
        os.close(ours)


def test_what_is_stored_of_somebody_is_written_into_a_file_once(office: Path) -> None:
    said = rostrum(office, "mydata", "terminal", "guest-1").done()
    assert said.strip() == "rostrum-my-data.json has all that is stored of that user."
    written = json.loads((office / "rostrum-my-data.json").read_text("utf-8"))
    assert len(written["tables"]["votes"]) == 2
    assert {one["topic"] for one in written["debates"].values()} == {"Tea is best"}
    assert "guest-2" not in json.dumps(written)
    again = rostrum(office, "mydata", "terminal", "guest-1")
    assert (again.code, "exists already" in again.err) == (2, True)
    unknown = rostrum(office, "mydata", "terminal", "nobody", "--out", "other.json")
    assert (unknown.code, "Nothing is stored" in unknown.err) == (1, True)


def users(folder: Path) -> list[str | None]:
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        return [user for (user,) in database.execute("SELECT user FROM people ORDER BY id")]


def debates(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        return int(database.execute("SELECT count(*) FROM debates").fetchone()[0])


# --- who and what is not there -------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("forget", "discord", "999999999999"), "discord user"),
        (("forget", "slack", "guest-1", "--yes"), "slack user"),
        (("unforget", "terminal", "guest-1"), "terminal user"),
        (("purge", "slack", "T0NOBODY"), "slack community T0NOBODY"),
        (("purge", "terminal", "elsewhere", "--yes"), "terminal community elsewhere"),
    ],
)
def test_what_is_not_there_ends_with_1_and_a_sentence(
    held: Path, words: tuple[str, ...], kind: str
) -> None:
    before = users(held), debates(held)
    sentence = rostrum(held, *words).failed(1)
    assert kind in sentence
    assert sentence.endswith("check the platform and the id.")
    assert "999999999999" not in sentence
    assert (users(held), debates(held)) == before
    with closing(sqlite3.connect(held / "rostrum.db")) as database:
        assert database.execute("SELECT count(*) FROM tombstones").fetchone() == (0,)


# --- asking --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (("forget", "terminal", "guest-1"), "2 votes"),
        (("forget", "terminal", "host"), "2 debates started"),
        (("purge", "terminal", "terminal"), "2 debates, 6 votes, 2 transcripts"),
    ],
)
def test_without_a_terminal_nothing_is_deleted_unless_yes_is_said(
    held: Path, words: tuple[str, ...], counts: str
) -> None:
    before = users(held), debates(held), contents(held / "rostrum.db.terminal")
    sentence = rostrum(held, *words).failed(2)
    assert counts in sentence
    assert sentence.endswith("Nothing was done: add --yes to skip the question.")
    assert (users(held), debates(held), contents(held / "rostrum.db.terminal")) == before


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (("purge", "terminal", "terminal"), "no\n"),
        (("purge", "terminal", "terminal"), "\x04"),
        (("forget", "terminal", "guest-2"), "\n"),
        (("forget", "terminal", "guest-2"), "y\n"),
    ],
)
def test_any_answer_but_yes_deletes_nothing(held: Path, words: tuple[str, ...], typed: str) -> None:
    ended = ask(held, *words, typed=typed)
    assert (ended.code, ended.out) == (1, "")
    assert "Type yes to continue: " in ended.err
    assert "rostrum: Nothing was done: the answer was not yes." in ended.err
    assert debates(held) == 2
    assert "guest-2" in users(held)
    assert len(list((held / "rostrum.db.terminal").glob("*.jsonl"))) == 2


def test_yes_at_the_terminal_deletes_what_was_counted(office: Path) -> None:
    ended = ask(office, "forget", "terminal", "guest-1", typed="yes\n")
    assert (ended.code, ended.out.startswith("User erased. ")) == (0, True)
    assert "2 votes" in ended.err
    assert "guest-1" not in users(office)
    ended = ask(office, "purge", "terminal", "terminal", typed="YES\n")
    assert ended.code == 0
    assert "2 debates, 6 votes, 2 transcripts of terminal community terminal" in ended.err
    assert ended.out == "Deleted 2 debates, and everything stored with them.\n"
    assert debates(office) == 0


# --- what is deleted, and what comes back --------------------------------------------------


def test_a_purge_deletes_the_terminals_transcripts_too(office: Path) -> None:
    assert contents(office / "rostrum.db.terminal")
    rostrum(office, "purge", "terminal", "terminal", "--yes").done()
    left = {name: text for name, text in contents(office).items() if b"Tea is best" in text}
    assert left == {}
    assert not (office / "rostrum.db.terminal").exists()
    assert rostrum(office, "list").done() == "No debates.\n"
    rostrum(office, *VOTED).done()


def test_transcripts_that_no_debate_is_stored_of_are_purged_too(office: Path) -> None:
    rostrum(office, "purge", "terminal", "terminal", "--yes").done()
    (office / "rostrum.db.terminal").mkdir()
    (office / "rostrum.db.terminal" / "01OLD.jsonl").write_text("{}\n")
    said = rostrum(office, "purge", "terminal", "terminal", "--yes").done()
    assert said.startswith("Deleted 0 debates")
    assert not (office / "rostrum.db.terminal").exists()


def test_a_link_where_the_transcripts_should_be_is_not_followed(office: Path) -> None:
    folder = office / "rostrum.db.terminal"
    folder.rename(office / "mine")
    folder.symlink_to(office / "mine")
    sentence = rostrum(office, "purge", "terminal", "terminal", "--yes").failed(1)
    assert "Delete that folder yourself." in sentence
    assert len(list((office / "mine").glob("*.jsonl"))) == 2


def test_who_was_forgotten_is_stored_again_after_unforget(office: Path) -> None:
    assert (
        rostrum(office, "forget", "terminal", "guest-1", "--yes").done().startswith("User erased.")
    )
    again = rostrum(office, "forget", "terminal", "guest-1").done()
    assert again == "Already erased. No record identifies that user.\n"
    rostrum(office, *VOTED).done()
    assert "guest-1" not in users(office)
    said = rostrum(office, "unforget", "terminal", "guest-1").done()
    assert said.startswith("Re-admitted:")
    rostrum(office, "unforget", "terminal", "guest-1").failed(1)
    rostrum(office, *VOTED).done()
    assert "2 votes" not in rostrum(office, "forget", "terminal", "guest-1").failed(2)
    assert "1 vote)" in rostrum(office, "forget", "terminal", "guest-1").failed(2)


# --- somebody else's database --------------------------------------------------------------


def notes(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE notes (text)")
    database.execute("INSERT INTO notes VALUES ('mine')")


def other_alembic(database: sqlite3.Connection) -> None:
    notes(database)
    database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    database.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf')")


def same_number(database: sqlite3.Connection) -> None:
    notes(database)
    database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    database.execute("INSERT INTO alembic_version VALUES ('0001')")


def like_ours(database: sqlite3.Connection) -> None:
    for name in ("installation", "debates", "vote_events"):
        database.execute(f"CREATE TABLE {name} (x)")


FOREIGN = "The database rostrum.db belongs to another program"


def make_foreign(folder: Path, fill: Callable[[sqlite3.Connection], None], journal: str) -> None:
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        database.execute(f"PRAGMA journal_mode = {journal}")
        fill(database)
        database.commit()
    (folder / "rostrum.db").chmod(0o644)


@pytest.mark.parametrize(
    ("fill", "journal"),
    [(notes, "delete"), (other_alembic, "delete"), (same_number, "wal"), (like_ours, "wal")],
)
def test_somebody_elses_database_is_left_as_it_is(
    tmp_path: Path, fill: Callable[[sqlite3.Connection], None], journal: str
) -> None:
    make_foreign(tmp_path, fill, journal)
    before = contents(tmp_path)
    assert rostrum(tmp_path, "migrate").failed(1).startswith(FOREIGN)
    assert contents(tmp_path) == before
    assert (tmp_path / "rostrum.db").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "words", [VOTED, ("list",), ("forget", "discord", "1", "--yes"), ("backup", "copy.db")]
)
def test_no_command_uses_somebody_elses_database(tmp_path: Path, words: tuple[str, ...]) -> None:
    make_foreign(tmp_path, other_alembic, "wal")
    before = contents(tmp_path)
    assert rostrum(tmp_path, *words).failed(1).startswith(FOREIGN)
    assert contents(tmp_path) == before


def test_somebody_elses_writes_that_wait_in_its_log_are_left_there(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "rostrum.db")) as database:
        database.execute("PRAGMA journal_mode = wal")
        notes(database)
        database.commit()
        before = contents(tmp_path)
        assert rostrum(tmp_path, "migrate").failed(1).startswith(FOREIGN)
        after = contents(tmp_path)
        for name in ("rostrum.db", "rostrum.db-wal"):
            assert after[name] == before[name]


# --- whose files they are ------------------------------------------------------------------


def modes(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if not path.is_symlink())
    return {str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777) for path in found}


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_database_and_what_lies_beside_it_are_the_owners_alone(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        rostrum(tmp_path, *VOTED, "--format", "structured").done()
        rostrum(tmp_path, "backup", "copy.db").done()
    finally:
        os.umask(before)
    found = modes(tmp_path)
    folders = {name for name in found if (tmp_path / name).is_dir()}
    assert {"rostrum.db", "rostrum.db.lock", "copy.db", "rostrum.db.terminal"} <= found.keys()
    assert len(folders) == 2, "the transcripts', and the debate's own files in it"
    assert {found[name] for name in folders} == {"0o700"}
    assert {mode for name, mode in found.items() if name not in folders} == {"0o600"}


def test_the_write_ahead_log_of_a_running_process_is_the_owners_alone(tmp_path: Path) -> None:
    script = (
        "import asyncio, os\n"
        "from adapters.storage.database import Database\n"
        "from adapters.storage.migrate import migrate\n"
        "async def main():\n"
        "    os.umask(0)\n"
        "    database = Database('sqlite+aiosqlite:///rostrum.db')\n"
        "    await migrate(database)\n"
        "    await database.write(lambda connection: None)\n"
        "    for name in os.listdir(): print(name, oct(os.stat(name).st_mode & 0o777))\n"
        "    await database.close()\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    found = dict(line.split() for line in ended.stdout.splitlines())
    names = ("rostrum.db", "rostrum.db-shm", "rostrum.db-wal", "rostrum.db.lock")
    assert found == dict.fromkeys(names, "0o600")


def test_files_that_others_could_read_are_tightened_by_the_next_process(office: Path) -> None:
    for name in ("rostrum.db", "rostrum.db.lock"):
        (office / name).chmod(0o644)
    (office / "rostrum.db.terminal").chmod(0o755)
    rostrum(office, "list").done()
    assert modes(office)["rostrum.db"] == "0o644", "what only reads changes nothing"
    ended = rostrum(office, "migrate")
    assert ended.code == 0
    assert re.search(r"file made private.*rostrum\.db", ended.err)
    rostrum(office, *VOTED).done()
    found = modes(office)
    assert {found[name] for name in ("rostrum.db", "rostrum.db.lock")} == {"0o600"}
    assert found["rostrum.db.terminal"] == "0o700"
