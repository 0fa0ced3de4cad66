"""The Dispatcher port over Procrastinate: any number of processes take debates from one queue.

A job only starts a debate, and its state decides nothing: a debate lives as long as its lease, and
what no one holds is queued again (`MainLine.reconcile`). So a job that two workers run, or that is
lost with its worker, does no harm. Procrastinate's statements go through the store's database,
which waits for a server that is away, and ours stand in for its own notifications.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Protocol

import structlog
from procrastinate import App
from procrastinate.connector import BaseAsyncConnector, Notify
from procrastinate.exceptions import ConnectorException, NoResult
from procrastinate.worker import Worker

from engine.delivery.reasons import needing
from engine.fleet.leases import Notifier
from engine.values.errors import RostrumError, StoreError

TASK, TOPIC = "think", "jobs"
LOOK_SECONDS = 2.0
SWEEP_SECONDS = 60.0
SAY_SECONDS = 5.0  # a debate waits without a word for so long
AGAIN_SECONDS = 1.0
DAY = 86_400.0
SOME_JOB = '{"type": "job_inserted", "job_id": 0}'
GONE = "Job was not found"  # of a worker that was frozen, and whose jobs were swept
log = structlog.get_logger(__name__)
Think = Callable[[str], Awaitable[None]]


class _Waiting(Protocol):
    """Jobs that wait and need the same backends."""

    @property
    def name(self) -> str:
        """The name of their queue."""

    @property
    def backends(self) -> Iterable[str]:
        """What it takes to run them."""


class _Jobs(Protocol):
    """The queue in the database."""

    async def submit(self, debate_id: str) -> str | None:
        """Queue a job for a debate that has not ended, unless one waits; return its queue."""

    async def queues(self) -> Sequence[_Waiting]:
        """Return the queues in which jobs wait."""

    async def explain(self, queue: str, reason: str, seconds: float) -> None:
        """Give a reason to the debates that have waited in a queue for so long."""

    async def sweep(self) -> None:
        """Delete the jobs of workers that were killed."""

    async def execute(self, text: str, values: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        """Run one of Procrastinate's own texts; return its rows."""


class _StoreConnector(BaseAsyncConnector):
    """Procrastinate's way to the database: the store's, and our notifier in place of LISTEN."""

    def __init__(self, jobs: _Jobs, listen: Callable[[Notify], Awaitable[None]]) -> None:
        self._jobs = jobs
        self._listen = listen

    async def open_async(self, pool: Any = None) -> None:
        """Do nothing: the store is open."""

    async def close_async(self) -> None:
        """Do nothing: the store is closed by its owner."""

    async def execute_query_async(self, query: str, **arguments: Any) -> None:
        """Run a statement; one about a job that is gone changes nothing."""
        try:
            await self.execute_query_all_async(query, **arguments)
        except ConnectorException as error:
            if GONE not in str(error):
                raise

    async def execute_query_one_async(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Return a query's first row."""
        rows = await self.execute_query_all_async(query, **arguments)
        if not rows:
            raise NoResult
        return rows[0]

    async def execute_query_all_async(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return a query's rows."""
        try:
            return list(await self._jobs.execute(query, arguments))
        except RostrumError as error:
            raise ConnectorException(str(error)) from error

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Notify of jobs until cancelled."""
        await self._listen(on_notification)


class ProcrastinateDispatcher:
    """Takes debates that this process can hold, so many at once, and lets others take the rest.

    `backends` are those that it has. With no `slots` it only queues.
    """

    def __init__(
        self, jobs: _Jobs, notifier: Notifier, backends: Iterable[str], slots: int
    ) -> None:
        self._jobs = jobs
        self._notifier = notifier
        self._backends = frozenset(backends)
        self._slots = slots
        self._queues: list[str] = []  # Procrastinate's worker reads it before each job
        self._swept_at = -SWEEP_SECONDS
        self._worker: Worker | None = None
        self._stopping = False
        self._ended = asyncio.Event()

    async def submit(self, debate_id: str) -> None:
        """Queue a debate, for this process or another one; its job may be there already."""
        queue = await self._jobs.submit(debate_id)
        if queue is not None:
            self._notifier.publish(TOPIC, queue)

    async def run(self, think: Think) -> None:
        """Run queued debates, until stopped or cancelled."""
        logging.getLogger("procrastinate").setLevel(logging.WARNING)
        app = App(connector=_StoreConnector(self._jobs, self._listen))

        @app.task(name=TASK)
        async def work(debate: str, backends: Sequence[str] = ()) -> None:
            try:
                await think(debate)
                if self._stopping:  # it was only paused, and another process can go on at once
                    await self.submit(debate)
            except StoreError as error:
                if not (self._stopping and error.passing):
                    raise
                log.warning("debate left", debate=debate, why=str(error))

        try:
            while not self._stopping:
                self._worker = Worker(
                    app,
                    queues=self._queues,
                    concurrency=self._slots,
                    fetch_job_polling_interval=LOOK_SECONDS,
                    abort_job_polling_interval=DAY,  # a debate is stopped by its own record
                    delete_jobs="always",
                    install_signal_handlers=False,
                    # Jobs would lose their worker while that is frozen.
                    stalled_worker_timeout=DAY,
                )
                try:
                    await self._look()
                    # A worker forgets, as it begins to run, that it was told to stop before.
                    if not self._stopping:
                        await self._worker.run()  # type: ignore[no-untyped-call]
                except (ConnectorException, RostrumError) as error:
                    log.warning("queue interrupted", why=str(error))
                    await asyncio.sleep(AGAIN_SECONDS)
        finally:
            self._ended.set()

    async def stop(self, seconds: float) -> None:
        """Take nothing new; wait that long for running debates, then interrupt them."""
        self._stopping = True
        if self._worker is None:
            return
        self._worker.shutdown_graceful_timeout = seconds
        self._worker.stop()  # type: ignore[no-untyped-call]
        try:
            async with asyncio.timeout(seconds + AGAIN_SECONDS):
                await self._ended.wait()
        except TimeoutError:
            log.warning("queue not left", why="the database does not answer")

    async def _listen(self, notify: Notify) -> None:
        while True:
            published = await self._notifier.wait(TOPIC, LOOK_SECONDS)
            if not published or not published.issubset(self._queues):
                await self._look()
            await notify(channel=TOPIC, payload=SOME_JOB)

    async def _look(self) -> None:
        """Find the queues whose debates this process can hold."""
        waiting = await self._jobs.queues()
        missing = {one.name: set(one.backends) - self._backends for one in waiting}
        self._queues[:] = [name for name, lacking in missing.items() if not lacking]
        for name, lacking in missing.items():
            if lacking:
                await self._jobs.explain(name, needing(lacking), SAY_SECONDS)
        if monotonic() - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = monotonic()
            await self._jobs.sweep()
