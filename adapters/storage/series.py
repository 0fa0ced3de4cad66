"""Series and their debates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from engine.debate import Cause, Status
from engine.store.series import SeriesDebate, SeriesResult, StoredSeries

SAVE = """
INSERT INTO series (name, body, usd, stop, begun_at) VALUES (:name, :body, :usd, FALSE, :begun_at)
ON CONFLICT (name) DO UPDATE SET body = :body, usd = :usd, stop = FALSE
"""
FIND = "SELECT * FROM series WHERE name = :name"
ALL = "SELECT * FROM series ORDER BY name"
ASK_STOP = "UPDATE series SET stop = TRUE WHERE name = :name"
DEBATES = """
SELECT series_key, id, status, reason, cause FROM debates
WHERE series = :name AND (:every OR id IN :among) ORDER BY number
"""
RESULTS = """
SELECT debates.series_key, verdicts.body ->> '$.winner' AS jury
FROM debates
LEFT JOIN verdicts ON verdicts.debate = debates.id AND verdicts.judge = 'panel'
WHERE debates.series = :name AND debates.status NOT IN ('queued', 'running', 'voting')
ORDER BY debates.number
"""
REFUSALS = """
SELECT model, count(*) FROM (
    SELECT cause_model AS model, id FROM debates
    WHERE series = :name AND cause = 'refused' AND (:every OR id IN :among)
    UNION
    SELECT calls.model, debates.id FROM debates
    JOIN turns ON turns.debate = debates.id
    JOIN calls ON calls.debate = debates.id AND calls.step = turns.step AND calls.state = 'done'
    WHERE debates.series = :name AND (:every OR debates.id IN :among) AND EXISTS (
        SELECT 1 FROM json_each(turns.body, '$.violations') AS broken
        WHERE broken.value ->> '$.kind' = 'refusal')
) AS refused GROUP BY model ORDER BY model
"""


class SeriesTable:
    """The Series part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, series: StoredSeries) -> None:
        await self._database.run(SAVE, **series.model_dump(exclude={"stop"}))

    async def find(self, name: str) -> StoredSeries | None:
        row = await self._database.first(FIND, name=name)
        return row and _to_series(row)

    async def all(self) -> list[StoredSeries]:
        return list(map(_to_series, await self._database.rows(ALL)))

    async def ask_stop(self, name: str) -> None:
        await self._database.run(ASK_STOP, name=name)

    async def debates(self, name: str, among: Sequence[str] | None = None) -> list[SeriesDebate]:
        which = {"every": among is None, "among": among or ()}
        rows = await self._database.rows(DEBATES, name=name, **which)
        return [
            SeriesDebate(row[0], row[1], Status(row[2]), row[3], row[4] and Cause(row[4]))
            for row in rows
        ]

    async def results(self, name: str) -> list[SeriesResult]:
        return [SeriesResult(*row) for row in await self._database.rows(RESULTS, name=name)]

    async def refusals(self, name: str, among: Sequence[str] | None = None) -> dict[str, int]:
        which = {"every": among is None, "among": among or ()}
        return dict(map(tuple, await self._database.rows(REFUSALS, name=name, **which)))


def cap_of(connection: SqlConnection, name: str) -> float | None:
    """Return what a series may cost in USD; None: no cap."""
    cap: float | None = connection.first(FIND, name=name).usd
    return cap


def _to_series(row: Any) -> StoredSeries:
    return StoredSeries(**{name: getattr(row, name) for name in StoredSeries.model_fields})
