"""A structured answer's shape, and what is wrong with an answer that should have it.

Pydantic checks the types, the shape's own `check` the rules; both give a list of faults, which is
sent back to the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from engine.debate import Value, Violation
from engine.findings import Artifact
from engine.floor.limits import LONG_REPLY, replaced
from engine.floor.structured import UnreadableError, read_object
from engine.ports import AnswerSchema, Reply

UNREADABLE = "unreadable"
MOST_FAULTS = 12  # sent back at once; more would drown what matters

T = TypeVar("T", bound=BaseModel)


class Fault(Value):
    """One thing that is wrong with an answer; `what` says so to its author.

    As a violation it was `measured` against a `limit`; without one, occurrences are counted.
    """

    kind: str
    what: str
    measured: float = 1
    limit: float = 0


def is_whole(value: object, low: int, high: int) -> bool:
    """Tell whether a judge's score is a whole number within its scale."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def accept(_: object) -> tuple[Fault, ...]:
    """Find nothing wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The form of an answer: the type it is read as, the schema it is asked for, its rules.

    The schema may be stricter than the type, so that what breaks a rule can still be read.
    """

    model: type[T]
    schema: AnswerSchema
    check: Callable[[T], tuple[Fault, ...]] = accept


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer as read; `value` is None if it cannot be read at all.

    `replaced` counts the characters that cannot be stored. With several judges the value is the
    median of their answers, and `opinions` are these, None for one that could not be read.
    """

    value: T | None
    faults: tuple[Fault, ...]
    raw: str
    model: str = ""
    replaced: int = 0
    opinions: tuple[T | None, ...] = ()

    def spread(self, read: Callable[[T], float | None]) -> float | None:
        """Return the highest less the lowest of judges' numbers; None for fewer than two."""
        given = [read(opinion) for opinion in self.opinions if opinion is not None]
        numbers = [number for number in given if number is not None]
        return max(numbers) - min(numbers) if len(numbers) > 1 else None

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.value is not None and not self.faults

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The rules that it broke; one without a limit appears once, with a count of breaches."""
        counted = Counter(fault.kind for fault in self.faults if not fault.limit)
        return (
            *(Violation(kind=kind, measured=n, limit=0) for kind, n in counted.items()),
            *(
                Violation(kind=fault.kind, measured=fault.measured, limit=fault.limit)
                for fault in self.faults
                if fault.limit
            ),
            *replaced(self.replaced),
        )

    @property
    def free(self) -> str:
        """The raw text of an answer that cannot be read."""
        return self.raw if self.value is None else ""

    @property
    def problem(self) -> str:
        """What is wrong, in one line."""
        return "; ".join(fault.what for fault in self.faults)


def unanswered(problem: str) -> Answer[T]:
    """Return the answer of a model that gave none."""
    return Answer(None, (Fault(kind="unanswered", what=problem),), "")


def read_shape(reply: Reply, shape: Shape[T]) -> Answer[T]:
    """Read a reply as a shape; never raises for what a model wrote."""
    if reply.cut_from:
        most = len(reply.text)
        said = f"the answer has {reply.cut_from} characters, and {most} are read at most"
        fault = Fault(kind=LONG_REPLY, what=said, measured=reply.cut_from, limit=most)
        return Answer(None, (fault,), reply.text, reply.model)
    try:
        parsed = read_object(reply.text, reply.finish)
        value = shape.model.model_validate(parsed.value)
    except UnreadableError as error:
        return Answer(
            None,
            (Fault(kind=UNREADABLE, what=str(error)),),
            reply.text,
            reply.model,
            reply.replaced,
        )
    except ValidationError as error:
        return Answer(None, _misfits(error), reply.text, reply.model, reply.replaced)
    replaced_here = reply.replaced + parsed.replaced
    return Answer(value, shape.check(value), reply.text, reply.model, replaced_here)


def kept(answer: Answer[T], name: str, kind: str) -> Artifact:
    """Return a judge's answer for the record: its value, or its raw text and the problem."""
    if answer.valid and answer.value is not None:
        return Artifact.of(name, kind, answer.value.model_dump(mode="json"))
    raw = {"raw": answer.raw, "problem": answer.problem}
    return Artifact.of(name, kind, raw, valid=False)


def better(first: Answer[T], second: Answer[T]) -> Answer[T]:
    """Return the better of two answers: one that can be read, then the one with fewer faults."""
    if second.value is None or first.value is None:
        return second if second.value is not None or first.value is None else first
    return second if len(second.faults) <= len(first.faults) else first


def _misfits(error: ValidationError) -> tuple[Fault, ...]:
    found = []
    for mistake in error.errors(include_url=False)[:MOST_FAULTS]:
        where = ".".join(str(step) for step in mistake["loc"]) or "the answer"
        found.append(Fault(kind=UNREADABLE, what=f"{where}: {mistake['msg']}"))
    return tuple(found)
