"""People who take part in a debate: one who argues a side, and the audience with its questions."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

import orjson

from engine.store.budgets import NewGuest
from engine.store.database import Database, SqlConnection
from engine.store.jobs import AWAITED
from engine.store.leases import Lease, guard
from engine.store.people import (
    BEGAN,
    ensure_person,
    find_key,
    find_person,
    is_opted_out,
    lock_person,
)
from engine.store.targets import LOCK_QUESTION, AudienceQuestion, to_question
from engine.values.debate import Value
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import N_
from engine.values.verdicts import Question, Withheld

MOST_AWAITING = 2  # live debates that one person argues in, or is asked to
MOST_ASKED = 100  # questions of one debate that are kept
MOST_EACH = 3  # of one person, one after another: each before was taken back


class Guest(Value):
    """Who argues a side of a debate; `user` is None for one who was forgotten.

    `accepted` is None while there is no answer; one who started the debate has accepted.
    """

    person: int
    user: str | None
    names: tuple[str, ...] = ()
    accepted: bool | None = None


Answered = Literal["stored", "closed", "unopened", "others"]
"""What became of an answer.

"unopened": the message that asks is still being posted; "others": someone else is asked.
"""


class OpenTurn(NamedTuple):
    """A turn that is asked for: its limit in words (0: none), and the message that asks.

    Until it is `opened` that is still being posted.
    """

    step: str
    words: int
    message: str | None
    opened: bool = True


AskOutcome = Literal["stored", "again", "often", "full", "closed", "forgotten"]
"""What became of a question.

"again": the person has asked one already; "often": they may not ask another one; "full": the debate
takes no more.
"""
RemoveOutcome = Literal["removed", "closed", "unknown", "others"]
"""What became of a wish to remove a question; "others": it is somebody else's."""


class _QuestionPeriod(NamedTuple):
    """When the time to ask began, when it is due to end, and when it did; None: not yet."""

    opened_at: datetime | None
    closes_at: datetime | None
    closed_at: datetime | None


NOT_ASKED = N_(
    "This person asked not to take part in what is recorded, so they cannot argue a side. Ask "
    "someone else, or let a model argue it."
)
BUSY = N_(
    "This person already argues a side elsewhere, or was asked to. Ask them again once that debate "
    "is over."
)
GUEST = """
SELECT guests.person, guests.names, guests.accepted, people."user"
FROM guests JOIN people ON people.id = guests.person WHERE guests.debate = :debate
"""
AWAITING = """
SELECT count(*) FROM guests JOIN debates ON debates.id = guests.debate
WHERE guests.person = :person AND debates.status IN ('queued', 'running')
    AND guests.accepted IS NOT FALSE
"""
INSERT = """
INSERT INTO guests (debate, person, names, accepted) VALUES (:debate, :person, :names, :accepted)
"""
ANSWER = """
UPDATE guests SET accepted = :accepted, answered_at = :now
WHERE debate = :debate AND accepted IS NULL
"""
OPEN = """
SELECT questions.message FROM questions JOIN debates ON debates.id = questions.debate
WHERE questions.debate = :debate AND questions.question = :question AND questions.step = :step
    AND questions.opened_at IS NOT NULL AND questions.closed_at IS NULL
    AND debates.status = 'running'
"""
CLOSED = """
SELECT closed_at FROM questions
WHERE debate = :debate AND question = :question AND step = '' AND closed_at IS NOT NULL
"""
SHUT = """
UPDATE questions SET closed_at = :now
WHERE debate = :debate AND question = :question AND step = :step AND closed_at IS NULL
"""
BEGIN = """
INSERT INTO spoken (debate, step, person, words)
SELECT debate, :step, person, :words FROM guests WHERE debate = :debate
ON CONFLICT DO NOTHING
"""
OPEN_TURN = """
SELECT spoken.step, spoken.words, questions.message, questions.opened_at
FROM spoken LEFT JOIN questions ON questions.debate = spoken.debate
    AND questions.question = 'speak' AND questions.step = spoken.step
JOIN debates ON debates.id = spoken.debate
WHERE spoken.debate = :debate AND debates.status = 'running' AND questions.closed_at IS NULL
LIMIT 1
"""
TURN = """
SELECT spoken.text, spoken.withheld, questions.closed_at
FROM spoken LEFT JOIN questions ON questions.debate = spoken.debate
    AND questions.question = 'speak' AND questions.step = spoken.step
WHERE spoken.debate = :debate AND spoken.step = :step
"""
SPEAK = """
UPDATE spoken SET text = :text, spoken_at = :now
WHERE debate = :debate AND step = :step AND text IS NULL
"""
# Not of one who was forgotten, or a debate that is asked to stop: those go on to their end.
IS_AWAITED = f"SELECT 1 FROM debates WHERE id = :debate AND {AWAITED}"  # noqa: S608
WITHHOLD = """
UPDATE spoken SET withheld = :why WHERE debate = :debate AND step = :step AND text IS NULL
"""
TIME = """
SELECT opened_at, closes_at, closed_at FROM questions
WHERE debate = :debate AND question = :question AND step = ''
"""
ASKS_NOW = """
SELECT 1 FROM questions JOIN debates ON debates.id = questions.debate
WHERE questions.debate = :debate AND questions.question = :question AND questions.step = ''
    AND questions.message IS NOT NULL AND questions.closed_at IS NULL
    AND debates.status = 'running'
"""
ASKED = """
SELECT number, person, text, asked_at, removed FROM asked WHERE debate = :debate ORDER BY number
"""
ASK = """
INSERT INTO asked (debate, number, person, text, asked_at, removed)
VALUES (:debate, :number, :person, :text, :asked_at, '')
"""
REMOVE = """
UPDATE asked SET removed = :by, removed_at = :now
WHERE debate = :debate AND number = :number AND removed = ''
"""


class GuestStore:
    """People who argue a side, and what audiences ask the sides until the round that answers it.

    Who argues is asked while `Question.CONSENT` or `SPEAK` is open; audiences ask while
    `Question.SUPPORT` is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def guest(self, debate_id: str) -> Guest | None:
        """Return who argues a side of a debate; None where models argue all."""
        row = await self._database.first(GUEST, debate=debate_id)
        if row is None:
            return None
        accepted = None if row.accepted is None else bool(row.accepted)
        names = tuple(orjson.loads(row.names))
        return Guest(person=row.person, user=row.user, names=names, accepted=accepted)

    async def answer(self, debate_id: str, user: str, *, accept: bool, now: datetime) -> Answered:
        """Keep a person's answer to whether they argue a side, once. It closes the question."""
        asked = {"debate": debate_id, "question": Question.CONSENT, "step": ""}

        def store(connection: SqlConnection) -> Answered:
            row = connection.first(GUEST, debate=debate_id)
            if row is None or row.user != user:
                return "others"
            connection.lock(LOCK_QUESTION, **asked)
            if row.accepted is not None and bool(row.accepted) == accept:
                return "stored"
            if connection.first(OPEN, **asked) is None:
                over = connection.value(CLOSED, debate=debate_id, question=Question.CONSENT)
                return "unopened" if over is None else "closed"
            connection.run(ANSWER, debate=debate_id, accepted=accept, now=now)
            connection.run(SHUT, now=now, **asked)
            return "stored"

        return await self._database.write(store)

    async def awaited(self, debate_id: str) -> bool:
        """Whether a debate waits for a person, who can see what is asked, and for nothing else."""
        return await self._database.value(IS_AWAITED, debate=debate_id) is not None

    async def consent_closed(self, debate_id: str) -> bool:
        """Return whether the time to answer that is over."""
        closed = await self._database.value(CLOSED, debate=debate_id, question=Question.CONSENT)
        return closed is not None

    async def begin(self, lease: Lease, debate_id: str, step: str, words: int) -> None:
        """Note that a turn will be asked for; noting it again changes nothing."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(BEGIN, debate=debate_id, step=step, words=words)

        await self._database.write(store)

    async def open_turn(self, debate_id: str) -> OpenTurn | None:
        """Return the turn that a person may write now."""
        row = await self._database.first(OPEN_TURN, debate=debate_id)
        if row is None:
            return None
        return OpenTurn(row.step, row.words, row.message, opened=row.opened_at is not None)

    async def turn(self, debate_id: str, step: str) -> tuple[str, bool, Withheld]:
        """Return what was written for a turn, whether that is final, and why it was withheld."""
        row = await self._database.first(TURN, debate=debate_id, step=step)
        if row is None:
            return "", False, ""
        return row.text or "", row.closed_at is not None, row.withheld or ""

    async def speak(self, debate_id: str, step: str, text: str, now: datetime) -> bool:
        """Keep a turn, which closes its question; False if that was closed before."""

        def store(connection: SqlConnection) -> bool:
            asked = {"debate": debate_id, "question": Question.SPEAK, "step": step}
            connection.lock(LOCK_QUESTION, **asked)
            if connection.first(OPEN, **asked) is None:
                return False
            keep_spoken(connection, debate_id, step, text, now)
            connection.run(SHUT, now=now, **asked)
            return True

        return await self._database.write(store)

    async def ask(
        self, debate_id: str, platform: str, user: str, text: str, asked_at: datetime
    ) -> tuple[AskOutcome, int]:
        """Keep a question, at once, and return its number; the same one again changes nothing."""

        def store(connection: SqlConnection) -> tuple[AskOutcome, int]:
            if not _open(connection, debate_id):
                return "closed", 0
            person = ensure_person(connection, platform, user, find_key(connection))
            began = connection.value(BEGAN, debate=debate_id)
            if person is None or not person.may_answer(began):
                return "forgotten", 0
            asked = _asked(connection, debate_id)
            own = [one for one in asked if one.person == person.id]
            for standing in own:
                if not standing.removed:
                    return "stored" if standing.text == text else "again", standing.number
            if len(own) >= MOST_EACH or any(one.removed == "manager" for one in own):
                return "often", 0
            if len(asked) >= MOST_ASKED:
                return "full", 0
            number = len(asked) + 1
            row = {"debate": debate_id, "text": text, "asked_at": asked_at}
            connection.run(ASK, number=number, person=person.id, **row)
            return "stored", number

        return await self._database.write(store)

    async def remove_question(
        self, debate_id: str, number: int, platform: str, user: str, *, manager: bool, now: datetime
    ) -> RemoveOutcome:
        """Take a question back; only its own person and managers may."""

        def store(connection: SqlConnection) -> RemoveOutcome:
            if not _open(connection, debate_id):
                return "closed"
            held = {one.number: one for one in _asked(connection, debate_id) if not one.removed}
            if number not in held:
                return "unknown"
            person = find_person(connection, platform, user)
            own = person is not None and held[number].person == person.id
            if not (own or manager):
                return "others"
            by = "asker" if own else "manager"
            connection.run(REMOVE, debate=debate_id, number=number, by=by, now=now)
            return "removed"

        return await self._database.write(store)

    async def questions(self, debate_id: str) -> tuple[AudienceQuestion, ...]:
        """Return a debate's questions in the order of asking, those taken back too."""
        rows = await self._database.rows(ASKED, debate=debate_id)
        return tuple(map(to_question, rows))

    async def question_time(self, debate_id: str) -> _QuestionPeriod | None:
        """Return when questions are taken; None before that was said in the thread."""
        row = await self._database.first(TIME, debate=debate_id, question=Question.SUPPORT)
        return row and _QuestionPeriod(*row)


def keep_spoken(
    connection: SqlConnection, debate_id: str, step: str, text: str, now: datetime
) -> None:
    """Keep what was written for a turn, unless something was."""
    connection.run(SPEAK, debate=debate_id, step=step, text=text, now=now)


def note_withheld(connection: SqlConnection, debate_id: str, step: str, why: Withheld) -> None:
    """Keep why what was written for a turn is not its text, unless something is."""
    connection.run(WITHHOLD, debate=debate_id, step=step, why=why)


def find_guest(connection: SqlConnection, platform: str, guest: NewGuest) -> int:
    """Return the surrogate id of who is to argue a side.

    Raises NotAllowedError for one who opted out or was forgotten, and UsageError for one who
    argues elsewhere.
    """
    person = ensure_person(connection, platform, guest.user, find_key(connection))
    if person is None or is_opted_out(connection, person.id):
        raise NotAllowedError(NOT_ASKED)
    lock_person(connection, person.id)
    if connection.value(AWAITING, person=person.id) >= MOST_AWAITING:
        raise UsageError(BUSY)
    return person.id


def insert_guest(
    connection: SqlConnection,
    debate_id: str,
    person: int,
    guest: NewGuest,
    *,
    accepted: bool | None,
) -> None:
    """Store who argues a side of a new debate."""
    names = orjson.dumps(guest.names).decode()
    connection.run(INSERT, debate=debate_id, person=person, names=names, accepted=accepted)


def _open(connection: SqlConnection, debate_id: str) -> bool:
    """Return whether questions are taken now; others of the debate wait until this write ends."""
    where = {"debate": debate_id, "question": Question.SUPPORT}
    connection.lock(LOCK_QUESTION, step="", **where)
    return connection.value(ASKS_NOW, **where) is not None


def _asked(connection: SqlConnection, debate_id: str) -> list[AudienceQuestion]:
    return list(map(to_question, connection.rows(ASKED, debate=debate_id)))
