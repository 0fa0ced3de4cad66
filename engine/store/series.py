"""Series: what was asked for, and which of their debates were held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from engine.store.archive import TOLD, DebateRecord, ExportFilter, read_records
from engine.store.database import Database, SqlConnection
from engine.store.leases import Lease, guard
from engine.values.debate import Cause, Status, Value
from engine.values.language import StoredText, from_stored


class StoredSeries(Value):
    """A series as it is stored: `body` is its checked file as JSON, `usd` its cap.

    `stop`: it was asked to begin no more debates. One that is held before people has a `platform`
    and, once its place is known, a `community`; `due_at` is when its next debate may begin, None
    once it has ended, and `problem` says what keeps it from beginning.
    """

    name: str
    body: str
    usd: float | None = None
    stop: bool = False
    begun_at: datetime
    platform: str | None = None
    community: str | None = None
    due_at: datetime | None = None
    problem: StoredText | None = None

    @property
    def recurs(self) -> bool:
        """Whether it is a schedule, which holds none of its debates again."""
        return '"recurring":{' in self.body

    @property
    def goes_on(self) -> bool:
        """Whether it would hold a debate again that were deleted."""
        return self.due_at is not None and not self.stop and not self.recurs


class SeriesDebate(NamedTuple):
    """One debate of a series, as far as it is; `reason` says why it waits or ended early.

    `gone`: nothing more can be posted where it was held; `cause` is the kind of an early end.
    `arm` is the one that it fell to.
    """

    key: str
    id: str
    status: Status
    reason: str
    created_at: datetime
    gone: bool = False
    cause: Cause | None = None
    arm: str | None = None

    @property
    def refused(self) -> bool:
        """Whether it ended because a model declined the topic."""
        return self.status is Status.FAILED and self.cause is Cause.REFUSED


class CallTry(NamedTuple):
    """One try of a model call without its texts; None: not known. `lost`: we cut it off."""

    debate: str
    model: str
    role: str
    failed: bool
    lost: bool
    tokens_in: int | None
    tokens_out: int | None
    tokens_reasoning: int | None
    tokens_cached: int | None
    usd: float | None
    seconds: float | None


class SeriesReading(NamedTuple):
    """A series at one moment: its debates, every try of their calls, and what ended.

    `refusals` counts by model the debates in which it declined the topic. `tries` and `records` can
    be read once each, one after the other.
    """

    stored: StoredSeries
    debates: Sequence[SeriesDebate]
    refusals: Mapping[str, int]
    tries: Iterator[CallTry]
    records: Iterator[DebateRecord]


SAVE = """
INSERT INTO series (name, body, usd, stop, begun_at, platform, community, due_at, problem)
VALUES (:name, :body, :usd, FALSE, :begun_at, :platform, :community, :due_at, :problem)
ON CONFLICT (name) DO UPDATE SET body = :body, usd = :usd, stop = FALSE, platform = :platform,
    community = :community, due_at = :due_at, problem = :problem
"""
FIND = "SELECT * FROM series WHERE name = :name"
ALL = "SELECT * FROM series ORDER BY name"
SCHEDULED = """
SELECT * FROM series WHERE due_at IS NOT NULL AND platform IN :platforms ORDER BY due_at, name
"""
OF_COMMUNITY = """
SELECT * FROM series WHERE platform = :platform AND community = :community
ORDER BY begun_at DESC, name
"""
SCHEDULE = """
UPDATE series SET body = :body, community = :community, due_at = :due_at, problem = :problem
WHERE name = :name
"""
TAKEN = "SELECT reserved_usd + spent_usd FROM usage WHERE scope = :scope AND day = ''"
ASK_STOP = "UPDATE series SET stop = TRUE WHERE name = :name"
DEBATES = """
SELECT series_key, id, status, reason, created_at, gone, cause, arm FROM debates
WHERE series = :name AND (:every OR id IN :among) ORDER BY number
"""
TOLD_DEBATES = "SELECT id FROM debates WHERE series = :name AND {told}"
RESULTS = """
SELECT debates.series_key,
    /*-*/ verdicts.body ->> '$.winner' /*+ verdicts.body::json ->> 'winner' */ AS jury
FROM debates
LEFT JOIN verdicts ON verdicts.debate = debates.id AND verdicts.judge = 'panel'
WHERE debates.series = :name AND (:every OR debates.id IN :among)
    AND debates.status NOT IN ('queued', 'running', 'voting')
ORDER BY debates.number
"""
VERDICTS = """
SELECT winner, problem, count(*) AS n FROM (
    SELECT /*-*/ verdicts.body ->> '$.winner' /*+ verdicts.body::json ->> 'winner' */ AS winner,
        /*-*/ verdicts.body ->> '$.problem' /*+ verdicts.body::json ->> 'problem' */ AS problem
    FROM debates JOIN verdicts ON verdicts.debate = debates.id AND verdicts.judge = 'panel'
    WHERE debates.series = :name AND debates.status = 'closed'
) AS judged GROUP BY winner, problem ORDER BY n DESC, problem
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
        /*-*/ SELECT 1 FROM json_each(turns.body, '$.violations') AS broken
        WHERE broken.value ->> '$.kind' = 'refusal'
        /*+ SELECT 1 FROM json_array_elements(turns.body::json -> 'violations') AS broken(value)
        WHERE broken.value ->> 'kind' = 'refusal' */)
) AS refused GROUP BY model ORDER BY model
"""

CHUNK = 500  # debates whose calls are read at once
# Without texts: prompts and replies are most of the database.
TRIES = """
SELECT debate, model, role, state = 'failed' AS failed, state = 'lost' AS lost, tokens_in,
    tokens_out, tokens_reasoning, tokens_cached, cost, latency
FROM calls WHERE debate IN :debates ORDER BY debate, step, attempt
"""


class SeriesStore:
    """Series and their debates."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, series: StoredSeries) -> None:
        """Store a series, or what its file now holds; it may begin debates again."""
        await self._database.run(SAVE, **series.model_dump(exclude={"stop"}))

    async def find(self, name: str) -> StoredSeries | None:
        """Return a series by its name, None if there is none."""
        row = await self._database.first(FIND, name=name)
        return row and _to_series(row)

    async def all(self) -> list[StoredSeries]:
        """Return every series, by name."""
        return list(map(_to_series, await self._database.rows(ALL)))

    async def scheduled(self, platforms: Sequence[str]) -> list[StoredSeries]:
        """Return the series that are held before people on some platforms and have not ended."""
        return list(map(_to_series, await self._database.rows(SCHEDULED, platforms=platforms)))

    async def of_community(self, platform: str, community: str) -> list[StoredSeries]:
        """Return the series that a community watches, the newest first."""
        which = {"platform": platform, "community": community}
        return list(map(_to_series, await self._database.rows(OF_COMMUNITY, **which)))

    async def schedule(self, lease: Lease, series: StoredSeries) -> None:
        """Store a series that is held before people: its body, place, next time and problem."""
        values = series.model_dump(include={"name", "body", "community", "due_at", "problem"})

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(SCHEDULE, **values)

        await self._database.write(store)

    async def taken(self, name: str) -> float:
        """Return how many USD of a series' cap are reserved or spent."""
        return float(await self._database.value(TAKEN, scope=f"series:{name}") or 0.0)

    async def ask_stop(self, name: str) -> None:
        """Let a series begin no more debates."""
        await self._database.run(ASK_STOP, name=name)

    async def debates(self, name: str, among: Sequence[str] | None = None) -> list[SeriesDebate]:
        """Return the debates of a series in the order of their start; `among`: of these ids."""
        which = {"every": among is None, "among": among or ()}
        rows = await self._database.rows(DEBATES, name=name, **which)
        return list(map(_to_debate, rows))

    async def results(self, name: str, among: Sequence[str] | None = None) -> dict[str, str | None]:
        """Return who won each debate that has ended, by its key; `among`: of these ids.

        A contender, "tie", or None; the jury decides, or people where they do.
        """
        which = {"every": among is None, "among": among or ()}
        rows = await self._database.rows(RESULTS, name=name, **which)
        return {row.series_key: row.jury for row in rows}

    async def verdicts(self, name: str) -> list[tuple[str | None, str, int]]:
        """Return how many held debates a jury decided for whom, and for which reason not at all."""
        rows = await self._database.rows(VERDICTS, name=name)
        return [(row.winner, row.problem or "", row.n) for row in rows]

    async def refusals(self, name: str, among: Sequence[str] | None = None) -> dict[str, int]:
        """Return in how many debates each model refused: a turn, or so that the debate ended.

        `among`: of the debates with these ids.
        """
        which = {"every": among is None, "among": among or ()}
        return dict(map(tuple, await self._database.rows(REFUSALS, name=name, **which)))

    @contextmanager
    def reading(self, name: str, *, told: bool = False) -> Iterator[SeriesReading | None]:
        """Open one consistent view of a series, for a worker thread; None if there is none.

        `told` leaves out what `ExportFilter.told` does.
        """
        with self._database.snapshot() as connection:
            row = connection.first(FIND, name=name)
            yield row and _read(connection, _to_series(row), told)


def _to_debate(row: Any) -> SeriesDebate:
    return SeriesDebate(
        key=row.series_key,
        id=row.id,
        status=Status(row.status),
        reason=from_stored(row.reason),
        created_at=row.created_at,
        gone=row.gone,
        cause=row.cause and Cause(row.cause),
        arm=row.arm,
    )


def _to_series(row: Any) -> StoredSeries:
    return StoredSeries(**{name: getattr(row, name) for name in StoredSeries.model_fields})


def _read(connection: SqlConnection, stored: StoredSeries, told: bool) -> SeriesReading:
    among = []
    if told:
        among = connection.column(TOLD_DEBATES.format(told=TOLD), name=stored.name)
    which = {"name": stored.name, "every": not told, "among": among}
    debates = list(map(_to_debate, connection.rows(DEBATES, **which)))
    records = read_records(connection, ExportFilter(series=stored.name, told=told))
    ids = [debate.id for debate in debates]
    chunks = (ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK))
    tries = (CallTry(*row) for some in chunks for row in connection.rows(TRIES, debates=some))
    refusals = dict(map(tuple, connection.rows(REFUSALS, **which)))
    return SeriesReading(stored, debates, refusals, tries, records)
