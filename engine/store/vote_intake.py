"""Answers that come in: which question each answers, whose it is, and its row in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, Literal, NamedTuple

import orjson

from engine.store.database import Database, SqlConnection
from engine.store.people import (
    BEGAN,
    PersonIdentity,
    ensure_person,
    find_key,
    find_person,
    is_forgotten,
    lock_person,
)
from engine.store.targets import find_question
from engine.store.vote_log import Outcome, append, append_all, read_log
from engine.tally.fold import chosen_option, vote_folds
from engine.values.debate import BallotKind, Value
from engine.values.verdicts import IMPORT, How, Question, Vote, VoteEvent


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


class Press(Value):
    """A button of a vote; `option` is None for the one that withdraws."""

    platform: str
    place: str
    message: str
    user: str
    option: str | None
    event: str | None = None
    received_at: datetime
    account_days: int | None = None
    member_days: int | None = None


class VoterComment(Value):
    """What somebody says beside their vote: the reason, how clear it was, or a guess.

    Without a `question` it only asks what they hold. `step` is the side whose model is guessed, and
    `option` then its number on the debate's menu; `ballot` is the debate's. Who debated
    better, with the models known, is question `again`, of which None takes the answer back.
    """

    debate: str
    ballot: BallotKind
    platform: str
    user: str
    question: Question | None
    step: str = ""
    option: str | None = ""
    received_at: datetime


class Remarked(Value):
    """What became of a remark, and all that its person holds now; empty for what they do not.

    `option` is the vote, None if it is not known which choice is the last; `guesses` are numbers on
    the menu, by side.
    """

    outcome: Outcome
    option: str | None = None
    ground: str = ""
    confidence: str = ""
    guesses: Mapping[str, str] = {}


class Brought(NamedTuple):
    """A label from another tool for a debate, by a user of it; `vote` has no person yet."""

    debate: str
    user: str
    vote: Vote


Kept = Literal["new", "same", "changed", "forgotten"]
"""What became of a label that was brought."""

FIND_LABEL = """
SELECT body FROM votes
WHERE debate = :debate AND person = :person AND question = 'vote' AND step = ''
"""
KEEP_LABEL = """
INSERT INTO votes (debate, person, question, step, body)
VALUES (:debate, :person, 'vote', '', :body)
ON CONFLICT (debate, person, question, step) DO UPDATE SET body = excluded.body
"""


def bring(connection: SqlConnection, labels: Sequence[Brought]) -> list[Kept]:
    """Store labels; see `Votes.bring`."""
    key = find_key(connection)
    return [_bring(connection, label, key) for label in labels]


def _bring(connection: SqlConnection, label: Brought, key: bytes | None) -> Kept:
    person = ensure_person(connection, IMPORT, label.user, key)
    if person is None:
        return "forgotten"
    own = {"debate": label.debate, "person": person.id}
    body = connection.value(FIND_LABEL, **own)
    vote = label.vote._replace(person=person.id)
    if body is not None and _says_same(Vote.of(orjson.loads(body)), vote):
        return "same"
    connection.run(KEEP_LABEL, **own, body=vote.encode())
    return "new" if body is None else "changed"


def _says_same(before: Vote, now: Vote) -> bool:
    """Return whether two labels say the same, whenever they were given."""
    return (before.option, before.gold) == (now.option, now.gold)


OWN_EVENTS = """
SELECT * FROM vote_events
WHERE debate = :debate AND person = :person AND question = :question AND step = :step
ORDER BY number
"""
FIND_VOTE = """
SELECT questions.closed_at, debates.revealed_at, debates.created_at
FROM questions JOIN debates ON debates.id = questions.debate
WHERE questions.debate = :debate AND questions.question = 'vote' AND questions.step = ''
    AND questions.opened_at IS NOT NULL
/*+ FOR SHARE OF questions */
"""
OF_PERSON = """
SELECT * FROM vote_events
WHERE debate = :debate AND person = :person AND question IN :questions
ORDER BY number
"""
REMARKED = (Question.VOTE, Question.GROUND, Question.CONFIDENCE, Question.GUESS)
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


class Casting:
    """Where answers are thrown in, as the Votes part of the store knows it.

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

    async def press(self, press: Press) -> tuple[Outcome, str | None]:
        """Choose, or withdraw what was chosen when that is pressed again; at once.

        Returns what became of it, and what its person has chosen now.
        """
        return await self._database.write(lambda connection: _press(connection, press))

    async def revise(self, revision: VoterComment) -> tuple[Outcome, str | None]:
        """Keep what somebody answers after the reveal, in place of what they answered before."""
        return await self._database.write(lambda connection: _revise(connection, revision))

    async def remark(self, remark: VoterComment) -> Remarked:
        """Keep what somebody says beside their vote while it is open, in place of what they said.

        One who holds no vote is "unvoted", and no trace of them is kept.
        """
        return await self._database.write(lambda connection: _remark(connection, remark))

    async def bring(self, labels: Sequence[Brought]) -> list[Kept]:
        """Keep labels from other tools as votes of platform `import`, in place of earlier ones.

        One that says the same as before changes nothing. All at once, or none.
        """
        return await self._database.write(lambda connection: bring(connection, labels))


def cast_all(connection: SqlConnection, casts: Sequence[Cast]) -> list[Outcome]:
    """Append events to the logs of their messages' questions; return what became of each.

    Several at once share their look-ups, and are written in one statement.
    """
    messages = dict.fromkeys((cast.platform, cast.place, cast.message) for cast in casts)
    asked = {message: find_question(connection, *message) for message in messages}
    found = [asked[cast.platform, cast.place, cast.message] for cast in casts]
    taken = [question is not None and not question.closed for question in found]
    people = _people_of(connection, [cast for cast, fits in zip(casts, taken, strict=True) if fits])
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


def _people_of(
    connection: SqlConnection, casts: Sequence[Cast]
) -> dict[tuple[str, str], PersonIdentity | None]:
    """Return who casts, by platform and user, making those who are new; None: forgotten."""
    key = find_key(connection)
    users = dict.fromkeys((cast.platform, cast.user) for cast in casts)
    return {user: ensure_person(connection, *user, key) for user in users}


def _press(connection: SqlConnection, press: Press) -> tuple[Outcome, str | None]:
    """Choose by button, or withdraw; a repetition changes nothing."""
    found = find_question(connection, press.platform, press.place, press.message)
    if found is None or found.ballot is BallotKind.OPEN:
        return "unknown", None
    person = ensure_person(connection, press.platform, press.user, find_key(connection))
    if person is None or not person.may_answer(found.began):
        return "forgotten", None
    asked = {"debate": found.debate, "question": found.question, "step": found.step}
    own = asked | {"person": person.id}
    lock_person(connection, person.id)
    chosen = chosen_option(_log(connection, own), tally_visible=False)
    if found.closed:
        return "closed", chosen
    withdrawn = press.option is None or press.option == chosen
    option = chosen if withdrawn else press.option
    if option is None:
        return "stored", None
    given = {"option": option, "added": not withdrawn, "how": How.BUTTON, "event": press.event}
    given |= {"account_days": press.account_days, "member_days": press.member_days}
    if append(connection, received_at=press.received_at, **own, **given) == "duplicate":
        return "duplicate", chosen
    return "stored", None if withdrawn else option


def _revise(connection: SqlConnection, revision: VoterComment) -> tuple[Outcome, str | None]:
    """Answer after the reveal, or take that back; the same answer again changes nothing."""
    began = connection.value(BEGAN, debate=revision.debate)
    person = ensure_person(connection, revision.platform, revision.user, find_key(connection))
    if person is None or not person.may_answer(began):
        return "forgotten", None
    own = {"debate": revision.debate, "person": person.id, "question": Question.AGAIN}
    own["step"] = ""
    lock_person(connection, person.id)
    visible = revision.ballot is BallotKind.OPEN
    held = chosen_option(_log(connection, own), tally_visible=visible)
    if revision.option == held:
        return "duplicate", held
    given = {"option": revision.option or held, "added": revision.option is not None}
    append(connection, how=How.BUTTON, received_at=revision.received_at, **own, **given)
    return "stored", revision.option


def _remark(connection: SqlConnection, remark: VoterComment) -> Remarked:
    """Keep a remark of a voter, unless they have said the same already."""
    vote = connection.first(FIND_VOTE, debate=remark.debate)
    if vote is None:
        return Remarked(outcome="unknown")
    if vote.closed_at is not None or vote.revealed_at is not None:
        return Remarked(outcome="closed")
    found = find_person(connection, remark.platform, remark.user)
    if found is None or not found.may_answer(vote.created_at):
        return Remarked(
            outcome="forgotten"
            if found or is_forgotten(connection, remark.platform, remark.user)
            else "unvoted"
        )
    lock_person(connection, found.id)
    held = _held(connection, remark, found.id)
    if held.outcome == "unvoted" or remark.question is None:
        return held
    if _same(held, remark):
        return held.model_copy(update={"outcome": "duplicate"})
    own = {"debate": remark.debate, "person": found.id, "question": remark.question}
    given = {"step": remark.step, "option": remark.option, "added": True, "how": How.BUTTON}
    append(connection, received_at=remark.received_at, **own, **given)
    return _held(connection, remark, found.id)


def _held(connection: SqlConnection, remark: VoterComment, person: int) -> Remarked:
    """Return the vote of a person, and what they have said beside it."""
    own = {"debate": remark.debate, "person": person, "questions": REMARKED}
    log, visible = (
        tuple(read_log(connection.rows(OF_PERSON, **own))),
        remark.ballot is BallotKind.OPEN,
    )

    def chosen(question: Question, step: str = "") -> str:
        events = [e for e in log if (e.question, e.step) == (question, step)]
        return chosen_option(events, tally_visible=visible) or ""

    votes = [event for event in log if event.question is Question.VOTE]
    if not any(vote_folds(votes, tally_visible=visible).values()):
        return Remarked(outcome="unvoted")
    sides = dict.fromkeys(event.step for event in log if event.question is Question.GUESS)
    return Remarked(
        outcome="stored",
        option=chosen(Question.VOTE) or None,
        ground=chosen(Question.GROUND),
        confidence=chosen(Question.CONFIDENCE),
        guesses={side: chosen(Question.GUESS, side) for side in sides},
    )


def _same(held: Remarked, remark: VoterComment) -> bool:
    """Return whether a person holds already what they say."""
    if remark.question is Question.GUESS:
        return held.guesses.get(remark.step) == remark.option
    return remark.option == (held.ground if remark.question is Question.GROUND else held.confidence)


def _log(connection: SqlConnection, own: dict[str, Any]) -> list[VoteEvent]:
    return list(read_log(connection.rows(OWN_EVENTS, **own)))
