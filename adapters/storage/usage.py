"""What calls took: one query, by the key that is asked for."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from adapters.storage.budgets import DAY, day_of
from adapters.storage.database import Database
from engine.store.usage import By, Day, Takings, Usage, UsageFilter

STARTER = "min(debates.starter) NULLS FIRST"
# The key, the role, and what they are sorted by.
KEYS = {
    By.MODEL: ("calls.model", "calls.role", "calls.model"),
    By.DAY: ("date(calls.started_at)", "''", "date(calls.started_at)"),
    By.COMMUNITY: ("debates.platform || ' ' || debates.community", "''", "1"),
    By.USER: ("coalesce(CAST(debates.starter AS TEXT), '')", "''", STARTER),
    By.SERIES: ("coalesce(debates.series, '')", "''", "1"),
}
CONDITIONS = {
    "since": "calls.started_at > :since",
    "until": "calls.started_at <= :until",
    "series": "debates.series = :series",
    "debate": "debates.id = :debate AND calls.step NOT LIKE 'judging/%'",
    "without_rehearsal": "NOT debates.rehearsal",
}
TAKINGS = """
SELECT {key} AS of, {role} AS role, count(DISTINCT calls.debate) AS debates,
    count(*) AS calls, count(*) FILTER (WHERE calls.state = 'failed') AS failed,
    coalesce(sum(calls.tokens_in), 0) AS tokens_in,
    coalesce(sum(calls.tokens_out), 0) AS tokens_out,
    coalesce(sum(calls.tokens_reasoning), 0) AS tokens_reasoning,
    coalesce(sum(calls.tokens_cached), 0) AS tokens_cached,
    coalesce(sum(calls.cost), 0.0) AS usd, count(*) - count(calls.cost) AS unpriced
FROM calls JOIN debates ON debates.id = calls.debate
WHERE {conditions}
GROUP BY 1, 2 ORDER BY {order}, 2
"""
DEBATES = """
SELECT count(*) FROM debates
WHERE EXISTS (SELECT 1 FROM calls WHERE calls.debate = debates.id AND {conditions})
"""


class UsageTable:
    """The Usage part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, where: UsageFilter, by: By = By.MODEL) -> Usage:
        key, role, order = KEYS[by]
        query = TAKINGS.format(key=key, role=role, order=order, conditions=_conditions(where))
        rows = await self._database.rows(query, **asdict(where))
        takings = (Takings(str(row[0]), *row[1:]) for row in rows)
        return Usage(tuple(takings), await self.debates(where))

    async def debates(self, where: UsageFilter) -> int:
        query = DEBATES.format(conditions=_conditions(where))
        return int(await self._database.value(query, **asdict(where)))

    async def day(self, moment: datetime) -> Day:
        row = await self._database.first(DAY, day=day_of(moment))
        return Day(row.reserved, row.spent, row.debates)


def _conditions(where: UsageFilter) -> str:
    asked = [text for name, text in CONDITIONS.items() if getattr(where, name) not in (None, False)]
    return " AND ".join(asked) or "TRUE"
