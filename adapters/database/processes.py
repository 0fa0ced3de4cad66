"""What processes on one PostgreSQL database share: the queue of debates, and notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import psycopg
import structlog
from psycopg import conninfo
from pydantic import ValidationError

from adapters.database.database import SqlDatabase
from adapters.database.postgres import NETWORK
from engine.fleet.leases import Notification, Notifier
from engine.store.database import Database, SqlConnection
from engine.store.jobs import Queue, defer
from engine.values.debate import Setup
from engine.values.errors import StoreError, why_of
from engine.values.ports import Backoff

# Jobs of Procrastinate, on PostgreSQL: one says “think for debate X”.
#
# A job is queued in the transaction that stores its debate. Its queue is named by the backends that
# the debate needs, so that a worker takes only what it can hold. No job says whether a debate is
# alive: leases do. Procrastinate's own texts come from its package; see
# `adapters/dispatch/procrastinate.py`.


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


# Notifications across processes, by LISTEN and NOTIFY of PostgreSQL.
#
# Each process has one connection that listens; it needs an address that leads to the server itself,
# past a proxy that pools transactions. Those of a moment go out together, on the store's
# connections. While either is away nothing is sent, and all that waits polls, as it does anyway.


CHANNEL = "rostrum_bell"
# What a notification is about has been committed, so no one waits until itself is on a disk.
TELL = "SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify(:channel, :payload)"
MOST_BYTES = 7_500  # PostgreSQL takes 8,000
GATHER_SECONDS = 0.01  # each costs the server a transaction here, and one in every process
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
PROBE_SECONDS = 15.0  # a connection that was cut says nothing by itself
PROBE_PATIENCE = 5.0
log = structlog.get_logger(__name__)


class NotificationExchange:
    """Carries notifications between this process and all others on its database."""

    def __init__(self, url: str, database: SqlDatabase, notifier: Notifier, sender: str) -> None:
        self._url = url
        self._database = database
        self._notifier = notifier
        self._sender = sender
        self._outgoing: dict[Notification, None] = {}
        self._told = asyncio.Event()
        self._told_so = False  # that it has not been heard for a while
        notifier.outward = self._note

    async def run(self) -> None:
        """Carry notifications until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell())
            group.create_task(self._listen())

    # --- out -------------------------------------------------------------------------------

    def _note(self, notification: Notification) -> None:
        self._outgoing[notification] = None
        self._told.set()

    async def _tell(self) -> None:
        while True:
            await self._told.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._told.clear()
            notifications, self._outgoing = list(self._outgoing), {}
            for payload in pack(self._sender, notifications):
                try:
                    await self._database.rows(TELL, channel=CHANNEL, payload=payload)
                except StoreError as error:
                    log.debug("bell not rung", why=str(error))

    # --- in --------------------------------------------------------------------------------

    async def _listen(self) -> None:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                _, _, rest = self._url.partition("://")
                address = conninfo.make_conninfo(f"postgresql://{rest}", **NETWORK)
                async with await psycopg.AsyncConnection.connect(
                    address, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    backoff.reset()
                    self._told_so = False
                    while True:
                        async for notice in connection.notifies(timeout=PROBE_SECONDS):
                            self._receive(notice.payload)
                        async with asyncio.timeout(PROBE_PATIENCE):
                            await connection.execute("SELECT 1")
            except (psycopg.Error, TimeoutError) as error:
                if backoff.pause == LONGEST_PAUSE and not self._told_so:
                    log.warning("bell not heard", why=why_of(error).partition("\n")[0])
                    self._told_so = True
            await asyncio.sleep(backoff.next())

    def _receive(self, payload: str) -> None:
        sender, notifications = orjson.loads(payload)
        if sender != self._sender:
            for topic, key in notifications:
                self._notifier.receive((topic, key))


def pack(sender: str, notifications: Sequence[Notification]) -> list[str]:
    """Return payloads that together hold all notifications, each of a size that is taken."""
    payloads: list[str] = []
    rest = [list(notification) for notification in notifications]
    while rest:
        count = len(rest)
        while len(body := orjson.dumps([sender, rest[:count]])) > MOST_BYTES and count > 1:
            count = (count + 1) // 2
        payloads.append(body.decode())
        rest = rest[count:]
    return payloads
