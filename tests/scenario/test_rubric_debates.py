"""Whole debates under rubrics of every kind: what jurors are sent, and what is exported of it."""

from pathlib import Path

import pytest

from bot.settings.files import read_rubric
from engine.jury.rubric import CLASSIC_SIX, DEBATE, Rubric
from engine.values.messages import Reveal
from engine.words.cards import card_of
from tests.doubles.whole_debate import DEFAULTS, Whole, hold_whole

OWN = read_rubric(
    """
    name = "own"
    [[criteria]]
    name = "feasibility"
    description = "could it be done with what exists?"
    lowest = -5
    highest = 5
    weight = 3
    [[criteria]]
    name = "açıklık"
    """,
    "file",
)
CASES = {
    "usual": (None, DEBATE, ""),
    "classic-six": (
        CLASSIC_SIX,
        CLASSIC_SIX,
        "Jurors scored clarity, consistency, strength, counter-arguments, realism, synthesis "
        "(0–20 each).",
    ),
    "own": (OWN, OWN, "Jurors scored feasibility -5–5, açıklık 1–10."),
}


@pytest.mark.parametrize(("chosen", "rubric", "revealed"), CASES.values(), ids=CASES)
async def test_jurors_score_by_the_rubric_and_exports_say_which(
    database_url: str, tmp_path: Path, chosen: Rubric | None, rubric: Rubric, revealed: str
) -> None:
    defaults = DEFAULTS.model_copy(update={"rubric": chosen})
    whole = await hold_whole(database_url, tmp_path / "out", defaults)
    for prompt in whole.sent("jury/"):
        for one in rubric.criteria:
            share = round(100 * one.weight)
            assert f"- {one.name} ({share} %):" in prompt
            assert f'"{one.name}": <{one.lowest}-{one.highest}>' in prompt
    (held,) = whole.table("debates")
    assert held["rubric"] == rubric.name
    assert [row["criterion"] for row in held["criteria"]] == [one.name for one in rubric.criteria]
    assert [(row["lowest"], row["highest"], row["weight"]) for row in held["criteria"]] == [
        (*one.range, pytest.approx(one.weight)) for one in rubric.criteria
    ]
    _check_ballots(whole, rubric)
    (reveal,) = (message for message in whole.posted if isinstance(message, Reveal))
    details = card_of(reveal).pages[-1][1]
    scored = [line for line in details if line.startswith("Jurors scored")]
    assert scored == ([revealed] if revealed else [])


def _check_ballots(whole: Whole, rubric: Rubric) -> None:
    ballots = whole.table("verdicts")
    assert len(ballots) >= 3
    ranges = {one.name: one.range for one in rubric.criteria}
    for row in ballots:
        assert row["valid"], row["problem"]
        assert not row["contradictory"]
        assert row["rubric"] == rubric.name
        assert {score["criterion"] for score in row["scores"]} == set(ranges)
        for score in row["scores"]:
            low, high = ranges[score["criterion"]]
            assert low <= score["score"] <= high
