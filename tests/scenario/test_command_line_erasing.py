"""`rostrum forget`, `unforget` and `purge` as an operator types them, and whose files there are."""

import json
import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.doubles.command import Ended, environment_of, rostrum, run_forked
from tests.scenario.test_command_line import contents

VOTED = ("debate", "Tea is best", "--votes", "A=2,B=1", "--seed", "1")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose database holds two debates of this terminal, each with three votes."""
    folder = tmp_path_factory.mktemp("held")
    for _ in range(2):
        rostrum(folder, *VOTED).done()
    return folder


def ask(folder: Path, *words: str, typed: str) -> Ended:
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


@pytest.mark.slow
def test_what_is_stored_of_somebody_is_written_into_a_file_once(office: Path) -> None:
    said = rostrum(office, "mydata", "terminal", "guest-1").done()
    assert (office / "rostrum-my-data.json").stat().st_mode & 0o777 == 0o600
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
    assert "2 votes" not in rostrum(office, "forget", "terminal", "guest-1").failed(2)
    ended = ask(office, "purge", "terminal", "terminal", typed="YES\n")
    assert ended.code == 0
    assert "2 debates, 6 votes, 2 transcripts of terminal community terminal" in ended.err
    assert ended.out == "Deleted 2 debates, and everything stored with them.\n"
    assert debates(office) == 0


def test_a_purge_deletes_the_terminals_transcripts_also_those_of_no_debate(office: Path) -> None:
    folder = office / "rostrum.db.terminal"
    assert contents(folder)
    rostrum(office, "purge", "terminal", "terminal", "--yes").done()
    left = {name: text for name, text in contents(office).items() if b"Tea is best" in text}
    assert left == {}
    assert not folder.exists()
    assert rostrum(office, "list").done() == "No debates.\n"
    folder.mkdir()
    (folder / "01OLD.jsonl").write_text("{}\n")
    said = rostrum(office, "purge", "terminal", "terminal", "--yes").done()
    assert said.startswith("Deleted 0 debates")
    assert not folder.exists()
    rostrum(office, *VOTED).done()


def test_a_link_where_the_transcripts_should_be_is_not_followed(office: Path) -> None:
    folder = office / "rostrum.db.terminal"
    folder.rename(office / "mine")
    folder.symlink_to(office / "mine")
    sentence = rostrum(office, "purge", "terminal", "terminal", "--yes").failed(1)
    assert "Delete that folder yourself." in sentence
    assert len(list((office / "mine").glob("*.jsonl"))) == 2


def test_who_was_forgotten_is_stored_again_after_unforget(office: Path) -> None:
    with closing(sqlite3.connect(office / "rostrum.db")) as database:
        person = "(platform, user, opted_out, scoreboard) VALUES ('discord', '7', 0, 0)"
        database.execute(f"INSERT INTO people {person}")
        database.commit()
    said = rostrum(office, "forget", "discord", "7", "--yes").done()
    assert said.startswith("User erased.")
    again = rostrum(office, "forget", "discord", "7").done()
    assert again == "Already erased. No record identifies that user.\n"
    assert "7" not in users(office)
    said = rostrum(office, "unforget", "discord", "7").done()
    assert said.startswith("Re-admitted:")
    assert "7" in users(office)
    rostrum(office, "unforget", "discord", "7").failed(1)


@pytest.mark.slow
def test_the_next_guest_of_a_terminal_counts_after_the_last_one_was_forgotten(office: Path) -> None:
    for user in ("guest-1", "host"):
        said = rostrum(office, "forget", "terminal", user, "--yes").done()
        assert f"from the next debate on, {user} is the next person with that name there." in said
    said = rostrum(office, *VOTED).done()
    assert "🔵 A 2 · 🔴 B 1" in said
    assert "1 vote)" in rostrum(office, "forget", "terminal", "guest-1").failed(2)
