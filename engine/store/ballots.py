"""Answers by button and form: private votes, what voters say beside them, labels of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import orjson

from engine.store.database import Database, SqlConnection
from engine.store.people import (
    BEGAN,
    ensure_person,
    find_key,
    find_person,
    is_forgotten,
    lock_person,
)
from engine.store.targets import find_question
from engine.store.vote_log import Outcome, append, read_log
from engine.tally.fold import chosen_option, vote_folds
from engine.values.debate import BallotKind, Value
from engine.values.ports import ButtonPressed
from engine.values.verdicts import IMPORT, How, Question, Vote, VoteEvent


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


class RemarkResult(Value):
    """What became of a remark, and all that its person holds now; empty for what they do not.

    `option` is the vote, None if it is not known which choice is the last; `guesses` are numbers on
    the menu, by side.
    """

    outcome: Outcome
    option: str | None = None
    ground: str = ""
    confidence: str = ""
    guesses: Mapping[str, str] = {}


Brought = tuple[str, str, Vote]
"""A label from another tool: its debate, the user of that tool, and the vote, of no person yet."""

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


class Ballots:
    """Answers by button and form, each at once: one person's, unseen by others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def press(
        self,
        platform: str,
        pressed: ButtonPressed,
        received_at: datetime,
        *,
        account_days: int | None = None,
        member_days: int | None = None,
    ) -> tuple[Outcome, str | None]:
        """Choose, or withdraw what was chosen when that is pressed again; at once.

        Returns what became of it, and what its person has chosen now. The days are those of
        VoteEvent.
        """
        told = {
            "event": pressed.event,
            "received_at": received_at,
            "account_days": account_days,
            "member_days": member_days,
        }
        return await self._database.write(lambda c: _press(c, platform, pressed, told))

    async def revise(self, revision: VoterComment) -> tuple[Outcome, str | None]:
        """Keep what somebody answers after the reveal, in place of what they answered before."""
        return await self._database.write(lambda connection: _revise(connection, revision))

    async def remark(self, remark: VoterComment) -> RemarkResult:
        """Keep what somebody says beside their vote while it is open, in place of what they said.

        One who holds no vote is "unvoted", and no trace of them is kept.
        """
        return await self._database.write(lambda connection: _remark(connection, remark))

    async def bring(self, labels: Sequence[Brought]) -> list[Kept]:
        """Keep labels from other tools as votes of platform `import`, in place of earlier ones.

        One that says the same as before changes nothing. All at once, or none.
        """
        return await self._database.write(lambda connection: bring(connection, labels))


def _press(
    connection: SqlConnection, platform: str, press: ButtonPressed, told: Mapping[str, Any]
) -> tuple[Outcome, str | None]:
    """Choose by button, or withdraw; a repetition changes nothing."""
    found = find_question(connection, platform, press.place, press.message)
    if found is None or found.ballot is BallotKind.OPEN:
        return "unknown", None
    person = ensure_person(connection, platform, press.user, find_key(connection))
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
    given = {"option": option, "added": not withdrawn, "how": How.BUTTON}
    if append(connection, **own, **given, **told) == "duplicate":
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


def _remark(connection: SqlConnection, remark: VoterComment) -> RemarkResult:
    """Keep a remark of a voter, unless they have said the same already."""
    vote = connection.first(FIND_VOTE, debate=remark.debate)
    if vote is None:
        return RemarkResult(outcome="unknown")
    if vote.closed_at is not None or vote.revealed_at is not None:
        return RemarkResult(outcome="closed")
    found = find_person(connection, remark.platform, remark.user)
    if found is None or not found.may_answer(vote.created_at):
        return RemarkResult(
            outcome="forgotten"
            if found or is_forgotten(connection, remark.platform, remark.user)
            else "unvoted"
        )
    lock_person(connection, found.id)
    held = _held(connection, remark, found.id)
    if held.outcome == "unvoted" or remark.question is None:
        return held
    if remark.question is Question.GUESS:
        said = held.guesses.get(remark.step)
    else:
        said = held.ground if remark.question is Question.GROUND else held.confidence
    if remark.option == said:
        return held.model_copy(update={"outcome": "duplicate"})
    own = {"debate": remark.debate, "person": found.id, "question": remark.question}
    given = {"step": remark.step, "option": remark.option, "added": True, "how": How.BUTTON}
    append(connection, received_at=remark.received_at, **own, **given)
    return _held(connection, remark, found.id)


def _held(connection: SqlConnection, remark: VoterComment, person: int) -> RemarkResult:
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
        return RemarkResult(outcome="unvoted")
    sides = dict.fromkeys(event.step for event in log if event.question is Question.GUESS)
    return RemarkResult(
        outcome="stored",
        option=chosen(Question.VOTE) or None,
        ground=chosen(Question.GROUND),
        confidence=chosen(Question.CONFIDENCE),
        guesses={side: chosen(Question.GUESS, side) for side in sides},
    )


def _log(connection: SqlConnection, own: dict[str, Any]) -> list[VoteEvent]:
    return list(read_log(connection.rows(OWN_EVENTS, **own)))


def bring(connection: SqlConnection, labels: Sequence[Brought]) -> list[Kept]:
    """Store labels; see `Ballots.bring`."""
    key = find_key(connection)
    return [_bring(connection, label, key) for label in labels]


def _bring(connection: SqlConnection, label: Brought, key: bytes | None) -> Kept:
    debate_id, user, vote = label
    person = ensure_person(connection, IMPORT, user, key)
    if person is None:
        return "forgotten"
    own = {"debate": debate_id, "person": person.id}
    body = connection.value(FIND_LABEL, **own)
    vote = vote._replace(person=person.id)
    before = None if body is None else Vote.of(orjson.loads(body))
    if before is not None and (before.option, before.gold) == (vote.option, vote.gold):
        return "same"
    connection.run(KEEP_LABEL, **own, body=vote.encode())
    return "new" if body is None else "changed"
