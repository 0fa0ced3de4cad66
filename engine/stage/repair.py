"""What a broken or unfinished answer holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from engine.stage.structured import MAX_DEPTH, TOO_DEEP, Object, Parsed, UnreadableError, parsed_as
from engine.values.errors import MISFITS
from engine.values.ports import AnswerSchema

NOTHING = "…"  # of JSON that was cut before its first text
_OBJECT = TypeAdapter(dict[str, JsonValue])
# json-repair looks through the rest of a text at each stray quote, so time goes as their product.
MAX_REPAIR_CHARS = 20_000
MAX_REPAIR_STEPS = 5_000_000  # quotes of one kind times characters: about .3 s at worst
_KEY = re.compile(r"""["']?\w[^{}:]*:""")


def repaired(span: str) -> Parsed | None:
    """Return what a broken or unfinished piece of JSON holds; None if it is no object.

    Raises UnreadableError for one that is too long or too deep.
    """
    if not _KEY.match(span[1:].lstrip()) or not {'"', "'"} & set(span):
        return None
    steps = len(span) * max(map(span.count, ('"', "'")))
    if len(span) > MAX_REPAIR_CHARS or steps > MAX_REPAIR_STEPS:
        raise UnreadableError("the answer's JSON is broken and too long to repair")
    import json_repair  # only now: most answers need none

    try:
        value = json_repair.loads(span, skip_json_loads=True)
    except MISFITS:  # it gives up on deep nesting and on long numbers, each in its own way
        raise UnreadableError("the answer's JSON is broken beyond repair") from None
    if not isinstance(value, dict):
        return None
    _refuse_deep(value)
    return parsed_as(value, span, repaired=True)


def _refuse_deep(value: Object) -> None:
    """Refuse levels that stood within a broken string, where they were not counted."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        held = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in held for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise UnreadableError(TOO_DEEP)


def readable_part(text: str, schema: AnswerSchema) -> str:
    """Return the texts of an answer that is broken or was cut, or all of one that is no JSON."""
    try:
        found = repaired(text[max(0, text.find("{")) :])
    except UnreadableError:
        found = None
    said = read_growing(text, schema)
    if found is not None:
        said = "\n".join(_texts(found.value, frozenset(_keys(schema.json_schema)))) or said
    if said.strip():
        return said
    return NOTHING if text.lstrip().startswith(("{", "```")) else text


def read_growing(text: str, schema: AnswerSchema) -> str:
    """Return the texts of an unfinished JSON object: a line for each under a key of the schema.

    A choice from a list is a code of the format, no text for people, and is left out.
    """
    try:
        value = _OBJECT.validate_json(
            text[max(0, text.find("{")) :], experimental_allow_partial="trailing-strings"
        )
    except ValidationError:  # not yet, or never, an object
        return ""
    return "\n".join(_texts(value, frozenset(_keys(schema.json_schema))))


def _texts(value: JsonValue, asked: frozenset[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, asked)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in asked:
                yield from _texts(item, asked)


def _keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        fields = schema.get("properties", {})
        yield from (name for name, field in fields.items() if "enum" not in field)
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from _keys(part)
