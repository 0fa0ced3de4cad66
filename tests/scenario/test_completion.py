"""Shell completion: installed into a home of its own, and what it completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles.command import environment_of, rostrum

PROGRAM = Path(sys.executable).with_name("rostrum")
MODELS = "rehearsal/maple,rehearsal/cedar"
HELD = ("debate", "Tabs or spaces", "--a", "rehearsal/maple", "--b", "rehearsal/cedar")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    rostrum(folder, *HELD, "--votes", "A=1", "--length", "short").done()
    return folder


def complete(folder: Path, line: str, **settings: str) -> list[str]:
    """Return what bash completes at the end of a line."""
    words = line.split(" ")
    asked = {
        "_ROSTRUM_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [PROGRAM],
        cwd=folder,
        env=environment_of(asked | settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def code_in(folder: Path) -> str:
    return rostrum(folder, "list").done().splitlines()[1].split()[0]


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    assert complete(tmp_path, "rostrum lis") == ["list"]
    assert complete(tmp_path, "rostrum show --tr") == ["--transcript"]


@pytest.mark.slow
def test_a_shell_completes_codes_of_debates(office: Path) -> None:
    code = code_in(office)
    for words in ("show", "judge", "debate --resume"):
        assert complete(office, f"rostrum {words} {code[:3]}") == [code]
    assert complete(office, "rostrum show zzzzzzz") == []


@pytest.mark.slow
def test_a_shell_completes_models_also_within_a_list(tmp_path: Path) -> None:
    set_up = {"ROSTRUM_MODELS": MODELS, "ROSTRUM_JURORS": "rehearsal/elm"}
    completed = complete(tmp_path, "rostrum debate --a rehearsal/c", **set_up)
    assert completed == ["rehearsal/cedar"]
    typed = "rostrum debate --jurors rehearsal/maple,rehearsal/e"
    assert complete(tmp_path, typed, **set_up) == ["rehearsal/maple,rehearsal/elm"]


@pytest.mark.slow
def test_a_shell_completes_names_of_series(tmp_path: Path) -> None:
    (tmp_path / "tea.toml").write_text(
        'name = "tea-time"\ntopics = ["Tea"]\nmodels = ["rehearsal/maple", "rehearsal/cedar"]\n'
        "repeats = 1\n"
    )
    rostrum(tmp_path, "series", "run", "tea.toml", "--yes").done()
    for words in ("series status", "judge", "stats --series"):
        assert complete(tmp_path, f"rostrum {words} tea") == ["tea-time"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"ROSTRUM_DATABASE_URL": "mysql://x"}, {}, {"ROSTRUM_MODLES": "x"}],
    ids=["a wrong address", "no database", "a wrong setting"],
)
def test_what_cannot_be_read_completes_nothing_and_says_nothing(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    assert complete(tmp_path, "rostrum show ", **settings) == []
    assert complete(tmp_path, "rostrum debate --a x", **settings) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_completion_installs_for_the_shell_that_asks(tmp_path: Path) -> None:
    home = environment_of({"HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})

    def shell(command: str) -> str:
        bash = ["bash", "--norc", "-c", f"{command}; exit $?"]
        return subprocess.run(
            bash, env=home, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert "complete -o default -F _rostrum_completion rostrum" in shell(
        "rostrum --show-completion"
    )
    assert "bash completion installed in" in shell("rostrum --install-completion")
    installed = ". ~/.bashrc; COMP_WORDS=(rostrum lis); COMP_CWORD=1; _rostrum_completion rostrum"
    assert shell(f"{installed}; echo ${{COMPREPLY[@]}}") == "list\n"
