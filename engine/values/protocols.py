"""The ports Dispatcher, Models, Moderator and Venue, which adapters implement."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal, Protocol

from engine.values.debate import Model, Moderation, Price
from engine.values.messages import Message
from engine.values.ports import Attempt, Call, Location, Member, Part, Reactions, Reply, VenueLimits


class Dispatcher(Protocol):
    """A queue of debates to run; journal and leases make running one twice harmless."""

    async def submit(self, debate_id: str) -> None:
        """Queue a debate to be run; queueing it again changes nothing."""

    async def run(self, think: Callable[[str], Awaitable[None]]) -> None:
        """Run queued debates concurrently, until cancelled."""

    async def stop(self, seconds: float) -> None:
        """Start nothing new; wait that long for running debates, then interrupt them."""


class AttemptLog(Protocol):
    """Records every try of a call, before it is sent and when it has ended."""

    async def began(self, number: int) -> None:
        """Record that try `number` (from 1) is about to be sent; raises to forbid it."""

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Record how it ended, without waiting; `reply` is given with a try that was answered.

        A later one takes the place of an answer that was cut off.
        """


class Models(Protocol):
    """Every model of every backend."""

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model, with retries where they make sense. Raises ModelError when they do not.

        The log gets exactly one `began` and one `ended` for each try; a cancelled try ends with
        the error "cancelled". An answer without text is retried like a server error.
        """

    async def price(self, model: Model) -> Price | None:
        """Return the price of a model, or None if it is unknown."""

    def pace(self, model: Model) -> float:
        """Return a model's usual seconds per call."""

    async def aclose(self) -> None:
        """Close every connection."""


class RelayedModels:
    """The Models port over another's; what one adds stands in its own `complete`."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def price(self, model: Model) -> Price | None:
        """Return the price of a model, or None if it is unknown."""
        return await self._models.price(model)

    def pace(self, model: Model) -> float:
        """Return a model's usual seconds per call."""
        return self._models.pace(model)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._models.aclose()


class Moderator(Protocol):
    """Asks a moderation model about texts that people write."""

    async def check(self, texts: Sequence[str]) -> Moderation:
        """Return what it says of all of them. Raises ModelError, which is never a decision."""

    async def aclose(self) -> None:
        """Close every connection."""


Unnamed = Literal["deleted", "full", "refused", "scope"]
"""Why speakers have the bot's own name where it may use others.

Its webhook was deleted, the channel has as many as it can, the platform refused the name, or the
bot lost the scope that it needs.
"""


Typing = Callable[[str, Sequence[str]], Awaitable[None]]
"""Shows in a place for a few seconds that seats are thinking; none: stop showing it."""


class Venue(Protocol):
    """A chat platform as the engine sees it.

    A place is a channel or a thread, and a message was posted there; both are opaque ids.
    Every method may raise VenueAwayError (try again), VenueGoneError (never again) or
    VenueError (refused). `channel` is the only channel that this connection serves; None: all.
    What only some platforms can do comes last: it is None on the others.
    """

    platform: str
    channel: str | None
    limits: VenueLimits

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into pieces that fit the platform; pure.

        `stem` is the reference without the piece's own number, e.g. `k7f2qz·3`; piece i of
        n has the reference `stem·i/n`.
        """

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Turn a piece that was refused, or a text, into pieces without markup; pure.

        The first piece has the reference given, the others those that `numbered` of
        engine/delivery/fallbacks.py makes.
        """

    def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Wait until a message may be posted to a place, and post it within.

        Turns of a place come in order of request, spaced as the platform demands. Waiting may
        take long, so record nothing as being sent before it. `first`: people wait for this
        message, so it goes before those of all places that are not. `part` is the piece that is
        about to be posted.
        """

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Post one piece, within a turn of its place, and return its message reference.

        `notify` is the one user whom it mentions, and so notifies; part of no stored message.
        """

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a posted message shows."""

    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the message that carries a reference, posted after message `after`."""

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Open a thread on a posted message; the same thread when it is open already.

        Inside a thread there is no other: there it returns `channel` itself.
        """

    async def link(self, community: str, place: str, message: str) -> str:
        """Return the web address of a posted message; empty where messages have none."""

    async def locate(self, channel: str) -> Location:
        """Find a channel by its id. Raises VenueError if no debate can be held there.

        What a platform does not say about it shows when the first message is posted.
        """

    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return the texts that a user posted in a place since a message, as they stand now.

        Those without text are left out, and where a platform keeps texts from bots, all but the
        ones that mention us.
        """

    async def member(self, place: str, user: str) -> Member | None:
        """Return who a user of a place is; None for one who cannot see it."""

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Make sure that a message is there, with the bot's own reaction for each option.

        Raises MessageGoneError for a deleted message.
        """

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Remove the bot's own reactions and no one else's; those already gone count as removed.

        Raises MessageGoneError for a deleted message.
        """

    async def reactions(self, place: str, message: str) -> Reactions:
        """Read who holds which option now. Raises MessageGoneError for a deleted message.

        Raises VenueAwayError if part of it cannot be read now.
        """

    # --- what a platform states that it can do --------------------------------------------

    @property
    def shares(self) -> Callable[[], Awaitable[int | None]] | None:
        """Return into how many shares processes divide the platform; None: one serves it whole.

        Processes may be told different numbers; they agree on one (engine/fleet/shares.py).
        """

    @property
    def unnamed(self) -> Callable[[str], Unnamed | None] | None:
        """Return why speakers have the bot's own name in a place, None if managers need not know.

        Where a platform has no names beside the bot's, none is refused.
        """

    @property
    def direct(self) -> Callable[[str, str], Awaitable[str]] | None:
        """Return the place of private messages to a user (the second argument) of a place."""

    @property
    def managers(self) -> Callable[[str], Awaitable[Sequence[str]]] | None:
        """Return the places where managers of a place's community read; empty if none is known."""

    @property
    def account_made_at(self) -> Callable[[str], datetime] | None:
        """Return when a user's account was made; pure."""

    @property
    def remove_reaction(self) -> Callable[[str, str, str, str], Awaitable[None]] | None:
        """Remove a person's reaction: its place, message, user and option.

        One that is already gone counts as removed. Raises VenueError if that is not allowed.
        """

    @property
    def erase(self) -> Callable[[str, str | None], Awaitable[bool]] | None:
        """Delete a message of ours by place and message, within a turn of its place.

        Without a message and a turn, delete the place, a thread that we opened; False where the
        rest of it has to go message by message. Raises VenueError if that is not allowed.
        """

    @property
    def typing(self) -> Typing | None:
        """Show who is thinking."""
