"""A format's findings beside its turns: artifacts, scores and adjustments of scores.

All three are append-only: a wrong score is adjusted, never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from engine.debate import Value

# The kind of artifact that records a judge's or captain's question without an answer.
UNANSWERED = "unanswered"
# The kind of one that says what a side decides at its end; its name ends with the turn's step.
DECISION = "decision"
# The kind of one that says what a debate has made of a side's position; named likewise.
POSITION = "position"

# The name and kind of the one that says what sides looked up before the debate.
RETRIEVED = "retrieved"
# The name and kind of the one that says what the audience asked, and what of it was put.
QUESTIONS = "questions"


class Artifact(Value):
    """A piece of typed JSON under a name that is unique in its debate; `kind` says which type.

    `valid` is False for a judge's answer that could not be read; its body then holds the raw
    text and the problem.
    """

    name: str
    kind: str
    body: dict[str, JsonValue]
    valid: bool = True

    @classmethod
    def of(
        cls, name: str, kind: str, body: Mapping[str, object], *, valid: bool = True
    ) -> Artifact:
        """Make an artifact of plain values, written as JSON has them."""
        return cls(name=name, kind=kind, body=orjson.loads(orjson.dumps(body)), valid=valid)


class Score(Value):
    """One number that a format's own judge gave a subject: a turn's step, or an argument's id.

    `original` is the judge's own number if a rule changed it, else None. With several judges
    `value` is their median, and `spread` the highest less the lowest.
    """

    subject: str
    side: str
    criterion: str
    value: float
    original: float | None = None
    spread: float | None = None


class Adjustment(Value):
    """Points added to a subject's criterion after it was scored, and why.

    `by` is its cause, such as the step of the turn that exposed a claim; an empty `criterion` means
    the total.
    """

    name: str
    subject: str
    side: str
    criterion: str = ""
    amount: float
    reason: str
    by: str = ""
