"""Deletes debates that ended long ago, or their prompts and replies alone."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import orjson

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.debates import BY_ID, ENDED, to_debate
from adapters.storage.installation import mark_unwiped
from adapters.storage.purge import delete_debates, load_tables, unmentioned
from engine.store.retention import Retention
from engine.values.debate import Debate
from engine.values.errors import NotFoundError, UsageError
from engine.values.ports import utc_now

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
        WHERE series.name = debates.series AND series.body ->> '$.recurring' IS NOT NULL
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


class RetentionTable(Retention):
    """The Retention part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def outdated(self, before: datetime, most: int, *, pruned: bool) -> list[str]:
        query = OUTDATED if pruned else UNPRUNED
        return await self._database.column(query, before=before, most=most, now=utc_now())

    async def prune(self, debate_id: str, before: datetime) -> bool:
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
        def store(connection: SqlConnection) -> Debate | None:
            if connection.value(STILL_DUE, debate=debate_id, before=before, now=utc_now()) is None:
                return None
            return _delete(connection, debate_id)

        await load_tables()
        return await self._database.write(store)

    async def delete(self, debate_id: str) -> Debate:
        def store(connection: SqlConnection) -> Debate:
            if connection.value(FREE, debate=debate_id, now=utc_now()) is None:
                raise _why_not(connection, debate_id)
            return _delete(connection, debate_id)

        await load_tables()
        return await self._database.write(store)

    async def drop_strangers(self) -> int:
        await load_tables()
        left = f'"user" IS NOT NULL AND {unmentioned(annotators=OPEN_TASKS)}'
        strangers = f"SELECT id FROM people WHERE {left}"  # noqa: S608
        dropped = 0
        for person in await self._database.column(strangers):
            dropped += await self._database.write(partial(_drop, person=person))
        return dropped


def _delete(connection: SqlConnection, debate_id: str) -> Debate:
    debate = to_debate(connection.first(BY_ID, id=debate_id))
    delete_debates(connection, [debate_id])
    mark_unwiped(connection)
    return debate


def _why_not(connection: SqlConnection, debate_id: str) -> NotFoundError | UsageError:
    row = connection.first(BY_ID, id=debate_id)
    if row is None:
        return NotFoundError(f"There is no debate {debate_id}.")
    debate = to_debate(row)
    if debate.status not in ENDED:
        return UsageError(f"Debate {debate.code} is {debate.status}; wait for its end.")
    return UsageError(f"A process works on debate {debate.code}; try again once it is done.")


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
