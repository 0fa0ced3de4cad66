"""Removes models' names from a text: the debaters' own, and any that a model calls itself.

A debate about technology may name a company as its subject, so a name that belongs to no
debater is removed only if a speaker uses it of itself ("as Claude, I …"), and then everywhere in
the debate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import regex

from engine.store import Post
from engine.values.debate import Setup
from engine.values.makers import (
    END,
    GAP,
    START,
    begins,
    everyday,
    kin,
    read_vocabulary,
    spell,
    squash,
    tail,
)
from engine.values.messages import MESSAGE

if TYPE_CHECKING:
    from engine.blinding.self_naming import SelfNaming


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

_SEPARATORS = str.maketrans("", "", " -_.\n\t")


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
    return frozenset(map(squash, found)) - everyday()


@lru_cache(maxsize=512)
def _find_own_names(text: str) -> frozenset[str]:
    """Search one clean text; cached, as each text is searched more than once."""
    # Most turns do not. Letters inside a word ("institution") may spell a name by chance, so a name
    # must begin a word.
    dense = text.lower().translate(_SEPARATORS)
    if not any(begins(brand).search(text) for brand in _dense_brands() if brand in dense):
        return frozenset()
    squashed = squash(text)
    return frozenset(
        match["brand"]
        for naming in _self_naming()
        if naming.occurs(text, squashed)
        for match in naming.pattern.finditer(text)
    )


@lru_cache(maxsize=1)
def _self_naming() -> tuple[SelfNaming, ...]:
    from engine.blinding.self_naming import ways  # few turns have a model's name

    return ways()


@lru_cache(maxsize=1)
def _dense_brands() -> tuple[str, ...]:
    return tuple(name.replace(" ", "") for name in read_vocabulary().brands())


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
    pattern = rf"{START}(?:{names})(?:s{END})?(?i:{tail()}){END}"
    beginnings = {fold(one.split(GAP, 1)[0].replace("\\", "")) for one in spellings}
    return _Participants(regex.compile(pattern, regex.IGNORECASE), tuple(beginnings))


@lru_cache(maxsize=512)
def _spellings(reference: str) -> frozenset[str]:
    """Return patterns for a model's reference: whole, by segment, and by leading words."""
    plain = reference.partition("?")[0].partition("#")[0]
    found = {spell(plain)} if len(squash(plain)) > 3 else set()
    for segment in plain.split("/"):
        parts = [part for part in regex.split(r"[\s\-_:]+", segment) if part]
        found |= {GAP.join(map(spell, parts[:size])) for size in range(2, len(parts) + 1)}
        for name in (segment, *parts[:1]):
            # Patterns for one word of a reference that identifies a model on its own.
            words = read_vocabulary()
            whole = name.lower()
            bare = regex.sub(r"[\d.]+\w*$", "", whole)
            aliases = {bare, whole}
            for maker in {kin(bare), kin(whole)} & words.makers.keys():
                aliases |= {maker, *words.makers[maker]}
            weak = words.ordinary | words.generic
            found |= {spell(one) for one in aliases if one not in weak and len(squash(one)) > 2}
    return frozenset(found)


# What voters and judges may read: texts without the models' names, until the reveal.


def names_of(setup: Setup) -> frozenset[str]:
    """Return every name of a model that speaks or judges, or did before it was replaced."""
    gone = (change.was for change in setup.replaced)
    models = (*setup.request.speakers, *setup.request.judges, *gone)
    return frozenset(name for model in models for name in (model.name, model.family))


# Posts without the models' names, for voters and judges, until the reveal.


_FIXED = frozenset({"kind", "side", "media"})  # keys whose values are fixed words


def redact_post(post: Post, names: Iterable[str]) -> Post:
    """Take models' names out of a post: scores may be live, names never are."""
    hidden = frozenset(names)

    def redact_value(value: Any, key: str = "") -> Any:
        if isinstance(value, str) and key not in _FIXED:
            return redact(value, hidden)
        if isinstance(value, dict):
            return {name: redact_value(item, name) for name, item in value.items()}
        return [redact_value(item) for item in value] if isinstance(value, list | tuple) else value

    message = MESSAGE.validate_python(redact_value(post.message.model_dump()))
    return post.model_copy(update={"message": message})
