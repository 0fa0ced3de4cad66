"""Debates: what was requested, what they may cost, and their states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from engine.store.guests import NewGuest
from engine.store.leases import Lease
from engine.store.outbox import Post
from engine.store.served import EVERYONE, Served
from engine.store.votes import Asked
from engine.values.debate import Cause, Debate, Setup, Status, Value
from engine.values.errors import NotFoundError, StoppedError, ThreadGoneError
from engine.values.language import N_
from engine.values.text import clean, headline

TOPIC_LENGTH = 60
SEVERAL = N_("Several debates have the code {code}; give one of these instead: {debates}.")


class Caps(Value):
    """What may be spent and run at once; None is no cap. Money is USD.

    Managers are warned once `alert_percent` of a community's money of the day is reserved or spent.
    The caps of the installation hold for all communities together.
    """

    debate_usd: float | None = 1.0
    community_daily_usd: float | None = 10.0
    user_daily_debates: int | None = 10
    max_live_per_community: int | None = 3
    installation_daily_usd: float | None = None
    max_live: int | None = None
    alert_percent: float | None = 80.0

    @property
    def by_day(self) -> bool:
        """Whether the money of a day is capped."""
        return not (self.community_daily_usd is None and self.installation_daily_usd is None)


class NewDebate(Value):
    """A debate about to be stored; `user` is its starter's id on the platform.

    `guest` is who argues a side in place of a model.
    """

    id: str
    number: int
    platform: str
    community: str
    place: str
    user: str | None
    setup: Setup
    created_at: datetime
    series: str | None = None
    series_key: str | None = None
    guest: NewGuest | None = None


class Stop(Value):
    """A request to stop a debate; `gone`: because its thread is gone for good."""

    reason: str
    gone: bool = False

    def error(self) -> StoppedError:
        """Return the error that ends the debate's work."""
        return ThreadGoneError(self.reason) if self.gone else StoppedError(self.reason)


def no_debate(name: str) -> str:
    """Return the sentence for a name that no debate has."""
    return f"There is no debate “{headline(clean(name), 30)}”; take an id from the list."


def the_one(name: str, found: Sequence[Debate]) -> Debate:
    """Return the only debate of a name. Raises NotFoundError, which names them, for several."""
    if len(found) > 1:
        raise NotFoundError(
            SEVERAL, code=headline(clean(name), 30), debates=tuple(map(_line, found))
        )
    return found[0]


def _line(debate: Debate) -> str:
    topic = headline(clean(debate.request.topic), TOPIC_LENGTH)
    return f"{debate.id.lower()} ({debate.created_at:%Y-%m-%d}, “{topic}”)"


class Debates(Protocol):
    """Debates and their states."""

    async def next_number(self) -> int:
        """Count one more debate and return its number, from 1."""

    async def create(
        self, queued: Sequence[tuple[NewDebate, Sequence[Post]]], caps: Caps
    ) -> list[Debate]:
        """Store queued debates with their first posts, reserving each budget in one update.

        The one that passes the share of the day's money for an alert gets one more post, once a day
        and community. All of them or none. Raises BudgetError naming the cap that is reached, and
        NotAllowedError for a starter who was forgotten, or a guest who cannot be asked; then
        nothing is stored.
        """

    async def get(self, debate_id: str) -> Debate:
        """Return a debate by its id or its short code.

        Raises NotFoundError, which names the debates if several have that code.
        """

    async def named(self, name: str, platform: str, community: str) -> list[Debate]:
        """Return the debates of a community with that id or short code, newest first."""

    async def mirror_of(self, debate: Debate) -> Debate | None:
        """Return the debate with sides swapped; None if there is none, or it was deleted."""

    async def recent(self, statuses: Sequence[Status] = (), limit: int = 100) -> list[Debate]:
        """Return debates, newest first."""

    async def of_community(
        self, platform: str, community: str, statuses: Sequence[Status] = (), limit: int = 100
    ) -> list[Debate]:
        """Return a community's own debates, newest first."""

    async def is_starter(self, debate_id: str, user: str) -> bool:
        """Return whether a user of the debate's platform started it."""

    async def census(self) -> dict[Status, int]:
        """Return how many debates are queued, running and voting."""

    async def unfinished(
        self, platform: str | None = None, *, served: Served = EVERYONE
    ) -> list[str]:
        """Return the ids of debates to think for, oldest first.

        They are queued or running, or people vote while a juror still explains the verdict.
        """

    async def unheld(self, *, waiting: bool = True) -> list[str]:
        """Return the ids of unfinished debates that no other process runs or was asked to run.

        Without those that are `waiting` for a person, if they are not wanted.
        """

    async def advance(
        self,
        lease: Lease,
        debate_id: str,
        status: Status,
        reason: str = "",
        *,
        cause: Cause | None = None,
        model: str | None = None,
    ) -> None:
        """Move a debate to an allowed next status; an end settles its budget.

        `cause` and `model` are of an early end.
        """

    async def mark_scripted(self, debate_id: str) -> None:
        """Note that no person is known to be behind each vote on a debate."""

    async def requeue(
        self,
        debate_id: str,
        caps: Caps,
        now: datetime,
        setup: Setup | None = None,
        posts: Sequence[Post] = (),
    ) -> Debate:
        """Queue a failed or partial debate again; its results stay.

        Raises BudgetError, and UsageError for one whose replies were deleted.

        It continues with `setup` if given; `posts` are queued first. What it may still cost is
        reserved from the budget of the day of `now`, with an alert as `create` posts it.
        """

    async def ask_stop(self, debate_id: str, reason: str) -> None:
        """Record a request to stop a debate; it is read between steps."""

    async def stops(self) -> dict[str, Stop]:
        """Return the live debates that were asked to stop."""

    async def set_waiting(
        self, debate_id: str, reason: str, *, while_open: Asked | None = None
    ) -> None:
        """Record what a debate waits for; an empty reason means nothing.

        With a question `while_open`, only as long as that has not closed. A debate whose thread is
        gone keeps that reason.
        """

    async def stop_waiting(self, debate_id: str, reasons: Collection[str]) -> None:
        """Forget what a debate waits for if it is one of these."""

    async def keep_templates(self, digest: str, texts: Mapping[str, str]) -> None:
        """Store a set of template texts under its hash."""

    async def templates(self, digest: str) -> dict[str, str]:
        """Return the template texts stored under a hash."""

    async def secret(self, name: str) -> bytes:
        """Return this installation's random 32 bytes of that name, made on first use."""
