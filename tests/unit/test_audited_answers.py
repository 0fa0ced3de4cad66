"""What the judge of an `audited` debate may answer, to the number, and what is sent back."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
import pytest
from pydantic import BaseModel

from engine.formats.audited.answers import (
    RANGES,
    absolute_shape,
    conflict_shape,
    convergence_shape,
    pairwise_shape,
)
from engine.formats.audited.scoring import PRESSURES, SCALES
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
    """Return what is wrong with an answer; empty for nothing."""
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
        assert problem(pairwise_shape(), calm) == ""
    wrong = dict.fromkeys(PRESSURES, 0) | {"emotional": value}
    assert "pressures.emotional" in problem(
        pairwise_shape(), {"outcomes": outcomes, "pressures": wrong}
    )


@pytest.mark.parametrize(
    ("outcome", "known"),
    [
        *((name, True) for name in ("agreement", "definitional_dispute", "degree_disagreement")),
        *((name, True) for name in ("degenerate", "none")),
        ("harmony", False),
    ],
)
def test_a_debate_converges_in_one_of_five_ways(outcome: str, known: bool) -> None:
    assert (problem(convergence_shape(), {"outcome": outcome}) == "") is known


@pytest.mark.parametrize(
    ("pattern", "known"),
    [
        *((name, True) for name in ("coherence_collapse", "asymmetric_depth")),
        *((name, True) for name in ("convergence_failure", "none")),
        ("bad_luck", False),
    ],
)
def test_a_conflict_has_one_of_three_patterns_or_none(pattern: str, known: bool) -> None:
    assert (problem(conflict_shape(), {"explanation": "x", "pattern": pattern}) == "") is known
