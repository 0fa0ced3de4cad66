"""Debates that people had deleted, and what is left of them in the chat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.debates import BY_ID, to_debate
from adapters.storage.installation import mark_unwiped
from adapters.storage.leases import guard, within
from adapters.storage.purge import delete_debates, load_tables
from adapters.storage.retention import BUSY
from engine.store import Lease
from engine.store.deletions import Deletion, Posted
from engine.store.served import EVERYONE, Served
from engine.values.debate import Debate
from engine.values.ports import utc_now

ASK = """
INSERT INTO deletions (debate, platform, community, lane, asked_at)
SELECT id, platform, community, lane, :now FROM debates WHERE id IN :debates
ON CONFLICT DO NOTHING
"""
DUE = """
SELECT * FROM deletions
WHERE platform = :platform AND coalesce(lane, 0) % :shares IN :held ORDER BY asked_at, debate
"""
FREE = f"""
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


class DeletionTable:
    """The Deletions part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, debate_ids: Sequence[str], now: datetime) -> None:
        await self._database.run(ASK, debates=list(debate_ids), now=now)

    async def due(self, platform: str, *, served: Served = EVERYONE) -> list[Deletion]:
        rows = await self._database.rows(DUE, platform=platform, **within(served))
        return [_read(row) for row in rows]

    async def take_out(self, lease: Lease, debate_id: str) -> Deletion | None:
        def store(connection: SqlConnection) -> Deletion | None:
            guard(connection, lease)
            if connection.value(KNOWN, debate=debate_id) is None:  # otherwise deleted meanwhile
                connection.run(DONE, debate=debate_id)
                return None
            if connection.value(FREE, debate=debate_id, now=utc_now()) is None:
                return None
            if connection.value(ON_ITS_WAY, debate=debate_id) is not None:
                return None
            debate = to_debate(connection.first(BY_ID, id=debate_id))
            left = _left(debate, connection.rows(POSTED, debate=debate_id))
            delete_debates(connection, [debate_id])
            mark_unwiped(connection)
            _write(connection, left)
            return left

        await load_tables()
        return await self._database.write(store)

    async def note(self, lease: Lease, deletion: Deletion) -> None:
        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            _write(connection, deletion)

        await self._database.write(store)


def _write(connection: SqlConnection, left: Deletion) -> None:
    if left.messages or left.thread:
        body = left.model_dump_json(include={"thread", "messages"})
        connection.run(LEFT, debate=left.debate, body=body)
    else:
        connection.run(DONE, debate=left.debate)


def _read(row: Any) -> Deletion:
    known = {"debate": row.debate, "community": row.community}
    return Deletion.model_validate(known | orjson.loads(row.body or "{}"))


def _left(debate: Debate, rows: Sequence[Any]) -> Deletion:
    """Return a debate's messages, the newest first, so that its card goes last."""
    return Deletion(
        debate=debate.id,
        community=debate.community,
        thread=debate.thread if debate.thread != debate.place else None,
        messages=tuple(_posted(debate, rows)),
    )


def _posted(debate: Debate, rows: Sequence[Any]) -> Iterator[Posted]:
    for row in rows:
        in_channel = row.kind in IN_CHANNEL_KINDS or row.key in IN_CHANNEL_KEYS
        if not in_channel and (row.kind in PRIVATE_KINDS or row.key in PRIVATE_KEYS):
            continue
        place = debate.place if in_channel else debate.thread or debate.place
        refs = reversed(orjson.loads(row.refs))
        yield from (Posted(place, ref) for ref in refs if ref)  # empty: it may not be there
