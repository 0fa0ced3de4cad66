"""Answers that are not whole: what a broken one holds, and turns shown while they are written."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import regex
from pydantic import JsonValue, TypeAdapter, ValidationError

from engine.blinding.identity import clean, names_of, replace_names
from engine.values.debate import Debate, side_of
from engine.values.errors import MISFITS, UnreadableError
from engine.values.limits import MAX_DEPTH, TOO_DEEP
from engine.values.makers import read_vocabulary
from engine.values.ports import AnswerSchema, Audience, Call, Draft
from engine.values.text import count_words

NOTHING = "…"  # of JSON that was cut before its first text
_OBJECT = TypeAdapter(dict[str, JsonValue])
# json-repair looks through the rest of a text at each stray quote, so time goes as their product.
MAX_REPAIR_CHARS = 20_000
MAX_REPAIR_STEPS = 5_000_000  # quotes of one kind times characters: about .3 s at worst
_KEY = re.compile(r"""["']?\w[^{}:]*:""")


def repaired(span: str) -> dict[str, Any] | None:
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
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):  # levels within a broken string were not counted before
        held = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in held for item in items if isinstance(item, dict | list)]
        if not level:
            return value
    raise UnreadableError(TOO_DEEP)


def readable_part(text: str, schema: AnswerSchema) -> str:
    """Return the texts of an answer that is broken or was cut, or all of one that is no JSON."""
    try:
        found = repaired(text[max(0, text.find("{")) :])
    except UnreadableError:
        found = None
    said = read_growing(text, schema)
    if found is not None:
        said = "\n".join(_texts(found, frozenset(_keys(schema.json_schema)))) or said
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


# A turn while it is written, as an audience may see it: without any part of a model's name.


UPDATE_SECONDS = 0.1  # blinding takes a millisecond, and words arrive by the hundred

_PARTS = regex.compile(r"[\s\-_./:]+")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNIT = regex.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


class Drafting:
    """One call's text on its way to an audience, updated at most ten times a second."""

    def __init__(
        self,
        audience: Audience,
        debate: Debate,
        call: Call,
    ) -> None:
        hint, seat = call.hint, call.hint["seat"]
        self._audience = audience
        self._schema = call.schema
        self._names = names_of(debate.setup)
        self._chars_per_word = debate.setup.chars_per_word
        self._blank = Draft(
            debate=debate.code,
            seat=seat,
            side=side_of(seat),
            round=hint["round"],
            limit=int(hint["words"] or 0),
            name=debate.setup.called.get(seat, ""),
        )
        self._text = self._model = ""
        self._due: asyncio.TimerHandle | None = None

    def hear(self, text: str, model: str) -> None:
        """Take the text so far; the audience gets it a moment later, with all that came by then."""
        self._text, self._model = text, model
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(UPDATE_SECONDS, self._update)

    def end(self, *, spoken: bool) -> None:
        """Stop updating; a text that was not `spoken` to its end is dropped."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if not spoken:
            self._audience(replace(self._blank, dropped=True))

    def _update(self) -> None:
        self._due = None
        said = self._text if self._schema is None else read_growing(self._text, self._schema)
        text = redact_growing(said, self._names | {self._model})
        words = count_words(said, self._chars_per_word)
        self._audience(replace(self._blank, text=text, words=words))


def redact_growing(text: str, names: Iterable[str]) -> str:
    """Return as much of an unfinished text as people may read: whole words without a name.

    Every known model name is removed, as later text may show it to be the speaker's own. At the
    end, as many words are held back as the longest name has.
    """
    hidden = frozenset(names) | _brands()
    shown = replace_names(clean(text), hidden)
    held = max(len(_PARTS.split(name)) for name in hidden)
    units = [unit.start() for unit in _UNIT.finditer(shown)]
    return shown[: units[-held]].rstrip() if len(units) > held else ""


@lru_cache(maxsize=1)
def _brands() -> frozenset[str]:
    return frozenset(read_vocabulary().brands())
