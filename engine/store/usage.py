"""What calls took: of everything that was held, by the key that is asked for, or try by try."""

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


class _Tried(NamedTuple):
    """A try of a call; tokens, `cost` (USD) and `latency` (seconds) are None where unknown.

    Without an answer there is no latency: how long a failure took says nothing of a model. `error`
    is for an operator alone: it may hold anything that a backend says.
    """

    step: str
    attempt: int
    model: str
    answered: bool
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    cost: float | None
    latency: float | None
    began: datetime
    error: str


class Failed(NamedTuple):
    """How often a step's calls of a model failed so; `why` has the backend's own words."""

    step: str
    model: str
    why: str
    tries: int


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
TRIES = """
SELECT step, attempt, model, reply IS NOT NULL AS answered, tokens_in, tokens_cached, tokens_out,
    cost, CASE WHEN reply IS NOT NULL THEN latency END AS latency, started_at, error
FROM calls WHERE debate = :debate AND step NOT LIKE 'judging/%' ORDER BY step, attempt
"""
REQUEST = """
SELECT request FROM calls WHERE debate = :debate AND step = :step AND attempt = :attempt
"""
UNDER_WAY = "SELECT step FROM calls WHERE debate = :debate AND state = 'out' ORDER BY step"
NEWEST_CALL = """
SELECT started_at FROM calls WHERE debate = :debate ORDER BY started_at DESC LIMIT 1
"""
FAILURES = """
SELECT step, model, error AS why, count(*) AS tries FROM calls
WHERE debate = :debate AND error <> ''
GROUP BY step, model, error ORDER BY min(started_at), step
"""
COST_ORIGINS = """
SELECT cost_origin, count(*) AS tries FROM calls
WHERE debate = :debate AND step NOT LIKE 'judging/%'
GROUP BY cost_origin ORDER BY cost_origin
"""


class UsageStore:
    """What calls took, and for a debate what was tried and what became of it."""

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

    async def tries(self, debate_id: str) -> tuple[_Tried, ...]:
        """Return every try in the order of an export, without what was asked and answered."""
        rows = await self._database.rows(TRIES, debate=debate_id)
        return tuple(_Tried(*row)._replace(answered=bool(row.answered)) for row in rows)

    async def request(self, debate_id: str, step: str, attempt: int) -> str:
        """Return what a try asked, as JSON; empty if it was deleted."""
        which = {"debate": debate_id, "step": step, "attempt": attempt}
        return await self._database.value(REQUEST, **which) or ""

    async def failures(self, debate_id: str) -> tuple[Failed, ...]:
        """Return a debate's failed tries, those of a step that failed alike together.

        They are for an operator alone: `why` may hold anything that a backend says.
        """
        return tuple(Failed(*row) for row in await self._database.rows(FAILURES, debate=debate_id))

    async def cost_origins(self, debate_id: str) -> dict[str, int]:
        """Return the number of a debate's tries by the origin of their cost."""
        rows = await self._database.rows(COST_ORIGINS, debate=debate_id)
        return {row.cost_origin: row.tries for row in rows}

    async def under_way(self, debate_id: str) -> list[str]:
        """Return the steps of a debate's calls in flight."""
        return [str(one) for one in await self._database.column(UNDER_WAY, debate=debate_id)]

    async def newest_call(self, debate_id: str) -> datetime | None:
        """Return when a debate's newest try began; None before the first."""
        found: datetime | None = await self._database.value(NEWEST_CALL, debate=debate_id)
        return found


def _conditions(where: UsageFilter) -> str:
    asked = [text for name, text in CONDITIONS.items() if getattr(where, name) not in UNASKED]
    return " AND ".join(asked) or "TRUE"
