"""The makers of models, and the word lists that removing their names works from."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import orjson


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
