"""How speakers name themselves, in the languages that debates are held in ("as Claude, I …")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import regex

from engine.values.makers import END, START, begins, everyday, read_vocabulary, spell, squash, tail

_DECORATION = r"[\"'“”„«»‘’*_`(\[]{0,4}"

_FIRST_PERSON = r"""
    i\s+am | i['’]?m | my\s+name\s+is | my\s+name['’]s | call\s+me | speaking\s+as | i, | me,
"""

_INTRODUCING = r"""
    as | as\s+an?\s+ai(?:\s+\w+){0,3}\s+(?:by|from|at) | named | called | this\s+is | we\s+at
  | (?:trained|developed|created|made|built|designed|powered)\s+(?:by|at)
  | (?:model|assistant|ai|chatbot)\s+(?:by|from|of)
  | my\s+(?:creators?|developers?|makers?|training)(?:\s+(?:is|are|at|by))?,?
  | ich\s+bin | ich\s+heiße | mein\s+name\s+ist | als
  | soy | me\s+llamo | mi\s+nombre\s+es | como | sou | me\s+chamo | meu\s+nome\s+é
  | je\s+suis | je\s+m['’]appelle | mon\s+nom\s+est | en\s+tant\s+que | comme | moi,
  | sono | mi\s+chiamo | il\s+mio\s+nome\s+è | in\s+quanto | come
  | ben | adım | benim\s+adım | ik\s+ben | mijn\s+naam\s+is | jestem | jako
  | я | я\s*[—–-] | меня\s+зовут | как | будучи
  | أنا | بصفتي | اسمي | بوصفي
"""

_INTRODUCING_CLOSE = r"我是|我叫|作为|作為|身为|身為|私は|僕は|わたしは|저는|나는|제\s*이름은"

_FOLLOWING = r"""
    \s+here | \s+speaking | \s+olarak | \s*として | \s*です | \s*입니다 | \s*로서
  | \s+(?:(?:ai|language|family)\s*)?(?:model|assistant|chatbot)
"""

_ARTICLE = r"(?:(?:an?|the|ein|eine|un|une|una|bir)\s+)?"


class SelfNaming(NamedTuple):
    """A way in which speakers name themselves; `here` matches where the brand begins."""

    pattern: regex.Pattern[str]
    here: regex.Pattern[str]
    brands: frozenset[str]

    def occurs(self, text: str, squashed: str) -> bool:
        """Return whether a text has one; looking around brands is faster than matching phrases."""
        return any(
            self.here.match(text, begin.start())
            for brand in self.brands
            if brand in squashed
            for begin in begins(brand).finditer(text, overlapped=True)
        )


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted((spell(name) for name in names), key=len, reverse=True))


def ways() -> tuple[SelfNaming, ...]:
    """Return every way in which speakers name themselves."""
    words = read_vocabulary()
    apart = [name for name in words.brands() if name not in words.ordinary]
    known, ordinary = _any_of(apart), _any_of(name.title() for name in words.ordinary)
    spaced = rf"{START}(?:{_FIRST_PERSON}|{_INTRODUCING})[\s,:]{{1,3}}"
    before = rf"(?P<before>(?:{spaced}|(?:{_INTRODUCING_CLOSE})\s*){_ARTICLE}{_DECORATION})"
    first_person = (
        rf"(?P<before>{START}(?i:{_FIRST_PERSON})[\s,:]{{1,3}}(?i:{_ARTICLE}){_DECORATION})"
    )
    a_brand = rf"(?P<brand>{known}){tail()}{END}"
    by_itself = rf"(?P<before>){START}{a_brand}(?={_FOLLOWING})"
    a_word = rf"(?P<brand>{ordinary})(?i:{tail()}){END}"
    brands = frozenset(map(squash, apart))

    def naming(pattern: str, here: str, brands: frozenset[str], case: int) -> SelfNaming:
        flags = regex.VERBOSE | case
        return SelfNaming(regex.compile(pattern, flags), regex.compile(here, flags), brands)

    return (
        naming(before + a_brand, f"(?<={before})", brands, regex.IGNORECASE),
        naming(by_itself, by_itself, brands, regex.IGNORECASE),
        naming(first_person + a_word, f"(?<={first_person})", everyday(), 0),
    )
