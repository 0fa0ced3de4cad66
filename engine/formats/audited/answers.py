"""What the judge of an `audited` debate answers: forms and rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from engine.formats.audited.scores import BESIDE, BROKEN, COMPONENTS, PRESSURES, SCALES, SUSPECT
from engine.stage.forms import WRONG, Between, ByKey, OneOf, Within, form
from engine.stage.shapes import AnswerPart, Shape
from engine.values.language import N_

RANGES: dict[str, float] = {
    **dict.fromkeys(COMPONENTS["logic"], 10.0),
    **dict.fromkeys(COMPONENTS["rhetoric"], 7.5),
    "tactics": SCALES["tactics"],
    **dict.fromkeys(BESIDE, 10.0),
}
PRESSURE_MOST = 3
OUTCOMES = ("previous", "latest", "draw")
# The meaning of each name, in the judge's prompt and in the thread.
PATTERNS = {
    "coherence_collapse": "the central claim of the scorecard's leader shifted under pressure, so "
    "that no one thesis lasted",
    "asymmetric_depth": "the more persuasive side is not the logically stronger one",
    "convergence_failure": "each side won against a position that the other did not hold, and the "
    "real question stayed open",
    "none": "no such pattern fits",
}
CONVERGENCES = {
    "agreement": N_("the sides came to agree"),
    "definitional_dispute": N_("they mean different things by the same words"),
    "degree_disagreement": N_("they differ only in degree"),
    "degenerate": N_("both end up defending the same thing"),
    "none": N_("they did not come closer"),
}


NO_KIND = (WRONG, "there is no kind “{value}”")


class _Suspect(AnswerPart, strict=True):
    """A claim of the turn itself that is specific but hollow, or wrong."""

    claim: str
    kind: Annotated[str, OneOf(SUSPECT, NO_KIND)]


class _Exposed(AnswerPart, strict=True):
    """A claim of an earlier turn that this turn shows to be suspect."""

    turn: Annotated[int, Within(1, "before", (WRONG, "turn {value} is not before this one"))]
    claim: str
    kind: Annotated[str, OneOf(SUSPECT, NO_KIND)]


class _Premise(AnswerPart, strict=True):
    """A premise that the speaker relied on in an earlier turn, and now drops or contradicts."""

    turn: Annotated[
        int, OneOf("own", (WRONG, "turn {value} is not this speaker's own, and a premise is"))
    ]
    premise: str
    kind: Annotated[str, OneOf(BROKEN, (WRONG, "there is no kind “{value}” of premise"))]


class _Appeal(AnswerPart, strict=True):
    """Whether a turn answers what cost its side points, and why."""

    answered: bool
    why: str = ""


class Absolute(AnswerPart, strict=True):
    """A turn's scores by component and why, and what it adds to the register or answers there."""

    reason: str = ""
    scores: Annotated[dict[str, float], ByKey(RANGES), Within(0, RANGES)]
    suspect: Annotated[list[_Suspect], Between(0, 3)] = Field(default_factory=list)
    exposed: Annotated[list[_Exposed], Between(0, 2)] = Field(default_factory=list)
    premises: Annotated[list[_Premise], Between(0, 2)] = Field(default_factory=list)
    appeals: Annotated[dict[str, _Appeal], ByKey("appeals")] = Field(default_factory=dict)


class Pairwise(AnswerPart, strict=True):
    """Who was better in each dimension, and the pressure on the loser."""

    reason: str = ""
    outcomes: Annotated[dict[str, str], ByKey(SCALES), OneOf(OUTCOMES)]
    pressures: Annotated[
        dict[str, int | float], ByKey(PRESSURES), Within(-PRESSURE_MOST, PRESSURE_MOST)
    ]


class Narrative(AnswerPart, strict=True):
    """The debate reconstructed as one arc, and who held in it."""

    narrative: str
    winner: Annotated[str, OneOf(("A", "B", "tie"))]


class Conflict(AnswerPart, strict=True):
    """Why narrative and scorecard disagree."""

    explanation: str
    pattern: Annotated[str, OneOf(PATTERNS)]


class Convergence(AnswerPart, strict=True):
    """Whether the sides ended where they began."""

    reason: str = ""
    outcome: Annotated[str, OneOf(CONVERGENCES)]


def absolute_shape(turn: int, appeals: Iterable[int] = ()) -> Shape[Absolute]:
    """Return the form of a turn's scores; `appeals` are the entries that it may answer.

    Only turns before it can be exposed, and only the speaker's own hold its premises.
    """
    own = tuple(range(2 - turn % 2, turn, 2))
    places = [str(place) for place in appeals]
    held = {"exposed": turn > 1, "premises": own, "appeals": places}
    without = [name for name, holds in held.items() if not holds]
    return form(Absolute, without=without, own=own, before=turn - 1, appeals=places)
