"""What the audience of a debate asks its sides, until the round in which they answer."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from engine.store.archive import AudienceQuestion, to_question
from engine.store.database import Database, SqlConnection
from engine.store.people import BEGAN, ensure_person, find_key, find_person
from engine.store.targets import LOCK_QUESTION
from engine.values.verdicts import Question

MOST_ASKED = 100  # questions of one debate that are kept
MOST_EACH = 3  # of one person, one after another: each before was taken back


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


TIME = """
SELECT opened_at, closes_at, closed_at FROM questions
WHERE debate = :debate AND question = :question AND step = ''
"""
OPEN = """
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


class AudienceQuestions:
    """The questions of audiences. They are taken while `Question.SUPPORT` is open."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    async def remove(
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

    async def asked(self, debate_id: str) -> tuple[AudienceQuestion, ...]:
        """Return a debate's questions in the order of asking, those taken back too."""
        rows = await self._database.rows(ASKED, debate=debate_id)
        return tuple(map(to_question, rows))

    async def time(self, debate_id: str) -> _QuestionPeriod | None:
        """Return when questions are taken; None before that was said in the thread."""
        row = await self._database.first(TIME, debate=debate_id, question=Question.SUPPORT)
        return row and _QuestionPeriod(*row)


def _open(connection: SqlConnection, debate_id: str) -> bool:
    """Return whether questions are taken now; others of the debate wait until this write ends."""
    where = {"debate": debate_id, "question": Question.SUPPORT}
    connection.lock(LOCK_QUESTION, step="", **where)
    return connection.value(OPEN, **where) is not None


def _asked(connection: SqlConnection, debate_id: str) -> list[AudienceQuestion]:
    return list(map(to_question, connection.rows(ASKED, debate=debate_id)))
