"""Retention: what is deleted of debates that ended long ago, or because an operator says so."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from engine.values.debate import Debate


class Retention(Protocol):
    """Deletes debates, or what was sent to models and came back.

    A debate is due if it ended before a time and nothing still needs it: neither its mirror, nor a
    series that goes on, nor a process that works on it. One call changes one debate, so that no
    other write waits for long.
    """

    async def outdated(self, before: datetime, most: int, *, pruned: bool) -> list[str]:
        """Return some debates that are due, the oldest first; those not `pruned` alone, or all."""

    async def prune(self, debate_id: str, before: datetime) -> bool:
        """Delete a debate's prompts and raw replies, if it is still due."""

    async def expire(self, debate_id: str, before: datetime) -> Debate | None:
        """Delete a debate with everything of it, if it is still due; return what it was."""

    async def delete(self, debate_id: str) -> Debate:
        """Delete a debate that has ended with everything of it, even if others need it.

        Raises NotFoundError, and UsageError for one that has not ended or that a process works on.
        """

    async def drop_strangers(self) -> int:
        """Erase the ids of people without any record, not even an opt-out; return how many."""
