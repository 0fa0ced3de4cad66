"""Lists of debates: what is looked for, and a part of what was found."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from engine.values.debate import Debate, Status


class Sought(NamedTuple):
    """Which debates to list; empty: all.

    `words` are all in the topic, or begin the short code. `interrupted` are those that run and that
    no process holds. `model` (`backend/name`) and
    `disagreement`, that people and jury decided otherwise, find only debates that have ended: a
    list must not tell who speaks in one that goes on.
    """

    words: tuple[str, ...] = ()
    status: Status | None = None
    interrupted: bool = False
    format: str = ""
    language: str = ""
    platform: str = ""
    community: str = ""
    series: str = ""
    model: str = ""
    disagreement: bool = False


class Found(NamedTuple):
    """Debates of a list, newest first, and how many it has in all."""

    debates: tuple[Debate, ...]
    total: int


class Listed(NamedTuple):
    """What the stored debates can be chosen by; models are those of debates that have ended."""

    languages: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class Listings(Protocol):
    """Finds debates for lists."""

    async def find(self, sought: Sought, start: int, limit: int) -> Found:
        """Return debates from a place in the list on."""

    async def choices(self) -> Listed:
        """Return what the debates can be chosen by."""
