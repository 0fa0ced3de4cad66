"""The language that people read at the moment, and texts that can be said in any.

A text of Rostrum's own is an English template with its values. As a string it is English, for logs
and operators; engine/words/translation.py says it in the language spoken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from string import Formatter
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, InstanceOf, PlainSerializer

ENGLISH = "en"
S = TypeVar("S", bound=str)
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def spoken() -> str:
    """Return the language of what is written now, as a BCP-47 code."""
    return _spoken.get()


def N_(text: S) -> S:  # noqa: N802 - as gettext's users know it
    """Mark a text that is said from elsewhere, so that Babel brings it into the catalogues."""
    return text


def NN_(one: str, many: str) -> tuple[str, str]:  # noqa: N802 - as above
    """Mark a singular and its plural, to be said from elsewhere with a number."""
    return one, many


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Write in a language, also in tasks that begin meanwhile."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


class Text(str):
    """An English text that remembers its template and values, so that it can be translated.

    Values are data, never templates; one that is a Text is translated too, and a tuple is a list:
    `{names}` is “a, b, c”, `{names:or}` is “a, b or c”, `{names:and}` is “a, b and c”. `{usd:usd}`
    is an amount with cents, or with two digits if it is smaller.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Text:
        """Fill in the template in English; without values it is taken as it is."""
        text = super().__new__(cls, ENGLISH_FILLER.fill(template, values))
        text.template, text.values = template, values
        return text


class Count(Text):
    """A text with a number `n`: the singular `one`, or the plural, which is its template."""

    one: str
    n: float

    def __new__(cls, one: str, many: str, n: float, /, **values: object) -> Count:
        """Fill in the form that English takes."""
        given = {"n": figure(n, "g"), **values}
        text = str.__new__(cls, ENGLISH_FILLER.fill(one if n == 1 else many, given))
        text.one, text.template, text.n, text.values = one, many, n, values
        return text


def to_stored(text: str) -> str:
    """Return a text as it is stored: one with values as JSON, any other as it is."""
    if isinstance(text, Count) or (isinstance(text, Text) and text.values):
        return orjson.dumps(_pack(text), default=str).decode()
    return orjson.dumps({"template": text}).decode() if text.startswith('{"') else str(text)


def from_stored(stored: str) -> str:
    """Return a stored text: with its template and values, if it has any."""
    if isinstance(stored, Text) or not stored.startswith('{"'):
        return stored
    text: str = _unpack(orjson.loads(stored))
    return text


StoredText = Annotated[
    InstanceOf[str], AfterValidator(from_stored), PlainSerializer(to_stored, return_type=str)
]
"""A text that can be said in any language also after it was stored."""


def _pack(value: object) -> object:
    match value:
        case Text():
            parts: dict[str, object] = {"template": value.template}
            if isinstance(value, Count):
                parts |= {"one": value.one, "n": value.n}
            return parts | {"values": {name: _pack(each) for name, each in value.values.items()}}
        case tuple():
            return list(map(_pack, value))
    return value


def _unpack(value: Any) -> Any:
    match value:
        case {"template": template}:
            values = {name: _unpack(each) for name, each in value.get("values", {}).items()}
            if "one" in value:
                return Count(value["one"], template, value["n"], **values)
            return Text(template, **values)
        case list():
            return tuple(map(_unpack, value))
    return value


def figure(value: float, spec: str) -> str:
    """Return a number in English, by Python's formats or as an amount of money."""
    if spec == "usd":
        spec = ".2f" if value == 0 or value >= 0.1 else ".2g"
    return format(value, spec)


class Filler(Formatter):
    """Fills in templates, in English."""

    def fill(self, template: str, values: Mapping[str, object]) -> str:
        """Return a template with its values; without any it is no template."""
        return self.vformat(template, (), values) if values else template

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value: a text, a list, a number, or anything by its own format."""
        match value:
            case Text():
                return format(self.word(value), format_spec)
            case tuple():
                return self.listed([self.format_field(item, "") for item in value], format_spec)
            case bool():
                return format(value, format_spec)
            case int() | float():
                return self.number(value, format_spec)
        return format(value, format_spec)

    def word(self, text: Text) -> str:
        """Return a nested text."""
        return str(text)

    def number(self, value: float, spec: str) -> str:
        """Return a number."""
        return figure(value, spec)

    def listed(self, items: list[str], how: str) -> str:
        """Return a list with commas; `how` is the word before the last one, if any."""
        if not how or len(items) < 2:
            return ", ".join(items)
        return f"{', '.join(items[:-1])} {how} {items[-1]}"


ENGLISH_FILLER = Filler()
