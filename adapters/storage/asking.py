"""The Asking part of the store: what audiences ask the sides of a debate."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.people import BEGAN, ensure_person, find_key, find_known
from adapters.storage.targets import LOCK_QUESTION
from engine.store.asking import (
    MOST_ASKED,
    MOST_EACH,
    AskOutcome,
    AudienceQuestion,
    NewQuestion,
    QuestionTime,
    RemoveOutcome,
)
from engine.values.judging import Question

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


class AskingTable:
    """The Asking part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, new: NewQuestion) -> AskOutcome:
        return await self._database.write(lambda connection: _ask(connection, new))

    async def remove(
        self, debate_id: str, number: int, platform: str, user: str, *, manager: bool, now: datetime
    ) -> RemoveOutcome:
        def store(connection: SqlConnection) -> RemoveOutcome:
            if not _open(connection, debate_id):
                return "closed"
            held = {one.number: one for one in _asked(connection, debate_id) if not one.removed}
            if number not in held:
                return "unknown"
            person = find_known(connection, platform, user)
            own = person is not None and held[number].person == person.id
            if not (own or manager):
                return "others"
            by = "asker" if own else "manager"
            connection.run(REMOVE, debate=debate_id, number=number, by=by, now=now)
            return "removed"

        return await self._database.write(store)

    async def asked(self, debate_id: str) -> tuple[AudienceQuestion, ...]:
        rows = await self._database.rows(ASKED, debate=debate_id)
        return tuple(map(to_question, rows))

    async def time(self, debate_id: str) -> QuestionTime | None:
        row = await self._database.first(TIME, debate=debate_id, question=Question.SUPPORT)
        return row and QuestionTime(*row)


def to_question(row: Any) -> AudienceQuestion:
    """Return a question as it is stored."""
    plain = {name: getattr(row, name) for name in AudienceQuestion.model_fields}
    return AudienceQuestion(**plain)


def _ask(connection: SqlConnection, new: NewQuestion) -> AskOutcome:
    if not _open(connection, new.debate):
        return AskOutcome("closed")
    person = ensure_person(connection, new.platform, new.user, find_key(connection))
    began = connection.value(BEGAN, debate=new.debate)
    if person is None or not person.may_answer(began):
        return AskOutcome("forgotten")
    asked = _asked(connection, new.debate)
    own = [one for one in asked if one.person == person.id]
    for standing in own:
        if not standing.removed:
            same = standing.text == new.text
            return AskOutcome("stored" if same else "again", standing.number)
    if len(own) >= MOST_EACH or any(one.removed == "manager" for one in own):
        return AskOutcome("often")
    if len(asked) >= MOST_ASKED:
        return AskOutcome("full")
    number = len(asked) + 1
    row = {"debate": new.debate, "text": new.text, "asked_at": new.asked_at}
    connection.run(ASK, number=number, person=person.id, **row)
    return AskOutcome("stored", number)


def _open(connection: SqlConnection, debate_id: str) -> bool:
    """Return whether questions are taken now; others of the debate wait until this write ends."""
    where = {"debate": debate_id, "question": Question.SUPPORT}
    connection.lock(LOCK_QUESTION, step="", **where)
    return connection.value(OPEN, **where) is not None


def _asked(connection: SqlConnection, debate_id: str) -> list[AudienceQuestion]:
    return list(map(to_question, connection.rows(ASKED, debate=debate_id)))
