"""Ended debates, read for an export in one consistent view and in constant memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Row, Select, func, select

from adapters.storage.casting import read_log
from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.debates import ENDED, to_debate
from adapters.storage.findings import read_findings
from adapters.storage.journal import PANEL, select_ballots, to_ballot
from adapters.storage.people import hidden_people
from adapters.storage.tables import (
    ballots,
    calls,
    debates,
    targets,
    turns,
    verdicts,
    vote_events,
    votes,
)
from engine.debate import Debate, Turn
from engine.judging import REVEALED, Question, Verdict, VoteEvent
from engine.ports import Reply
from engine.store import Answer, CallRecord, DebateRecord, ExportFilter
from engine.votes.labels import revised_votes, turn_labels
from engine.votes.tally import count

CHUNK = 25
ANSWER = itemgetter(*Answer._fields)
BY_QUESTION = attrgetter("question", "person")
# Without the request: the prompts are most of the database, and nobody here reads them.
CALL_COLUMNS = (
    calls.c.debate,
    calls.c.step,
    calls.c.model,
    calls.c.attempt,
    calls.c.reply,
    calls.c.error,
    calls.c.cost,
    calls.c.cost_max,
    calls.c.cost_origin,
    calls.c.prompt_hash,
)
MOMENT = func.coalesce(debates.c.revealed_at, debates.c.created_at)


class ArchiveTable:
    """The Archive part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        """Open one consistent view and yield the debates of it, by id."""
        with self._database.snapshot() as connection:
            yield _records(connection, where)

    def newest(self, where: ExportFilter) -> datetime | None:
        """Return the newest moment in the debates, None without any; cheap, so whatever quorum."""
        with self._database.snapshot() as connection:
            found: datetime | None = connection.scalar(
                select(func.max(MOMENT)).where(*_conditions(where))
            )
            return found

    def size(self, where: ExportFilter) -> int:
        """Return how many debates there are; cheap, so whatever their quorum."""
        query = select(func.count()).select_from(debates).where(*_conditions(where))
        with self._database.snapshot() as connection:
            return int(connection.scalars(query).one())


def _records(connection: Connection, where: ExportFilter) -> Iterator[DebateRecord]:
    chosen, last = select(debates).where(*_conditions(where)).order_by(debates.c.id), ""
    hidden = hidden_people(connection)
    while chunk := connection.execute(chosen.where(debates.c.id > last).limit(CHUNK)).all():
        for record in _complete(connection, [to_debate(row) for row in chunk], hidden):
            if not where.quorum_met or _meets_quorum(record):
                yield record
        last = chunk[-1].id


def _conditions(where: ExportFilter) -> list[ColumnElement[bool]]:
    """Return what SQL can tell of a debate; which votes were gold is told by the votes alone."""
    conditions: list[ColumnElement[bool]] = [debates.c.status.in_(ENDED)]
    for column, value in (
        (debates.c.platform, where.platform),
        (debates.c.community, where.community),
    ):
        if value is not None:
            conditions.append(column == value)
    for column, values in (
        (debates.c.format, where.formats),
        (debates.c.language, where.languages),
        (debates.c.id, where.ids),
    ):
        if values:
            conditions.append(column.in_(values))
    if where.revealed or where.quorum_met:
        conditions.append(debates.c.revealed_at.is_not(None))
    if where.without_rehearsal:
        conditions.append(debates.c.rehearsal.is_(False))
    if where.since is not None:
        conditions.append(where.since < MOMENT)
    if where.until is not None:
        conditions.append(where.until >= MOMENT)
    return conditions


def _meets_quorum(record: DebateRecord) -> bool:
    request = record.debate.request
    return count(record.asked(Question.VOTE), tuple(request.sides), request.quorum).quorum_met


def _complete(
    connection: Connection, chunk: Sequence[Debate], hidden: frozenset[int]
) -> Iterator[DebateRecord]:
    ids = [debate.id for debate in chunk]

    def grouped(query: Select[Any]) -> dict[str, list[Row[Any]]]:
        rows: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in connection.execute(query):
            rows[row.debate].append(row)
        return rows

    spoken = grouped(select(turns).where(turns.c.debate.in_(ids)).order_by(turns.c.number))
    read = grouped(select_ballots().where(ballots.c.debate.in_(ids)))
    judged = grouped(select(verdicts).where(verdicts.c.debate.in_(ids), verdicts.c.judge == PANEL))
    cast = _read_answers(connection, ids)
    open_still = grouped(
        select(vote_events)
        .where(vote_events.c.debate.in_(ids), vote_events.c.question.in_(REVEALED))
        .order_by(vote_events.c.number)
    )
    unread = set(
        connection.scalars(
            select(targets.c.debate).where(
                targets.c.debate.in_(ids), targets.c.question == Question.AGAIN, targets.c.unread
            )
        )
    )
    called = grouped(
        select(*CALL_COLUMNS).where(calls.c.debate.in_(ids)).order_by(calls.c.step, calls.c.attempt)
    )
    found = read_findings(grouped, ids)
    for debate in chunk:
        verdict = judged[debate.id]
        events = tuple(read_log(open_still[debate.id]))
        answers = (*cast[debate.id], *_to_revised(events, debate, debate.id in unread))
        yield DebateRecord(
            debate=debate,
            turns=tuple(Turn.model_validate_json(row.body) for row in spoken[debate.id]),
            ballots=tuple(to_ballot(row) for row in read[debate.id]),
            verdict=Verdict.model_validate_json(verdict[0].body) if verdict else None,
            answers=answers,
            labels=turn_labels(events, debate.told_at),
            calls=tuple(_to_call(row) for row in called[debate.id]),
            opted_out=hidden and hidden & {answer.person for answer in answers},
            **found[debate.id],
        )


def _read_answers(connection: Connection, ids: Sequence[str]) -> dict[str, list[Answer]]:
    """Return the votes and stances that stood at the close, by debate."""
    # Of a million votes, a row each takes longer to fetch than its text to read.
    query = (
        select(votes.c.debate, func.aggregate_strings(votes.c.body, ","))
        .where(votes.c.debate.in_(ids))
        .group_by(votes.c.debate)
    )
    cast: dict[str, list[Answer]] = defaultdict(list)
    for debate, bodies in connection.execute(query):
        answers = map(_to_answer, orjson.loads(f"[{bodies}]"))
        cast[debate] = sorted(answers, key=BY_QUESTION)
    return cast


def _to_answer(body: dict[str, Any]) -> Answer:
    try:
        return Answer._make(ANSWER(body))
    except KeyError:  # stored by a release that did not know every field
        return Answer(**body)


def _to_revised(events: Iterable[VoteEvent], debate: Debate, unread: bool) -> Iterator[Answer]:
    for vote in revised_votes(debate, events, "unread" if unread else "complete"):
        yield Answer(**vote.model_dump(mode="json"))


def _to_call(row: Row[Any]) -> CallRecord:
    return CallRecord(
        step=row.step,
        model=row.model,
        attempt=row.attempt,
        reply=Reply.model_validate_json(row.reply) if row.reply else None,
        error=row.error,
        cost=row.cost,
        cost_max=row.cost_max,
        cost_origin=row.cost_origin,
        prompt_hash=row.prompt_hash,
    )
