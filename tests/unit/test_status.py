"""`rostrum` alone says where one stands; `rostrum help` explains a command."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app


@pytest.mark.parametrize(
    ("settings", "said", "steps"),
    [
        pytest.param({}, "Nothing is set here yet.", ["demo", "init"], id="nothing"),
        pytest.param(
            {"BACKENDS__LOCAL__PRESET": "ollama", "MODELS": "local/a"},
            "Models: local. Chat: none.",
            ["check", 'debate "Tea beats coffee"'],
            id="models",
        ),
        pytest.param(
            {"DISCORD__TOKEN": "x"},
            "Models: only the built-in rehearsal model. Chat: Discord.",
            ["check", "init", "run"],
            id="chat",
        ),
        pytest.param(
            {"LOG__LEVEL": "loud"},
            "A setting cannot be used: ROSTRUM_LOG__LEVEL must be",
            ["check"],
            id="wrong",
        ),
    ],
)
def test_alone_it_says_what_is_set_and_what_comes_next(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Mapping[str, str],
    said: str,
    steps: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in settings.items():
        monkeypatch.setenv(f"ROSTRUM_{name}", value)
    ended = CliRunner().invoke(app, [])
    first, _, rest = ended.output.partition("\n\nNext:\n")
    assert (ended.exit_code, first[: len(said)]) == (0, said)
    shown = [line.strip().partition("  ")[0] for line in rest.splitlines() if line[:2] == "  "]
    assert shown == [f"rostrum {step}" for step in steps]
    assert list(tmp_path.iterdir()) == []


def test_help_explains_a_command_of_a_group_and_refuses_another() -> None:
    runner = CliRunner()
    helped = runner.invoke(app, ["help", "series", "run"]).output
    assert helped.startswith("Usage: rostrum series run") or "series run [OPTIONS]" in helped
    assert runner.invoke(app, ["help"]).output == runner.invoke(app, ["--help"]).output
    refused = runner.invoke(app, ["help", "series", "jump"])
    assert refused.exit_code == 2
    assert "There is no command “jump”; rostrum --help lists them." in refused.output
