"""`--json` of `list`, `show`, `check`, `topics` and series, and `show --transcript`."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command import ROOT, rostrum
from tests.scenario.terminal_stage import Shell, seated

TOPIC = "Does <@123456789012345678> prefer tabs?"
MODELS = ("--a", "rehearsal/maple", "--b", "rehearsal/willow")
KEY = "sk-a-canary-in-the-settings"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    stances = ("--for", "tabs", "--against", "spaces")
    rostrum(folder, "debate", TOPIC, *stances, *MODELS, "--votes", "A=2,B=1").done()
    return folder


def read(folder: Path, *words: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(rostrum(folder, *words, "--json").done())
    assert document["schema_version"] == 1
    return document


def code_in(folder: Path) -> str:
    [debate] = read(folder, "list")["debates"]
    return str(debate["code"])


def test_lists_and_debates_as_json_have_the_figures_of_the_text_and_no_id_of_a_person(
    office: Path,
) -> None:
    [debate] = read(office, "list")["debates"]
    assert debate["topic"] == "Does [mention] prefer tabs?"
    assert (debate["state"], debate["reason"], debate["platform"]) == ("closed", None, "terminal")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:.]+\+00:00", debate["started"])
    assert read(office, "list", "--state", "running")["debates"] == []
    shown = read(office, "show", debate["code"])
    assert "123456789012345678" not in json.dumps(shown)
    assert shown["stances"] == {"A": "tabs", "B": "spaces"}
    assert (shown["goes_on"], shown["usd"], shown["cap_usd"]) == (False, 0.0, 1.0)
    assert "turn/opening/A" in shown["steps"]
    assert shown["tries"] >= len(shown["steps"]) > 8
    debater = next(one for one in shown["tokens"] if one["model"] == "rehearsal/maple")
    assert debater["role"] == "debater"
    assert debater["in"] > debater["out"] > 0
    assert (shown["votes_unread"], shown["gaps"], shown["failures"]) == (False, [], [])


@pytest.mark.slow
def test_the_manual_names_every_field(office: Path) -> None:
    manual = (ROOT / "docs" / "operations.md").read_text()
    rows = {row.split("|")[1].strip(): row for row in manual.splitlines() if "--json` |" in row}
    listed = read(office, "list")["debates"][0]
    shown = read(office, "show", code_in(office))
    checked = read(office, "check")
    own = {*shown, *shown["tokens"][0]} - {*listed, "schema_version"}
    for row, fields in (
        ("`rostrum list --json`", {"debates", *listed}),
        ("`rostrum show CODE --json`", own),
        ("`rostrum check --json`", {*checked, *checked["findings"][0]} - {"schema_version"}),
    ):
        assert fields <= set(re.findall(r"`(\w+)`", rows[row]))


def test_errors_are_the_same_with_json(office: Path) -> None:
    for words in (("show", "zzzzzz"), ("list", "--state", "asleep")):
        plain, as_json = (rostrum(office, *words, *more) for more in ((), ("--json",)))
        assert (as_json.code, as_json.out, as_json.err) == (plain.code, "", plain.err)
    both = rostrum(office, "show", code_in(office), "--json", "--transcript")
    assert both.failed(2) == "Give either --json or --transcript."


@pytest.mark.slow
def test_a_check_as_json_says_what_failed_with_the_same_exit_code(tmp_path: Path) -> None:
    fine = read(tmp_path, "check")
    assert fine["ok"] is True
    assert {finding["result"] for finding in fine["findings"]} == {"ok", "note"}
    wrong = {
        "ROSTRUM_JURORS": "rehearsal/birch",
        "ROSTRUM_BACKENDS__FAR__BASE_URL": "http://127.0.0.1:1/v1",
        "ROSTRUM_BACKENDS__FAR__API_KEY": KEY,
        "ROSTRUM_MODELS": "rehearsal/maple",
    }
    plain, as_json = (rostrum(tmp_path, "check", *more, **wrong) for more in ((), ("--json",)))
    assert (as_json.code, as_json.err) == (plain.code, plain.err)
    assert as_json.code != 0
    found = json.loads(as_json.out)
    assert found["ok"] is False
    failed = {one["subject"] for one in found["findings"] if one["result"] == "fail"}
    assert failed == set(re.findall(r"(?m)^FAIL  ([^:]+):", plain.out))
    assert "backend far" in failed
    assert KEY not in as_json.out


def test_a_transcript_in_a_pipe_is_the_report_s_markdown_and_sealed_while_people_vote(
    office: Path, tmp_path: Path
) -> None:
    code = code_in(office)
    text = rostrum(office, "show", code, "--transcript").done()
    rostrum(office, "report", code).done()
    assert text == (office / f"debate-{code}.md").read_text()
    assert text.startswith("# Does \\[mention\\] prefer tabs?\n")
    assert "\n> " in text
    assert "`rehearsal/maple`" in text
    rostrum(office, "backup", "--out", str(tmp_path / "rostrum.db")).done()
    with closing(sqlite3.connect(tmp_path / "rostrum.db")) as database, database:
        database.execute("UPDATE debates SET status = 'voting', revealed_at = NULL")
    text = rostrum(tmp_path, "show", code, "--transcript").done()
    assert "Results stay sealed until the vote closes." in text
    assert "maple" not in text
    assert "willow" not in text


@pytest.mark.slow
def test_a_transcript_in_a_terminal_is_text_that_fits_it(office: Path) -> None:
    code = code_in(office)
    with seated(Shell(office), "show", code, "--transcript") as seat:
        seat.rest()
    lines = re.sub(r"\x1b\[[\d;]*m", "", seat.screen.shown).splitlines()
    assert max(map(len, lines)) <= 100
    assert not any(line.startswith(("# ", "> ", "## ")) for line in lines)
    assert any("rehearsal/maple" in line for line in lines)


def test_a_series_as_json_says_how_far_it_is_and_what_it_may_cost(tmp_path: Path) -> None:
    file = tmp_path / "tea.toml"
    models = 'models = ["rehearsal/maple", "rehearsal/cedar"]'
    file.write_text(f'name = "tea"\ntopics = ["Tea"]\nrepeats = 1\n{models}\n')
    rostrum(tmp_path, "migrate").done()
    assert json.loads(rostrum(tmp_path, "series", "list", "--json").done()) == {"series": []}
    ran = rostrum(tmp_path, "series", "run", "tea.toml", "--usd", "3", "--json").done()
    held = json.loads(ran)
    assert (held["name"], held["held"]) == ("tea", held["total"])
    assert {one["model"] for one in held["takings"]} >= {"rehearsal/maple", "rehearsal/cedar"}
    status = json.loads(rostrum(tmp_path, "series", "status", "tea", "--json").done())
    verdicts = status["verdicts"]
    assert verdicts["won"] + verdicts["tied"] + sum(verdicts["undecided"].values()) == held["held"]
    assert held["verdicts"] == verdicts
    [listed] = json.loads(rostrum(tmp_path, "series", "list", "--json").done())["series"]
    assert (listed["name"], listed["held"], listed["usd"]) == ("tea", held["held"], 3)
    shown = rostrum(tmp_path, "series", "list").done().splitlines()
    assert shown[1].split()[0] == "tea"
    assert shown[1].split()[-1] == "3.00"


def test_topics_as_json_are_those_of_the_language(tmp_path: Path) -> None:
    listed = json.loads(rostrum(tmp_path, "topics", "--language", "de", "--json").done())
    assert (listed["file"], listed["faults"]) == (None, [])
    assert {one["language"] for one in listed["topics"]} == {"de"}
