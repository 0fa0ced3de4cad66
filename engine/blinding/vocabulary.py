"""The word lists that blinding works from, read once from `words.json`.

`neutral`: names that jurors read, without rank or stance, none a part of another and none
common in debates. `makers`: makers and their models, with all names in use; a space stands
for any separator or none. `ordinary`: those names that are also everyday words.
`generic`: parts of model names that identify nothing. `tiers`: words that follow a model's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from random import Random

from engine.values.debate import Value


class Vocabulary(Value):
    """The lists of `words.json`, all lower case but the neutral names."""

    neutral: tuple[str, ...]
    makers: dict[str, tuple[str, ...]]
    ordinary: frozenset[str]
    generic: frozenset[str]
    tiers: tuple[str, ...]

    def brands(self) -> tuple[str, ...]:
        """Return every name of every maker and its models."""
        return tuple(name for maker, names in self.makers.items() for name in (maker, *names))


@lru_cache(maxsize=1)
def read_vocabulary() -> Vocabulary:
    """Return the word lists."""
    text = files("engine.blinding").joinpath("words.json").read_text(encoding="utf-8")
    return Vocabulary.model_validate(json.loads(text))


def draw_names(contenders: Sequence[str], seed: int, avoid: Iterable[str] = ()) -> dict[str, str]:
    """Draw a neutral name for each contender, the same for the same seed.

    `avoid` are texts that must not hold a drawn name: topic, conditions, models' names.
    """
    taken = " ".join(avoid).casefold()
    words = read_vocabulary().neutral
    free = [name for name in words if name.casefold() not in taken]
    pool = free if len(free) >= len(contenders) else list(words)
    return dict(zip(contenders, Random(f"names/{seed}").sample(pool, len(contenders)), strict=True))


@lru_cache(maxsize=1024)
def kin(family: str) -> str:
    """Return the maker that a family belongs to, so that `claude` and `anthropic` are one.

    A family without a known maker is its own maker.
    """
    plain = squash(family)
    for maker, names in read_vocabulary().makers.items():
        if plain in {squash(name) for name in (maker, *names)}:
            return maker
    return family.lower()


def squash(name: str) -> str:
    """Return a name without case and separators."""
    return "".join(filter(str.isalnum, name.casefold()))
