"""The recipes run as they are written, on a small export, and find what is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from engine.dataset.entry import Keys
from engine.dataset.writer import Wanted, write_export
from engine.store import DebateRecord
from engine.values.judging import Verdict
from tests.doubles.archive import MemoryArchive
from tests.kit import make_ballot, make_debate, make_record, make_turn, make_vote

RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"
SHEET = ("logic", "evidence", "responsiveness", "honesty")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def record(number: int) -> DebateRecord:
    """A debate that A won with people, whose case is the longer; every third time the jury errs.

    Its juror is always for the side shown first, but by two points only where that is A.
    """
    right = number % 3 != 0
    debate = make_debate(number)
    low, high = ({"A": dict.fromkeys(SHEET, score)} for score in (5, 7))
    ballots = [
        make_ballot("AB", scores={**high, "B": low["A"]}, verdict="A"),
        make_ballot("BA", scores={**low, "B": low["A"]}, verdict="B", audit=True),
    ]
    made = make_record(
        debate,
        turns=[make_turn(1, "Because it is so, and so, and so again."), make_turn(2, "No.")],
        ballots=ballots,
        votes=[make_vote(n, option) for n, option in enumerate(("A", "A", "A", "B"), 1)],
    )
    p = 0.8 if right else 0.2
    verdict = Verdict(winner="A" if right else "B", p={"A": p, "B": 1 - p}, valid=2, invalid=0)
    return DebateRecord(
        **{name: getattr(made, name) for name in made.__slots__} | {"verdict": verdict}
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the recipes have found in an export of sixty debates."""
    out = tmp_path_factory.mktemp("recipes") / "export"
    keys = Keys(splits=b"splits", master=b"master")
    archive = MemoryArchive(*(record(number) for number in range(60)))
    write_export(archive, Wanted(), out, keys, version="1")
    names: dict[str, Any] = {"FOLDER": str(out)}
    blocks = BLOCK.findall(RECIPES.read_text(encoding="utf-8"))
    assert len(blocks) == 5
    for block in blocks:
        exec(block, names)  # noqa: S102
    return names


def test_a_reward_model_learns_which_case_won(found: dict[str, Any]) -> None:
    assert found["reward_accuracy"] == 1.0  # the longer case always won


def test_a_judge_is_calibrated(found: dict[str, Any]) -> None:
    expected = (40 * 0.2**2 + 20 * 0.8**2) / 60
    assert found["score"] == pytest.approx(expected)
    low, high = found["score_interval"]
    assert low < expected < high
    assert found["temperature"] == pytest.approx(2.0, abs=0.6)  # right two times of three
    assert found["reliability"][0.8][1] == 1.0
    assert found["reliability"][0.2] == (pytest.approx(0.2), 1.0)


def test_position_bias_is_measured(found: dict[str, Any]) -> None:
    ((bias),) = found["bias"].values()
    assert bias["audited"] == 60
    assert (bias["consistent"], bias["first_share"]) == (0.0, 1.0)
    assert bias["lean"] == pytest.approx(1.0)  # (2 - 0) / 2


def test_a_juror_and_the_panel_are_compared_on_the_same_debates(found: dict[str, Any]) -> None:
    ((one),) = found["agreement"].values()
    assert (one["debates"], one["juror"]) == (60, 1.0)
    assert one["panel"] == pytest.approx(2 / 3)
    low, high = one["difference"]
    assert low <= -1 / 3 <= high < 0
