"""Debates that people had deleted, until the last of their messages is gone from the chat."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.leases import Lease
from engine.store.served import EVERYONE, Served
from engine.values.debate import Value


class Posted(NamedTuple):
    """A message of ours: the place that it was posted to, and its reference there."""

    place: str
    message: str


class Deletion(Value):
    """A debate to delete. With `messages`, its record is gone and these are left in the chat.

    `thread` is one that was opened for the debate and goes with it.
    """

    debate: str
    community: str
    thread: str | None = None
    messages: tuple[Posted, ...] | None = None


class Deletions(Protocol):
    """Debates that people had deleted; each is found again after a restart, until it is gone."""

    async def ask(self, debate_ids: Sequence[str], now: datetime) -> None:
        """Record that debates are to be deleted; those that are stay as they are."""

    async def due(self, platform: str, *, served: Served = EVERYONE) -> list[Deletion]:
        """Return the deletions that are not done, the oldest first."""

    async def take_out(self, lease: Lease, debate_id: str) -> Deletion | None:
        """Delete a debate's record, and return what is left of it in the chat.

        None while it runs, while a process works on it, or while a message of it may be on its way.
        Budgets keep what it spent.
        """

    async def note(self, lease: Lease, deletion: Deletion) -> None:
        """Record which messages are left; without any the deletion is done."""
