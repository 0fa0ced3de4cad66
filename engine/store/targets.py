"""The messages whose reactions and buttons mean something, and what each asks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, NamedTuple

import orjson

from engine.store.database import SqlConnection
from engine.tally.questions import KINDS, options_of
from engine.values.debate import BallotKind, Value
from engine.values.text import split_variant
from engine.values.verdicts import REVEALED, Question


class OpenQuestion(NamedTuple):
    """A question of a debate, which is one row; `step` is that of a turn, or a round."""

    debate: str
    question: Question = Question.VOTE
    step: str = ""


class Target(Value):
    """A message whose reactions or buttons mean something; `step` is that of a turn, or a round.

    `closed` says that its answers stay as they are: it was deleted, or its question has `ended`;
    `unread` that this was without a reading. `closes_at` is when its question does, if it has a
    time of its own.
    """

    debate: str
    question: Question
    platform: str
    place: str
    message: str
    ballot: BallotKind
    options: tuple[str, ...]
    step: str = ""
    closed: bool = False
    ended: bool = False
    unread: bool = False
    closes_at: datetime | None = None

    def option_of(self, reaction: str) -> str | None:
        """Return the option that a reaction stands for here, None if it means nothing."""
        option, _ = split_variant(reaction)
        return option if option in self.options else None

    def variant_of(self, reaction: str) -> str:
        """Return what tells a reaction here from others of its option that a person can hold.

        A turn may have several messages, and each may have a person's thumb.
        """
        variant = split_variant(reaction)[1]
        return f"{self.message} {variant}".rstrip() if self.question is Question.TURN else variant


FIND_QUESTION = """
SELECT targets.debate, targets.question, targets.step, targets.ballot, targets.closed_at,
    questions.closed_at AS ended_at, questions.read_at, debates.revealed_at, debates.created_at
FROM targets
JOIN questions ON questions.debate = targets.debate AND questions.question = targets.question
    AND questions.step = targets.step
JOIN debates ON debates.id = targets.debate
WHERE targets.platform = :platform AND targets.place = :place AND targets.message = :message
/*+ FOR SHARE OF questions, targets */
"""
# What is asked now was not missed in a silence that is over. The first message stays.
ACCEPT = """
INSERT INTO questions (debate, question, step, message, extended, unread, read_at)
SELECT id, :question, :step, :message, FALSE, FALSE,
    (SELECT max(ended_at) FROM connection_gaps WHERE connection_gaps.platform = debates.platform)
FROM debates WHERE id = :debate
ON CONFLICT (debate, question, step) DO UPDATE SET
    message = excluded.message, read_at = coalesce(questions.read_at, excluded.read_at)
WHERE questions.message IS NULL
"""
ADD = """
INSERT INTO targets (platform, place, message, debate, question, step, ballot, options)
VALUES (:platform, :place, :message, :debate, :question, :step, :ballot, :options)
ON CONFLICT DO NOTHING
"""
LISTEN = """
UPDATE targets SET closed_at = NULL
WHERE platform = :platform AND place = :place AND message = :message AND debate = :debate
"""
FIND = """
SELECT targets.*, questions.closed_at AS ended_at, questions.unread, questions.closes_at
FROM targets JOIN questions ON questions.debate = targets.debate
    AND questions.question = targets.question AND questions.step = targets.step
WHERE targets.platform = :platform AND targets.place = :place AND targets.message = :message
"""
PLACES = (
    "SELECT place FROM targets WHERE platform = :platform AND message = :message ORDER BY place"
)
OF_DEBATE = """
SELECT targets.*, questions.closed_at AS ended_at, questions.unread, questions.closes_at
FROM targets JOIN questions ON questions.debate = targets.debate
    AND questions.question = targets.question AND questions.step = targets.step
WHERE targets.debate = :debate AND targets.question IN :questions
ORDER BY targets.question DESC, targets.step
"""
# Messages of closed questions, or of all in a stopped debate, but those that never had any.
LET_GO = """
UPDATE targets SET seeds = 'left'
WHERE debate = :debate AND seeds IS NULL AND closed_at IS NULL
    AND ballot <> 'private' AND question <> 'turn'
    AND (
        EXISTS (
            SELECT 1 FROM questions
            WHERE questions.debate = targets.debate AND questions.question = targets.question
                AND questions.step = targets.step AND questions.closed_at IS NOT NULL
        )
        OR EXISTS (SELECT 1 FROM debates WHERE id = targets.debate AND status = 'cancelled')
    )
"""
LEFT = """
SELECT targets.*, questions.closed_at AS ended_at, questions.unread, questions.closes_at
FROM targets JOIN questions ON questions.debate = targets.debate
    AND questions.question = targets.question AND questions.step = targets.step
JOIN debates ON debates.id = targets.debate
WHERE targets.seeds = 'left' AND targets.platform = :platform
    AND (debates.place = :channel) IS NOT FALSE
    AND coalesce(debates.partition_key, 0) % :shares IN :held
    AND NOT EXISTS (
        SELECT 1 FROM outbox
        WHERE outbox.debate = targets.debate AND outbox.state IN ('pending', 'sending')
            AND outbox.key IN ('vote/closed', 'reveal')
    )
ORDER BY questions.closed_at, targets.message
"""
GONE = """
UPDATE targets SET seeds = 'gone'
WHERE platform = :platform AND place = :place AND message = :message AND debate = :debate
"""
DEBATE = "SELECT platform, place, thread, setup FROM debates WHERE id = :debate"
ASKED = tuple(question for question in Question if question is not Question.TURN)
STATE = ("unread", "closes_at")
PLAIN = tuple(set(Target.model_fields) - {"closed", "ended", "options", *STATE})
LOCK_QUESTION = """
SELECT 1 FROM questions WHERE debate = :debate AND question = :question AND step = :step
FOR NO KEY UPDATE
"""


class _FoundQuestion(NamedTuple):
    """The question that a message asks, and whether it still takes answers.

    `began` is when its debate was asked for, `read_at` when the last complete reading began.
    """

    debate: str
    question: Question
    step: str
    ballot: BallotKind
    closed: bool
    began: datetime
    read_at: datetime | None


def find_question(
    connection: SqlConnection, platform: str, place: str, message: str
) -> _FoundQuestion | None:
    """Return the question that a message asks, which closes for others after this write."""
    row = connection.first(FIND_QUESTION, platform=platform, place=place, message=message)
    if row is None:
        return None
    question = Question(row.question)
    revealed = row.revealed_at is not None and question not in REVEALED
    closed = revealed or row.ended_at is not None or row.closed_at is not None
    ballot, began = BallotKind(row.ballot), row.created_at
    return _FoundQuestion(row.debate, question, row.step, ballot, closed, began, row.read_at)


def let_seeds_go(connection: SqlConnection, debate_id: str) -> None:
    """Have the bot's own reactions removed from the questions that take no more answers."""
    connection.run(LET_GO, debate=debate_id)


def accept_thumbs(connection: SqlConnection, turn: OpenQuestion, targets: Iterable[Target]) -> None:
    """Take thumbs on the messages of a turn from now on."""
    connection.run(ACCEPT, message=None, **turn._asdict())
    for target in targets:
        _add(connection, target)


def accept(connection: SqlConnection, asked: OpenQuestion, message: str) -> None:
    """Take a question's answers on a message, also on one that was lost with its thread."""
    row = connection.first(DEBATE, debate=asked.debate)
    request = orjson.loads(row.setup)["request"]
    where = {"platform": row.platform, "place": row.thread or row.place, "message": message}
    options = options_of(asked.question, tuple(request["sides"]))
    ballot = KINDS[asked.question].ballot or BallotKind(request["ballot"])
    _add(connection, Target(**asked._asdict(), **where, ballot=ballot, options=options))
    connection.run(LISTEN, debate=asked.debate, **where)


def _add(connection: SqlConnection, target: Target) -> None:
    plain = {name: getattr(target, name) for name in PLAIN}
    connection.run(ADD, options=" ".join(target.options), **plain)


def to_target(row: Any) -> Target:
    """Return a message that asks something as it is stored."""
    plain = {name: getattr(row, name) for name in PLAIN}
    options = tuple(row.options.split(" "))
    ended = row.ended_at is not None
    closed = ended or row.closed_at is not None
    state = {"closed": closed, "ended": ended} | {name: getattr(row, name) for name in STATE}
    return Target(**plain, **state, options=options)


class AudienceQuestion(Value):
    """A question that was asked; `number` counts from 1 in its debate, in the order of asking.

    `person` is a surrogate id, None for one who was forgotten, whose text is deleted.
    """

    number: int
    person: int | None
    text: str
    asked_at: datetime
    removed: Removed = ""


def to_question(row: Any) -> AudienceQuestion:
    """Return a question as it is stored."""
    plain = {name: getattr(row, name) for name in AudienceQuestion.model_fields}
    return AudienceQuestion(**plain)


Removed = Literal["", "asker", "manager", "forgotten"]
"""Who took a question back; empty for one that stands."""
