"""The shape of a structured answer, and an answer's faults.

Pydantic checks types and the shape's own `check` the rules; the faults of both are sent back to the
model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from engine.floor.drafts import readable_part
from engine.floor.limits import LONG_REPLY, replaced
from engine.floor.schema import Node
from engine.floor.structured import CUT_OFF, UnreadableError, is_filler, read_object
from engine.values.debate import CUT_SHORT, Value, Violation
from engine.values.judging import Artifact
from engine.values.ports import AnswerSchema, Reply

UNREADABLE = "unreadable"
MOST_FAULTS = 12  # sent back at once; more would bury the important ones

LARGEST = 2**63  # of a number: what JSON and databases hold

# By pydantic's type of error.
MISFIT = {
    "string_type": "not a text",
    "bool_type": "neither true nor false",
    "int_type": "not a whole number",
    "float_type": "not a number",
    "list_type": "not a list",
    "tuple_type": "not a list",
    "dict_type": "not an object",
    "model_type": "not an object",
}

T = TypeVar("T", bound=BaseModel)


class Fault(Value):
    """One fault of an answer; `what` describes it to the author.

    As a violation it was `measured` against a `limit`; without a limit, occurrences are counted.
    """

    kind: str
    what: str
    measured: float = 1
    limit: float = 0


def is_whole(value: object, low: int, high: int) -> bool:
    """Return whether a judge's score is a whole number within its scale."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def accept(_: object) -> tuple[Fault, ...]:
    """Find nothing wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The form of an answer: its type, the schema sent to the model, and its rules.

    The schema may be stricter than the type, so that an answer that breaks a rule is readable.
    An `optional` answer may leave its texts empty.
    """

    model: type[T]
    schema: AnswerSchema
    check: Callable[[T], tuple[Fault, ...]] = accept
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ShapedAnswer(Generic[T]):
    """An answer as read; `value` is None if it cannot be read at all.

    `raw` is the reply, or the readable part of one that was cut off. `replaced` counts the
    characters that cannot be stored. With several judges the value is the
    median of their answers, and `opinions` are these, None for an unreadable one.
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
        """The broken rules; one without a limit appears once, with a count."""
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
        """Its faults, in one line."""
        return "; ".join(fault.what for fault in self.faults)


def unanswered(problem: str) -> ShapedAnswer[T]:
    """Return an answer that stands for none."""
    return ShapedAnswer(None, (Fault(kind="unanswered", what=problem),), "")


def read_shape(
    reply: Reply, shape: Shape[T], examples: frozenset[str] = frozenset()
) -> ShapedAnswer[T]:
    """Read a reply as a shape; never raises for a model's text.

    `examples` are the texts of the prompt's own example, which are no answer
    (`structured.example_texts`).
    """
    if reply.cut_from:
        most = len(reply.text)
        said = f"the answer has {reply.cut_from} characters, and {most} are read at most"
        fault = Fault(kind=LONG_REPLY, what=said, measured=reply.cut_from, limit=most)
        return ShapedAnswer(None, (fault,), reply.text, reply.model)
    if reply.finish == CUT_OFF:
        fault = Fault(kind=CUT_SHORT, what="it was cut off: answer shorter")
        readable = readable_part(reply.text, shape.schema)
        return ShapedAnswer(None, (fault,), readable, reply.model, reply.replaced)
    try:
        parsed = read_object(reply.text, reply.finish)
        _check_numbers(parsed.value)
        value = shape.model.model_validate(parsed.value)
        empty = _check_texts(parsed.value, shape, examples)
    except UnreadableError as error:
        return ShapedAnswer(
            None,
            (Fault(kind=UNREADABLE, what=str(error)),),
            reply.text,
            reply.model,
            reply.replaced,
        )
    except ValidationError as error:
        return ShapedAnswer(None, _misfits(error), reply.text, reply.model, reply.replaced)
    replaced_here = reply.replaced + parsed.replaced
    faults = shape.check(value) or empty
    return ShapedAnswer(value, faults, reply.text, reply.model, replaced_here)


def _check_numbers(value: object) -> None:
    """Raise UnreadableError for a number that cannot be stored, wherever it is."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _check_numbers(part)
    elif isinstance(value, int | float) and not abs(value) < LARGEST:
        raise UnreadableError("the answer's JSON holds a number that is too large")


def _check_texts(value: Any, shape: Shape[T], examples: frozenset[str]) -> tuple[Fault, ...]:
    """Return the faults of texts that are left empty.

    Raises UnreadableError for ones that only look like a text, such as the example's own.
    """
    texts = _texts(shape.schema.json_schema, value)
    found = [(where, text) for where, text in texts if is_filler(text, examples)]
    if filled := [f"“{where}” is no text of your own" for where, text in found if text.strip()]:
        raise UnreadableError("; ".join(filled[:MOST_FAULTS]))
    left = () if shape.optional else found[:MOST_FAULTS]
    return tuple(Fault(kind=UNREADABLE, what=f"“{where}” is empty") for where, _ in left)


def _texts(node: Node, value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of an answer that is no choice from a list, with the keys above it."""
    if isinstance(value, dict) and "properties" in node:
        for key, inner in node["properties"].items():
            if key in value:
                yield from _texts(inner, value[key], f"{where}.{key}".lstrip("."))
    elif isinstance(value, list) and "items" in node:
        for item in value:
            yield from _texts(node["items"], item, where)
    elif isinstance(value, str) and node["type"] == "string" and "enum" not in node:
        yield where, value


def kept(answer: ShapedAnswer[T], name: str, kind: str) -> Artifact:
    """Return a judge's answer as an artifact: its value, or raw text and problem."""
    if answer.valid and answer.value is not None:
        return Artifact.of(name, kind, answer.value.model_dump(mode="json"))
    raw = {"raw": answer.raw, "problem": answer.problem}
    return Artifact.of(name, kind, raw, valid=False)


def better(first: ShapedAnswer[T], second: ShapedAnswer[T]) -> ShapedAnswer[T]:
    """Return the better answer: a readable one, then the one with fewer faults."""
    if second.value is None or first.value is None:
        return second if second.value is not None or first.value is None else first
    return second if len(second.faults) <= len(first.faults) else first


def _misfits(error: ValidationError) -> tuple[Fault, ...]:
    found = []
    for mistake in error.errors(include_url=False)[:MOST_FAULTS]:
        where, kind = ".".join(map(str, mistake["loc"])), mistake["type"]
        what = f"“{where}” is {MISFIT.get(kind, 'not of the type asked for')}"
        if kind == "missing":
            what = f"the key “{where}” is missing"
        found.append(Fault(kind=UNREADABLE, what=what))
    return tuple(found)
