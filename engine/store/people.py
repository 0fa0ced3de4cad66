"""People: who is behind the surrogate ids, and what is stored about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Protocol

from engine.values.debate import Value


class Traces(Value):
    """What is stored about a person: their answers, and the debates they started.

    `known`: their user id is stored. `votes`, `confidences` (how clear they found it), `grounds`
    (what decided), `guesses` (at models), `rounds` (answers to who is ahead), `stances`,
    `revisions` (answers after a reveal) and `thumbs` count questions, `entries` every choice made
    or withdrawn. `suggested` topics are theirs, and `upvotes` the suggested topics that they want.
    `asked` counts questions that they asked the sides of debates, and `supported` the debates in
    which they were for somebody's question. `labels` counts debates that they labelled on pages.
    `since` is when a forgotten person came back.
    """

    known: bool = False
    votes: int = 0
    confidences: int = 0
    grounds: int = 0
    guesses: int = 0
    rounds: int = 0
    stances: int = 0
    revisions: int = 0
    thumbs: int = 0
    asked: int = 0
    supported: int = 0
    entries: int = 0
    started: int = 0
    suggested: int = 0
    upvotes: int = 0
    labels: int = 0
    opted_out: bool = False
    forgotten: bool = False
    since: datetime | None = None


OwnRow = Mapping[str, Any]
"""A row of a table, by column, as JSON has it."""


class OwnData(Value):
    """Everything that is stored of one person, and nothing of anyone else.

    `person` is what stands beside their user id, `started` are the ids of debates that they began,
    `days` say on which day they began how many, and `tables` has their rows of every other table.
    `debates` says what all those debates were about, by id; of no model, and nothing sealed.
    `direct_messages` is what is stored of a personal installation: its settings and schedules, and
    what its debates cost day by day; None where there is none.
    """

    person: OwnRow
    started: tuple[str, ...]
    days: tuple[OwnRow, ...]
    tables: Mapping[str, tuple[OwnRow, ...]]
    debates: Mapping[str, OwnRow]
    direct_messages: OwnRow | None = None


class OwnVote(Value):
    """A person's vote on a revealed debate, as it stood at the close.

    `option` is None where it was unclear which stood. `people` is the people's winner or "tie"
    (None without enough votes that count), `jury` the panel's.
    """

    debate: str
    option: str | None
    people: str | None
    jury: str | None
    rehearsal: bool
    revealed_at: datetime


class Guessed(Value):
    """How often a person guessed the model of a side, before anything named it.

    `right` of `n` guesses; `chance` is how many would be right by choosing from the menu blindly.
    `user` is only there for those who want to be named.
    """

    right: int = 0
    n: int = 0
    chance: float = 0.0
    user: str = ""


class People(Protocol):
    """Who is behind the surrogate ids, and their choices; users are platform ids."""

    async def traces(self, platform: str, user: str) -> Traces:
        """Return what is stored about a person."""

    async def own(self, platform: str, user: str) -> OwnData | None:
        """Return everything that is stored of a person, None for nothing."""

    async def own_votes(
        self, platform: str, community: str, user: str, most: int
    ) -> tuple[OwnVote, ...]:
        """Return a person's newest votes on revealed debates of a community, newest first."""

    async def own_guesses(self, platform: str, community: str, user: str) -> Guessed:
        """Return how a person guessed in a community's revealed debates."""

    async def guessers(self, platform: str, community: str, most: int) -> tuple[Guessed, ...]:
        """Return those who want to be named, most right guesses first."""

    async def on_scoreboard(self, platform: str, user: str, shown: bool | None) -> bool:
        """Return whether a person wants to be named there, after setting it unless None."""

    async def number(self, platform: str, user: str) -> int | None:
        """Return a person's surrogate id, None for one who is not stored."""

    async def starter_of(self, debate_id: str) -> str | None:
        """Return a debate's starter, None if unknown or forgotten."""

    async def bots(self, platform: str, users: Collection[str]) -> Mapping[str, bool]:
        """Return which of these users are bots; those never noted are missing."""

    async def note_bots(self, platform: str, found: Mapping[str, bool]) -> None:
        """Note which users the platform calls bots; anyone who is not stored is skipped."""

    async def mentions(self, platform: str, user: str) -> int:
        """Return how many debates of a platform have a topic or conditions that mention a user."""

    async def forget(self, platform: str, user: str) -> None:
        """Delete the user behind a surrogate id for good, and never store them again."""

    async def opt_out(self, platform: str, user: str) -> None:
        """Leave a person out of exports; forgotten people are left out anyway."""

    async def opt_in(self, platform: str, user: str, now: datetime) -> None:
        """Undo an opt-out; a forgotten person is re-admitted as a new one."""

    async def unforget(self, platform: str, user: str, now: datetime) -> bool:
        """Re-admit a forgotten person as a new one; False if they were not forgotten.

        Questions from before `now` do not accept their answers.
        """

    async def wipe(self) -> bool:
        """Overwrite deleted data in all files; False: a reader still uses it, so try again.

        Does nothing if nothing was deleted since the last call.
        """
