"""What happens in this process, for metrics and traces."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from engine.debate import Cause, Debate, Status


class Watch(Protocol):
    """Hears what happens, to count or trace it: quick, never waits and never raises."""

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Watch a debate's script and panel, which are the body; its errors pass through."""

    def ended(self, status: Status, cause: Cause | None = None) -> None:
        """Hear that this process ended a debate; `cause` is of an early end."""

    def answered(self, platform: str, question: str, how: str, outcome: str, number: int) -> None:
        """Hear what became of `number` answers of people (engine/store/votes.py)."""

    def lease_lost(self, name: str) -> None:
        """Hear that another process took over a lease that this one held."""


class Unwatched:
    """The watch of a process that has none."""

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def ended(self, status: Status, cause: Cause | None = None) -> None:
        """Do nothing."""

    def answered(self, platform: str, question: str, how: str, outcome: str, number: int) -> None:
        """Do nothing."""

    def lease_lost(self, name: str) -> None:
        """Do nothing."""


UNWATCHED = Unwatched()
