"""`rostrum` where nothing is as it should be: odd words, odd streams, odd files; one line each."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.doubles.command import environment_of, rostrum
from tests.kit import HANG_SECONDS

ODD = "caf\udce9"  # as an argument: bytes that are no UTF-8


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    rostrum(folder, "migrate").done()
    return folder


def shell(folder: Path, line: str, **settings: str) -> subprocess.CompletedProcess[str]:
    start = f'rostrum() {{ "{sys.executable}" -c "from bot.cli import main; main()" "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", start + line],
        cwd=folder,
        env=environment_of(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from bot.cli import main; main()", *words],
        cwd=folder,
        env=environment_of({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("show", ODD),
        ("debate", ODD, "--votes", "A=1"),
        ("export", "--out", ODD),
        ("forget", "discord", ODD),
        ("stats", "--community", ODD),
    ],
)
def test_words_that_are_no_text_are_wrong_usage(office: Path, words: tuple[str, ...]) -> None:
    sentence = rostrum(office, *words).failed(2)
    assert sentence == "“caf\\xe9” is not UTF-8 text; write it as UTF-8."


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("list", "--limit", "9" * 20), "--limit"),
        (("export", "--out", "x", "--since", "0001-01-01"), "--since"),
        (("export", "--out", "x", "--until", "9999-12-31"), "--until"),
        (("export", "--out", "x", "--since", "0001-01-01T00:00:00+14:00"), "--since"),
        (("forget", "discord", " "), "the user's id"),
        (("purge", "slack", ""), "the community's id"),
        (("disconnect", "slack", ""), "the community's id"),
        (("invite", "--slack", "--name", "n" * 36), "--name"),
        (("bench", "live", "--debates", "-1"), "--debates"),
        (("bench", "live", "--over", "nan"), "--over"),
        (("bench", "live", "--seconds", "inf"), "--seconds"),
    ],
)
def test_what_nobody_can_mean_is_wrong_usage(
    office: Path, words: tuple[str, ...], named: str
) -> None:
    ended = rostrum(office, *words)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_a_debate_into_head_is_interrupted_and_goes_on(tmp_path: Path) -> None:
    line = 'rostrum debate Tea --votes A=1 --seed 1 | head -1; echo "${PIPESTATUS[0]}"'
    first, code = shell(tmp_path, line).stdout.splitlines()
    assert first.startswith("Note: ")
    assert code == "141"
    listed = rostrum(tmp_path, "list").done().splitlines()[-1].split()
    assert listed[1] == "interrupted"
    shown = rostrum(tmp_path, "show", listed[0]).done()
    assert f"waits for  a process; go on with: rostrum resume {listed[0]}" in shown
    assert "[Reveal]" in rostrum(tmp_path, "resume", listed[0]).done()
    assert rostrum(tmp_path, "list").done().splitlines()[-1].split()[1] == "closed"


@pytest.mark.parametrize("command", ["list", "migrate"])
def test_a_newer_database_is_not_sent_to_be_migrated(tmp_path: Path, command: str) -> None:
    rostrum(tmp_path, "migrate").done()
    with closing(sqlite3.connect(tmp_path / "rostrum.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.execute("UPDATE installation SET value = '9999' WHERE name = 'min_version'")
        database.commit()
    sentence = rostrum(tmp_path, command).failed(1)
    assert sentence.startswith(
        "The database rostrum.db was made by a newer Rostrum (revision 9999); install that version"
    )


@pytest.mark.slow
def test_a_demo_that_is_stopped_says_how_to_go_on_whatever_its_folder_is_called(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "demo", "--out", "my folder") as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if line.startswith("[Debate] "):
                break
        demo.terminate()
        advice = re.search(r"(?m)^Continue with:  (.+)$", demo.stdout.read())
    assert advice
    ended = shell(tmp_path, advice[1])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "[Reveal]" in ended.stdout
    assert "Exported to my folder: debates 1, turns 8" in ended.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"my folder"}


@pytest.mark.slow
def test_what_the_terminals_encoding_lacks_is_escaped(office: Path) -> None:
    words = ("debate", "Çay 茶", "--votes", "A=1")
    said = rostrum(office, *words, PYTHONIOENCODING="ascii").done()
    assert r"Topic: \xc7ay \u8336" in said
    assert r"\xc7ay \u8336" in rostrum(office, "list", PYTHONIOENCODING="ascii").done()


@pytest.mark.parametrize(
    "command",
    ["list", "debate Tea --votes A=1", "check", "stats --out pictures", "demo", "--help"],
)
def test_a_reader_that_has_enough_ends_a_command_quietly(office: Path, command: str) -> None:
    # A pipe that nobody reads from any more, as after `head`: no luck is needed.
    pipe = 'mkfifo "pipe"; exec 4<>"pipe"; exec 3>"pipe" 4<&-; rm "pipe"; '
    ended = shell(office, f"{pipe}rostrum {command} >&3")
    assert (ended.returncode, ended.stderr) == (141, ""), "the code of every tool in a pipe"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "database"),
    [("debate Tea --votes A=1", "rostrum.db"), ("demo", "demo-export/debate/demo.db")],
)
def test_a_reader_who_leaves_a_debate_stops_it_like_ctrl_c(
    tmp_path: Path, command: str, database: str
) -> None:
    with started(tmp_path, *command.split()) as held:
        assert held.stdout is not None
        for line in held.stdout:
            if found := re.match(r"\[Debate\] \(#\d+ · (\w+)\)$", line):
                break
        held.stdout.close()
        assert held.wait(HANG_SECONDS) == 141
    assert found
    there = {"ROSTRUM_DATABASE_URL": f"sqlite+aiosqlite:///{database}"}
    resumed = rostrum(tmp_path, "resume", found[1], "--votes", "A=1", **there)
    assert "[Reveal]" in resumed.done()


@pytest.mark.parametrize(
    "command",
    ["list", "--help", "invite --slack", "debate --help", "--version"],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_takes_nothing_is_one_line_of_error(
    office: Path, command: str, unbuffered: str
) -> None:
    ended = shell(office, f"rostrum {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert ended.returncode == 1
    assert ended.stderr == ("rostrum: The output could not be written: No space left on device.\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rostrum list >&-", 0),
        ("rostrum export --out quiet <&- >&- 2>&-", 1),
        ("rostrum --help >&-", 0),
        ("rostrum --version >&-", 0),
        ("rostrum lists 2>&-", 2),
        ("rostrum list <&-", 0),
        ("rostrum show nobody 2>&-", 1),
        ("rostrum backup --out quiet.db <&- >&- 2>&-", 0),
    ],
)
def test_streams_that_are_closed_are_nobodys(office: Path, line: str, code: int) -> None:
    ended = shell(office, line)
    assert ended.returncode == code
    assert ended.stderr == ""


@pytest.mark.slow
def test_a_narrow_terminal_shows_whole_ids(tmp_path: Path) -> None:
    said = rostrum(tmp_path, "debate", "Tea is best", "--votes", "A=1")
    said.done()
    terminal, its_end = os.openpty()
    with os.fdopen(terminal, "rb") as shown:
        subprocess.run(
            [sys.executable, "-c", "from bot.cli import main; main()", "list"],
            cwd=tmp_path,
            env=environment_of({"COLUMNS": "20", "TERM": "xterm", "NO_COLOR": "1"}),
            stdout=its_end,
            timeout=HANG_SECONDS,
            check=True,
        )
        os.close(its_end)
        lines = os.read(shown.fileno(), 10_000).decode()
    assert f"{said.debate}\r\n" in lines
    assert "Tea" in lines
