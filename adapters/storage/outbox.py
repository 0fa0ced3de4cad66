"""The outbox: messages, the parts they were frozen into, and what the platform answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, bindparam, case, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.leases import NEWEST, change_guarded, guard
from adapters.storage.prepared import Prepared, one_of
from adapters.storage.tables import Utc, debates, outbox
from adapters.storage.targets import add_target
from engine.debate import BallotKind, Status
from engine.delivery.ending import CHANNEL_REVEAL, REVEAL, STARTER_REVEAL
from engine.judging import Question
from engine.messages import MESSAGE, TurnPost
from engine.ports import Part, utc_now
from engine.store import DeliveryState, Gap, Intent, Lease, Post, Target
from engine.votes.questions import THUMBS

IS_OPEN = one_of(outbox.c.state, DeliveryState.PENDING, DeliveryState.SENDING)

_earlier = outbox.alias()
INSERT_POST = Prepared(
    insert(outbox)
    .values(
        platform=select(debates.c.platform)
        .where(debates.c.id == bindparam("of"))
        .scalar_subquery(),
        number=select(func.coalesce(func.max(_earlier.c.number), 0) + 1)
        .where(_earlier.c.debate == bindparam("of"))
        .scalar_subquery(),
    )
    .on_conflict_do_nothing(),
    ("debate", "key", "kind", "target", "message", "refs", "error", "state"),
)
_OF_DEBATE = (
    select(outbox, debates.c.place, debates.c.thread)
    .join_from(outbox, debates, outbox.c.debate == debates.c.id)
    .where(outbox.c.debate == bindparam("of"))
)
# What stands in for a message has its number, and came after it.
NEXT = Prepared(_OF_DEBATE.where(IS_OPEN).order_by(outbox.c.number, outbox.c.id).limit(1))
FIND = Prepared(_OF_DEBATE.where(outbox.c.key == bindparam("named")))
UNDELIVERED = Prepared(
    select(func.count().label("turns"))
    .select_from(outbox)
    .where(outbox.c.debate == bindparam("of"), IS_OPEN, outbox.c.kind == "turn")
)
_CHANGE = update(outbox).where(outbox.c.id == bindparam("intent"), NEWEST)
SENDING = Prepared(_CHANGE, ("parts", "state", "deadline"))
POSTED = Prepared(_CHANGE, ("refs", "state", "deadline"))
SETTLED = Prepared(_CHANGE, ("refs", "state", "deadline", "error"))


CONTENT = ("turn", "report", "scoreboard", "arc")
_vote_asked = outbox.alias()
_missing = outbox.alias()
# What people could not read before they were asked to vote, or may not have.
GAPS = Prepared(
    select(_missing.c.key, _missing.c.state, _missing.c.error)
    .where(_missing.c.debate == bindparam("of"), one_of(_missing.c.kind, *CONTENT))
    .where(one_of(_missing.c.state, DeliveryState.REFUSED, DeliveryState.DOUBTFUL))
    .where(
        _missing.c.target.is_(None),
        _missing.c.number
        < func.coalesce(
            select(_vote_asked.c.number)
            .where(_vote_asked.c.debate == bindparam("of"), _vote_asked.c.key == "vote")
            .scalar_subquery(),
            2**31 - 1,
        ),
    )
    .order_by(_missing.c.number)
)
COUNT_GAPS = Prepared(update(debates).where(debates.c.id == bindparam("of")), ("gaps",))
INSERT_INSTEAD = Prepared(
    insert(outbox).on_conflict_do_nothing(),
    (
        *("debate", "platform", "number", "key", "kind", "target"),
        *("message", "refs", "error", "state"),
    ),
)


_CHANNEL = bindparam("channel", type_=debates.c.place.type)
# That a debate is held in the channel given; None: in any.
IN_CHANNEL = or_(_CHANNEL.is_(None), debates.c.place == _CHANNEL)
WAITING = Prepared(
    select(outbox.c.debate)
    .join_from(outbox, debates, outbox.c.debate == debates.c.id)
    .where(IS_OPEN, outbox.c.platform == bindparam("on"), IN_CHANNEL)
    .distinct()
)
SET_THREAD = Prepared(
    update(debates)
    .where(debates.c.id == bindparam("of"))
    .values(opened_at=func.coalesce(debates.c.opened_at, bindparam("now", type_=Utc))),
    ("thread",),
)


def insert_posts(
    connection: Connection,
    debate_id: str,
    posts: Sequence[Post],
    state: DeliveryState = DeliveryState.PENDING,
) -> None:
    """Queue messages in their order, once for each key."""
    for post in posts:
        row = {
            "of": debate_id,
            "debate": debate_id,
            "key": post.key,
            "kind": post.message.kind,
            "target": post.target,
            "message": MESSAGE.dump_json(post.message).decode(),
            "refs": "[]",
            "error": "",
            "state": state,
        }
        INSERT_POST.run(connection, row)


def insert_instead(connection: Connection, intent: Intent, post: Post) -> None:
    """Queue what stands in a message's place, before all that follows it."""
    row = {
        "debate": intent.debate,
        "platform": intent.platform,
        "number": intent.number,
        "key": post.key,
        "kind": post.message.kind,
        "target": None,
        "message": MESSAGE.dump_json(post.message).decode(),
        "refs": "[]",
        "error": "",
        "state": DeliveryState.PENDING,
    }
    INSERT_INSTEAD.run(connection, row)


def count_gaps(connection: Connection, debate_id: str) -> None:
    """Write down how much of a debate is missing in its thread, or may be."""
    gaps = len(GAPS.rows(connection, {"of": debate_id}))
    COUNT_GAPS.run(connection, {"of": debate_id, "gaps": gaps})


def insert_held(connection: Connection, debate_id: str, posts: Sequence[Post]) -> None:
    """Keep messages back until the reveal, once for each key."""
    insert_posts(connection, debate_id, posts, DeliveryState.HELD)


def release(connection: Connection, debate_id: str) -> None:
    """Queue what was held back, behind everything else and in the order it was kept."""
    held = select(outbox.c.id).where(
        outbox.c.debate == debate_id, outbox.c.state == DeliveryState.HELD
    )
    for intent in connection.scalars(held.order_by(outbox.c.number)).all():
        last = select(func.max(_earlier.c.number)).where(_earlier.c.debate == debate_id)
        number = (connection.scalar(last) or 0) + 1
        connection.execute(
            update(outbox)
            .where(outbox.c.id == intent)
            .values(number=number, state=DeliveryState.PENDING)
        )


def reopen(connection: Connection, debate_id: str, *among: ColumnElement[bool]) -> None:
    """Queue again what was given up with a thread; what may have been sent is in doubt again."""
    doubtful = outbox.c.deadline.is_not(None)
    state = case((doubtful, DeliveryState.SENDING), else_=DeliveryState.PENDING)
    refused = outbox.c.state == DeliveryState.REFUSED
    connection.execute(
        update(outbox)
        .where(outbox.c.debate == debate_id, refused, *among)
        .values(state=state, error="")
    )
    count_gaps(connection, debate_id)


def _to_intent(row: Any) -> Intent:
    parts = None
    if row.parts is not None:
        parts = tuple(Part.model_validate(part) for part in orjson.loads(row.parts))
    return Intent(
        id=row.id,
        debate=row.debate,
        platform=row.platform,
        channel=row.place,
        thread=row.thread,
        number=row.number,
        key=row.key,
        message=MESSAGE.validate_json(row.message),
        target=row.target,
        parts=parts,
        refs=tuple(orjson.loads(row.refs)),
        state=row.state,
        deadline=row.deadline,
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


def _first(rows: Sequence[Any]) -> Intent | None:
    return _to_intent(rows[0]) if rows else None


class OutboxTable:
    """The Outbox part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def publish(self, lease: Lease, debate_id: str, posts: Sequence[Post]) -> None:
        """Queue messages, once for each key."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            insert_posts(connection, debate_id, posts)

        await self._database.write(store)

    async def waiting(self, platform: str, channel: str | None = None) -> list[str]:
        """Return the debates with something to deliver on a platform, or one channel of it."""
        rows = await self._database.fetch(WAITING, {"on": platform, "channel": channel})
        return [row.debate for row in rows]

    async def next(self, debate_id: str) -> Intent | None:
        """Return the first message of a debate that is not settled yet."""
        # A read among the writes shares their trip to the thread, which is most of what it costs.
        return await self._database.write(
            lambda connection: _first(NEXT.rows(connection, {"of": debate_id}))
        )

    async def undelivered_turns(self, debate_id: str) -> int:
        """Return how many turns are not settled yet."""
        [row] = await self._database.fetch(UNDELIVERED, {"of": debate_id})
        return int(row.turns)

    async def sending(
        self, lease: Lease, intent: Intent, parts: Sequence[Part], deadline: datetime
    ) -> Intent:
        """Freeze the parts, and note that the next one is about to be sent."""
        body = orjson.dumps([part.model_dump() for part in parts]).decode()
        state = DeliveryState.SENDING
        await self._change(lease, intent, SENDING, parts=body, state=state, deadline=deadline)
        return intent.model_copy(
            update={"parts": tuple(parts), "state": state, "deadline": deadline}
        )

    async def unsent(self, lease: Lease, intent: Intent) -> Intent:
        """Note that the part that was about to be sent surely was not."""
        return await self._no_longer_sending(lease, intent, intent.refs)

    async def posted(self, lease: Lease, intent: Intent, ref: str) -> Intent:
        """Note the platform's reference of the part that was being sent."""
        return await self._no_longer_sending(lease, intent, (*intent.refs, ref))

    async def _no_longer_sending(
        self, lease: Lease, intent: Intent, refs: tuple[str, ...]
    ) -> Intent:
        state = DeliveryState.PENDING
        known = orjson.dumps(refs).decode()
        await self._change(lease, intent, POSTED, refs=known, state=state, deadline=None)
        return intent.model_copy(update={"refs": refs, "state": state, "deadline": None})

    async def settle(
        self,
        lease: Lease,
        intent: Intent,
        state: DeliveryState,
        error: str = "",
        instead: Post | None = None,
    ) -> Intent | None:
        """Finish a message: sent, doubtful or refused. Returns the debate's next one.

        `instead` takes its place, before all that follows; then the debate has one more gap.
        """
        values = {
            "intent": intent.id,
            "state": state,
            "error": error,
            "refs": orjson.dumps(intent.refs).decode(),
            "deadline": None,
        }

        def store(connection: Connection) -> Intent | None:
            change_guarded(connection, lease, SETTLED, values)
            if isinstance(intent.message, TurnPost):
                for ref in filter(None, intent.refs):
                    add_target(connection, _thumbs_on(intent, ref))
            if instead is not None:
                insert_instead(connection, intent, instead)
                count_gaps(connection, intent.debate)
            return _first(NEXT.rows(connection, {"of": intent.debate}))

        return await self._database.write(store)

    async def find(self, debate_id: str, key: str) -> Intent | None:
        """Return a debate's message, whatever has become of it."""
        return _first(await self._database.fetch(FIND, {"of": debate_id, "named": key}))

    async def gaps(self, debate_id: str) -> tuple[Gap, ...]:
        """Return what is missing of a debate in its thread, or may be, in order."""
        rows = await self._database.fetch(GAPS, {"of": debate_id})
        return tuple(Gap(key=row.key, state=row.state, error=row.error) for row in rows)

    async def set_thread(
        self, lease: Lease, debate_id: str, thread: str, now: datetime | None = None
    ) -> None:
        """Note the thread that a debate is held in, and since when; None: the machine's time."""
        values = {"of": debate_id, "thread": thread, "now": now or utc_now()}

        def store(connection: Connection) -> None:
            guard(connection, lease)
            SET_THREAD.run(connection, values)

        await self._database.write(store)

    async def unrevealed(
        self, platform: str, since: datetime, thread: str | None = None
    ) -> list[str]:
        """Return the debates closed since then whose reveal its thread did not take."""
        query = (
            select(debates.c.id)
            .join(outbox, outbox.c.debate == debates.c.id)
            .where(debates.c.platform == platform, debates.c.revealed_at > since)
            .where(outbox.c.key == REVEAL, outbox.c.state == DeliveryState.REFUSED)
            .where(debates.c.status == Status.CLOSED, debates.c.gone.is_(False))
        )
        if thread is not None:
            query = query.where(debates.c.thread == thread)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def retry(self, lease: Lease, debate_id: str) -> None:
        """Queue again what a closed debate's thread did not take: its reveal and what follows."""
        first = (
            select(_earlier.c.number)
            .where(_earlier.c.debate == debate_id, _earlier.c.key == REVEAL)
            .scalar_subquery()
        )
        kept = (
            outbox.c.debate == debate_id,
            outbox.c.number >= first,
            outbox.c.key.not_in((CHANNEL_REVEAL, STARTER_REVEAL)),
        )

        def store(connection: Connection) -> None:
            guard(connection, lease)
            reopen(connection, debate_id, *kept)

        await self._database.write(store)

    async def abandon(self, lease: Lease, debate_id: str, reason: str) -> None:
        """Give up everything undelivered, as the thread is gone, but what goes elsewhere."""
        undelivered = (
            update(outbox)
            .where(outbox.c.debate == debate_id, IS_OPEN)
            .where(outbox.c.key.not_in((CHANNEL_REVEAL, STARTER_REVEAL)))
            .values(state=DeliveryState.REFUSED, error=reason)
        )
        going = [Status.QUEUED, Status.RUNNING, Status.VOTING]
        lost = update(debates).where(debates.c.id == debate_id, debates.c.status.in_(going))
        mirror = debates.alias()
        # Its reveal is given elsewhere, and would name the models of a mirror that is voted on.
        open_still = (
            select(mirror.c.vote_deadline)
            .where(mirror.c.id == debates.c.mirror, mirror.c.status == Status.VOTING)
            .scalar_subquery()
        )
        due = func.coalesce(open_still, bindparam("now", utc_now(), Utc))

        def store(connection: Connection) -> None:
            guard(connection, lease)
            connection.execute(undelivered)
            connection.execute(
                lost.values(stop=reason, reason=reason, gone=True, vote_deadline=due)
            )
            count_gaps(connection, debate_id)

        await self._database.write(store)

    async def _change(
        self, lease: Lease, intent: Intent, statement: Prepared, **values: Any
    ) -> None:
        def store(connection: Connection) -> None:
            change_guarded(connection, lease, statement, {"intent": intent.id} | values)

        await self._database.write(store)
