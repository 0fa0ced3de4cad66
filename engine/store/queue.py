"""What is to be run: debates without an end, asked to stop, or queued again; jobs for workers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from engine.store.budgets import reserve_rest
from engine.store.database import Database, SqlConnection
from engine.store.debates import get_debate, keep_listing, move
from engine.store.jobs import AWAITED, defer
from engine.store.leases import EVERYONE, Partition, within
from engine.store.outbox import LOCK_DEBATE, Post, count_gaps, insert_posts
from engine.store.targets import OpenQuestion
from engine.values.debate import Debate, Setup, Status
from engine.values.errors import UsageError
from engine.values.language import to_stored
from engine.values.limits import Caps
from engine.values.ports import utc_now

# Debates of a series that no one watches are resumed by the process that holds the series, and so
# are those that wait for a model (engine/delivery/reasons.py). In some a juror still has to say why
# the panel decided so (engine/jury/explain.py).
LIVE = """
SELECT id FROM debates WHERE platform <> 'series' AND (
    status IN ('queued', 'running') OR status = 'voting' AND EXISTS (
        SELECT 1 FROM calls WHERE debate = debates.id AND step = 'why'
    ) AND NOT EXISTS (
        SELECT 1 FROM artifacts WHERE debate = debates.id AND name = 'why'
    )
) AND (series IS NULL OR status <> 'queued' OR reason NOT LIKE 'Waiting for %')
"""
UNFINISHED = (
    LIVE
    + """
    AND (platform = :platform) IS NOT FALSE
    AND coalesce(partition_key, 0) % :shares IN :held
ORDER BY number
"""
)
# On a server other processes run what has a lease, and a job waits for one that has room.
FREE = """/*+ AND NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.name = 'debate/' || debates.id AND leases.until >= clock_timestamp()
) AND NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS job
    WHERE job.queueing_lock = debates.id AND job.status = 'todo'
) */"""
UNHELD = f"{LIVE} {FREE} ORDER BY number"
UNHELD_AND_DUE = f"{LIVE} AND NOT {AWAITED} {FREE} ORDER BY number"
CENSUS = """
SELECT status, count(*) AS debates FROM debates
WHERE status IN ('queued', 'running', 'voting') GROUP BY status
"""
GO_ON = """
UPDATE debates SET stop = NULL, gone = FALSE, reason = '', setup = :setup, rehearsal = :rehearsal
WHERE id = :debate
"""
ASK_NOTHING = """
UPDATE questions SET closes_at = NULL, opened_at = NULL, message = NULL
WHERE debate = :debate AND question = 'vote'
"""
ASK_STOP = """
UPDATE debates SET stop = :reason WHERE id = :debate AND status IN ('queued', 'running')
"""
# A message that may have been sent is in doubt again.
REOPEN = """
UPDATE outbox
SET state = CASE WHEN deadline IS NULL THEN 'pending' ELSE 'sending' END, error = '',
    queued_at = :now
WHERE debate = :debate AND state = 'refused' AND kind <> 'alert'
"""
SET_WAITING = """
UPDATE debates SET reason = :reason
WHERE id = :debate AND status IN ('queued', 'running', 'voting') AND NOT gone
    AND NOT EXISTS (
        SELECT 1 FROM questions WHERE debate = :debate AND question = :question AND step = :step
            AND closed_at IS NOT NULL
    )
"""
STOP_WAITING = """
UPDATE debates SET reason = ''
WHERE id = :debate AND status IN ('queued', 'running', 'voting') AND reason IN :reasons
"""
MARK_SCRIPTED = "UPDATE debates SET scripted = TRUE WHERE id = :debate"


class DebateQueue:
    """Debates that are to be run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unfinished(
        self, platform: str | None = None, *, served: Partition = EVERYONE
    ) -> list[str]:
        """Return the ids of debates to think for, oldest first.

        They are queued or running, or people vote while a juror still explains the verdict.
        """
        where = {"platform": platform, **within(served)}
        return await self._database.column(UNFINISHED, **where)

    async def unheld(self, *, waiting: bool = True) -> list[str]:
        """Return the ids of unfinished debates that no other process runs or was asked to run.

        Without those that are `waiting` for a person, if they are not wanted.
        """
        return await self._database.column(UNHELD if waiting else UNHELD_AND_DUE)

    async def census(self) -> dict[Status, int]:
        """Return how many debates are queued, running and voting."""
        counted = {row.status: row.debates for row in await self._database.rows(CENSUS)}
        live = (Status.QUEUED, Status.RUNNING, Status.VOTING)
        return {status: counted.get(status.value, 0) for status in live}

    async def requeue(
        self,
        debate_id: str,
        caps: Caps,
        now: datetime,
        setup: Setup | None = None,
        posts: Sequence[Post] = (),
    ) -> Debate:
        """Queue a failed or partial debate again; its results stay.

        Raises BudgetError, and UsageError for one whose replies were deleted.

        It continues with `setup` if given; `posts` are queued first. What it may still cost is
        reserved from the budget of the day of `now`, with an alert as `create` posts it.
        """

        def store(connection: SqlConnection) -> Debate:
            debate = get_debate(connection, debate_id)
            if connection.lock(LOCK_DEBATE, debate=debate.id):
                debate = get_debate(connection, debate_id)  # as another process may have left it
            if debate.status.live:
                return debate
            if debate.pruned_at is not None:
                raise UsageError(
                    "What the models of debate {code} wrote was deleted on {date}, as is set for "
                    "debates of that age, so it cannot go on; start a new one.",
                    code=debate.code,
                    date=f"{debate.pruned_at:%Y-%m-%d}",
                )
            alerts = reserve_rest(connection, debate, caps, now)
            move(connection, debate.id, Status.QUEUED)
            cap = caps.debate_usd
            if cap is None and caps.by_day:
                cap = debate.setup.reserved_usd
            going = (setup or debate.setup).model_copy(update={"cap_usd": cap})
            frozen = {"setup": going.model_dump_json(), "rehearsal": bool(going.rehearsal)}
            connection.run(GO_ON, debate=debate.id, **frozen)
            keep_listing(connection, debate.id, going)
            if debate.gone:
                connection.run(ASK_NOTHING, debate=debate.id)
                # What was given up when the thread was lost.
                connection.run(REOPEN, debate=debate.id, now=utc_now())
                count_gaps(connection, debate.id)
            insert_posts(connection, debate.id, [*posts, *alerts])
            if self._database.queues:
                defer(connection, debate.id, going)
            return get_debate(connection, debate.id)

        return await self._database.write(store)

    async def ask_stop(self, debate_id: str, reason: str) -> None:
        """Record a request to stop a debate; it is read between steps."""
        await self._database.run(ASK_STOP, debate=debate_id, reason=to_stored(reason))

    async def set_waiting(
        self, debate_id: str, reason: str, *, while_open: OpenQuestion | None = None
    ) -> None:
        """Record what a debate waits for; an empty reason means nothing.

        With a question `while_open`, only as long as that has not closed. A debate whose thread is
        gone keeps that reason.
        """
        question, step = while_open[1:] if while_open else ("", "")
        asked = {"question": question, "step": step}
        waits = to_stored(reason)
        await self._database.run(SET_WAITING, debate=debate_id, reason=waits, **asked)

    async def stop_waiting(self, debate_id: str, reasons: Collection[str]) -> None:
        """Forget what a debate waits for if it is one of these."""
        waits = list(map(to_stored, reasons))
        await self._database.run(STOP_WAITING, debate=debate_id, reasons=waits)

    async def mark_scripted(self, debate_id: str) -> None:
        """Note that no person is known to be behind each vote on a debate."""
        await self._database.run(MARK_SCRIPTED, debate=debate_id)
