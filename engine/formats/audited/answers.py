"""What the judge of an `audited` debate answers: forms and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from engine.formats.audited.scores import BESIDE, BROKEN, COMPONENTS, PRESSURES, SCALES, SUSPECT
from engine.stage.shapes import (
    FLAG,
    TEXT,
    AnswerPart,
    Fault,
    Shape,
    by_key,
    choice,
    is_whole,
    named,
    number,
    one_of,
    record,
    several,
    whole,
)
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


class _Suspect(AnswerPart, strict=True):
    """A claim of the turn itself that is specific but hollow, or wrong."""

    claim: str
    kind: str


class _Exposed(AnswerPart, strict=True):
    """A claim of an earlier turn that this turn shows to be suspect."""

    turn: int
    claim: str
    kind: str


class _Premise(AnswerPart, strict=True):
    """A premise that the speaker relied on in an earlier turn, and now drops or contradicts."""

    turn: int
    premise: str
    kind: str


class _Appeal(AnswerPart, strict=True):
    """Whether a turn answers what cost its side points, and why."""

    answered: bool
    why: str = ""


class Absolute(AnswerPart, strict=True):
    """A turn's scores by component and why, and what it adds to the register or answers there."""

    reason: str = ""
    scores: dict[str, float]
    suspect: list[_Suspect] = Field(default_factory=list)
    exposed: list[_Exposed] = Field(default_factory=list)
    premises: list[_Premise] = Field(default_factory=list)
    appeals: dict[str, _Appeal] = Field(default_factory=dict)


class Pairwise(AnswerPart, strict=True):
    """Who was better in each dimension, and the pressure on the loser."""

    reason: str = ""
    outcomes: dict[str, str]
    pressures: dict[str, int | float]


class Narrative(AnswerPart, strict=True):
    """The debate reconstructed as one arc, and who held in it."""

    narrative: str
    winner: str


class Conflict(AnswerPart, strict=True):
    """Why narrative and scorecard disagree."""

    explanation: str
    pattern: str


class Convergence(AnswerPart, strict=True):
    """Whether the sides ended where they began."""

    outcome: str
    reason: str = ""


def absolute_shape(turn: int, appeals: Iterable[int] = ()) -> Shape[Absolute]:
    """Return the form of a turn's scores; `appeals` are the entries that it may answer.

    Only turns before it can be exposed, and only the speaker's own hold its premises.
    """
    own = tuple(range(2 - turn % 2, turn, 2))
    places = [str(place) for place in appeals]
    properties = {
        "reason": TEXT,
        "scores": record({name: number(0, most) for name, most in RANGES.items()}),
        "suspect": several(record({"claim": TEXT, "kind": choice(*SUSPECT)}), 0, 3),
    }
    if turn > 1:
        exposed = record({"turn": whole(1, turn - 1), "claim": TEXT, "kind": choice(*SUSPECT)})
        properties["exposed"] = several(exposed, 0, 2)
    if own:
        premise = record({"turn": one_of(own), "premise": TEXT, "kind": choice(*BROKEN)})
        properties["premises"] = several(premise, 0, 2)
    if places:
        properties["appeals"] = by_key(places, record({"answered": FLAG, "why": TEXT}))

    def check(given: Absolute) -> tuple[Fault, ...]:
        wrong = [*_misscored(given, places), *_misplaced(given, turn, own)]
        return tuple(map(_fault, wrong))

    return Shape(Absolute, named("Absolute", properties), check)


def _misscored(given: Absolute, places: Sequence[str]) -> Iterator[str]:
    for name, most in RANGES.items():
        if not 0 <= given.scores.get(name, -1.0) <= most:
            yield f"scores.{name} is no number from 0 to {most:g}"
    for place in places:
        if place not in given.appeals:
            yield f"appeals.{place} is missing"


def _misplaced(given: Absolute, turn: int, own: Sequence[int]) -> Iterator[str]:
    """Yield what is wrong with what a turn adds to the register."""
    claims: list[_Suspect | _Exposed] = [*given.suspect, *given.exposed]
    dated: list[_Exposed | _Premise] = [*given.exposed, *given.premises]
    yield from (f"there is no kind “{c.kind[:40]}”" for c in claims if c.kind not in SUSPECT)
    for premise in given.premises:
        if premise.kind not in BROKEN:
            yield f"there is no kind “{premise.kind[:40]}” of premise"
        if premise.turn not in own:
            yield f"turn {premise.turn} is not this speaker's own, and a premise is"
    yield from (f"turn {d.turn} is not before this one" for d in dated if not 0 < d.turn < turn)


def pairwise_shape() -> Shape[Pairwise]:
    """Return the form of a comparison of two turns."""
    schema = named(
        "Pairwise",
        {
            "reason": TEXT,
            "outcomes": by_key(SCALES, choice(*OUTCOMES)),
            "pressures": by_key(PRESSURES, whole(-PRESSURE_MOST, PRESSURE_MOST)),
        },
    )

    def check(given: Pairwise) -> tuple[Fault, ...]:
        faults = [
            _fault(f"outcomes.{name} is none of {', '.join(OUTCOMES)}")
            for name in SCALES
            if given.outcomes.get(name) not in OUTCOMES
        ]
        faults += [
            _fault(f"pressures.{name} is no whole number from -3 to 3")
            for name in PRESSURES
            if not is_whole(given.pressures.get(name), -PRESSURE_MOST, PRESSURE_MOST)
        ]
        return tuple(faults)

    return Shape(Pairwise, schema, check)


def narrative_shape() -> Shape[Narrative]:
    """Return the form of the narrative verdict."""

    def check(given: Narrative) -> tuple[Fault, ...]:
        return () if given.winner in ("A", "B", "tie") else (_fault("winner is none of A, B, tie"),)

    schema = named("Narrative", {"narrative": TEXT, "winner": choice("A", "B", "tie")})
    return Shape(Narrative, schema, check)


def conflict_shape() -> Shape[Conflict]:
    """Return the form of the pass that explains a conflict."""

    def check(given: Conflict) -> tuple[Fault, ...]:
        known = given.pattern in PATTERNS
        return () if known else (_fault(f"pattern is none of {', '.join(PATTERNS)}"),)

    schema = named("Conflict", {"explanation": TEXT, "pattern": choice(*PATTERNS)})
    return Shape(Conflict, schema, check)


def convergence_shape() -> Shape[Convergence]:
    """Return the form of the comparison of beginning and end."""

    def check(given: Convergence) -> tuple[Fault, ...]:
        known = given.outcome in CONVERGENCES
        return () if known else (_fault(f"outcome is none of {', '.join(CONVERGENCES)}"),)

    schema = named("Convergence", {"reason": TEXT, "outcome": choice(*CONVERGENCES)})
    return Shape(Convergence, schema, check)


def _fault(what: str) -> Fault:
    return Fault(kind="wrong_answer", what=what)
