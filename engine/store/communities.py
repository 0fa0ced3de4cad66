"""What communities have set, and since when they have Rostrum."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.community import CommunitySettings


class Left(NamedTuple):
    """A community that has removed Rostrum."""

    platform: str
    community: str


class Holdings(NamedTuple):
    """What is stored of a community: `known` says that anything is, settings and budgets too."""

    debates: int
    votes: int
    known: bool


class Communities(Protocol):
    """What communities have set, and since when they have Rostrum."""

    async def get(self, platform: str, community: str) -> CommunitySettings:
        """Return a community's settings; nothing is set in one that is not known."""

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        """Store what `make` makes of a community's settings, at once; what it raises undoes it."""

    async def joined(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community has Rostrum; one that is known stays as it is."""

    async def left(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community removed Rostrum, and delete its settings."""

    async def known(self, platform: str) -> frozenset[str]:
        """Return the communities of a platform that have Rostrum, or held a debate."""

    async def gone(self, before: datetime) -> list[Left]:
        """Return those that left before a moment, and where no debate runs any more."""

    async def holdings(self, platform: str, community: str) -> Holdings:
        """Return how much is stored of a community."""

    async def purge(self, platform: str, community: str) -> int:
        """Delete a community's debates wholly, and what is kept for it; return how many.

        Debates that wait or run stay. People of whom nothing else is stored are deleted too.
        """
