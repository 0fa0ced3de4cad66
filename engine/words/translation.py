"""Texts in the language spoken, from gettext's catalogues in locales/, one a language.

Babel finds the texts in the source: what `say`, `plural`, `Text`, the errors that people read, and
`N_` are given. A text that a catalogue lacks stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib.resources import files
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import orjson

from engine.values.language import (
    ENGLISH,
    ENGLISH_FILLER,
    Count,
    Filler,
    Text,
    figure,
    speaking,
    spoken,
)

if TYPE_CHECKING:
    from babel import Locale

LANGUAGES = ("de", "es", "tr", "zh")  # beside English
P = ParamSpec("P")
R = TypeVar("R")


class _Worded(Protocol):
    """A message that knows the language of its debate."""

    @property
    def language(self) -> str:
        """A BCP-47 code."""


M = TypeVar("M", bound=_Worded)


@cache
def catalogue(language: str, package: str = "engine.words") -> Mapping[str, str | list[str]]:
    """Read a package's catalogue; that of English is empty, as of any language without a file.

    A text with a number is known by its plural. Babel's own reader takes four times as long.
    """
    if language not in LANGUAGES:
        return {}
    source = files(package).joinpath("locales", f"{language}.po").read_text("utf-8")
    found: dict[str, list[str]] = {}
    for line in source.replace('"\n"', "").split("\n"):  # some texts are of several lines
        field, _, quoted = line.partition(" ")
        if field.startswith("msgid"):
            text = orjson.loads(quoted)
        elif field.startswith("msgstr"):
            found.setdefault(text, []).append(orjson.loads(quoted))
    del found[""]  # the header
    return {text: forms if forms[1:] else forms[0] for text, forms in found.items() if all(forms)}


def say(template: str, /, **values: object) -> str:
    """Return a text in the language spoken now, with its blanks filled in; values are data."""
    if isinstance(template, Count):
        return plural(template.one, template.template, template.n, **template.values, **values)
    if isinstance(template, Text):
        values, template = {**template.values, **values}, template.template
    found = catalogue(primary()).get(template, template)
    return fill(found if isinstance(found, str) else found[-1], values)


def plural(one: str, many: str, n: float, /, **more: object) -> str:
    """Return the singular or the plural in the language spoken now, with `n` filled in."""
    language = primary()
    found = catalogue(language).get(many, (one, many))
    form = found if isinstance(found, str) else found[0 if _is_one(language, n) else -1]
    return fill(form, {"n": number(int(n), ",") if n == int(n) else number(n, "g"), **more})


def number(value: float, spec: str) -> str:
    """Return a number with the decimal mark of the language spoken now."""
    written, language = figure(value, spec), primary()
    return written.translate(_marks(language)) if language in LANGUAGES else written


def _is_one(language: str, n: float) -> bool:
    """Return whether a number takes the singular, by CLDR's rules."""
    if language not in LANGUAGES:
        return n == 1
    whole = int(n) if n == int(n) else n  # “1.0” would be a plural
    return locale_of(language).plural_form(whole) == "one"


@cache
def _marks(language: str) -> dict[int, str]:
    """Return what stands for English's decimal and group marks, by CLDR."""
    marks = locale_of(language).number_symbols["latn"]
    return str.maketrans({".": marks["decimal"], ",": marks["group"]})


@cache
def locale_of(language: str) -> Locale:
    """Return what Babel knows of a language."""
    from babel import Locale  # only now: it takes a tenth of a second

    return Locale.parse(language)


def in_its_language(
    render: Callable[Concatenate[M, P], R],
) -> Callable[Concatenate[M, P], R]:
    """Have a function write in the language of the message that it is given."""

    @wraps(render)
    def rendered(message: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with speaking(message.language):
            return render(message, *args, **kwargs)

    return rendered


class _Filler(Filler):
    """Fills in templates in the language spoken now."""

    def word(self, text: Text) -> str:
        return say(text)

    def number(self, value: float, spec: str) -> str:
        return number(value, spec)

    def listed(self, items: list[str], how: str) -> str:
        language = primary()
        if language not in LANGUAGES:
            return ENGLISH_FILLER.listed(items, how)
        if not how:
            return say(", ").join(items)
        from babel.lists import format_list

        return format_list(items, "or" if how == "or" else "standard", locale_of(language))


_FILLER = _Filler()


def fill(template: str, values: Mapping[str, object]) -> str:
    """Fill in a template in the language spoken now."""
    return _FILLER.fill(template, values)


def primary() -> str:
    """Return the language spoken now, without its region."""
    return (spoken() or ENGLISH).split("-")[0].lower()
