"""What was stored, in the language spoken: sentences in English, shares, times, languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from engine.words.translation import LANGUAGES, catalogue, fill, locale_of, primary, say

_BLANK = re.compile(r"\{(\w+)[^{}]*\}")
FEWEST_CHARS = 13  # beside the values of a stored text, to know its template by


def say_stored(english: str) -> str:
    """Return a text that was stored in English, in the language spoken.

    Its template is found by what stands around its values; without one it stays English.
    """
    known = catalogue(primary())
    if not known or english in known:
        return say(english)
    for template, parts in _templates(primary()).items():
        values = _values(parts, english)
        if values:
            found = known[template]
            form = found if isinstance(found, str) else found[-1]
            return fill(_BLANK.sub(r"{\1}", form), values)
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


def percent(share: float) -> str:
    """Return a share in per cent, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{share:.0%}".replace("%", " %")
    from babel.numbers import format_percent

    return format_percent(share, locale=locale_of(language))


def moment(when: datetime) -> str:
    """Return a date and time in UTC, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d %H:%M} UTC"
    from babel.dates import format_time

    return f"{day(when)} {format_time(when, 'short', locale=locale_of(language))} UTC"


def day(when: datetime) -> str:
    """Return a date, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d}"
    from babel.dates import format_date

    return format_date(when, "medium", locale=locale_of(language))


def called_language(code: str) -> str:
    """Return what the language spoken calls another; empty in English, or if it has no name."""
    if primary() not in LANGUAGES:
        return ""
    named: str | None = locale_of(primary()).languages.get(code.split("-")[0].lower())
    return named or ""
