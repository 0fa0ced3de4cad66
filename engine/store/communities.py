"""Communities: their settings, and when they installed Rostrum."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.community import CommunitySettings
from engine.values.debate import Status


class Left(NamedTuple):
    """A community that has removed Rostrum."""

    platform: str
    community: str


class Shown(NamedTuple):
    """A community that shows something on the web."""

    platform: str
    community: str
    settings: CommunitySettings


class HeldDebate(NamedTuple):
    """A debate in a community's public list; none of it is sealed."""

    id: str
    topic: str
    format: str
    language: str
    status: Status
    held: datetime


class Holdings(NamedTuple):
    """What is stored of a community; `known`: something is, if only settings or budgets."""

    debates: int
    votes: int
    known: bool


class Communities(Protocol):
    """Communities: their settings, and when they installed Rostrum."""

    async def get(self, platform: str, community: str) -> CommunitySettings:
        """Return a community's settings; all unset for an unknown one."""

    async def page(self, platform: str, community: str) -> str | None:
        """Return the random key of a community's page; None before it first showed anything."""

    async def shown(self, page: str) -> Shown | None:
        """Return the community that shows something under a key; None without any."""

    async def held(
        self, platform: str, community: str, before: str = "", limit: int = 50
    ) -> list[HeldDebate]:
        """Return the debates that a community held, newest first, or those before one.

        Those that ended before their vote without being partial, and queued ones, are left out.
        """

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        """Replace a community's settings by what `make` returns, in one transaction.

        One that begins to show something on the web gets the key of its page, for good.
        """

    async def joined(self, platform: str, community: str, now: datetime) -> None:
        """Record that a community has Rostrum; a known one stays as it is."""

    async def left(self, platform: str, community: str, now: datetime) -> None:
        """Record that a community removed Rostrum, and delete its settings."""

    async def known(self, platform: str) -> frozenset[str]:
        """Return the communities of a platform that have Rostrum or held a debate."""

    async def gone(self, before: datetime) -> list[Left]:
        """Return the communities that left before then and have no running debate."""

    async def holdings(self, platform: str, community: str) -> Holdings:
        """Return how much is stored of a community."""

    async def purge(self, platform: str, community: str) -> int:
        """Delete everything stored for a community; return the number of debates deleted.

        Queued and running debates stay, and so does what today's cost, until the day is over.
        People without any other record are deleted too.
        """

    async def drop_late_budgets(self, now: datetime) -> None:
        """Delete what is kept of purged communities' budgets of days before that of `now`."""
