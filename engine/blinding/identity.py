"""Removes models' names from a text: the debaters' own, and any that a model calls itself.

A debate about technology may name a company as its subject, so a name that belongs to no
debater is removed only if a speaker uses it of itself ("as Claude, I …"), and then everywhere in
the debate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import regex

from engine.store import Post
from engine.values.debate import Setup
from engine.values.makers import kin, read_vocabulary, squash
from engine.values.messages import MESSAGE


def draw_names(contenders: Sequence[str], seed: int, avoid: Iterable[str] = ()) -> dict[str, str]:
    """Draw a neutral name for each contender, the same for the same seed.

    `avoid` are texts that must not hold a drawn name: topic, conditions, models' names.
    """
    taken = " ".join(avoid).casefold()
    words = read_vocabulary().neutral
    free = [name for name in words if name.casefold() not in taken]
    pool = free if len(free) >= len(contenders) else list(words)
    return dict(zip(contenders, Random(f"names/{seed}").sample(pool, len(contenders)), strict=True))


HIDDEN = "[name]"

# Characters without width that would hide a name from a pattern but not from a reader. The
# joiners U+200C and U+200D stay: Persian, Indic scripts and emoji need them.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"

_GAP = r"[\s\-_.]{0,3}"
_SEPARATORS = str.maketrans("", "", " -_.\n\t")
_START = r"(?<![\p{Latin}\p{Cyrillic}\p{N}])"
_END = r"(?![\p{Latin}\p{Cyrillic}\p{N}])"
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


def clean(text: str) -> str:
    """Remove characters without width."""
    for one in _INVISIBLE:
        text = text.replace(one, "")
    return text


def fold(text: str) -> str:
    """Return a text in which letters are equal if a pattern that ignores case takes them so."""
    return text.replace("İ", "i").casefold()


def redact(text: str, hidden: Iterable[str] = ()) -> str:
    """Replace models' names in a text by `[name]`, for voters.

    `hidden` are the debaters' model names and families. Names that a
    speaker gives itself go too, whatever the maker.
    """
    text = clean(text)
    names = frozenset(hidden) | find_self_named((text,))
    return replace_names(text, names)


def replace_names(text: str, hidden: frozenset[str]) -> str:
    """Replace the names in `hidden`, and any that a speaker uses of itself, by `[name]`."""
    names = _participants(hidden)
    if names.occur(text):
        text = names.pattern.sub(HIDDEN, text)
    if _find_own_names(text):
        for self_naming in _self_naming():
            text = self_naming.pattern.sub(rf"\g<before>{HIDDEN}", text)
    return text


def find_self_named(texts: Iterable[str]) -> frozenset[str]:
    """Return the models' names that speakers give themselves in these texts."""
    found = frozenset().union(*(_find_own_names(clean(text)) for text in texts))
    return frozenset(map(squash, found)) - _everyday()


@lru_cache(maxsize=512)
def _find_own_names(text: str) -> frozenset[str]:
    """Search one clean text; cached, as each text is searched more than once."""
    # Most turns do not. Letters inside a word ("institution") may spell a name by chance, so a name
    # must begin a word.
    dense = text.lower().translate(_SEPARATORS)
    if not any(_begins(brand).search(text) for brand in _dense_brands() if brand in dense):
        return frozenset()
    squashed = squash(text)
    return frozenset(
        match["brand"]
        for naming in _self_naming()
        if naming.occurs(text, squashed)
        for match in naming.pattern.finditer(text)
    )


@lru_cache(maxsize=1)
def _everyday() -> frozenset[str]:
    return frozenset(map(squash, read_vocabulary().ordinary))


@lru_cache(maxsize=1)
def _dense_brands() -> tuple[str, ...]:
    return tuple(name.replace(" ", "") for name in read_vocabulary().brands())


@lru_cache(maxsize=256)
def _begins(brand: str) -> regex.Pattern[str]:
    return regex.compile(_START + _GAP.join(map(regex.escape, brand)), regex.IGNORECASE)


def _tail() -> str:
    tiers = "|".join(read_vocabulary().tiers)
    # Atomic: a version has many ways to be split, which a failing match must not all try.
    return rf"(?>(?:[\-_./ ]?(?:[a-z]?\d+(?:[.\-_]\d+)*[a-z]{{0,3}}|{tiers}){_END})*)"


def _spell(name: str) -> str:
    """Return a pattern for a name with any separators between its parts."""
    return _GAP.join(regex.escape(part) for part in regex.split(r"[\s\-_./:]+", name) if part)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted((_spell(name) for name in names), key=len, reverse=True))


class _SelfNaming(NamedTuple):
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
            for begin in _begins(brand).finditer(text, overlapped=True)
        )


@lru_cache(maxsize=1)
def _self_naming() -> tuple[_SelfNaming, ...]:
    words = read_vocabulary()
    apart = [name for name in words.brands() if name not in words.ordinary]
    known, everyday = _any_of(apart), _any_of(name.title() for name in words.ordinary)
    spaced = rf"{_START}(?:{_FIRST_PERSON}|{_INTRODUCING})[\s,:]{{1,3}}"
    before = rf"(?P<before>(?:{spaced}|(?:{_INTRODUCING_CLOSE})\s*){_ARTICLE}{_DECORATION})"
    first_person = (
        rf"(?P<before>{_START}(?i:{_FIRST_PERSON})[\s,:]{{1,3}}(?i:{_ARTICLE}){_DECORATION})"
    )
    a_brand = rf"(?P<brand>{known}){_tail()}{_END}"
    by_itself = rf"(?P<before>){_START}{a_brand}(?={_FOLLOWING})"
    a_word = rf"(?P<brand>{everyday})(?i:{_tail()}){_END}"
    brands = frozenset(map(squash, apart))

    def naming(pattern: str, here: str, brands: frozenset[str], case: int) -> _SelfNaming:
        flags = regex.VERBOSE | case
        return _SelfNaming(regex.compile(pattern, flags), regex.compile(here, flags), brands)

    return (
        naming(before + a_brand, f"(?<={before})", brands, regex.IGNORECASE),
        naming(by_itself, by_itself, brands, regex.IGNORECASE),
        naming(first_person + a_word, f"(?<={first_person})", _everyday(), 0),
    )


class _Participants(NamedTuple):
    """The names of the debaters and of their makers; each begins with one of `beginnings`."""

    pattern: regex.Pattern[str]
    beginnings: tuple[str, ...]

    def occur(self, text: str) -> bool:
        """Return quickly whether a text may hold a name; most turns do not."""
        folded = fold(text)
        return any(beginning in folded for beginning in self.beginnings)


@lru_cache(maxsize=512)
def _participants(hidden: frozenset[str]) -> _Participants:
    """Return what finds the names of the debaters and of their makers, aliases included."""
    spellings = sorted({one for name in hidden for one in _spellings(name)}, key=len, reverse=True)
    names = "|".join(spellings)
    pattern = rf"{_START}(?:{names})(?:s{_END})?(?i:{_tail()}){_END}"
    beginnings = {fold(one.split(_GAP, 1)[0].replace("\\", "")) for one in spellings}
    return _Participants(regex.compile(pattern, regex.IGNORECASE), tuple(beginnings))


@lru_cache(maxsize=512)
def _spellings(reference: str) -> frozenset[str]:
    """Return patterns for a model's reference: whole, by segment, and by leading words."""
    plain = reference.partition("?")[0].partition("#")[0]
    found = {_spell(plain)} if len(squash(plain)) > 3 else set()
    for segment in plain.split("/"):
        parts = [part for part in regex.split(r"[\s\-_:]+", segment) if part]
        found |= {_GAP.join(map(_spell, parts[:size])) for size in range(2, len(parts) + 1)}
        for name in (segment, *parts[:1]):
            # Patterns for one word of a reference that identifies a model on its own.
            words = read_vocabulary()
            whole = name.lower()
            bare = regex.sub(r"[\d.]+\w*$", "", whole)
            aliases = {bare, whole}
            for maker in {kin(bare), kin(whole)} & words.makers.keys():
                aliases |= {maker, *words.makers[maker]}
            weak = words.ordinary | words.generic
            found |= {_spell(one) for one in aliases if one not in weak and len(squash(one)) > 2}
    return frozenset(found)


# What voters and judges may read: texts without the models' names, until the reveal.


_PLAIN = frozenset({"kind", "side", "media"})  # keys whose values are fixed words


def names_of(setup: Setup) -> frozenset[str]:
    """Return every name of a model that speaks or judges, or did before it was replaced."""
    gone = (change.was for change in setup.replaced)
    models = (*setup.request.speakers, *setup.request.judges, *gone)
    return frozenset(name for model in models for name in (model.name, model.family))


def redact_post(post: Post, names: Iterable[str]) -> Post:
    """Take models' names out of a post: scores may be live, names never are."""
    hidden = frozenset(names)

    def veil(value: Any, key: str = "") -> Any:
        if isinstance(value, str) and key not in _PLAIN:
            return redact(value, hidden)
        if isinstance(value, dict):
            return {name: veil(item, name) for name, item in value.items()}
        return [veil(item) for item in value] if isinstance(value, list | tuple) else value

    message = MESSAGE.validate_python(veil(post.message.model_dump()))
    return post.model_copy(update={"message": message})
