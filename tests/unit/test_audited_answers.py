"""What the judge of an `audited` debate may answer, to the number, and what is sent back."""

from typing import Any, TypeVar

import orjson
import pytest
from pydantic import BaseModel

from engine.formats.audited.judge import RANGES, _Pairwise, absolute_shape
from engine.formats.audited.result import _Conflict, _Convergence
from engine.formats.audited.scores import PRESSURES, SCALES
from engine.stage.forms import form
from engine.stage.shapes import Shape, read_shape
from engine.values.ports import Reply

T = TypeVar("T", bound=BaseModel)
MOST = {
    **dict.fromkeys(("cause", "process", "consequence", "premise_addressed"), 10.0),
    **dict.fromkeys(("framing", "clarity", "resonance", "delivery"), 7.5),
    "tactics": 30.0,
    **dict.fromkeys(("frame_control", "credibility"), 10.0),
}


def problem(shape: Shape[T], said: Any) -> str:
    reply = Reply(text=orjson.dumps(said).decode(), finish="stop", model="m")
    return read_shape(reply, shape).problem


def test_each_component_has_its_scale() -> None:
    assert RANGES == MOST
    assert problem(absolute_shape(1), {"scores": MOST}) == ""
    assert problem(absolute_shape(1), {"scores": dict.fromkeys(MOST, 0)}) == ""


@pytest.mark.parametrize("name", MOST)
@pytest.mark.parametrize("beyond", [-0.1, 0.1])
def test_a_score_off_its_scale_is_sent_back(name: str, beyond: float) -> None:
    edge = MOST[name] if beyond > 0 else 0.0
    told = problem(absolute_shape(1), {"scores": MOST | {name: edge + beyond}})
    assert told == f"scores.{name} is no number from 0 to {MOST[name]:g}"


@pytest.mark.parametrize("value", [-4, 4, 2.5, "3", None])
def test_pressure_is_a_whole_number_from_minus_three_to_three(value: object) -> None:
    outcomes = dict.fromkeys(SCALES, "draw")
    for allowed in range(-3, 4):
        calm = {"outcomes": outcomes, "pressures": dict.fromkeys(PRESSURES, allowed)}
        assert problem(form(_Pairwise), calm) == ""
    wrong = dict.fromkeys(PRESSURES, 0) | {"emotional": value}
    assert "pressures.emotional" in problem(
        form(_Pairwise), {"outcomes": outcomes, "pressures": wrong}
    )


def test_a_debate_converges_in_one_of_five_ways_and_a_conflict_has_one_of_three_or_none() -> None:
    ways = ("agreement", "definitional_dispute", "degree_disagreement", "degenerate", "none")
    for outcome in (*ways, "harmony"):
        said = problem(form(_Convergence), {"outcome": outcome})
        assert (said == "") is (outcome in ways), outcome
    patterns = ("coherence_collapse", "asymmetric_depth", "convergence_failure", "none")
    for pattern in (*patterns, "bad_luck"):
        said = problem(form(_Conflict), {"explanation": "x", "pattern": pattern})
        assert (said == "") is (pattern in patterns), pattern
