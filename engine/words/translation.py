"""Texts in the language spoken, from gettext's catalogues in locales/, one a language.

Babel finds the texts in the source: what `say`, `plural`, `Text`, the errors that people read, and
`N_` are given. A text that a catalogue lacks stays English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
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
_BLANK = re.compile(r"\{(\w+)[^{}]*\}")
FEWEST_CHARS = 13  # beside the values of a stored text, to know its template by
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
    found = catalogue(_primary()).get(template, template)
    return _fill(found if isinstance(found, str) else found[-1], values)


def plural(one: str, many: str, n: float, /, **more: object) -> str:
    """Return the singular or the plural in the language spoken now, with `n` filled in."""
    language = _primary()
    found = catalogue(language).get(many, (one, many))
    form = found if isinstance(found, str) else found[0 if _is_one(language, n) else -1]
    return _fill(form, {"n": number(int(n), ",") if n == int(n) else number(n, "g"), **more})


def say_stored(english: str) -> str:
    """Return a text that was stored in English, in the language spoken.

    Its template is found by what stands around its values; without one it stays English.
    """
    known = catalogue(_primary())
    if not known or english in known:
        return say(english)
    for template, parts in _templates(_primary()).items():
        values = _values(parts, english)
        if values:
            found = known[template]
            form = found if isinstance(found, str) else found[-1]
            return _fill(_BLANK.sub(r"{\1}", form), values)
    return english


@cache
def _templates(language: str) -> Mapping[str, list[str]]:
    """Return a catalogue's templates in parts, blanks at odd places; the surest to be known first.

    One that begins with a blank could take in the beginning of a text around its own.
    """
    parted = {template: _BLANK.split(template) for template in catalogue(language)}
    chars = {template: sum(map(len, parts[::2])) for template, parts in parted.items()}
    order = sorted(parted, key=lambda each: (len(parted[each][0]) < 2, -chars[each]))
    return {each: parted[each] for each in order if chars[each] >= FEWEST_CHARS}


def _values(parts: list[str], text: str) -> dict[str, str] | None:
    """Return what fills in a template's blanks in a text, translated; None if it is not of it."""
    if len(parts) < 2 or not all(said in text for said in parts[::2]):
        return None
    pattern, met = "", set[str]()
    for said, name in zip(parts[::2], [*parts[1::2], ""], strict=True):
        blank = f"(?P={name})" if name in met else f"(?P<{name}>.+?)"
        pattern += re.escape(said) + (blank if name else "")
        met.add(name)
    found = re.fullmatch(pattern, text, re.DOTALL)
    return {name: say_stored(value) for name, value in found.groupdict().items()} if found else None


def number(value: float, spec: str) -> str:
    """Return a number with the decimal mark of the language spoken now."""
    written, language = figure(value, spec), _primary()
    return written.translate(_marks(language)) if language in LANGUAGES else written


def percent(share: float) -> str:
    """Return a share in per cent, as the language spoken writes it."""
    language = _primary()
    if language not in LANGUAGES:
        return f"{share:.0%}".replace("%", " %")
    from babel.numbers import format_percent

    return format_percent(share, locale=_locale(language))


def moment(when: datetime) -> str:
    """Return a date and time in UTC, as the language spoken writes it."""
    language = _primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d %H:%M} UTC"
    from babel.dates import format_time

    return f"{day(when)} {format_time(when, 'short', locale=_locale(language))} UTC"


def day(when: datetime) -> str:
    """Return a date, as the language spoken writes it."""
    language = _primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d}"
    from babel.dates import format_date

    return format_date(when, "medium", locale=_locale(language))


def called_language(code: str) -> str:
    """Return what the language spoken calls another; empty in English, or if it has no name."""
    if _primary() not in LANGUAGES:
        return ""
    named: str | None = _locale(_primary()).languages.get(code.split("-")[0].lower())
    return named or ""


def _is_one(language: str, n: float) -> bool:
    """Return whether a number takes the singular, by CLDR's rules."""
    if language not in LANGUAGES:
        return n == 1
    whole = int(n) if n == int(n) else n  # “1.0” would be a plural
    return _locale(language).plural_form(whole) == "one"


@cache
def _marks(language: str) -> dict[int, str]:
    """Return what stands for English's decimal and group marks, by CLDR."""
    marks = _locale(language).number_symbols["latn"]
    return str.maketrans({".": marks["decimal"], ",": marks["group"]})


@cache
def _locale(language: str) -> Locale:
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
        language = _primary()
        if language not in LANGUAGES:
            return ENGLISH_FILLER.listed(items, how)
        if not how:
            return say(", ").join(items)
        from babel.lists import format_list

        return format_list(items, "or" if how == "or" else "standard", _locale(language))


_FILLER = _Filler()


def _fill(template: str, values: Mapping[str, object]) -> str:
    return _FILLER.fill(template, values)


def _primary() -> str:
    return (spoken() or ENGLISH).split("-")[0].lower()
