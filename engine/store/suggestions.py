"""Topics that people of a community suggested, and who wants them debated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from engine.values.debate import Value

MOST_OF_PERSON = 5  # open suggestions
MOST_OF_COMMUNITY = 200


class Suggestion(Value):
    """A suggested topic; `upvotes` counts people, its suggester too, unless they withdrew it.

    `mine`: the person for whom it was read wants it. Until it is `approved`, only managers see it.
    """

    number: int
    text: str
    approved: bool
    upvotes: int = 0
    mine: bool = False


class Suggested(Value):
    """What a suggestion became; not `new`: the topic was on the list, and got an upvote."""

    suggestion: Suggestion
    new: bool


class Suggestions(Protocol):
    """Topics that people of a community suggested; users are platform ids.

    A suggestion is open until a debate on its topic is stored, which marks it used in the same
    transaction. Topics that differ in case, spacing or punctuation alone are the same.
    """

    async def suggest(
        self,
        platform: str,
        community: str,
        user: str,
        text: str,
        now: datetime,
        *,
        approved: bool,
    ) -> Suggested:
        """Store a suggestion and its suggester's upvote; a known topic gets the upvote.

        Raises UsageError at a limit or for a topic that was debated, NotAllowedError for a person
        who was forgotten.
        """

    async def toggle(
        self, platform: str, community: str, number: int, user: str, now: datetime
    ) -> Suggestion:
        """Add a person's upvote to an approved suggestion, or withdraw it.

        Raises NotFoundError, and NotAllowedError for a person who was forgotten.
        """

    async def open(self, platform: str, community: str, user: str = "") -> Sequence[Suggestion]:
        """Return the open suggestions, the most upvoted first and of these the oldest.

        `mine` is filled in for `user`.
        """

    async def approve(self, platform: str, community: str, number: int) -> Suggestion:
        """Put a suggestion on the list. Raises NotFoundError."""

    async def set_aside(self, platform: str, community: str, topic: str) -> None:
        """Have a manager approve the open suggestion of a topic again, if there is one."""

    async def remove(self, platform: str, community: str, number: int) -> Suggestion:
        """Delete an open suggestion with its upvotes, and return it. Raises NotFoundError."""
