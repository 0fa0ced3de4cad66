"""The shape of a structured answer, and an answer's faults.

Pydantic checks types and the shape's own `check` the rules; the faults of both are sent back to the
model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.stage.structured import CUT_OFF, is_filler, read_object
from engine.values.debate import CUT_SHORT, REPEATS, Value, Violation
from engine.values.errors import UnreadableError
from engine.values.ports import AnswerSchema, Reply
from engine.values.text import count_arguments, count_repeats, count_words
from engine.values.verdicts import Artifact

# JSON schemas of structured answers; keys are in the order of the answer.
#
# Every key is required and no other is allowed, as strict backends demand.


Node = dict[str, Any]
TEXT: Node = {"type": "string"}
FLAG: Node = {"type": "boolean"}


def named(name: str, properties: dict[str, Node]) -> AnswerSchema:
    """Return the schema of a whole answer."""
    return AnswerSchema(name, record(properties))


def record(properties: dict[str, Node]) -> Node:
    """Return the schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def by_key(keys: Iterable[str], node: Node) -> Node:
    """Return the schema of an object with the same node under each key."""
    return record(dict.fromkeys(keys, node))


def prose(least: int, most: int) -> Node:
    """Return the schema of a text; its description says how many words."""
    return TEXT | {"description": f"{least} to {most} words"}


def choice(*values: str) -> Node:
    """Return the schema of one of several words."""
    return {"type": "string", "enum": list(values)}


def one_of(values: Iterable[int]) -> Node:
    """Return the schema of one of several numbers."""
    return {"type": "integer", "enum": list(values)}


def whole(low: int, high: int) -> Node:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": low, "maximum": high}


def number(low: float, high: float) -> Node:
    """Return the schema of a number."""
    return {"type": "number", "minimum": low, "maximum": high}


def several(node: Node, low: int = 0, high: int | None = None) -> Node:
    """Return the schema of a list."""
    most = {} if high is None else {"maxItems": high}
    return {"type": "array", "items": node, "minItems": low} | most


# Limits of a turn: measured in one way everywhere, never enforced by cutting.
#
# Only a reply far beyond all of them is cut, and marked with its length.


LONG_REPLY = "long_reply"
TOO_OFTEN = 5  # times that a turn says one sentence


class TurnLimits(NamedTuple):
    """The limits of a turn; None is no limit."""

    words: int | None = None
    arguments: int | None = None


REPLACED = "replaced_characters"


def replaced(characters: int) -> tuple[Violation, ...]:
    """Return the violation of a text with characters that cannot be stored, if it has any."""
    if not characters:
        return ()
    return (Violation(kind=REPLACED, measured=characters, limit=0),)


def violations(text: str, limits: TurnLimits, chars_per_word: float) -> tuple[Violation, ...]:
    """Return every limit that a text exceeds, with what was measured."""
    measured: list[tuple[str, float, int | None]] = []
    if limits.words is not None:
        measured.append(("too_many_words", count_words(text, chars_per_word), limits.words))
    if limits.arguments is not None:
        measured.append(("too_many_arguments", count_arguments(text), limits.arguments))
    return tuple(
        Violation(kind=kind, measured=value, limit=limit)
        for kind, value, limit in measured
        if limit is not None and value > limit
    )


def cuts(reply: Reply) -> tuple[Violation, ...]:
    """Return the violation of a reply that was cut, to the debate's cap or at the model's own."""
    if reply.cut_from:
        return (Violation(kind=LONG_REPLY, measured=reply.cut_from, limit=len(reply.text)),)
    return (Violation(kind=CUT_SHORT, measured=1, limit=0),) if reply.finish == CUT_OFF else ()


def repeats(text: str) -> tuple[Violation, ...]:
    """Return the violation of a text that says one sentence over and over, as in a loop."""
    times = count_repeats(text)
    return (Violation(kind=REPEATS, measured=times, limit=0),) if times >= TOO_OFTEN else ()


# An answer of the right shape and of about the right length, for a dry run.


_PROSE = re.compile(r"(\d+) to \d+ words")  # as engine/stage/shapes.py describes a text


def example(
    schema: dict[str, Any], text: str, longer: Mapping[str, str] | None = None, spare: int = 1
) -> str:
    """Return JSON that satisfies a schema of engine/stage/shapes.py, with `text` for every text.

    `longer` are the texts of some of the fields at its top; a list has `spare` items beyond the
    fewest.
    """
    made = _value(schema, text, spare)
    made |= {name: long for name, long in (longer or {}).items() if name in made}
    return orjson.dumps(made, option=orjson.OPT_INDENT_2).decode()


def _value(node: dict[str, Any], text: str, spare: int) -> Any:
    if "enum" in node:
        return node["enum"][0]
    match node["type"]:
        case "object":
            return {name: _value(item, text, spare) for name, item in node["properties"].items()}
        case "array":
            fewest = int(node.get("minItems", 0))
            length = min(fewest + spare, int(node.get("maxItems", fewest + spare)))
            return [_value(node["items"], text, spare)] * length
        case "integer":
            return (int(node["minimum"]) + int(node["maximum"])) // 2
        case "number":
            return (node["minimum"] + node["maximum"]) / 2
        case "boolean":
            return False
        case _:
            asked = _PROSE.fullmatch(node.get("description", ""))
            return " ".join(["words"] * int(asked[1])) if asked else text


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


class AnswerPart(BaseModel):
    """An answer, or a part of one; unexpected keys are dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


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
        from engine.stage.repair import readable_part  # of faulty answers alone

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
        found = []
        for mistake in error.errors(include_url=False)[:MOST_FAULTS]:
            where, kind = ".".join(map(str, mistake["loc"])), mistake["type"]
            what = f"“{where}” is {MISFIT.get(kind, 'not of the type asked for')}"
            if kind == "missing":
                what = f"the key “{where}” is missing"
            found.append(Fault(kind=UNREADABLE, what=what))
        return ShapedAnswer(None, tuple(found), reply.text, reply.model, reply.replaced)
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
