"""What is deleted: debates that ended long ago, or their prompts and replies, and as people ask.

A deletion that somebody asked for stands until the last of its messages is gone from the chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from engine.store.database import Database, SqlConnection
from engine.store.debates import BY_ID, to_debate
from engine.store.leases import EVERYONE, Lease, Partition, guard, within
from engine.store.purge import delete_debates, load_tables, mark_unwiped, unmentioned
from engine.values.debate import Debate, Status, Value
from engine.values.errors import NotFoundError, UsageError
from engine.values.ports import utc_now

ENDED = (Status.CLOSED, Status.PARTIAL, Status.CANCELLED, Status.FAILED)
# What has not ended, rather than what has: debates are found by their age, not by their status.
GOING = "('queued', 'running', 'voting')"
BUSY = """
EXISTS (
    SELECT 1 FROM leases
    WHERE leases.name = 'debate/' || debates.id AND leases.holder <> '' AND leases.until >= :now
)
"""
# When a debate ended without a reveal is not stored: its last call is close to it.
AT_ITS_END = """
coalesce(
    debates.revealed_at,
    (SELECT max(calls.started_at) FROM calls WHERE calls.debate = debates.id),
    debates.created_at
)
"""
# A series that no one watches goes on whenever its file is run again, unless it was stopped. The
# debates of a schedule do not belong together, so each one goes by its own age.
DUE = f"""
debates.status NOT IN {GOING} AND debates.created_at < :before AND {AT_ITS_END} < :before
AND NOT {BUSY}
AND NOT EXISTS (
    SELECT 1 FROM debates AS mirror
    WHERE mirror.id = debates.mirror AND (
        mirror.status IN {GOING} OR coalesce(mirror.revealed_at, mirror.created_at) >= :before
    )
)
AND (
    EXISTS (
        SELECT 1 FROM series
        WHERE series.name = debates.series AND
            /*-*/ series.body ->> '$.recurring' /*+ series.body::json ->> 'recurring' */ IS NOT NULL
    )
    OR NOT EXISTS (
        SELECT 1 FROM series
        WHERE series.name = debates.series AND NOT series.stop
            AND (series.due_at IS NOT NULL OR series.platform IS NULL)
    )
    AND NOT EXISTS (
        SELECT 1 FROM debates AS other
        WHERE other.series = debates.series AND other.status IN {GOING}
    )
)
"""  # noqa: S608 - texts of this module
OUTDATED = f"""
SELECT debates.id FROM debates WHERE {DUE} ORDER BY debates.created_at LIMIT :most
"""  # noqa: S608
UNPRUNED = f"""
SELECT debates.id FROM debates
WHERE debates.pruned_at IS NULL AND {DUE} ORDER BY debates.created_at LIMIT :most
"""  # noqa: S608
STILL_DUE = f"""
SELECT debates.id FROM debates WHERE debates.id = :debate AND {DUE} /*+ FOR UPDATE */
"""  # noqa: S608
FREE = f"""
SELECT debates.id FROM debates
WHERE debates.id = :debate AND debates.status NOT IN {GOING} AND NOT {BUSY} /*+ FOR UPDATE */
"""  # noqa: S608
PRUNED = "UPDATE debates SET pruned_at = :now WHERE id = :debate"
REPLIES = "SELECT step, attempt, reply FROM calls WHERE debate = :debate"
EMPTY_CALL = """
UPDATE calls SET request = '[]', reply = :reply
WHERE debate = :debate AND step = :step AND attempt = :attempt
"""
# Tables whose bodies repeat replies that could not be read, with the rest of their key.
QUOTING = (("ballots", "step"), ("artifacts", "name"), ("judgings", "number"))
BODIES = "SELECT {key}, body FROM {table} WHERE debate = :debate AND body LIKE '%\"raw\"%'"
SET_BODY = "UPDATE {table} SET body = :body WHERE debate = :debate AND {key} = :key"
# Who labels is needed while they can; a closed task keeps their labels alone.
OPEN_TASKS = """
SELECT 1 FROM annotators JOIN label_tasks ON label_tasks.name = annotators.task
WHERE closed_at IS NULL
"""
# So that answers on their way are stored, and seen by what follows.
LOCK_STRANGER = "SELECT id FROM people WHERE id = :person FOR UPDATE"
CUT_OFF = 'UPDATE people SET "user" = NULL, bot = NULL WHERE id = :person AND'
CUT_USAGE = "DELETE FROM usage WHERE scope = :scope"
ASK = """
INSERT INTO deletions (debate, platform, community, partition_key, asked_at)
SELECT id, platform, community, partition_key, :now FROM debates WHERE id IN :debates
ON CONFLICT DO NOTHING
"""
DUE_DELETIONS = """
SELECT * FROM deletions
WHERE platform = :platform AND coalesce(partition_key, 0) % :shares IN :held
ORDER BY asked_at, debate
"""
FREE_DELETION = f"""
SELECT id FROM debates
WHERE id = :debate AND status NOT IN ('queued', 'running') AND NOT {BUSY} /*+ FOR UPDATE */
"""  # noqa: S608
ON_ITS_WAY = "SELECT 1 FROM outbox WHERE debate = :debate AND state = 'sending' LIMIT 1"
POSTED = "SELECT key, kind, refs FROM outbox WHERE debate = :debate ORDER BY number DESC, id DESC"
LEFT = "UPDATE deletions SET body = :body WHERE debate = :debate"
DONE = "DELETE FROM deletions WHERE debate = :debate"
KNOWN = "SELECT id FROM debates WHERE id = :debate"
# Where a message stands; those to one person are theirs.
IN_CHANNEL_KINDS, IN_CHANNEL_KEYS = ("announcement", "league"), ("reveal/channel", "alert/channel")
PRIVATE_KINDS, PRIVATE_KEYS = ("alert",), ("reveal/starter",)


class Deletion(Value):
    """A debate to delete. With `messages`, its record is gone and these are left in the chat,
    each with its place.

    `thread` is one that was opened for the debate and goes with it.
    """

    debate: str
    community: str
    thread: str | None = None
    messages: tuple[tuple[str, str], ...] | None = None


class Retention:
    """Deletes debates, or what was sent to models and came back.

    A debate is due if it ended before a time and nothing still needs it: neither its mirror, nor a
    series that goes on, nor a process that works on it. One call changes one debate, so that no
    other write waits for long. One that people had deleted is found again after a restart, until
    it is gone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def outdated(self, before: datetime, most: int, *, pruned: bool) -> list[str]:
        """Return some debates that are due, the oldest first; those not `pruned` alone, or all."""
        query = OUTDATED if pruned else UNPRUNED
        return await self._database.column(query, before=before, most=most, now=utc_now())

    async def prune(self, debate_id: str, before: datetime) -> bool:
        """Delete a debate's prompts and raw replies, if it is still due."""

        def store(connection: SqlConnection) -> bool:
            now = utc_now()
            if connection.value(STILL_DUE, debate=debate_id, before=before, now=now) is None:
                return False
            _empty_calls(connection, debate_id)
            _empty_bodies(connection, debate_id)
            connection.run(PRUNED, debate=debate_id, now=now)
            mark_unwiped(connection)
            return True

        return await self._database.write(store)

    async def expire(self, debate_id: str, before: datetime) -> Debate | None:
        """Delete a debate with everything of it, if it is still due; return what it was."""

        def store(connection: SqlConnection) -> Debate | None:
            if connection.value(STILL_DUE, debate=debate_id, before=before, now=utc_now()) is None:
                return None
            return _delete(connection, debate_id)

        await load_tables()
        return await self._database.write(store)

    async def delete(self, debate_id: str) -> Debate:
        """Delete a debate that has ended with everything of it, even if others need it.

        Raises NotFoundError, and UsageError for one that has not ended or that a process works on.
        """

        def store(connection: SqlConnection) -> Debate:
            if connection.value(FREE, debate=debate_id, now=utc_now()) is None:
                row = connection.first(BY_ID, id=debate_id)
                if row is None:
                    raise NotFoundError(f"There is no debate {debate_id}.")
                debate = to_debate(row)
                raise UsageError(
                    f"A process works on debate {debate.code}; try again once it is done."
                    if debate.status in ENDED
                    else f"Debate {debate.code} is {debate.status}; wait for its end."
                )
            return _delete(connection, debate_id)

        await load_tables()
        return await self._database.write(store)

    async def drop_strangers(self) -> int:
        """Erase the ids of people without any record, not even an opt-out; return how many."""
        await load_tables()
        left = f'"user" IS NOT NULL AND {unmentioned(annotators=OPEN_TASKS)}'
        strangers = f"SELECT id FROM people WHERE {left}"  # noqa: S608
        dropped = 0
        for person in await self._database.column(strangers):
            dropped += await self._database.write(partial(_drop, person=person))
        return dropped

    async def ask(self, debate_ids: Sequence[str], now: datetime) -> None:
        """Record that debates are to be deleted; those that are stay as they are."""
        await self._database.run(ASK, debates=list(debate_ids), now=now)

    async def asked(self, platform: str, *, served: Partition = EVERYONE) -> list[Deletion]:
        """Return the deletions that are not done, the oldest first."""
        rows = await self._database.rows(DUE_DELETIONS, platform=platform, **within(served))
        return [
            Deletion(debate=row.debate, community=row.community, **orjson.loads(row.body or "{}"))
            for row in rows
        ]

    async def take_out(self, lease: Lease, debate_id: str) -> Deletion | None:
        """Delete a debate's record, and return what is left of it in the chat.

        None while it runs, while a process works on it, or while a message of it may be on its way.
        Budgets keep what it spent.
        """

        def store(connection: SqlConnection) -> Deletion | None:
            guard(connection, lease)
            if connection.value(KNOWN, debate=debate_id) is None:  # otherwise deleted meanwhile
                connection.run(DONE, debate=debate_id)
                return None
            if connection.value(FREE_DELETION, debate=debate_id, now=utc_now()) is None:
                return None
            if connection.value(ON_ITS_WAY, debate=debate_id) is not None:
                return None
            debate = to_debate(connection.first(BY_ID, id=debate_id))
            left = Deletion(
                debate=debate.id,
                community=debate.community,
                thread=debate.thread if debate.thread != debate.place else None,
                messages=tuple(_posted(debate, connection.rows(POSTED, debate=debate_id))),
            )
            delete_debates(connection, [debate_id])
            mark_unwiped(connection)
            _write(connection, left)
            return left

        await load_tables()
        return await self._database.write(store)

    async def note(self, lease: Lease, deletion: Deletion) -> None:
        """Record which messages are left; without any the deletion is done."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            _write(connection, deletion)

        await self._database.write(store)


def _delete(connection: SqlConnection, debate_id: str) -> Debate:
    debate = to_debate(connection.first(BY_ID, id=debate_id))
    delete_debates(connection, [debate_id])
    mark_unwiped(connection)
    return debate


def _empty_calls(connection: SqlConnection, debate_id: str) -> None:
    """Delete what was sent to models and what they wrote; usage, cost and hashes stay."""
    emptied = [
        {
            "debate": debate_id,
            "step": row.step,
            "attempt": row.attempt,
            "reply": row.reply and _dump(orjson.loads(row.reply) | {"text": ""}),
        }
        for row in connection.rows(REPLIES, debate=debate_id)
    ]
    connection.run_each(EMPTY_CALL, emptied)


def _empty_bodies(connection: SqlConnection, debate_id: str) -> None:
    for table, key in QUOTING:
        query = BODIES.format(table=table, key=key)
        for row in connection.rows(query, debate=debate_id):
            body = _dump(_without_raw(orjson.loads(row.body)))
            change = SET_BODY.format(table=table, key=key)
            connection.run(change, debate=debate_id, key=row[0], body=body)


def _without_raw(value: Any) -> Any:
    """Return a JSON value whose raw replies are empty, at any depth."""
    if isinstance(value, dict):
        empty = {"raw": ""} if isinstance(value.get("raw"), str) else {}
        return {name: _without_raw(inner) for name, inner in value.items()} | empty
    if isinstance(value, list):
        return [_without_raw(inner) for inner in value]
    return value


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()


def _drop(connection: SqlConnection, person: int) -> int:
    connection.lock(LOCK_STRANGER, person=person)
    dropped = connection.run(f"{CUT_OFF} {unmentioned(annotators=OPEN_TASKS)}", person=person)
    if dropped:
        connection.run(CUT_USAGE, scope=f"person:{person}")
        mark_unwiped(connection)
    return dropped


def _write(connection: SqlConnection, left: Deletion) -> None:
    if left.messages or left.thread:
        body = left.model_dump_json(include={"thread", "messages"})
        connection.run(LEFT, debate=left.debate, body=body)
    else:
        connection.run(DONE, debate=left.debate)


def _posted(debate: Debate, rows: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield a debate's messages, the newest first, so that its card goes last."""
    for row in rows:
        in_channel = row.kind in IN_CHANNEL_KINDS or row.key in IN_CHANNEL_KEYS
        if not in_channel and (row.kind in PRIVATE_KINDS or row.key in PRIVATE_KEYS):
            continue
        place = debate.place if in_channel else debate.thread or debate.place
        refs = reversed(orjson.loads(row.refs))
        yield from ((place, ref) for ref in refs if ref)  # empty: it may not be there
