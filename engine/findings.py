"""What a format finds out beside its turns: artifacts, scores, and what was added to scores.

All three are only ever appended: a score that turns out wrong is adjusted, never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from engine.debate import Value

# The kind of an artifact that says which question of a judge or captain stayed without an answer.
UNANSWERED = "unanswered"


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

    `original` is what the judge said where a rule moved it, and None where it stands as said.
    """

    subject: str
    side: str
    criterion: str
    value: float
    original: float | None = None


class Adjustment(Value):
    """Points added to a subject's criterion after it was scored, and why.

    `by` is what brought it about, such as the step of the turn that exposed a claim; an empty
    `criterion` means the total.
    """

    name: str
    subject: str
    side: str
    criterion: str = ""
    amount: float
    reason: str
    by: str = ""
