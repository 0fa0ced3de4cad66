"""The built-in motions that a debate can be held on; a data file that may grow."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files

from engine.debate import Value


class Topic(Value):
    """A motion, with conditions that go well with it."""

    text: str
    conditions: str = ""


@lru_cache(maxsize=1)
def built_in_topics() -> tuple[Topic, ...]:
    """Read the list."""
    data = tomllib.loads(files("engine").joinpath("topics.toml").read_text(encoding="utf-8"))
    return tuple(Topic.model_validate(entry) for entry in data["topics"])
