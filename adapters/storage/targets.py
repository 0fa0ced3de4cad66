"""The messages whose reactions and buttons mean something, and what each asks."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, func, select
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.prepared import Prepared
from adapters.storage.tables import debates, silences, targets
from engine.debate import BallotKind
from engine.judging import REVEALED, Question
from engine.store import Target

# Built once, as each vote runs them: that costs twice what running them does.
FIND_TARGET = (
    select(
        targets.c.debate,
        targets.c.question,
        targets.c.step,
        targets.c.ballot,
        targets.c.closed_at,
        targets.c.read_at,
        debates.c.revealed_at,
        debates.c.created_at,
    )
    .join_from(targets, debates, targets.c.debate == debates.c.id)
    .where(
        targets.c.platform == bindparam("on"),
        targets.c.place == bindparam("where"),
        targets.c.message == bindparam("message"),
    )
)
PLAIN = tuple(set(Target.model_fields) - {"closed", "options", "unread"})
# What is asked now was not missed in a silence that is over.
LAST_SILENCE = select(func.max(silences.c.ended_at)).where(
    silences.c.platform == bindparam("told_by")
)
INSERT_TARGET = Prepared(
    insert(targets).values(read_at=LAST_SILENCE.scalar_subquery()).on_conflict_do_nothing(),
    (*PLAIN, "options"),
)


class Found(NamedTuple):
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


def find_question(connection: Connection, platform: str, place: str, message: str) -> Found | None:
    """Return the question that a message asks."""
    key = {"on": platform, "where": place, "message": message}
    row = connection.execute(FIND_TARGET, key).first()
    if row is None:
        return None
    question = Question(row.question)
    ended = row.revealed_at is not None and question not in REVEALED
    closed = ended or row.closed_at is not None
    ballot, began = BallotKind(row.ballot), row.created_at
    return Found(row.debate, question, row.step, ballot, closed, began, row.read_at)


def add_target(connection: Connection, target: Target) -> None:
    """Take answers on a message from now on; one that takes them already stays as it is."""
    row = target.model_dump(exclude={"closed", "options", "unread"})
    row |= {"options": " ".join(target.options), "told_by": target.platform}
    INSERT_TARGET.run(connection, row)


def to_target(row: Row[Any]) -> Target:
    """Read a row of the table."""
    plain = {name: getattr(row, name) for name in PLAIN}
    options = tuple(row.options.split(" "))
    closed, unread = row.closed_at is not None, bool(row.unread)
    return Target(**plain, options=options, closed=closed, unread=unread)
