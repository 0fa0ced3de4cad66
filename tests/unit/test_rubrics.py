"""Rubrics: those that are built in, and an operator's own from a file."""

from __future__ import annotations

import pytest

from engine.jury.ballot import ballot_schema, read_ballot
from engine.jury.rubric import CLASSIC_SIX, DEBATE, RUBRICS, find_rubric, own_criteria, read_rubric
from engine.prompts.library import load_prompts
from engine.values.errors import UsageError

OWN = """
name = "Policy"
[[criteria]]
name = "Feasibility"
description = "could it be done with what exists?"
low = "a wish"
high = "a plan with its costs"
lowest = 0
highest = 20
weight = 3
[[criteria]]
name = "kosten-nutzen"
"""
NAMES = {"A": "Plover", "B": "Heron"}


def test_an_own_rubric_has_weights_that_add_up_and_scores_on_one_scale() -> None:
    rubric = read_rubric(OWN, "file")
    first, second = rubric.criteria
    assert (rubric.name, first.name, first.range, first.weight) == (
        "policy",
        "feasibility",
        (0, 20),
        0.75,
    )
    assert (second.name, second.range, second.weight) == ("kosten-nutzen", (1, 10), 0.25)
    assert rubric.score({"feasibility": 0, "kosten-nutzen": 1}) == 1
    assert rubric.score({"feasibility": 20, "kosten-nutzen": 10}) == 10
    assert rubric.score({"feasibility": 10, "kosten-nutzen": 1}) == pytest.approx(4.375)
    assert own_criteria(rubric) == rubric.criteria
    assert own_criteria(DEBATE) == ()
    assert read_rubric("[[criteria]]\nname = 'x'", "Netz").name == "netz"


def test_the_ready_ones_are_found_by_name() -> None:
    assert list(RUBRICS) == ["debate", "answers", "classic-six", "evidence_first"]
    assert find_rubric("debate") is DEBATE
    assert [(one.name, one.range) for one in CLASSIC_SIX.criteria] == [
        (name, (0, 20))
        for name in (
            "clarity",
            "consistency",
            "strength",
            "counter-arguments",
            "realism",
            "synthesis",
        )
    ]
    with pytest.raises(UsageError, match="classic-six"):
        find_rubric("beauty")


BROKEN = {
    "no toml": ("[[criteria", "which is not valid TOML"),
    "nothing in it": ("", "which needs 1 to 12 entries [[criteria]]"),
    "too many": ("[[criteria]]\nname='a'\n" * 13, "which needs 1 to 12 entries"),
    "criteria as text": ("criteria = 'logic'", "which needs 1 to 12 entries"),
    "a criterion as text": ("criteria = ['logic']", "whose criterion 1 is wrong at “a table”"),
    "no name": ("[[criteria]]\nweight = 1", "whose criterion 1 is wrong at “name”"),
    "an odd name": ("[[criteria]]\nname = '{{ x }}'", "whose criterion 1 has a name that is “{{"),
    "twice": ("[[criteria]]\nname='a'\n[[criteria]]\nname='A'", "the criterion “a” twice"),
    "no weight": ("[[criteria]]\nname='a'\nweight=0", "wrong at “weight”"),
    "an endless weight": ("[[criteria]]\nname='a'\nweight=inf", "wrong at “weight”"),
    "upside down": ("[[criteria]]\nname='a'\nlowest=5\nhighest=5", "not below its highest"),
    "half points": ("[[criteria]]\nname='a'\nhighest=7.5", "wrong at “highest”"),
    "an unknown key": ("[[criteria]]\nname='a'\nwieght=2", "wrong at “wieght”"),
    "an unknown table": ("[judges]\nx = 1\n[[criteria]]\nname='a'", "an unknown entry"),
    "a built-in name": ("name='debate'\n[[criteria]]\nname='a'", "that of a built-in rubric"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"^(which|whose)") as refused:
        read_rubric(text, "file")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_juror_is_told_each_criterion_with_its_range() -> None:
    prompts, rubric = load_prompts(), read_rubric(OWN, "file")
    told = prompts.render("jury/system", criteria=rubric.criteria, answers=False)
    assert "with an integer:" in told
    assert (
        "- feasibility (75 %): could it be done with what exists? 0 = a wish, "
        "20 = a plan with its costs" in told
    )
    assert "- kosten-nutzen (25 %): 1 is the lowest, 10 the highest" in told
    ask = prompts.render(
        "jury/ballot", names=("Plover", "Heron"), criteria=rubric.criteria, language="en",
        tie_word="tie", answers=False,
    )  # fmt: skip
    assert '"Plover": { "feasibility": <0-20>, "kosten-nutzen": <1-10> }' in ask
    assert "All scores are whole numbers, each within the range given." in ask
    six = prompts.render("jury/system", criteria=CLASSIC_SIX.criteria, answers=False)
    assert "with an integer from 0 to 20:" in six
    assert "- counter-arguments (17 %): 0 = ignores the other side, 20 =" in six


def test_a_ballot_is_held_to_each_range() -> None:
    rubric = read_rubric(OWN, "file")
    sheet = ballot_schema(("Plover", "Heron"), rubric).json_schema["properties"]["scores"]
    assert sheet["properties"]["Heron"]["properties"]["feasibility"]["maximum"] == 20

    def reply(feasibility: int, benefit: int) -> str:
        scores = f'{{"Feasibility": {feasibility}, "kosten-nutzen": {benefit}}}'
        return (
            f'{{"reasons": "Both.", "scores": {{"Plover": {scores}, "Heron": {scores}}}, '
            '"verdict": "tie", "confidence": 0.5}'
        )

    read = read_ballot(reply(20, 10), "stop", NAMES, rubric)
    assert read.valid
    assert read.scores == {side: {"feasibility": 20, "kosten-nutzen": 10} for side in "AB"}
    for wrong in (reply(21, 5), reply(5, 11), reply(-1, 5), reply(5, 0)):
        assert not read_ballot(wrong, "stop", NAMES, rubric).valid
