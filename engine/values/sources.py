"""Sources that all sides read: files as given, their limits, and their names in prompts."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from engine.values.debate import Quotation, Source, Value
from engine.values.language import N_
from engine.values.limits import MOST

PASTED, UNTITLED = N_("pasted text"), N_("untitled")  # titles of sources without one of their own
IN_NAMED, IN_OTHER, IN_NONE = "found", "elsewhere", "missing"


class SourceLimits(Value):
    """How many files a debate takes, and how long each and all together may be."""

    files: int = Field(8, ge=0, le=50)
    bytes: int = Field(200_000, ge=1, le=10_000_000)
    characters: int = Field(20_000, ge=1, le=MOST)
    total: int = Field(40_000, ge=1, le=MOST)


class SourceFile(Value):
    """A file as it was given: its name and its bytes."""

    name: str
    content: bytes


def name_of(number: int) -> str:
    """Return what prompts call a source, by its number from 1."""
    return f"Source {number}"


def named(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return every source's name with its title, as prompts have it."""
    return tuple(f"{name_of(at)}: {source.title}" for at, source in enumerate(sources, 1))


def outcome_of(quotation: Quotation) -> str:
    """Return `found` in the named source, `elsewhere` in another one, or `missing`."""
    if quotation.found_in is None:
        return IN_NONE
    return IN_NAMED if quotation.found_in == quotation.source else IN_OTHER
