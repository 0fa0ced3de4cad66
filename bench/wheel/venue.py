"""A chat platform without people, so that Rostrum is what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import count

from engine.values.errors import VenueError
from engine.values.messages import Message
from engine.values.ports import Location, Member, Part, Reactions, VenueLimits
from engine.values.text import REACTIONS
from engine.words.cards import card_of
from engine.words.pieces import markdown_of


class SilentVenue:
    """A chat platform that takes every message at once and keeps none."""

    platform = "memory"
    shares = unnamed = direct = managers = account_made_at = None
    remove_reaction = erase = typing = None
    channel: str | None = None

    def __init__(self) -> None:
        self.limits = VenueLimits()
        self._numbers = count(1)

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into one piece of Markdown."""
        return self.plain(markdown_of(card_of(message), REACTIONS), f"{stem}·1/1")

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Leave a piece as it is."""
        body = source if isinstance(source, str) else source.body
        return (Part(reference=reference, body=body),)

    def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Let every message go at once."""
        return nullcontext()

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Return a new message's reference."""
        return f"m{next(self._numbers)}"

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Take a message's new state."""

    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return None: no message is kept."""
        return None

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Return a thread's reference."""
        return f"thread-{message}"

    async def link(self, community: str, place: str, message: str) -> str:
        """Return no address."""
        return ""

    async def locate(self, channel: str) -> Location:
        """Refuse: nobody can be invited here."""
        raise VenueError(f"There is no channel {channel}.")

    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return nothing: nobody writes here."""
        return ()

    async def member(self, place: str, user: str) -> Member | None:
        """Return None: nobody is here."""
        return None

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Take the bot's own reactions."""

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Take the bot's own reactions back."""

    async def reactions(self, place: str, message: str) -> Reactions:
        """Return that nobody reacted."""
        return Reactions({}, frozenset())
