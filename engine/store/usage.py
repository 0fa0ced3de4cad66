"""What calls took, of everything that was held."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol


class By(StrEnum):
    """By what calls are counted; by model also means by its role.

    `user` is who started the debate, by the number that stands for them in the database.
    """

    MODEL = "model"
    DAY = "day"
    COMMUNITY = "community"
    USER = "user"
    SERIES = "series"


class Takings(NamedTuple):
    """What the calls of one model in one role took, or those of another key (no role then).

    Tokens and USD are those that are known; `unpriced` calls have no known price. `debates` are
    those that the calls belong to. An empty key: the debates without one.
    """

    key: str
    role: str
    debates: int
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    tokens_reasoning: int
    tokens_cached: int
    usd: float
    unpriced: int


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which calls are counted; empty: all.

    `since` (exclusive) and `until` (inclusive) apply to a call's start. `series` and `debate` are
    those that it belongs to; of one debate, calls of later judgings are left out.
    `without_rehearsal` leaves out debates with a rehearsal model.
    """

    since: datetime | None = None
    until: datetime | None = None
    series: str | None = None
    debate: str | None = None
    without_rehearsal: bool = False


class Usage(NamedTuple):
    """What calls took, by key and role; `debates` in all, as several keys may share one."""

    takings: tuple[Takings, ...] = ()
    debates: int = 0

    def sum(self, name: str) -> Any:
        """Return the sum of a figure that can be added up."""
        return sum(getattr(one, name) for one in self.takings)


class Day(NamedTuple):
    """What the debates of a UTC day may still cost and have cost, in USD, and how many they are."""

    reserved: float = 0.0
    spent: float = 0.0
    debates: int = 0

    @property
    def held(self) -> float:
        """Return what counts towards the caps."""
        return self.reserved + self.spent


class UsageStore(Protocol):
    """What calls took."""

    async def read(self, where: UsageFilter, by: By = By.MODEL) -> Usage:
        """Return what calls took, by a key."""

    async def debates(self, where: UsageFilter) -> int:
        """Return how many debates the calls belong to."""

    async def day(self, moment: datetime) -> Day:
        """Return what all communities together have of a moment's UTC day."""
