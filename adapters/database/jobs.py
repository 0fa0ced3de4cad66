"""Jobs of Procrastinate, on PostgreSQL: one says “think for debate X”.

A job is queued in the transaction that stores its debate. Its queue is named by the backends that
the debate needs, so that a worker takes only what it can hold. No job says whether a debate is
alive: leases do. Procrastinate's own texts come from its package; see
`adapters/dispatch/procrastinate.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from engine.store.database import Database, SqlConnection
from engine.store.queue import Queue, defer
from engine.values.debate import Setup

# While people vote, a juror may still have to explain the verdict.
SETUP = """
SELECT setup FROM debates WHERE id = :debate AND status IN ('queued', 'running', 'voting')
"""
QUEUES = (
    "SELECT DISTINCT queue_name, args -> 'backends' FROM procrastinate_jobs WHERE status = 'todo'"
)
# Only what has waited for some seconds: a process that has room takes it at once.
EXPLAIN = """
UPDATE debates SET reason = :reason
WHERE status = 'queued' AND NOT gone AND reason = '' AND id IN (
    SELECT job.queueing_lock FROM procrastinate_jobs AS job
    JOIN procrastinate_events AS event ON event.job_id = job.id
    WHERE job.status = 'todo' AND job.queue_name = :queue
        AND event.at < clock_timestamp() - make_interval(secs => :seconds)
)
"""
# What a worker left that was killed.
SWEEP = """
DELETE FROM procrastinate_jobs
WHERE status = 'doing'
    AND NOT EXISTS (
        SELECT 1 FROM leases
        WHERE leases.name = 'debate/' || procrastinate_jobs.queueing_lock
            AND leases.until >= clock_timestamp()
    )
    AND NOT EXISTS (
        SELECT 1 FROM procrastinate_workers
        WHERE procrastinate_workers.id = procrastinate_jobs.worker_id
            AND procrastinate_workers.last_heartbeat > now() - interval '1 minute'
    )
"""


class JobTable:
    """The queue of a PostgreSQL database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def submit(self, debate_id: str) -> str | None:
        """Queue a job for a debate that has not ended, unless one waits; return its queue."""

        def store(connection: SqlConnection) -> str | None:
            setup = connection.value(SETUP, debate=debate_id)
            if setup is None:
                return None
            try:
                known = Setup.model_validate_json(setup)
            except ValidationError:  # a newer version's, whose processes queue it
                return None
            return defer(connection, debate_id, known)

        return await self._database.write(store)

    async def queues(self) -> list[Queue]:
        """Return the queues in which jobs wait."""
        rows = await self._database.rows(QUEUES)
        return [Queue(name, tuple(backends)) for name, backends in rows]

    async def explain(self, queue: str, reason: str, seconds: float) -> None:
        """Give a reason to the debates that have waited in a queue for so long."""
        await self._database.run(EXPLAIN, queue=queue, reason=reason, seconds=seconds)

    async def sweep(self) -> None:
        """Delete the jobs of workers that were killed."""
        await self._database.run(SWEEP)

    async def execute(self, text: str, values: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        """Run one of Procrastinate's own texts; return its rows."""
        from psycopg.types.string import StrDumperUnknown  # of the extra `scale`

        def run(connection: SqlConnection) -> list[dict[str, Any]]:
            cursor = connection.driver.cursor()
            cursor.adapters.register_dumper(str, StrDumperUnknown)  # it names types of its own
            cursor.execute(text, dict(values))
            if cursor.description is None:
                return []
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        return await self._database.write(run)
