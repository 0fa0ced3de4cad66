"""Votes: the append-only log in order of receipt, and what stood at the close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, Update, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.database import Database
from adapters.storage.debates import ensure_person
from adapters.storage.leases import guard
from adapters.storage.outbox import in_channel, insert_posts
from adapters.storage.tables import debates, vote_events, votes
from engine.debate import Status, VoteEvent
from engine.store import Cast, Closing, Lease, Post
from engine.votes.recovery import NewEvent

Outcome = Literal["stored", "duplicate", "closed", "unknown"]

# Statements of the hot path are built once: that costs twice what running them does.
FIND_VOTE = select(debates.c.id, debates.c.revealed_at).where(
    debates.c.platform == bindparam("on"),
    debates.c.vote_message == bindparam("message"),
    debates.c.thread == bindparam("place"),
)
COUNT_OTHERS = select(func.count(vote_events.c.person.distinct())).where(
    vote_events.c.debate == bindparam("of"), vote_events.c.person != bindparam("besides")
)
INSERT_EVENT = insert(vote_events).on_conflict_do_nothing()


def _to_event(row: Row[Any]) -> VoteEvent:
    return VoteEvent(**{name: getattr(row, name) for name in VoteEvent.model_fields})


def _log(connection: Connection, debate_id: str) -> tuple[VoteEvent, ...]:
    query = (
        select(vote_events).where(vote_events.c.debate == debate_id).order_by(vote_events.c.number)
    )
    return tuple(_to_event(row) for row in connection.execute(query))


class VoteTable:
    """The Votes part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, lease: Lease, debate_id: str, message: str) -> None:
        """Take votes on a posted message from now on; its deadline comes with `open`."""
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.vote_message.is_(None))
            .values(vote_message=message)
        )
        await self._guarded(lease, statement)

    async def open(
        self, lease: Lease, debate_id: str, message: str, now: datetime, deadline: datetime
    ) -> None:
        """Open a vote on a delivered message; a vote that is open stays as it is."""
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.vote_opened_at.is_(None))
            .values(vote_message=message, vote_opened_at=now, vote_deadline=deadline)
        )
        await self._guarded(lease, statement)

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the vote of a message, in the order of receipt."""
        return await self._database.write(lambda connection: _cast(connection, cast))

    async def events(self, debate_id: str) -> tuple[VoteEvent, ...]:
        """Return a debate's log, in the order of receipt."""
        return await self._database.read(lambda connection: _log(connection, debate_id))

    async def people(self, platform: str, users: Sequence[str]) -> dict[str, int]:
        """Return surrogate ids of platform users, making those that are new."""

        def ensure(connection: Connection) -> dict[str, int]:
            return {user: ensure_person(connection, platform, user) for user in users}

        return await self._database.write(ensure)

    async def recover(
        self,
        lease: Lease,
        debate_id: str,
        find: Callable[[tuple[VoteEvent, ...]], Sequence[NewEvent]],
        now: datetime,
        late: bool,
    ) -> int:
        """Append what `find` makes of the log and a reading, at once; return how many events."""

        def store(connection: Connection) -> int:
            guard(connection, lease)
            found = find(_log(connection, debate_id))
            for event in found:
                _append(
                    connection,
                    debate_id,
                    person=event.person,
                    option=event.option,
                    added=event.added,
                    how=event.how,
                    received_at=now,
                    late_seen=late and event.added,
                )
            return len(found)

        return await self._database.write(store)

    async def deadlines(
        self, platform: str, channel: str | None = None, limit: int | None = None
    ) -> dict[str, datetime]:
        """Return when each open vote of a platform is due, the first due first."""
        query = (
            select(debates.c.id, debates.c.vote_deadline)
            .where(debates.c.status == Status.VOTING, debates.c.platform == platform)
            .where(debates.c.vote_deadline.is_not(None), in_channel(channel))
            .order_by(debates.c.vote_deadline)
            .limit(limit)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {row.id: row.vote_deadline for row in rows}

    async def extend(self, lease: Lease, debate_id: str, deadline: datetime, post: Post) -> None:
        """Move a vote's deadline, once."""
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.vote_extended.is_(False))
            .values(vote_deadline=deadline, vote_extended=True)
        )

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if connection.execute(statement).rowcount:
                insert_posts(connection, debate_id, [post])

        await self._database.write(store)

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool,
        conclude: Callable[[tuple[VoteEvent, ...]], Closing],
    ) -> None:
        """Close a vote: read its log, store what `conclude` makes of it, and reveal; at once."""
        ended = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.status == Status.VOTING)
            .values(status=Status.CLOSED, revealed_at=now, closed_early=early)
        )

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if not connection.execute(ended).rowcount:
                return
            closing = conclude(_log(connection, debate_id))
            rows = [
                {"debate": debate_id, "person": vote.person, "body": vote.model_dump_json()}
                for vote in closing.votes
            ]
            if rows:
                connection.execute(insert(votes), rows)
            insert_posts(connection, debate_id, closing.posts)

        await self._database.write(store)

    async def _guarded(self, lease: Lease, statement: Update) -> None:
        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.execute(statement)

        await self._database.write(store)


def _cast(connection: Connection, cast: Cast) -> Outcome:
    message = {"on": cast.platform, "message": cast.message, "place": cast.place}
    found = connection.execute(FIND_VOTE, message).first()
    if found is None:
        return "unknown"
    if found.revealed_at is not None:
        return "closed"
    person = ensure_person(connection, cast.platform, cast.user)
    event = cast.model_dump(include={"option", "added", "how", "event", "received_at"})
    return _append(connection, found.id, person=person, **event)


def _append(connection: Connection, debate_id: str, **event: Any) -> Outcome:
    seen = connection.scalar(COUNT_OTHERS, {"of": debate_id, "besides": event["person"]}) or 0
    row = {"debate": debate_id, "votes_seen_before": seen, **event}
    stored = connection.execute(INSERT_EVENT, row).rowcount
    return "stored" if stored else "duplicate"
