"""A series with arms: each debate falls to one, is held with its options, and is told with it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.doubles.command import rostrum

FILE = """
name = "ways"
topics = ["Tea beats coffee", "Cats beat dogs", "Tabs beat spaces", "Trains beat cars"]
models = ["rehearsal/maple", "rehearsal/birch"]
arms_seed = 11

[[arms]]
name = "brief"
length = "short"

[[arms]]
name = "oxford"
format = "oxford"
length = "short"

[jury]
models = ["rehearsal/oak", "rehearsal/elm"]
mode = "all"
"""


@pytest.fixture
def ways(tmp_path: Path) -> Path:
    (tmp_path / "ways.toml").write_text(FILE)
    return tmp_path


def test_the_arm_of_a_debate_stands_in_plan_export_status_stats_and_report(ways: Path) -> None:
    planned = rostrum(ways, "series", "plan", "ways.toml").done()
    assert "arms       brief 4, oxford 4; drawn with seed 11" in planned
    assert "formats    classic, oxford;" in planned
    told = json.loads(rostrum(ways, "series", "plan", "ways.toml", "--json").done())
    assert told["arms"] == {"brief": 4, "oxford": 4}
    rostrum(ways, "series", "run", "ways.toml").done()

    status = rostrum(ways, "series", "status", "ways").done()
    assert "Arm brief: 4 of 4 held, 0 failed, 0 refused" in status
    found = json.loads(rostrum(ways, "series", "status", "ways", "--json").done())
    assert [one["arm"] for one in found["arms"]] == ["brief", "oxford"]
    took = {one["arm"]: one for one in found["arm_takings"]}
    for figure in ("calls", "tokens_in", "tokens_out"):
        both = sum(took[f"ways/{arm}"][figure] for arm in ("brief", "oxford"))
        assert both == sum(one[figure] for one in found["takings"])
    assert [one["debates"] for one in took.values()] == [4, 4]
    assert all(one["minutes"] > 0 for one in took.values())
    assert "ways/oxford" in status
    assert [one["debates"] for one in found["compared"]["lengths"]] == [4, 4]

    only = ("--series", "ways", "--include-rehearsal")
    rostrum(ways, "export", *only, "--out", "out").done()
    splits = (ways / "out").rglob("debates/*.jsonl")
    rows = [json.loads(line) for data in splits for line in data.read_text().splitlines()]
    assert Counter((row["arm"], row["format"]) for row in rows) == {
        ("brief", "classic"): 4,
        ("oxford", "oxford"): 4,
    }
    topics = {(row["topic"], row["arm"]) for row in rows}
    assert len(topics) == 8
    stats = json.loads(rostrum(ways, "stats", *only, "--json").done())
    assert stats["arms"] == found["compared"]
    assert stats["arm_takings"] == found["arm_takings"]
    shown = rostrum(ways, "stats", *only).done()
    assert "Arms" in shown
    assert "ways/oxford" in shown

    rostrum(ways, "series", "report", "ways", "--out", "report").done()
    report = json.loads((ways / "report" / "report.json").read_text())
    assert report["experiment"]["arms_seed"] == 11
    assert [one["total"] for one in report["arm_standings"]] == [4, 4]
    page = (ways / "report" / "report.md").read_text()
    assert "Each debate fell to an arm by lot (seed 11): brief, oxford." in page
    assert "What fell to each arm" in page
    assert "What each arm took in all" in page
    assert report["arm_totals"]["brief"]["calls"] == took["ways/brief"]["calls"]
    assert report["arm_totals"]["brief"]["minutes"] == pytest.approx(took["ways/brief"]["minutes"])


def test_a_series_that_was_held_keeps_its_arms(ways: Path) -> None:
    rostrum(ways, "series", "run", "ways.toml").done()
    (ways / "ways.toml").write_text(FILE.replace("arms_seed = 11", "arms_seed = 12"))
    refused = rostrum(ways, "series", "run", "ways.toml").failed(2)
    assert "arms_seed was 11 and is now 12" in refused
    (ways / "ways.toml").write_text(FILE.replace('"]\nmodels', '", "Ice"]\nmodels', 1))
    rostrum(ways, "series", "run", "ways.toml").done()
    assert "10 of 10 debates held" in rostrum(ways, "series", "status", "ways").done()


def test_an_arm_that_would_have_no_debate_is_named_with_its_file(ways: Path) -> None:
    more = "\n".join(f'[[arms]]\nname = "arm-{n}"' for n in range(9))
    (ways / "ways.toml").write_text(FILE + more)
    refused = rostrum(ways, "series", "plan", "ways.toml").failed(2)
    assert refused.startswith("ways.toml: arms: no debate falls to ")
    assert "as the series has 8; add topics or repeats, or remove the arm." in refused
