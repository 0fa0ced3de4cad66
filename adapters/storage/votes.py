"""Votes: the append-only logs in order of receipt, and what stood at the close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import orjson
from sqlalchemy import (
    ColumnElement,
    Integer,
    Update,
    and_,
    bindparam,
    func,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.ballot_box import BallotBox
from adapters.storage.casting import append, press_one, read_log, revise_one
from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.findings import insert_verdict
from adapters.storage.leases import guard
from adapters.storage.outbox import IN_CHANNEL, insert_posts, release
from adapters.storage.people import barred, ensure_person, find_key
from adapters.storage.prepared import Prepared, one_of
from adapters.storage.tables import (
    Utc,
    debates,
    interventions,
    people,
    silences,
    targets,
    vote_events,
    votes,
)
from adapters.storage.targets import add_target, to_target
from engine.debate import BallotKind, Status
from engine.judging import Question, VoteEvent
from engine.store import (
    Cast,
    Closing,
    Intervention,
    Lease,
    Outcome,
    Post,
    Press,
    Pressed,
    Revision,
    Target,
)
from engine.store.pairs import LONGEST_WAIT
from engine.store.votes import NewEvent, Silences
from engine.votes.questions import options_of

GOING = (Status.QUEUED, Status.RUNNING, Status.VOTING)
ASKED = tuple(question for question in Question if question is not Question.TURN)
ALL = 2**31 - 1
_mirror = debates.alias()
# That the vote on a debate's mirror is still to come (engine/line/mirror.py, `awaits`).
_AWAITED = (
    select(_mirror.c.id)
    .where(_mirror.c.id == debates.c.mirror)
    .where(
        or_(
            one_of(_mirror.c.status, *(status for status in Status if status.live)),
            and_(_mirror.c.status == Status.VOTING, _mirror.c.vote_deadline.is_(None)),
        )
    )
    .exists()
)
_PATIENCE = bindparam("patience", type_=Utc)  # before it nothing waits any more; None: all is asked
DEADLINES = Prepared(
    select(debates.c.id, debates.c.vote_deadline)
    .where(debates.c.status == Status.VOTING, debates.c.platform == bindparam("on"))
    .where(debates.c.vote_deadline.is_not(None), IN_CHANNEL)
    .where(or_(_PATIENCE.is_(None), debates.c.vote_deadline <= _PATIENCE, not_(_AWAITED)))
    .order_by(debates.c.vote_deadline)
    .limit(bindparam("most", type_=Integer))
)
STANCES = Prepared(
    select(debates.c.id, debates.c.stance_deadline)
    .where(one_of(debates.c.status, *GOING), debates.c.platform == bindparam("on"))
    .where(debates.c.stance_deadline.is_not(None), debates.c.stance_closed_at.is_(None))
    .where(IN_CHANNEL)
    .order_by(debates.c.stance_deadline)
)
AGAINS = Prepared(
    select(targets.c.debate, targets.c.deadline)
    .join_from(targets, debates, targets.c.debate == debates.c.id)
    .where(targets.c.question == Question.AGAIN, targets.c.closed_at.is_(None))
    .where(targets.c.platform == bindparam("on"), targets.c.deadline.is_not(None))
    .where(IN_CHANNEL)
    .order_by(targets.c.deadline)
)
_OF_DEBATE = update(debates).where(debates.c.id == bindparam("of"))
ACCEPT = Prepared(_OF_DEBATE.where(debates.c.vote_message.is_(None)), ("vote_message",))
OPEN = Prepared(
    _OF_DEBATE.where(debates.c.vote_opened_at.is_(None)),
    ("vote_message", "vote_opened_at", "vote_deadline"),
)
# Both votes of a mirrored pair have the later deadline, once both are open.
SHARE_DEADLINE = Prepared(
    update(debates)
    .where(or_(debates.c.id == bindparam("of"), debates.c.mirror == bindparam("of")))
    .where(debates.c.vote_deadline.is_not(None), debates.c.revealed_at.is_(None))
    .where(
        select(_mirror.c.id)
        .where(_mirror.c.id == debates.c.mirror, _mirror.c.vote_deadline > debates.c.vote_deadline)
        .where(_mirror.c.revealed_at.is_(None))
        .exists(),
    )
    .values(
        vote_deadline=select(_mirror.c.vote_deadline)
        .where(_mirror.c.id == debates.c.mirror)
        .scalar_subquery()
    ),
    (),
)
LISTEN = Prepared(
    update(targets)
    .where(targets.c.platform == bindparam("on"), targets.c.place == bindparam("where"))
    .where(targets.c.message == bindparam("named"), targets.c.debate == bindparam("of")),
    ("closed_at",),
)
PLACES = Prepared(
    select(targets.c.place)
    .where(targets.c.platform == bindparam("on"), targets.c.message == bindparam("named"))
    .order_by(targets.c.place)
)
PLACE = Prepared(
    select(debates.c.platform, debates.c.place, debates.c.thread, debates.c.setup).where(
        debates.c.id == bindparam("of")
    )
)


def _log_of(target: Target) -> ColumnElement[bool]:
    return and_(
        targets.c.debate == target.debate,
        targets.c.question == target.question,
        targets.c.step == target.step,
    )


def _log(
    connection: Connection, debate_id: str, question: Question | None = None, step: str = ""
) -> tuple[VoteEvent, ...]:
    asked = vote_events.c.question == question if question else vote_events.c.question.in_(ASKED)
    query = select(vote_events).where(vote_events.c.debate == debate_id, asked)
    if step:
        query = query.where(vote_events.c.step == step)
    rows = connection.execute(query.order_by(vote_events.c.number))
    mirror = select(debates.c.mirror_revealed_at).where(debates.c.id == debate_id)
    return tuple(read_log(rows, connection.scalar(mirror)))


class VoteTable:
    """The Votes part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._box = BallotBox(database)

    async def accept(
        self, lease: Lease, debate_id: str, message: str, question: Question = Question.VOTE
    ) -> None:
        """Take answers on a posted message from now on; a deadline comes with `open`."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if question is not Question.VOTE:
                add_target(connection, _target(connection, debate_id, message, question))
            elif ACCEPT.run(connection, {"of": debate_id, "vote_message": message}):
                _listen(connection, debate_id, message)

        await self._database.write(store)

    async def open(
        self, lease: Lease, debate_id: str, message: str, now: datetime, deadline: datetime
    ) -> None:
        """Open a vote on a delivered message; a vote that is open stays as it is."""
        row = {"vote_message": message, "vote_opened_at": now, "vote_deadline": deadline}

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if OPEN.run(connection, row | {"of": debate_id}):
                _listen(connection, debate_id, message)
                SHARE_DEADLINE.run(connection, {"of": debate_id})

        await self._database.write(store)

    async def open_stance(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when the first stance is asked for; one that is open stays as it is."""
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.stance_deadline.is_(None))
            .values(stance_deadline=deadline)
        )
        await self._guarded(lease, statement)

    async def close_stance(
        self, lease: Lease, debate_id: str, now: datetime, *, unread: bool = False
    ) -> None:
        """Take no more first stances; `unread`: their reactions could not be read."""
        ended = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.stance_closed_at.is_(None))
            .values(stance_closed_at=now)
        )
        before = targets.c.question == Question.STANCE_BEFORE
        shut = (
            update(targets)
            .where(targets.c.debate == debate_id, before, targets.c.closed_at.is_(None))
            .values(closed_at=now)
        )
        marked = update(targets).where(targets.c.debate == debate_id, before)
        await self._guarded(lease, ended, shut, marked.values(unread=unread))

    async def open_again(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when it is asked again; a question that has been opened stays as it is."""
        opened = update(targets).where(_asks_again(debate_id), targets.c.deadline.is_(None))
        await self._guarded(lease, opened.values(deadline=deadline))

    async def agains(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the questions that ask again are due, the first due first."""
        rows = await self._database.fetch(AGAINS, {"on": platform, "channel": channel})
        return {row.debate: row.deadline for row in rows}

    async def close_again(
        self, lease: Lease, debate_id: str, now: datetime, *, unread: bool = False
    ) -> None:
        """Take no more answers on the message that asks again, as `close_stance` does."""
        shut = update(targets).where(_asks_again(debate_id), targets.c.closed_at.is_(None))
        marked = update(targets).where(_asks_again(debate_id)).values(unread=unread)
        await self._guarded(lease, shut.values(closed_at=now), marked)

    async def revise(self, revision: Revision) -> Pressed:
        """Keep what somebody answers after the reveal, in place of what they answered before."""
        return await self._database.write(lambda connection: revise_one(connection, revision))

    async def revised_by(self, platform: str, user: str, among: Sequence[str]) -> frozenset[str]:
        """Return those of some debates that somebody has answered after the reveal."""
        own = (people.c.platform == platform, people.c.user == user)
        query = (
            select(vote_events.c.debate)
            .join_from(vote_events, people, vote_events.c.person == people.c.id)
            .where(*own, vote_events.c.question == Question.AGAIN)
            .where(vote_events.c.debate.in_(among))
        )
        return await self._database.read(lambda c: frozenset(c.scalars(query)))

    async def target(self, platform: str, place: str, message: str) -> Target | None:
        """Return what a message asks, None for one that asks nothing."""
        query = select(targets).where(
            targets.c.platform == platform,
            targets.c.place == place,
            targets.c.message == message,
        )
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else to_target(row)

    async def places(self, platform: str, message: str) -> tuple[str, ...]:
        """Return where messages of this reference ask something."""
        rows = await self._database.fetch(PLACES, {"on": platform, "named": message})
        return tuple(row.place for row in rows)

    async def targets(self, debate_id: str, *questions: Question) -> tuple[Target, ...]:
        """Return the messages that ask one of these questions, those of a turn one after another.

        Without questions: all of the debate that ask something, which its turns do not.
        """
        asked = targets.c.question.in_(questions or ASKED)
        query = select(targets).where(targets.c.debate == debate_id, asked)
        query = query.order_by(targets.c.question.desc(), targets.c.step)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(to_target(row) for row in rows)

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the question of a message, in the order of receipt."""
        return await self._box.cast(cast)

    async def press(self, press: Press) -> Pressed:
        """Choose, or withdraw what was chosen when that is pressed again; at once."""
        return await self._database.write(lambda connection: press_one(connection, press))

    async def intervene(self, target: Target, intervention: Intervention) -> None:
        """Note what a moderator did; a message that was deleted takes no more answers."""
        frozen = (
            update(targets)
            .where(targets.c.platform == target.platform, targets.c.place == target.place)
            .where(targets.c.message == target.message, targets.c.closed_at.is_(None))
            .values(closed_at=intervention.at)
        )

        def store(connection: Connection) -> None:
            if intervention.act == "deleted" and not connection.execute(frozen).rowcount:
                return
            connection.execute(insert(interventions).values(intervention.model_dump()))

        await self._database.write(store)

    async def interventions(self, debate_id: str) -> tuple[Intervention, ...]:
        """Return what moderators did to a debate's messages, the first first."""
        query = select(interventions).where(interventions.c.debate == debate_id)
        query = query.order_by(interventions.c.number)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        fields = Intervention.model_fields
        return tuple(Intervention(**{name: getattr(row, name) for name in fields}) for row in rows)

    async def events(
        self, debate_id: str, question: Question | None = None
    ) -> tuple[VoteEvent, ...]:
        """Return a question's log, or those of all but thumbs, in the order of receipt."""
        return await self._database.read(lambda connection: _log(connection, debate_id, question))

    async def people(self, platform: str, users: Sequence[str]) -> dict[str, int]:
        """Return surrogate ids of platform users, making those that are new.

        Whoever was forgotten is left out.
        """

        def ensure(connection: Connection) -> dict[str, int]:
            key = find_key(connection)
            found = {user: ensure_person(connection, platform, user, key) for user in users}
            return {user: person.id for user, person in found.items() if person is not None}

        return await self._database.write(ensure)

    async def recover(
        self,
        lease: Lease,
        target: Target,
        find: Callable[[tuple[VoteEvent, ...]], Sequence[NewEvent]],
        now: datetime,
        late: bool,
        *,
        read_at: datetime | None = None,
    ) -> int:
        """Append what `find` makes of the log and a reading, at once; return how many events.

        Nothing is appended of somebody who was forgotten, nor taken back.
        """

        def store(connection: Connection) -> int:
            guard(connection, lease)
            events = find(_log(connection, target.debate, target.question, target.step))
            out = barred(connection, target.debate, {event.person for event in events})
            found = [event for event in events if event.person not in out]
            for event in found:
                row = {
                    "debate": target.debate,
                    "person": event.person,
                    "option": event.option,
                    "added": event.added,
                    "how": event.how,
                    "received_at": now,
                    "heard_from": event.heard_from,
                    "newer_since": event.newer_since,
                    "read_at": read_at,
                    "late_seen": late and event.added,
                    "question": target.question,
                    "step": target.step,
                }
                append(connection, row)
            if read_at is not None:
                connection.execute(update(targets).where(_log_of(target)).values(read_at=read_at))
            return len(found)

        return await self._database.write(store)

    async def hear_again(self, platform: str, now: datetime) -> None:
        """Note that what happened until now may not have been told, and is told from now on."""
        noted = insert(silences).values(platform=platform, ended_at=now)
        await self._database.write(lambda connection: connection.execute(noted))

    async def silences(self, target: Target) -> Silences:
        """Return when answers to a target's question, or its turn, can have been missed."""
        read = select(func.min(targets.c.read_at)).where(_log_of(target))
        since = select(func.min(silences.c.ended_at), func.max(silences.c.ended_at))
        since = since.where(silences.c.platform == target.platform)

        def look(connection: Connection) -> Silences:
            read_at = connection.scalar(read)
            missed = since if read_at is None else since.where(silences.c.ended_at > read_at)
            first, last = connection.execute(missed).one()
            return Silences(read_at=read_at, first_ended=first, last_ended=last)

        return await self._database.read(look)

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
        values = {
            "on": platform,
            "channel": channel,
            "most": ALL if limit is None else limit,
            "patience": now and now - LONGEST_WAIT,
        }
        rows = await self._database.fetch(DEADLINES, values)
        return {row.id: row.vote_deadline for row in rows}

    async def stances(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the first stances that are asked for now are due, the first due first."""
        rows = await self._database.fetch(STANCES, {"on": platform, "channel": channel})
        return {row.id: row.stance_deadline for row in rows}

    async def held_in(
        self,
        platform: str,
        *,
        thread: str | None = None,
        community: str | None = None,
        channel: str | None = None,
    ) -> list[str]:
        """Return the debates that go on in a thread, in a community, or in a channel."""
        query = (
            select(debates.c.id)
            .where(debates.c.platform == platform, debates.c.status.in_(GOING))
            .order_by(debates.c.number)
        )
        kept = (
            (debates.c.thread, thread),
            (debates.c.community, community),
            (debates.c.place, channel),
        )
        for column, value in kept:
            if value is not None:
                query = query.where(column == value)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def extend(self, lease: Lease, debate_id: str, deadline: datetime, post: Post) -> None:
        """Move a vote's deadline, once; that of an open vote on its mirror is not before it."""
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.vote_extended.is_(False))
            .values(vote_deadline=deadline, vote_extended=True)
        )

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if connection.execute(statement).rowcount:
                insert_posts(connection, debate_id, [post])
                SHARE_DEADLINE.run(connection, {"of": debate_id})

        await self._database.write(store)

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool,
        conclude: Callable[[tuple[VoteEvent, ...]], Closing],
    ) -> None:
        """Close a vote: store what `conclude` makes of all its logs, and reveal; at once."""
        ended = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.status == Status.VOTING)
            .values(status=Status.CLOSED, revealed_at=now, closed_early=early)
        )
        mirrored = (
            update(debates)
            .where(debates.c.mirror == debate_id, debates.c.revealed_at.is_(None))
            .values(mirror_revealed_at=now)
        )

        def store(connection: Connection) -> None:
            guard(connection, lease)
            if not connection.execute(ended).rowcount:
                return
            closing = conclude(_log(connection, debate_id))
            rows = [
                {
                    "debate": debate_id,
                    "person": vote.person,
                    "question": vote.question,
                    "body": vote.model_dump_json(),
                }
                for vote in closing.votes
            ]
            if rows:
                connection.execute(insert(votes), rows)
            of_these = targets.c.question.in_(closing.unread)
            marked = update(targets).where(targets.c.debate == debate_id, of_these)
            connection.execute(marked.values(unread=True))
            insert_posts(connection, debate_id, closing.posts)
            for judge, verdict in closing.verdicts.items():
                insert_verdict(connection, debate_id, judge, verdict)
            if closing.posts:  # none: its thread is gone
                connection.execute(mirrored)
                release(connection, debate_id)
            insert_posts(connection, debate_id, closing.last)

        await self._database.write(store)

    async def _guarded(self, lease: Lease, *statements: Update) -> None:
        def store(connection: Connection) -> None:
            guard(connection, lease)
            for statement in statements:
                connection.execute(statement)

        await self._database.write(store)


def _asks_again(debate_id: str) -> ColumnElement[bool]:
    return and_(targets.c.debate == debate_id, targets.c.question == Question.AGAIN)


def _listen(connection: Connection, debate_id: str, message: str) -> None:
    """Take votes on a message, also on one that was lost with its thread and came back."""
    target = _target(connection, debate_id, message, Question.VOTE)
    add_target(connection, target)
    key = {"on": target.platform, "where": target.place, "named": message}
    LISTEN.run(connection, key | {"of": debate_id, "closed_at": None})


def _target(connection: Connection, debate_id: str, message: str, question: Question) -> Target:
    [row] = PLACE.rows(connection, {"of": debate_id})
    request = orjson.loads(row.setup)["request"]
    return Target(
        debate=debate_id,
        question=question,
        platform=row.platform,
        place=row.thread or row.place,
        message=message,
        ballot=BallotKind(request["ballot"]),
        options=options_of(question, tuple(request["sides"])),
    )
