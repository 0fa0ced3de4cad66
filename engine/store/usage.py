"""What calls took, of everything that was held: one query, by the key that is asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from engine.store.budgets import DAY, day_of
from engine.store.database import Database


class By(StrEnum):
    """By what calls are counted; by model also means by its role.

    `user` is who started the debate, by the number that stands for them in the database.
    """

    MODEL = "model"
    DAY = "day"
    COMMUNITY = "community"
    USER = "user"
    SERIES = "series"
    ARM = "arm"


class UsageTotals(NamedTuple):
    """What the calls of one model in one role took, or those of another key (no role then).

    Tokens and USD are those that are known; `unpriced` calls have no known price; our own
    end cut off those that are `lost`. `debates` are
    those that the calls belong to, and `minutes` the time that their answers took, together. An
    empty key: the debates without one.
    """

    key: str
    role: str
    debates: int
    calls: int
    failed: int
    lost: int
    tokens_in: int
    tokens_out: int
    tokens_reasoning: int
    tokens_cached: int
    usd: float
    unpriced: int
    minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which calls are counted; empty: all.

    `since` (exclusive) and `until` (inclusive) apply to a call's start. `series` and `debate` are
    those that it belongs to; of one debate, calls of later judgings are left out.
    `without_rehearsal` leaves out debates with a rehearsal model; `community`, `formats`,
    `languages` and `ids` are those of debates, and with `ended` of those that have.
    """

    since: datetime | None = None
    until: datetime | None = None
    series: str | None = None
    debate: str | None = None
    without_rehearsal: bool = False
    community: str | None = None
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    ended: bool = False


class CallUsage(NamedTuple):
    """What calls took, by key and role; `debates` in all, as several keys may share one."""

    totals: tuple[UsageTotals, ...] = ()
    debates: int = 0

    def sum(self, name: str) -> Any:
        """Return the sum of a figure that can be added up."""
        return sum(getattr(one, name) for one in self.totals)


class Day(NamedTuple):
    """What the debates of a UTC day may still cost and have cost, in USD, and how many they are."""

    reserved: float = 0.0
    spent: float = 0.0
    debates: int = 0

    @property
    def held(self) -> float:
        """Return what counts towards the caps."""
        return self.reserved + self.spent


STARTER = "min(debates.starter) NULLS FIRST"
UNASKED = (None, False, ())
# The key, the role, and what they are sorted by.
KEYS = {
    By.MODEL: ("calls.model", "calls.role", "calls.model"),
    By.DAY: ("date(calls.started_at)", "''", "date(calls.started_at)"),
    By.COMMUNITY: ("debates.platform || ' ' || debates.community", "''", "1"),
    By.USER: ("coalesce(CAST(debates.starter AS TEXT), '')", "''", STARTER),
    By.SERIES: ("coalesce(debates.series, '')", "''", "1"),
    By.ARM: ("coalesce(debates.series || '/' || debates.arm, '')", "''", "1"),
}
CONDITIONS = {
    "since": "calls.started_at > :since",
    "until": "calls.started_at <= :until",
    "series": "debates.series = :series",
    "debate": "debates.id = :debate AND calls.step NOT LIKE 'judging/%'",
    "without_rehearsal": "NOT debates.rehearsal",
    "community": "debates.community = :community",
    "formats": "debates.format IN :formats",
    "languages": "debates.language IN :languages",
    "ids": "debates.id IN :ids",
    "ended": "debates.status IN ('closed', 'partial', 'cancelled', 'failed')",
}
TAKINGS = """
SELECT {key} AS of, {role} AS role, count(DISTINCT calls.debate) AS debates,
    count(*) AS calls, count(*) FILTER (WHERE calls.state = 'failed') AS failed,
    count(*) FILTER (WHERE calls.state = 'lost') AS lost,
    coalesce(sum(calls.tokens_in), 0) AS tokens_in,
    coalesce(sum(calls.tokens_out), 0) AS tokens_out,
    coalesce(sum(calls.tokens_reasoning), 0) AS tokens_reasoning,
    coalesce(sum(calls.tokens_cached), 0) AS tokens_cached,
    coalesce(sum(calls.cost), 0.0) AS usd, count(*) - count(calls.cost) AS unpriced,
    coalesce(sum(calls.latency), 0.0) / 60 AS minutes
FROM calls JOIN debates ON debates.id = calls.debate
WHERE {conditions}
GROUP BY 1, 2 ORDER BY {order}, 2
"""
DEBATES = """
SELECT count(*) FROM debates
WHERE EXISTS (SELECT 1 FROM calls WHERE calls.debate = debates.id AND {conditions})
"""


class UsageStore:
    """What calls took."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, where: UsageFilter, by: By = By.MODEL) -> CallUsage:
        """Return what calls took, by a key."""
        key, role, order = KEYS[by]
        query = TAKINGS.format(key=key, role=role, order=order, conditions=_conditions(where))
        rows = await self._database.rows(query, **asdict(where))
        totals = (UsageTotals(str(row[0]), *row[1:]) for row in rows)
        return CallUsage(tuple(totals), await self.debates(where))

    async def debates(self, where: UsageFilter) -> int:
        """Return how many debates the calls belong to."""
        query = DEBATES.format(conditions=_conditions(where))
        return int(await self._database.value(query, **asdict(where)))

    async def day(self, moment: datetime) -> Day:
        """Return what all communities together have of a moment's UTC day."""
        row = await self._database.first(DAY, day=day_of(moment))
        return Day(row.reserved, row.spent, row.debates)


def _conditions(where: UsageFilter) -> str:
    asked = [text for name, text in CONDITIONS.items() if getattr(where, name) not in UNASKED]
    return " AND ".join(asked) or "TRUE"
