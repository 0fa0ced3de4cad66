"""When questions open and close, what is answered, and what stands at the close.

The votes of a debate and of its mirror end together, at the later deadline: the first reveal names
the models of both, so later choices on the other debate are no labels (`Vote.mirror_revealed`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from pydantic import SkipValidation

from engine.store.database import Database, SqlConnection
from engine.store.debates import note_result
from engine.store.journal import insert_verdict
from engine.store.leases import EVERYONE, Lease, Partition, guard, within
from engine.store.outbox import Post, insert_posts, release
from engine.store.people import ensure_person, find_key
from engine.store.targets import (
    ACCEPT,
    ASKED,
    FIND,
    GONE,
    LEFT,
    OF_DEBATE,
    PLACES,
    OpenQuestion,
    Target,
    accept,
    find_question,
    let_seeds_go,
    to_target,
)
from engine.store.vote_log import Outcome, VoteLog, append_all, find_log
from engine.tally.questions import KINDS
from engine.values.debate import Debate, Status, Value
from engine.values.verdicts import REVEALED, How, Log, Question, Verdict, Vote, VoteEvent, Withheld

LONGEST_WAIT = timedelta(hours=24)
"""How long a vote stays open past its deadline until the mirror's vote opens.

From then on both have the mirror's deadline, so nothing waits for ever.
"""


def awaits(debate: Debate, mirror: Debate | None, now: datetime) -> bool:
    """Return whether an open vote waits for its mirror's to open; the store has the same in SQL.

    This includes a vote whose thread is gone, as its reveal is posted elsewhere.
    """
    if mirror is None or debate.vote_deadline is None:
        return False
    to_come = mirror.status.live or (
        mirror.status is Status.VOTING and mirror.vote_deadline is None
    )
    return to_come and now < debate.vote_deadline + LONGEST_WAIT


def closes_with(debate: Debate, mirror: Debate | None) -> bool:
    """Return whether both votes are open, so that they close together."""
    return mirror is not None and all(
        one.status is Status.VOTING and one.vote_deadline is not None for one in (debate, mirror)
    )


def tied(debate: Debate, mirror: Debate, now: datetime) -> bool:
    """Return whether an open vote ends together with its mirror's."""
    return debate.status is Status.VOTING and (
        closes_with(debate, mirror) or awaits(debate, mirror, now)
    )


class Closing(Value):
    """How a question ends: the standing votes, what to say about it, what stances decided.

    `last` is queued behind what was held back until the reveal; `unread` are the logs whose
    reactions could not be read. `said` is what a person wrote for their turn, and
    `withheld` why something that they wrote is not.
    """

    votes: SkipValidation[tuple[Vote, ...]] = ()
    posts: tuple[Post, ...] = ()
    last: tuple[Post, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    unread: frozenset[Log] = frozenset()
    said: str = ""
    withheld: Withheld = ""


Conclude = Callable[[tuple[VoteEvent, ...]], Closing]
"""What a question ends with, given its log; the vote's has every log but those of thumbs."""


def end_plainly(events: tuple[VoteEvent, ...]) -> Closing:
    """Store and say nothing at the end of a question."""
    return Closing()


ALL = 2**31 - 1
# In which states of its debate each question may close, as DUE compares them.
CLOSING = tuple(
    f"{question}/{status}" for question, kind in KINDS.items() for status in kind.during
)
OPEN = """
INSERT INTO questions (
    debate, question, step, message, opened_at, closes_at, extended, unread, read_at
)
SELECT id, :question, :step, :message, :now, :closes_at, FALSE, FALSE,
    (SELECT max(ended_at) FROM connection_gaps WHERE connection_gaps.platform = debates.platform)
FROM debates WHERE id = :debate
ON CONFLICT (debate, question, step) DO UPDATE SET
    message = excluded.message, opened_at = excluded.opened_at, closes_at = excluded.closes_at,
    read_at = coalesce(questions.read_at, excluded.read_at)
WHERE questions.opened_at IS NULL
"""
EXTEND = """
UPDATE questions SET closes_at = :closes_at, extended = TRUE
WHERE debate = :debate AND question = 'vote' AND NOT extended
"""
ASK_TO_CLOSE = """
UPDATE questions SET close_asked_at = :now
WHERE debate IN :debates AND question = 'vote'
    AND closed_at IS NULL AND closes_at IS NOT NULL AND close_asked_at IS NULL
"""
# Both votes of a mirrored pair close at the later time, once both are open.
CLOSE_TOGETHER = """
UPDATE questions SET closes_at = other.closes_at
FROM questions AS other JOIN debates ON debates.mirror = other.debate
WHERE debates.id = questions.debate
    AND questions.debate IN (SELECT id FROM debates WHERE id = :debate OR mirror = :debate)
    AND questions.question = 'vote' AND questions.closed_at IS NULL
    AND other.question = 'vote' AND other.closed_at IS NULL
    AND other.closes_at > questions.closes_at
"""
LOCK_PAIR = """
SELECT id FROM debates WHERE id = :debate OR mirror = :debate ORDER BY id FOR NO KEY UPDATE
"""
# Before `patience` nothing waits any more for the vote on a mirror that is still to come
# (`awaits`); null: all is asked.
DUE = """
SELECT questions.debate, questions.question, questions.step, questions.closes_at,
    questions.close_asked_at
FROM questions JOIN debates ON debates.id = questions.debate
WHERE questions.closed_at IS NULL AND questions.closes_at IS NOT NULL
    AND debates.platform = :platform AND (debates.place = :channel) IS NOT FALSE
    AND coalesce(debates.partition_key, 0) % :shares IN :held
    AND (questions.question || '/' || debates.status) IN :closing
    AND (questions.question <> 'vote' OR (questions.closes_at <= :patience) IS NOT FALSE
        OR NOT EXISTS (
            SELECT 1 FROM debates AS other
            WHERE other.id = debates.mirror AND (
                other.status IN ('queued', 'running')
                OR (other.status = 'voting' AND NOT EXISTS (
                    SELECT 1 FROM questions AS its
                    WHERE its.debate = other.id AND its.question = 'vote'
                        AND its.closes_at IS NOT NULL
                ))
            )
        ))
ORDER BY coalesce(questions.close_asked_at, questions.closes_at) LIMIT :most
"""
# Whose answers are as of before: what another question's opening ends is due then.
END_OTHERS = """
UPDATE questions SET closes_at = :now
WHERE debate = :debate AND question IN :ended AND (question <> :question OR step <> :step)
    AND opened_at IS NOT NULL AND closed_at IS NULL AND closes_at IS NULL
"""
SHUT = """
INSERT INTO questions (debate, question, step, closed_at, extended, unread)
VALUES (:debate, :question, :step, :now, FALSE, FALSE)
ON CONFLICT (debate, question, step) DO UPDATE SET closed_at = excluded.closed_at
WHERE questions.closed_at IS NULL
"""
HELD_IN = """
SELECT id FROM debates
WHERE platform = :platform AND status IN ('queued', 'running', 'voting')
    AND (coalesce(thread, '') = :thread) IS NOT FALSE
    AND (community = :community) IS NOT FALSE
    AND (place = :channel) IS NOT FALSE
    AND coalesce(partition_key, 0) % :shares IN :held
ORDER BY number
"""
REVEAL = """
UPDATE debates SET status = 'closed', revealed_at = :now, closed_early = :early
WHERE id = :debate AND status = 'voting'
"""
SHUT_REST = """
UPDATE questions SET closed_at = :now
WHERE debate = :debate AND closed_at IS NULL AND question NOT IN :revealed
"""
INSERT_VOTE = """
INSERT INTO votes (debate, person, question, step, body)
VALUES (:debate, :person, :question, :step, :body)
"""
MARK_UNREAD = """
UPDATE questions SET unread = TRUE
WHERE debate = :debate AND question = :question AND step = :step
"""
TELL_MIRROR = """
UPDATE debates SET mirror_revealed_at = :now WHERE mirror = :debate AND revealed_at IS NULL
"""


class Votes(VoteLog):
    """The append-only log of votes, the messages that ask for them, and what stands at the close.

    Reactions of one moment are collected, so that they are stored together.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch = _Batch()
        self._written: asyncio.Future[list[Outcome]] | None = None

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the question of a message, in the order of receipt."""
        place = self._batch.add(cast) if self._written is not None else None
        if place is None or self._written is None:
            self._batch = _Batch([cast])
            place = 0
            self._written = self._database.enqueue(self._batch.store)
        batch, written = self._batch, self._written
        try:
            outcomes = await asyncio.shield(written)
        except Exception:
            if len(batch.casts) == 1:
                raise
            # One that cannot be stored must not take the others with it.
            return await self._database.write(lambda c: cast_all(c, [cast])[0])
        return outcomes[place]

    async def target(self, platform: str, place: str, message: str) -> Target | None:
        """Return what a message asks, None for one that asks nothing."""
        where = {"platform": platform, "place": place, "message": message}
        row = await self._database.first(FIND, **where)
        return row and to_target(row)

    async def seeds_left(
        self, platform: str, channel: str | None = None, *, served: Partition = EVERYONE
    ) -> tuple[Target, ...]:
        """Return the messages of closed questions that still carry the bot's own reactions.

        Those of a debate whose reveal is still to be posted are left out.
        """
        where = {"platform": platform, "channel": channel} | within(served)
        return tuple(map(to_target, await self._database.rows(LEFT, **where)))

    async def seeds_gone(self, target: Target) -> None:
        """Note that a message carries none of the bot's own reactions any more."""
        of = {"platform": target.platform, "place": target.place, "message": target.message}
        await self._database.run(GONE, debate=target.debate, **of)

    async def places(self, platform: str, message: str) -> tuple[str, ...]:
        """Return where messages of this reference ask something."""
        return tuple(await self._database.column(PLACES, platform=platform, message=message))

    async def targets(self, debate_id: str, *questions: Question) -> tuple[Target, ...]:
        """Return the messages that ask one of these questions, those of a turn one after another.

        Without questions: all of the debate that ask something, which its turns do not.
        """
        asked = questions or ASKED
        rows = await self._database.read_fast(OF_DEBATE, debate=debate_id, questions=asked)
        return tuple(map(to_target, rows))

    async def accept(
        self,
        lease: Lease,
        debate_id: str,
        message: str,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Take answers on a posted message from now on; a question's first message stays."""
        asked = OpenQuestion(debate_id, question, step)

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            if connection.run(ACCEPT, message=message, **asked._asdict()):
                accept(connection, asked, message)

        await self._database.write(store)

    async def open(
        self,
        lease: Lease,
        debate_id: str,
        message: str,
        now: datetime,
        closes_at: datetime | None,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Open a question on a delivered message; one that has been opened stays as it is.

        Without `closes_at` it closes with another. Those that were open until then (`KINDS`) are
        due now. A vote and an open one on the debate's mirror close at the later time of both from
        then on.
        """
        asked = OpenQuestion(debate_id, question, step)
        values = {"message": message, "now": now, "closes_at": closes_at}

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.lock(LOCK_PAIR, debate=debate_id)
            if connection.run(OPEN, **asked._asdict(), **values):
                accept(connection, asked, message)
                connection.run(CLOSE_TOGETHER, debate=debate_id)
                ended = tuple(one for one, kind in KINDS.items() if question in kind.until)
                connection.run(END_OTHERS, now=now, ended=ended, **asked._asdict())

        await self._database.write(store)

    async def due(
        self,
        platform: str,
        channel: str | None = None,
        limit: int | None = None,
        *,
        now: datetime | None = None,
        served: Partition = EVERYONE,
    ) -> dict[OpenQuestion, datetime]:
        """Return when each open question of a platform closes, the first to close first.

        Only those that may close in the state their debate is in (`KINDS`). With `now`, votes that
        wait for the vote on their mirror to open are left out.
        """
        most, patience = ALL if limit is None else limit, now and now - LONGEST_WAIT
        where = {"platform": platform, "channel": channel, "closing": CLOSING}
        where |= within(served)
        rows = await self._database.rows(DUE, patience=patience, most=most, **where)
        return {OpenQuestion(row[0], Question(row[1]), row[2]): row[4] or row[3] for row in rows}

    async def extend(self, lease: Lease, debate_id: str, closes_at: datetime, *posts: Post) -> None:
        """Let a vote close later, once; an open vote on its mirror does not close before it."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.lock(LOCK_PAIR, debate=debate_id)
            if connection.run(EXTEND, debate=debate_id, closes_at=closes_at):
                insert_posts(connection, debate_id, posts)
                connection.run(CLOSE_TOGETHER, debate=debate_id)

        await self._database.write(store)

    async def ask_to_close(self, debates: Sequence[str], now: datetime) -> None:
        """Note that votes are to close as soon as their reactions can be read.

        They are due from then on, whatever their deadlines, and are not extended.
        """
        await self._database.run(ASK_TO_CLOSE, debates=debates, now=now)

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool = False,
        conclude: Conclude = end_plainly,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Close a question, once: store what `conclude` makes of its log; at once.

        The vote's close is the reveal, and ends everything that may not be answered after it. What
        was held back until then is queued behind the reveal, in the same transaction. Without posts
        nothing names the models, and the debate's mirror stays unspoiled.
        """
        asked = OpenQuestion(debate_id, question, step)

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            if question is not Question.VOTE:
                if connection.run(SHUT, now=now, **asked._asdict()):
                    closing = conclude(find_log(connection, *asked))
                    _store(connection, asked, closing)
                    if closing.said or closing.withheld:  # only where a person argues a side
                        from engine.store.guests import keep_spoken, note_withheld
                    if closing.said:
                        keep_spoken(connection, debate_id, step, closing.said, now)
                    elif closing.withheld:
                        note_withheld(connection, debate_id, step, closing.withheld)
            elif connection.run(REVEAL, debate=debate_id, now=now, early=early):
                connection.run(SHUT_REST, debate=debate_id, now=now, revealed=REVEALED)
                closing = conclude(find_log(connection, debate_id))
                _store(connection, asked, closing)
                if closing.posts:  # none: its thread is gone
                    connection.run(TELL_MIRROR, debate=debate_id, now=now)
                    release(connection, debate_id)
                insert_posts(connection, debate_id, closing.last)
            let_seeds_go(connection, debate_id)

        await self._database.write(store)

    async def held_in(
        self,
        platform: str,
        *,
        thread: str | None = None,
        community: str | None = None,
        channel: str | None = None,
        served: Partition = EVERYONE,
    ) -> list[str]:
        """Return the debates that go on in a thread, in a community, or in a channel."""
        where = {"thread": thread, "community": community, "channel": channel}
        return await self._database.column(HELD_IN, platform=platform, **where, **within(served))


def _store(connection: SqlConnection, asked: OpenQuestion, closing: Closing) -> None:
    debate_id = asked.debate
    for vote in closing.votes:
        stood = {"person": vote.person, "question": vote.question, "step": vote.step}
        connection.run(INSERT_VOTE, debate=debate_id, body=vote.encode(), **stood)
    for unread in closing.unread:
        connection.run(MARK_UNREAD, debate=debate_id, **unread._asdict())
    insert_posts(connection, debate_id, closing.posts)
    note_result(connection, debate_id, closing.posts)
    for judge, verdict in closing.verdicts.items():
        insert_verdict(connection, debate_id, judge, verdict)


# Answers that come in: which question each answers, whose it is, and its row in the log.


class Cast(Value):
    """A reaction or button press as a platform reports it; `event` deduplicates retries.

    `heard_from` is since when everything was told; the days are those of VoteEvent.
    """

    platform: str
    place: str
    message: str
    user: str
    option: str
    added: bool
    variant: str = ""
    how: How = How.LIVE
    event: str | None = None
    given_at: datetime | None = None
    heard_from: datetime | None = None
    received_at: datetime
    account_days: int | None = None
    member_days: int | None = None


KNOWN_EVENT = "SELECT 1 FROM vote_events WHERE debate = :debate AND event = :event"


@dataclass(slots=True)
class _Batch:
    """Reactions that wait for one write; what comes after it has begun waits for the next."""

    casts: list[Cast] = field(default_factory=list)
    _sealed: bool = False
    _lock: Lock = field(default_factory=Lock)

    def add(self, cast: Cast) -> int | None:
        """Take one more and return its place; None when the write has begun."""
        with self._lock:
            if self._sealed:
                return None
            self.casts.append(cast)
            return len(self.casts) - 1

    def store(self, connection: SqlConnection) -> list[Outcome]:
        """Store them all, in the order of receipt."""
        with self._lock:  # the writer has a thread of its own
            self._sealed = True
        return cast_all(connection, self.casts)


def cast_all(connection: SqlConnection, casts: Sequence[Cast]) -> list[Outcome]:
    """Append events to the logs of their messages' questions; return what became of each.

    Several at once share their look-ups, and are written in one statement.
    """
    messages = dict.fromkeys((cast.platform, cast.place, cast.message) for cast in casts)
    asked = {message: find_question(connection, *message) for message in messages}
    found = [asked[cast.platform, cast.place, cast.message] for cast in casts]
    taken = [question is not None and not question.closed for question in found]
    fitting = (cast for cast, fits in zip(casts, taken, strict=True) if fits)
    users, key = dict.fromkeys((cast.platform, cast.user) for cast in fitting), find_key(connection)
    people = {user: ensure_person(connection, *user, key) for user in users}  # None: forgotten
    outcomes: list[Outcome] = []
    rows: list[dict[str, Any]] = []
    known = _KnownEvents(connection)
    for cast, question in zip(casts, found, strict=True):
        if question is None or question.closed:
            outcomes.append("unknown" if question is None else "closed")
            continue
        person = people[cast.platform, cast.user]
        if person is None or not person.may_answer(question.began):
            outcomes.append("forgotten")
        elif cast.event is not None and known.before(question.debate, cast.event):
            outcomes.append("duplicate")
        else:
            rows.append(
                {
                    "debate": question.debate,
                    "person": person.id,
                    "option": cast.option,
                    "variant": cast.variant,
                    "added": cast.added,
                    "how": cast.how,
                    "event": cast.event,
                    "received_at": cast.received_at,
                    "given_at": cast.given_at,
                    "heard_from": cast.heard_from,
                    "read_at": question.read_at,
                    "account_days": cast.account_days,
                    "member_days": cast.member_days,
                    "question": question.question,
                    "step": question.step,
                }
            )
            outcomes.append("stored")
    append_all(connection, rows)
    return outcomes


class _KnownEvents:
    """The platform's ids of events that are stored already, or about to be."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection
        self._seen: set[tuple[str, str]] = set()

    def before(self, debate: str, event: str) -> bool:
        """Return whether an event came before; the next time it has."""
        if (debate, event) in self._seen:
            return True
        self._seen.add((debate, event))
        return self._connection.value(KNOWN_EVENT, debate=debate, event=event) is not None
