"""`audited`: what each prompt is built from, and what the judge is told to go by."""

from __future__ import annotations

import pytest

from tests.unit.test_audited import CLAIMS, SCORES, Judge, debate

TURNS = [f"turn/exchange-{n}/{side}" for n in (1, 2, 3) for side in "AB"]
CLAIM = {"claim": "CANARY claim", "kind": "hollow"}


def said(step: str) -> str:
    """Return what is said at a turn."""
    return f"Speech {step}. {CLAIMS}"


async def test_a_debater_reads_what_was_said_last_and_has_the_rest_in_its_history() -> None:
    desk = await debate(turns=6)
    for at, step in enumerate(TURNS):
        *history, last = desk.asked[step]
        assert [other for other in TURNS if said(other) in last.content] == TURNS[:at][-1:]
        own = [message.content for message in history if message.role == "assistant"]
        assert own == [said(other) for other in TURNS[:at] if other[-1] == step[-1]]


async def test_nothing_that_the_judge_says_reaches_a_debater_but_a_directive() -> None:
    judge = Judge({f"judge/absolute/{n}": {"scores": SCORES, "suspect": [CLAIM]} for n in (1, 2)})
    desk = await debate(judge, turns=6)
    for step in TURNS:
        assert "CANARY" not in desk.said_to(step)
        assert "64" not in desk.said_to(step)
    assert "CANARY claim" not in desk.said_to("judge/absolute/1")
    assert "turn 1, hollow: CANARY claim" in desk.said_to("judge/absolute/2")


async def test_a_turn_is_scored_on_all_that_went_before_and_compared_with_one() -> None:
    desk = await debate(turns=6)
    for number in range(2, 7):
        absolute, pairwise = (
            desk.said_to(f"judge/{kind}/{number}") for kind in ("absolute", "pairwise")
        )
        assert [step for step in TURNS if said(step) in absolute] == TURNS[:number]
        assert [step for step in TURNS if said(step) in pairwise] == TURNS[number - 2 : number]
    assert all(said(step) in desk.said_to("judge/narrative") for step in TURNS)


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        ("judge/absolute/1", "Logic, each 0–10"),
        ("judge/absolute/1", "rests on mood, metaphor or moral gesture without a mechanism"),
        ("judge/absolute/1", "Rhetoric, each 0–7.5"),
        ("judge/absolute/1", "at most 4 when framing is below 3"),
        ("judge/absolute/1", '"tactics", 0–30'),
        ("judge/absolute/1", 'each 0–10: "frame_control", "credibility"'),
        ("judge/absolute/3", '"premises": premises that this turn\'s speaker relied on'),
        ("judge/pairwise/2", "from -3 (relieved) to 3 (pressed hard)"),
        ("judge/narrative", "where it fractured, and why one causal model held"),
        ("judge/narrative", "Judge by coherence over the whole arc"),
        ("judge/conflict", '"coherence_collapse": the central claim of the scorecard'),
        ("judge/conflict", "shifted under pressure"),
        ("judge/conflict", '"asymmetric_depth": the more persuasive side is not the logically'),
        (
            "judge/conflict",
            '"convergence_failure": each side won against a position that the other',
        ),
        ("judge/absolute/2", "word for word from the turn that it stands in"),
        ("turn/exchange-1/A", "the other side's weakest premise answered"),
    ],
)
async def test_each_rule_of_the_judge_is_in_its_question(step: str, rule: str) -> None:
    desk = await debate(Judge({"judge/narrative": {"narrative": "Story.", "winner": "A"}}))
    assert rule in desk.said_to(step)
