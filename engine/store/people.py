"""Who is behind the surrogate ids, and what is kept of them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from engine.debate import Value


class Traces(Value):
    """What is stored of a person: how often they answered, and how many debates they started.

    `known` says that their user id is. `votes`, `stances`, `revisions` (answers after a reveal) and
    `thumbs` count questions, `entries` every choice made or taken back.
    `since` is when somebody came back who had been forgotten.
    """

    known: bool = False
    votes: int = 0
    stances: int = 0
    revisions: int = 0
    thumbs: int = 0
    entries: int = 0
    started: int = 0
    opted_out: bool = False
    forgotten: bool = False
    since: datetime | None = None


class People(Protocol):
    """Who is behind the surrogate ids, and what they wish; users are the platform's ids."""

    async def traces(self, platform: str, user: str) -> Traces:
        """Return what is stored of a person."""

    async def starter_of(self, debate_id: str) -> str | None:
        """Return a debate's starter, None if unknown or forgotten."""

    async def mentions(self, user: str) -> int:
        """Return how many debates have a topic or conditions that mention a user."""

    async def forget(self, platform: str, user: str) -> None:
        """Delete who is behind a surrogate id, for good, and store nothing of them any more."""

    async def opt_out(self, platform: str, user: str) -> None:
        """Leave a person out of exports; forgotten people are in none anyway."""

    async def opt_in(self, platform: str, user: str, now: datetime) -> None:
        """Undo an opt-out; a forgotten person is re-admitted as a new one."""

    async def unforget(self, platform: str, user: str, now: datetime) -> bool:
        """Let somebody who was forgotten be stored again, as somebody new; False: they were not.

        What began before `now` takes no answers of theirs.
        """

    async def wipe(self) -> bool:
        """Overwrite what was deleted wherever it still lies; False: somebody reads it, try again.

        Does nothing when nothing was deleted since the last time.
        """
