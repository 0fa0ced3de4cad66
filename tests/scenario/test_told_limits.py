"""What every speaker and juror is told beforehand: how long, and in which order speeches stand."""

from __future__ import annotations

import re

import pytest

from engine.values.debate import Length
from tests.doubles.model_server import Body
from tests.scenario.conftest import DEFAULTS, Stage, judging

LIMITS = {
    "classic": r"At most \d+ words a turn\.",
    "structured": r"the final position in \d+ to \d+ words\.",
    "team": r"opening \(125\); .* in 75, the other answers in 125\); .*, 125\); closing \(125\)\.",
}


def system(body: Body) -> str:
    """Return the system message of a request."""
    return str(body["messages"][0]["content"])


@pytest.mark.parametrize("format", LIMITS)
async def test_a_speaker_knows_its_words_from_what_all_its_prompts_begin_with(
    stage: Stage, format: str
) -> None:
    async with stage.process() as line:
        await line.hold(DEFAULTS, format=format, length=Length.SHORT)
    spoken = [body for body in stage.server.requests if body["model"] in ("ana", "ben")]
    assert spoken
    told = {system(body) for body in spoken if "You judge" not in system(body)}
    assert len(told) == 1
    assert re.search(LIMITS[format], told.pop())


async def test_a_juror_is_told_that_a_reply_may_stand_above_what_it_answers(stage: Stage) -> None:
    async with stage.process() as line:
        await line.hold(DEFAULTS)
    jurors = [body for body in stage.server.requests if judging(body)]
    shown = [str(body["messages"][1]["content"]) for body in jurors]
    first = ["spoke first" in text.split("### ")[1].split("\n")[0] for text in shown]
    assert {True, False} == set(first)  # each side is shown first, whoever spoke first
    assert all("not in that of speaking, which the headings give" in system(one) for one in jurors)
