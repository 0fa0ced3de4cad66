"""What became of messages: deliveries that failed or wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.store.database import Database, SqlConnection
from engine.store.leases import Lease, guard
from engine.store.outbox import GAPS, DeliveryState, Intent, count_gaps, to_intent
from engine.values.language import to_stored
from engine.values.messages import MESSAGE, Message
from engine.values.ports import utc_now

NEWEST = """
SELECT outbox.*, debates.community, debates.place, debates.thread, debates.reason,
    debates.status, debates.stop, debates.read_at
FROM outbox JOIN debates ON debates.id = outbox.debate
WHERE debates.platform = :platform AND debates.community = :community
    AND outbox.key IN :keys AND outbox.state <> 'refused'
ORDER BY outbox.id DESC
LIMIT 1
"""
# What a format told after its last turn, each board as it stood last.
FOUND = """
SELECT message FROM outbox
WHERE debate = :debate AND kind IN ('report', 'scoreboard', 'arc') AND state <> 'held'
    AND number > (
        SELECT coalesce(max(number), 0) FROM outbox WHERE debate = :debate AND kind = 'turn'
    )
    AND NOT EXISTS (
        SELECT 1 FROM outbox AS newer
        WHERE newer.debate = :debate AND newer.number > outbox.number
            AND newer.target = coalesce(outbox.target, outbox.key)
    )
ORDER BY number
"""
REOPEN_REVEAL = """
UPDATE outbox
SET state = CASE WHEN deadline IS NULL THEN 'pending' ELSE 'sending' END, error = '',
    queued_at = :now
WHERE debate = :debate AND state = 'refused' AND key NOT IN ('reveal/channel', 'reveal/starter')
    AND number >= (SELECT number FROM outbox WHERE debate = :debate AND key = 'reveal')
"""
ABANDON = """
UPDATE outbox SET state = 'refused', error = :error
WHERE debate = :debate AND state IN ('pending', 'sending') AND kind <> 'alert'
    AND key NOT IN ('reveal/channel', 'reveal/starter')
"""
LOSE = """
UPDATE debates SET stop = :reason, reason = :reason, gone = TRUE
WHERE id = :debate AND status IN ('queued', 'running', 'voting')
"""
# Its reveal is posted elsewhere, and would name the models of a mirror whose vote is open.
END_VOTE = """
INSERT INTO questions (debate, question, step, extended, unread, closes_at)
SELECT id, 'vote', '', FALSE, FALSE, coalesce(
    (SELECT other.closes_at FROM questions AS other JOIN debates AS mirror
        ON mirror.id = other.debate
    WHERE mirror.id = debates.mirror AND mirror.status = 'voting' AND other.question = 'vote'),
    :now)
FROM debates WHERE id = :debate
ON CONFLICT (debate, question, step) DO UPDATE SET closes_at = excluded.closes_at
"""
# By platform: how many wait, and since when the oldest does.
BACKLOG = """
SELECT DISTINCT waiting.platform, waiting.messages, outbox.queued_at
FROM (
    SELECT platform, count(*) AS messages, min(queued_at) AS oldest
    FROM outbox WHERE state IN ('pending', 'sending') GROUP BY platform
) AS waiting
LEFT JOIN outbox ON outbox.state IN ('pending', 'sending')
    AND outbox.platform = waiting.platform AND outbox.queued_at = waiting.oldest
"""


class Deliveries:
    """What became of messages, beside those on their way."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def abandon(self, lease: Lease, debate_id: str, reason: str) -> None:
        """Give up a lost thread's undelivered messages; those for other places stay.

        A running debate is asked to stop, and an open vote is due at once.
        """

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(ABANDON, debate=debate_id, error=str(reason))
            if connection.run(LOSE, debate=debate_id, reason=to_stored(reason)):
                connection.run(END_VOTE, debate=debate_id, now=utc_now())
            count_gaps(connection, debate_id)

        await self._database.write(store)

    async def retry(self, lease: Lease, debate_id: str) -> None:
        """Queue again what a closed debate's thread refused: the reveal and what follows it."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(REOPEN_REVEAL, debate=debate_id, now=utc_now())
            count_gaps(connection, debate_id)

        await self._database.write(store)

    async def newest(self, platform: str, community: str, keys: Sequence[str]) -> Intent | None:
        """Return a community's newest message under one of these keys that was not refused."""
        where = {"platform": platform, "community": community, "keys": tuple(keys)}
        row = await self._database.first(NEWEST, **where)
        return row and to_intent(row)

    async def gaps(self, debate_id: str) -> tuple[tuple[str, DeliveryState, str], ...]:
        """Return, by their keys, the messages that are, or may be, missing in a thread, and why."""
        rows = await self._database.rows(GAPS, debate=debate_id)
        return tuple((row.key, DeliveryState(row.state), row.error) for row in rows)

    async def found(self, debate_id: str) -> tuple[Message, ...]:
        """Return what a debate's format told after the last turn: reports, boards, an arc."""
        rows = await self._database.column(FOUND, debate=debate_id)
        return tuple(MESSAGE.validate_json(row, extra="ignore") for row in rows)

    async def backlog(self) -> dict[str, tuple[int, datetime | None]]:
        """Return how many messages are not settled yet, and since when the oldest, by platform."""
        rows = await self._database.rows(BACKLOG)
        return {row.platform: (row.messages, row.queued_at) for row in rows}
