"""The tries of a debate's calls, as an operator reads them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from engine.store.database import Database


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


class Tries:
    """What was tried for a debate, and what became of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, debate_id: str) -> tuple[_Tried, ...]:
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
