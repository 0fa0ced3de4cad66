"""`rostrum demo --format X`: every format is whole in a terminal, on what is built in."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from bot import cli
from engine.formats import FORMATS

SHOWN = {  # before the reveal, and after it
    "audited": (("🔵 A · exchange 1 · turn 1 of 10",), ("[Scorecard]", "[The arc]", "[Register]")),
    "classic": (("🔵 A · opening · turn 1 of 8",), ("Jury: ",)),
    "oxford": (("A1 · opening · turn 1 of 6",), ("People who answered both times: ",)),
    "roundtable": (("Practitioner · draft · turn 1 of 9",), ("has the winning answer]",)),
    "structured": (("A-1.", "cross-examination · turn 3 of 6"), ("[Decision briefing]", "- A-1 ")),
    "team": (
        ("Stage: free debate", "Unused time: 🔵 A "),
        ("[Scoreboard]", "Best debater", "chose"),
    ),
}


@pytest.mark.parametrize("format", FORMATS)
def test_it_is_shown_judged_and_exported(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(cli.app, ["demo", "--format", format, "--votes", "tie=1"])
    assert (ended.exit_code, ended.stderr) == (0, "")
    before, _, after = ended.stdout.partition("[Reveal]")
    debate_shows, judge_shows = SHOWN[format]
    assert [what for what in debate_shows if what not in before] == []
    assert [what for what in judge_shows if what in before] == []
    assert [what for what in judge_shows if what not in after] == []
    (debate,) = (tmp_path / "demo-export/data/debates").glob("*.jsonl")
    assert orjson.loads(debate.read_bytes())["format"] == format
