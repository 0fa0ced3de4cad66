"""When questions open and close: deadlines, extensions, and what stands at the close."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from adapters.storage.casting import Casting
from adapters.storage.connection import Connection
from adapters.storage.findings import insert_verdict
from adapters.storage.leases import guard
from adapters.storage.outbox import insert_posts, release
from adapters.storage.targets import Targets, accept
from adapters.storage.vote_log import VoteLog, find_log
from engine.judging import Question, VoteEvent
from engine.store import Closing, Lease, Post
from engine.store.pairs import LONGEST_WAIT

ALL = 2**31 - 1
ACCEPT = "UPDATE debates SET vote_message = :message WHERE id = :debate AND vote_message IS NULL"
OPEN = """
UPDATE debates SET vote_message = :message, vote_opened_at = :now, vote_deadline = :deadline
WHERE id = :debate AND vote_opened_at IS NULL
"""
EXTEND = """
UPDATE debates SET vote_deadline = :deadline, vote_extended = TRUE
WHERE id = :debate AND NOT vote_extended
"""
# Both votes of a mirrored pair have the later deadline, once both are open.
SHARE_DEADLINE = """
UPDATE debates SET vote_deadline = (
    SELECT other.vote_deadline FROM debates AS other WHERE other.id = debates.mirror
)
WHERE (id = :debate OR mirror = :debate) AND vote_deadline IS NOT NULL AND revealed_at IS NULL
    AND EXISTS (
        SELECT 1 FROM debates AS other
        WHERE other.id = debates.mirror AND other.vote_deadline > debates.vote_deadline
            AND other.revealed_at IS NULL
    )
"""
# Before `patience` nothing waits any more for the vote on a mirror that is still to come
# (engine/line/mirror.py, `awaits`); null: all is asked.
DEADLINES = """
SELECT id, vote_deadline FROM debates
WHERE status = 'voting' AND platform = :platform AND vote_deadline IS NOT NULL
    AND (place = :channel) IS NOT FALSE
    AND ((vote_deadline <= :patience) IS NOT FALSE OR NOT EXISTS (
        SELECT 1 FROM debates AS other
        WHERE other.id = debates.mirror AND (
            other.status IN ('queued', 'running')
            OR (other.status = 'voting' AND other.vote_deadline IS NULL)
        )
    ))
ORDER BY vote_deadline LIMIT :most
"""
OPEN_STANCE = """
UPDATE debates SET stance_deadline = :deadline WHERE id = :debate AND stance_deadline IS NULL
"""
CLOSE_STANCE = """
UPDATE debates SET stance_closed_at = :now WHERE id = :debate AND stance_closed_at IS NULL
"""
STANCES = """
SELECT id, stance_deadline FROM debates
WHERE status IN ('queued', 'running', 'voting') AND platform = :platform
    AND stance_deadline IS NOT NULL AND stance_closed_at IS NULL
    AND (place = :channel) IS NOT FALSE
ORDER BY stance_deadline
"""
OPEN_AGAIN = """
UPDATE targets SET deadline = :deadline
WHERE debate = :debate AND question = 'again' AND deadline IS NULL
"""
AGAINS = """
SELECT targets.debate, targets.deadline
FROM targets JOIN debates ON debates.id = targets.debate
WHERE targets.question = 'again' AND targets.closed_at IS NULL AND targets.platform = :platform
    AND targets.deadline IS NOT NULL AND (debates.place = :channel) IS NOT FALSE
ORDER BY targets.deadline
"""
CLOSE_TARGET = """
UPDATE targets SET closed_at = coalesce(closed_at, :now), unread = :unread
WHERE debate = :debate AND question = :question
"""
HELD_IN = """
SELECT id FROM debates
WHERE platform = :platform AND status IN ('queued', 'running', 'voting')
    AND (coalesce(thread, '') = :thread) IS NOT FALSE
    AND (community = :community) IS NOT FALSE
    AND (place = :channel) IS NOT FALSE
ORDER BY number
"""
CLOSE = """
UPDATE debates SET status = 'closed', revealed_at = :now, closed_early = :early
WHERE id = :debate AND status = 'voting'
"""
INSERT_VOTE = """
INSERT INTO votes (debate, person, question, body) VALUES (:debate, :person, :question, :body)
"""
MARK_UNREAD = """
UPDATE targets SET unread = TRUE WHERE debate = :debate AND question IN :questions
"""
TELL_MIRROR = """
UPDATE debates SET mirror_revealed_at = :now WHERE mirror = :debate AND revealed_at IS NULL
"""


class VoteTable(Casting, VoteLog, Targets):
    """The Votes part of the store: its logs, its messages, and when questions open and close."""

    async def accept(
        self, lease: Lease, debate_id: str, message: str, question: Question = Question.VOTE
    ) -> None:
        """Take answers on a posted message from now on; a deadline comes with `open`."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if question is not Question.VOTE or connection.run(
                ACCEPT, debate=debate_id, message=message
            ):
                accept(connection, debate_id, message, question)

        await self._database.write(store)

    async def open(
        self, lease: Lease, debate_id: str, message: str, now: datetime, deadline: datetime
    ) -> None:
        """Open a vote on a delivered message; a vote that is open stays as it is."""
        values = {"message": message, "now": now, "deadline": deadline}

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if connection.run(OPEN, debate=debate_id, **values):
                accept(connection, debate_id, message)
                connection.run(SHARE_DEADLINE, debate=debate_id)

        await self._database.write(store)

    async def extend(self, lease: Lease, debate_id: str, deadline: datetime, post: Post) -> None:
        """Move a vote's deadline, once; that of an open vote on its mirror is not before it."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if connection.run(EXTEND, debate=debate_id, deadline=deadline):
                insert_posts(connection, debate_id, [post])
                connection.run(SHARE_DEADLINE, debate=debate_id)

        await self._database.write(store)

    async def deadlines(
        self,
        platform: str,
        channel: str | None = None,
        limit: int | None = None,
        *,
        now: datetime | None = None,
    ) -> dict[str, datetime]:
        """Return when each open vote of a platform is due, the first due first.

        With `now` those are left out that wait for the vote on their mirror to open.
        """
        most, patience = ALL if limit is None else limit, now and now - LONGEST_WAIT
        where = {"platform": platform, "channel": channel}
        return dict(await self._database.rows(DEADLINES, patience=patience, most=most, **where))

    async def open_stance(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when the first stance is asked for; one that is open stays as it is."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.run(OPEN_STANCE, debate=debate_id, deadline=deadline)

        await self._database.write(store)

    async def stances(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the first stances that are asked for now are due, the first due first."""
        return dict(await self._database.rows(STANCES, platform=platform, channel=channel))

    async def close_stance(
        self, lease: Lease, debate_id: str, now: datetime, *, unread: bool = False
    ) -> None:
        """Take no more first stances; `unread`: their reactions could not be read."""
        shut = {"question": Question.STANCE_BEFORE, "now": now, "unread": unread}

        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.run(CLOSE_STANCE, debate=debate_id, now=now)
            connection.run(CLOSE_TARGET, debate=debate_id, **shut)

        await self._database.write(store)

    async def open_again(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when it is asked again; a question that has been opened stays as it is."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.run(OPEN_AGAIN, debate=debate_id, deadline=deadline)

        await self._database.write(store)

    async def agains(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the questions that ask again are due, the first due first."""
        return dict(await self._database.rows(AGAINS, platform=platform, channel=channel))

    async def close_again(
        self, lease: Lease, debate_id: str, now: datetime, *, unread: bool = False
    ) -> None:
        """Take no more answers on the message that asks again, as `close_stance` does."""
        shut = {"question": Question.AGAIN, "now": now, "unread": unread}

        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.run(CLOSE_TARGET, debate=debate_id, **shut)

        await self._database.write(store)

    async def held_in(
        self,
        platform: str,
        *,
        thread: str | None = None,
        community: str | None = None,
        channel: str | None = None,
    ) -> list[str]:
        """Return the debates that go on in a thread, in a community, or in a channel."""
        within = {"thread": thread, "community": community, "channel": channel}
        return await self._database.column(HELD_IN, platform=platform, **within)

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool,
        conclude: Callable[[tuple[VoteEvent, ...]], Closing],
    ) -> None:
        """Close a vote: store what `conclude` makes of all its logs, and reveal; at once."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if connection.run(CLOSE, debate=debate_id, now=now, early=early):
                closing = conclude(find_log(connection, debate_id))
                _conclude(connection, debate_id, now, closing)

        await self._database.write(store)


def _conclude(connection: Connection, debate_id: str, now: datetime, closing: Closing) -> None:
    for vote in closing.votes:
        stood = {"person": vote.person, "question": vote.question, "body": vote.model_dump_json()}
        connection.run(INSERT_VOTE, debate=debate_id, **stood)
    connection.run(MARK_UNREAD, debate=debate_id, questions=tuple(closing.unread))
    insert_posts(connection, debate_id, closing.posts)
    for judge, verdict in closing.verdicts.items():
        insert_verdict(connection, debate_id, judge, verdict)
    if closing.posts:  # none: its thread is gone
        connection.run(TELL_MIRROR, debate=debate_id, now=now)
        release(connection, debate_id)
    insert_posts(connection, debate_id, closing.last)
