"""The outbox: messages on their way to a thread, their frozen parts, the platform's references."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
from pydantic import ValidationError

from engine.store.database import Database, SqlConnection
from engine.store.leases import EVERYONE, Lease, Partition, guard, run_guarded, within
from engine.store.targets import OpenQuestion, Target, accept_thumbs
from engine.tally.questions import THUMBS
from engine.values.debate import BallotKind, Status, Value
from engine.values.language import StoredText
from engine.values.messages import MESSAGE, Message, TurnPost
from engine.values.ports import Part, utc_now
from engine.values.verdicts import Question


class Post(Value):
    """A message on its way to the outbox, under a key that is unique in its debate.

    `target` is the key of an earlier message that this one replaces; None for a new message.
    """

    key: str
    message: Message
    target: str | None = None


class DeliveryState(StrEnum):
    """The state of an outbox row."""

    HELD = "held"  # waits for the reveal
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DOUBTFUL = "doubtful"  # sent, never seen, and reading back is refused: left alone
    REFUSED = "refused"


class Intent(Value):
    """An outbox row: its message, the frozen parts, and how far they are posted.

    `refs` are the platform's message references of the parts posted so far; `sending` is
    set while the next part may be on its way, until `deadline`. `reason` is the debate's, at the
    time when this was read. It is posted when it is `due`: people may be reading
    the turn before it, in a debate that has not ended and was not asked to stop; None for at once.
    """

    id: int
    debate: str
    platform: str
    community: str
    channel: str
    thread: str | None
    number: int
    key: str
    message: Message
    target: str | None
    parts: tuple[Part, ...] | None
    refs: tuple[str, ...]
    state: DeliveryState
    deadline: datetime | None
    reason: StoredText
    due: datetime | None = None


PACED = (Status.RUNNING, Status.VOTING)  # once it has ended, nothing waits for its readers
LOCK_DEBATE = "SELECT id FROM debates WHERE id = :debate FOR NO KEY UPDATE"
# Appended to the debate's messages, once per key; a debate that no one watches has none.
INSERT_POST = """
INSERT INTO outbox (
    debate, platform, number, key, kind, target, message, refs, error, state, queued_at
)
SELECT
    id, platform, (SELECT coalesce(max(number), 0) + 1 FROM outbox WHERE debate = :debate),
    :key, :kind, :target, :message, '[]', '', :state,
    CASE WHEN coalesce(read_at > :now, FALSE) THEN read_at ELSE :now END
FROM debates WHERE id = :debate AND platform <> 'series'
ON CONFLICT DO NOTHING
"""
INSERT_INSTEAD = """
INSERT INTO outbox (debate, platform, number, key, kind, message, refs, error, state, queued_at)
VALUES (:debate, :platform, :number, :key, :kind, :message, '[]', '', 'pending', :now)
ON CONFLICT DO NOTHING
"""
# A replacement has its message's number and a higher id.
NEXT = """
SELECT outbox.*, debates.community, debates.place, debates.thread, debates.reason,
    debates.status, debates.stop, debates.read_at
FROM outbox JOIN debates ON debates.id = outbox.debate
WHERE outbox.debate = :debate AND outbox.state IN ('pending', 'sending')
ORDER BY outbox.number, outbox.id
LIMIT 1
"""
FIND = """
SELECT outbox.*, debates.community, debates.place, debates.thread, debates.reason,
    debates.status, debates.stop, debates.read_at
FROM outbox JOIN debates ON debates.id = outbox.debate
WHERE outbox.debate = :debate AND outbox.key = :key
"""
WAITING = """
SELECT DISTINCT outbox.debate
FROM outbox JOIN debates ON debates.id = outbox.debate
WHERE outbox.state IN ('pending', 'sending') AND outbox.platform = :platform
    AND (debates.place = :channel) IS NOT FALSE
    AND coalesce(debates.partition_key, 0) % :shares IN :held
    AND (coalesce(debates.read_at <= :now, TRUE) OR debates.stop IS NOT NULL
        OR debates.status NOT IN ('running', 'voting'))
"""
UNDELIVERED_TURNS = """
SELECT count(*) FROM outbox
WHERE debate = :debate AND state IN ('pending', 'sending') AND kind = 'turn'
"""
SENDING = """
UPDATE outbox SET parts = :parts, state = 'sending', deadline = :deadline
WHERE id = :id AND EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
"""
NO_LONGER_SENDING = """
UPDATE outbox SET refs = :refs, state = 'pending', deadline = NULL
WHERE id = :id AND EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
"""
SETTLE = """
UPDATE outbox SET refs = :refs, state = :state, error = :error, deadline = NULL
WHERE id = :id AND EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
"""
PACE = "UPDATE debates SET read_at = :read_at WHERE id = :debate"
# What waits for its readers is not late.
POSTPONE = """
UPDATE outbox SET queued_at = :read_at
WHERE debate = :debate AND state = 'pending' AND queued_at < :read_at
"""
# Messages that were, or may have been, missing when people were asked to vote.
GAPS = """
SELECT key, state, error FROM outbox
WHERE debate = :debate AND kind IN ('turn', 'report', 'scoreboard', 'arc')
    AND state IN ('refused', 'doubtful') AND target IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM outbox AS asked
        WHERE asked.debate = :debate AND asked.key = 'vote' AND asked.number <= outbox.number
    )
ORDER BY number
"""
COUNT_GAPS = "UPDATE debates SET gaps = :gaps WHERE id = :debate"
HELD = "SELECT id FROM outbox WHERE debate = :debate AND state = 'held' ORDER BY number"
RELEASE = """
UPDATE outbox SET state = 'pending', queued_at = :now,
    number = (SELECT max(number) + 1 FROM outbox WHERE debate = :debate)
WHERE id = :id
"""
UNREVEALED = """
SELECT debates.id FROM debates JOIN outbox ON outbox.debate = debates.id
WHERE debates.platform = :platform AND debates.revealed_at > :since
    AND debates.status = 'closed' AND NOT debates.gone
    AND outbox.key = 'reveal' AND outbox.state = 'refused'
    AND (coalesce(debates.thread, '') = :thread) IS NOT FALSE
    AND coalesce(debates.partition_key, 0) % :shares IN :held
"""
SET_THREAD = """
UPDATE debates SET thread = :thread, opened_at = coalesce(opened_at, :now) WHERE id = :debate
"""


def lock_debate(connection: SqlConnection, debate_id: str) -> None:
    """Let no other process number the debate's messages, count its gaps, or queue it again."""
    connection.lock(LOCK_DEBATE, debate=debate_id)


def insert_posts(
    connection: SqlConnection,
    debate_id: str,
    posts: Sequence[Post],
    state: DeliveryState = DeliveryState.PENDING,
) -> None:
    """Queue messages in order, once per key."""
    if posts:
        lock_debate(connection, debate_id)  # so that its messages are numbered one by one
    now = utc_now()
    for post in posts:
        connection.run(
            INSERT_POST,
            debate=debate_id,
            key=post.key,
            kind=post.message.kind,
            target=post.target,
            message=MESSAGE.dump_json(post.message).decode(),
            state=state,
            now=now,
        )


def _insert_instead(connection: SqlConnection, intent: Intent, post: Post) -> None:
    """Queue a message's replacement, before everything that follows it."""
    connection.run(
        INSERT_INSTEAD,
        debate=intent.debate,
        platform=intent.platform,
        number=intent.number,
        key=post.key,
        kind=post.message.kind,
        message=MESSAGE.dump_json(post.message).decode(),
        now=utc_now(),
    )
    count_gaps(connection, intent.debate)


def count_gaps(connection: SqlConnection, debate_id: str) -> None:
    """Store how many messages are, or may be, missing in a debate's thread."""
    lock_debate(connection, debate_id)
    gaps = len(connection.rows(GAPS, debate=debate_id))
    connection.run(COUNT_GAPS, debate=debate_id, gaps=gaps)


def insert_held(connection: SqlConnection, debate_id: str, posts: Sequence[Post]) -> None:
    """Hold messages back until the reveal, once per key."""
    insert_posts(connection, debate_id, posts, DeliveryState.HELD)


def release(connection: SqlConnection, debate_id: str) -> None:
    """Queue held messages in order, behind everything else."""
    lock_debate(connection, debate_id)
    now = utc_now()
    for intent in connection.column(HELD, debate=debate_id):
        connection.run(RELEASE, debate=debate_id, id=intent, now=now)


def to_intent(row: Any) -> Intent:
    """Return a message as it is stored."""
    parts = None
    if row.parts is not None:
        parts = tuple(Part.model_validate(one, extra="ignore") for one in orjson.loads(row.parts))
    return Intent(
        id=row.id,
        debate=row.debate,
        platform=row.platform,
        community=row.community,
        channel=row.place,
        thread=row.thread,
        number=row.number,
        key=row.key,
        message=MESSAGE.validate_json(row.message, extra="ignore"),  # of a newer version
        target=row.target,
        parts=parts,
        refs=tuple(orjson.loads(row.refs)),
        state=row.state,
        deadline=row.deadline,
        reason=row.reason,
        due=row.read_at if row.stop is None and row.status in PACED else None,
    )


def _thumbs_on(intent: Intent, ref: str) -> Target:
    return Target(
        debate=intent.debate,
        question=Question.TURN,
        platform=intent.platform,
        place=intent.thread or intent.channel,
        message=ref,
        ballot=BallotKind.OPEN,
        options=THUMBS,
        step=intent.key,
    )


def _next(rows: Sequence[Any]) -> Intent | None:
    """Return a debate's next message, of the rows that NEXT found."""
    if not rows:
        return None
    try:
        return to_intent(rows[0])
    except ValidationError:  # while a release is rolled out; it stays for a process that reads it
        of, key = rows[0].debate, rows[0].key
        import structlog  # only here: settings load this module at once

        structlog.get_logger(__name__).warning("message of a newer version", debate=of, post=key)
        return None


class Outbox:
    """The outbox: messages on their way to a thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def publish(self, lease: Lease, debate_id: str, posts: Sequence[Post]) -> None:
        """Queue messages; each key is queued once."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            insert_posts(connection, debate_id, posts)

        await self._database.write(store)

    async def waiting(
        self,
        platform: str,
        channel: str | None = None,
        *,
        served: Partition = EVERYONE,
        now: datetime | None = None,
    ) -> list[str]:
        """Return the debates with something due on a platform, or one channel of it."""
        where = {"platform": platform, "channel": channel, **within(served)}
        return await self._database.column(WAITING, now=now or utc_now(), **where)

    async def next(self, debate_id: str) -> Intent | None:
        """Return the first message of a debate that is not settled yet."""
        rows = await self._database.read_fast(NEXT, debate=debate_id)
        return _next(rows)

    async def undelivered_turns(self, debate_id: str) -> int:
        """Return how many turns are not settled yet."""
        [(undelivered,)] = await self._database.read_fast(UNDELIVERED_TURNS, debate=debate_id)
        return int(undelivered)

    async def sending(
        self, lease: Lease, intent: Intent, parts: Sequence[Part], deadline: datetime
    ) -> Intent:
        """Freeze the parts, and record that the next one is about to be sent."""
        body = orjson.dumps([part.model_dump() for part in parts]).decode()
        await self._change(lease, intent, SENDING, parts=body, deadline=deadline)
        frozen = {"parts": tuple(parts), "state": DeliveryState.SENDING, "deadline": deadline}
        return intent.model_copy(update=frozen)

    async def unsent(self, lease: Lease, intent: Intent) -> Intent:
        """Record that the part about to be sent was certainly not sent."""
        return await self._no_longer_sending(lease, intent, intent.refs)

    async def posted(self, lease: Lease, intent: Intent, ref: str) -> Intent:
        """Record the platform's reference of the part that was sent."""
        return await self._no_longer_sending(lease, intent, (*intent.refs, ref))

    async def _no_longer_sending(
        self, lease: Lease, intent: Intent, refs: tuple[str, ...]
    ) -> Intent:
        await self._change(lease, intent, NO_LONGER_SENDING, refs=orjson.dumps(refs).decode())
        pending = {"refs": refs, "state": DeliveryState.PENDING, "deadline": None}
        return intent.model_copy(update=pending)

    async def settle(
        self,
        lease: Lease,
        intent: Intent,
        state: DeliveryState,
        error: str = "",
        instead: Post | None = None,
        read_at: datetime | None = None,
    ) -> Intent | None:
        """Finish a message: sent, doubtful or refused. Returns the debate's next one.

        `instead` takes its place in the order and counts as a gap in the debate. What follows is
        due at `read_at`.
        """
        refs = orjson.dumps(intent.refs).decode()

        def store(connection: SqlConnection) -> Intent | None:
            run_guarded(
                connection, lease, SETTLE, id=intent.id, refs=refs, state=state, error=error
            )
            if isinstance(intent.message, TurnPost):
                thumbs = (_thumbs_on(intent, ref) for ref in filter(None, intent.refs))
                accept_thumbs(
                    connection, OpenQuestion(intent.debate, Question.TURN, intent.key), thumbs
                )
            if read_at is not None:
                for sql in (PACE, POSTPONE):
                    connection.run(sql, debate=intent.debate, read_at=read_at)
            if instead is not None:
                _insert_instead(connection, intent, instead)
            return _next(connection.rows(NEXT, debate=intent.debate))

        return await self._database.write(store)

    async def find(self, debate_id: str, key: str) -> Intent | None:
        """Return a debate's message in any state."""
        row = await self._database.first(FIND, debate=debate_id, key=key)
        return row and to_intent(row)

    async def set_thread(
        self, lease: Lease, debate_id: str, thread: str, now: datetime | None = None
    ) -> None:
        """Record a debate's thread and when it was opened; None means now."""
        values = {"thread": thread, "now": now or utc_now()}

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(SET_THREAD, debate=debate_id, **values)

        await self._database.write(store)

    async def unrevealed(
        self,
        platform: str,
        since: datetime,
        thread: str | None = None,
        *,
        served: Partition = EVERYONE,
    ) -> list[str]:
        """Return the debates closed since then whose thread refused the reveal."""
        where = {"platform": platform, "thread": thread, **within(served)}
        return await self._database.column(UNREVEALED, since=since, **where)

    async def _change(self, lease: Lease, intent: Intent, sql: str, **values: Any) -> None:
        await self._database.write(lambda c: run_guarded(c, lease, sql, id=intent.id, **values))
