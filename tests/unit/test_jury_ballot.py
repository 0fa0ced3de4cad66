"""Every way in which a ballot can come back, and the rubrics that its schema asks for."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bot.settings.files import read_rubric
from engine.jury.ballot import (
    TIE_WORDS,
    JurorReading,
    Outcome,
    ballot_schema,
    make_ballot,
    read_ballot,
    tie_word,
)
from engine.jury.rubric import CLASSIC_SIX, DEBATE, RUBRICS, find_rubric, own_criteria
from engine.values.debate import Model, Usage
from engine.values.errors import UsageError
from engine.values.ports import Reply

NAMES = {"A": "Heron", "B": "Plover"}


def _sheet(points: Any) -> dict[str, Any]:
    return {criterion.name: points for criterion in DEBATE.criteria}


def _answer(**changes: Any) -> dict[str, Any]:
    return {
        "reasons": "Heron answered more.",
        "scores": {"Heron": _sheet(7), "Plover": _sheet(6)},
        "verdict": "Heron",
        "confidence": 0.7,
    } | changes


def _read(answer: object, finish: str = "stop") -> Outcome:
    return read_ballot(answer if isinstance(answer, str) else json.dumps(answer), finish, NAMES)


@pytest.mark.parametrize(
    ("text", "finish", "valid", "repaired"),
    [
        (f"My ballot:\n{json.dumps(_answer())}\nThank you.", "stop", True, False),
        (f"```json\n{json.dumps(_answer())}\n```", "stop", True, False),
        (json.dumps(_answer()) + "\n" + json.dumps(_answer()), "stop", True, False),
        (json.dumps(_answer())[:-1] + ",}", "stop", True, True),
        (json.dumps(_answer())[:-20], "stop", False, False),
        (json.dumps(_answer()), "length", False, False),
        (json.dumps(_answer()) + json.dumps(_answer(verdict="tie")), "stop", False, False),
        ("", "stop", False, False),
        ("  \n", "content_filter", False, False),
        ("I am sorry, but I cannot judge that.", "stop", False, False),
        ('{"error": {"code": 502, "message": "upstream"}}', "stop", False, False),
    ],
)
def test_prose_fences_and_trailing_commas_are_valid_and_what_is_cut_double_or_refused_is_not(
    text: str, finish: str, valid: bool, repaired: bool
) -> None:
    outcome = _read(text, finish)
    assert (outcome.valid, outcome.retry) == (valid, not valid)
    assert outcome.repaired is repaired or not valid
    assert bool(outcome.problem) is not valid
    assert ((outcome.scores, outcome.verdict) == (None, None)) is not valid


@pytest.mark.parametrize(
    "word",
    ["tie", "Tie", "TIE", " tie ", *(word for words in TIE_WORDS.values() for word in words)],
)
def test_a_tie_in_any_case_or_language_is_a_tie(word: str) -> None:
    for spelling in (word, word.upper(), word.title()):
        outcome = _read(_answer(verdict=spelling))
        assert (outcome.valid, outcome.verdict) == (True, "tie"), spelling


NO_POINTS: tuple[Any, ...] = (0, 11, -3, 7.0, 7.5, "7", True, None, [7], 10**400)
NOBODY = (
    "A",
    "Side A",
    "gpt-4o",
    "Heronry",
    "Heron wins",
    "her",
    "",
    "nobody",
    "pro",
    1,
    None,
    True,
)


@pytest.mark.parametrize(
    "changes",
    [
        *({"scores": {"Heron": _sheet(points), "Plover": _sheet(6)}} for points in NO_POINTS),
        *({"verdict": verdict} for verdict in NOBODY),
        {"scores": {"A": _sheet(7), "B": _sheet(6)}},
        {"scores": {"Heron": _sheet(7)}},
        {"scores": {"Heron": _sheet(7), "Plover": _sheet(6), "GPT-4": _sheet(5)}},
        {"scores": {"Heron": _sheet(7), "heron": _sheet(1), "Plover": _sheet(6)}},
        {"scores": {"Heron": _sheet(7), "Plover": {"logic": 6}}},
        {"scores": [7, 6]},
        {"confidence": 70},
        {"confidence": "high"},
        {"confidence": True},
        {"reasons": ""},
        {"reasons": ["a"]},
    ],
)
def test_other_scores_verdicts_and_shapes_are_invalid(changes: dict[str, Any]) -> None:
    outcome = _read(_answer(**changes))
    assert (outcome.valid, outcome.retry) == (False, True)
    assert (outcome.scores, outcome.verdict) == (None, None)
    assert outcome.problem


@pytest.mark.parametrize("missing", ["reasons", "scores", "verdict", "confidence"])
def test_every_part_is_needed(missing: str) -> None:
    answer = _answer()
    del answer[missing]
    assert not _read(answer).valid


@pytest.mark.parametrize(
    ("plover", "verdict", "contradictory"),
    [
        ({}, "Heron", False),
        ({"responsiveness": 8}, "Heron", False),  # half a point ahead: 0.25 × 2 points
        ({"logic": 8}, "Heron", True),  # 0.30 × 2 points
        (_sheet(7), "Heron", True),
        (_sheet(7), "tie", False),
    ],
)
def test_a_verdict_against_its_own_scores_is_asked_again_then_kept(
    plover: dict[str, int], verdict: str, contradictory: bool
) -> None:
    scores = {"Heron": _sheet(6), "Plover": _sheet(6) | plover}
    outcome = _read(_answer(scores=scores, verdict=verdict))
    assert outcome.valid
    assert outcome.verdict == {"Heron": "A", "tie": "tie"}[verdict]
    assert (outcome.contradictory, outcome.retry) == (contradictory, contradictory)


def test_a_plain_ballot_is_read_by_contender_whatever_the_case_of_names() -> None:
    assert _read(_answer()) == Outcome(
        valid=True,
        scores={"A": _sheet(7), "B": _sheet(6)},
        verdict="A",
        confidence=0.7,
        reasons="Heron answered more.",
    )
    outcome = _read(_answer(verdict="pLOVER", scores={"HERON": _sheet(6), "plover": _sheet(8)}))
    assert (outcome.verdict, outcome.scores) == ("B", {"A": _sheet(6), "B": _sheet(8)})


TEXTS = st.text(max_size=80) | st.text(alphabet='{}":, abHeronPlover17tie', max_size=120)
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
SIDES = st.sampled_from(["Heron", "Plover", "A"])
SHEETS = st.dictionaries(SIDES, st.just(_sheet(5)) | st.integers())
PARTS = st.sampled_from(["reasons", "scores", "verdict", "confidence"])


@given(TEXTS | st.dictionaries(PARTS, VALUES | SHEETS).map(json.dumps))
def test_any_text_or_json_is_an_outcome(text: str) -> None:
    outcome = _read(text)
    assert outcome.valid or (outcome.problem and outcome.scores is None)


def test_the_schema_asks_for_reasons_first_and_a_tie_is_said_in_the_debates_language() -> None:
    schema = ballot_schema(("Plover", "Heron"))
    assert ballot_schema(("Plover", "Heron")) is schema
    shape = schema.json_schema
    assert list(shape["properties"]) == ["reasons", "scores", "verdict", "confidence"]
    assert list(shape["properties"]["scores"]["properties"]) == ["Plover", "Heron"]
    assert shape["properties"]["verdict"]["enum"] == ["Plover", "Heron", "tie"]
    assert shape["additionalProperties"] is False
    words = {code: tie_word(code) for code in ("de", "pt-BR", "zh-Hant", "xx")}
    assert words == {"de": "Unentschieden", "pt-BR": "empate", "zh-Hant": "平局", "xx": "tie"}


def test_ready_rubrics_are_found_by_name_weigh_to_one_and_score_from_1_to_10() -> None:
    assert list(RUBRICS) == ["debate", "answers", "classic-six", "evidence_first", "truth"]
    assert find_rubric("debate") is DEBATE
    assert len(CLASSIC_SIX.criteria) == 6
    assert {one.range for one in CLASSIC_SIX.criteria} == {(0, 20)}
    for rubric in RUBRICS.values():
        for points, end in ((1, 0), (10, 1)):
            sheet = {criterion.name: criterion.range[end] for criterion in rubric.criteria}
            assert rubric.score(sheet) == pytest.approx(points)
    with pytest.raises(UsageError, match="debate, answers, classic-six"):
        find_rubric("beauty")


def test_a_ballot_records_the_reply_and_an_invalid_one_keeps_its_text() -> None:
    reading = JurorReading(Model.parse("online/x"), ("B", "A"))
    reply = Reply(
        text="nonsense", finish="stop", model="x-1", usage=Usage(tokens_in=9), cost=0.1, latency=2
    )
    ballot = make_ballot(reading, NAMES, _read("nonsense"), reply, "hash")
    assert (ballot.valid, ballot.raw, ballot.model) == (False, "nonsense", "x-1")
    assert (ballot.order, ballot.names, ballot.cost) == (("B", "A"), NAMES, 0.1)
    assert "no JSON" in ballot.problem
    lost = make_ballot(reading, NAMES, Outcome.failed("online/x did not answer"))
    assert (lost.valid, lost.raw, lost.problem) == (False, "", "online/x did not answer")


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
OTHER_NAMES = {"A": "Plover", "B": "Heron"}


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

    read = read_ballot(reply(20, 10), "stop", OTHER_NAMES, rubric)
    assert read.valid
    assert read.scores == {side: {"feasibility": 20, "kosten-nutzen": 10} for side in "AB"}
    for wrong in (reply(21, 5), reply(5, 11), reply(-1, 5), reply(5, 0)):
        assert not read_ballot(wrong, "stop", OTHER_NAMES, rubric).valid
