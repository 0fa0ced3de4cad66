"""The makers of models, the word lists of their names, and patterns that find one in a text."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import orjson
import regex

GAP = r"[\s\-_.]{0,3}"
START = r"(?<![\p{Latin}\p{Cyrillic}\p{N}])"
END = r"(?![\p{Latin}\p{Cyrillic}\p{N}])"


class _Vocabulary(NamedTuple):
    """The lists of `makers.json`, all lower case but the neutral names.

    `neutral` are names that jurors read, without rank or stance, none a part of another and none
    common in debates. `makers` are makers and their models, with all names in use; a space stands
    for any separator or none. `ordinary` are those names that are also everyday words, `generic`
    are parts of model names that identify nothing, `tiers` are words that follow a model's name.
    """

    neutral: tuple[str, ...]
    makers: dict[str, tuple[str, ...]]
    ordinary: frozenset[str]
    generic: frozenset[str]
    tiers: tuple[str, ...]

    def brands(self) -> tuple[str, ...]:
        """Return every name of every maker and its models."""
        return tuple(name for maker, names in self.makers.items() for name in (maker, *names))


@lru_cache(maxsize=1)
def read_vocabulary() -> _Vocabulary:
    """Return the word lists."""
    data = orjson.loads(files("engine.values").joinpath("makers.json").read_bytes())
    return _Vocabulary(
        neutral=tuple(data["neutral"]),
        makers={maker: tuple(names) for maker, names in data["makers"].items()},
        ordinary=frozenset(data["ordinary"]),
        generic=frozenset(data["generic"]),
        tiers=tuple(data["tiers"]),
    )


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


@lru_cache(maxsize=1)
def everyday() -> frozenset[str]:
    """Return the names that are everyday words too."""
    return frozenset(map(squash, read_vocabulary().ordinary))


@lru_cache(maxsize=256)
def begins(brand: str) -> regex.Pattern[str]:
    """Return what finds the beginning of a brand."""
    return regex.compile(START + GAP.join(map(regex.escape, brand)), regex.IGNORECASE)


def tail() -> str:
    """Return a pattern for the versions and tiers behind a name."""
    tiers = "|".join(read_vocabulary().tiers)
    # Atomic: a version has many ways to be split, which a failing match must not all try.
    return rf"(?>(?:[\-_./ ]?(?:[a-z]?\d+(?:[.\-_]\d+)*[a-z]{{0,3}}|{tiers}){END})*)"


def spell(name: str) -> str:
    """Return a pattern for a name with any separators between its parts."""
    return GAP.join(regex.escape(part) for part in regex.split(r"[\s\-_./:]+", name) if part)
