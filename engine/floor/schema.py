"""JSON schemas of structured answers; keys are in the order of the answer.

Every key is required and no other is allowed, as strict backends demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.values.ports import AnswerSchema

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
