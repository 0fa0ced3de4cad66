"""Ended debates, read for an export in one consistent view and in constant memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from adapters.storage.database import Database
from adapters.storage.debates import ENDED, to_debate
from adapters.storage.findings import read_findings
from adapters.storage.journal import PANEL, select_ballots, to_ballot
from adapters.storage.tables import (
    ballots,
    calls,
    debates,
    turn_reactions,
    turns,
    verdicts,
    votes,
)
from engine.debate import Debate, How, Question, Turn, TurnLabel, Verdict, Vote, VoteEvent
from engine.ports import Reply
from engine.store import CallRecord, DebateRecord, ExportFilter
from engine.votes.labels import asked, turn_labels

CHUNK = 100
THUMB_FIELDS = ("number", "person", "option", "added", "received_at")


class ArchiveTable:
    """The Archive part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        """Open one consistent view and yield the debates of it, by id."""
        with self._database.snapshot() as connection:
            yield _records(connection, where)


def _records(connection: Connection, where: ExportFilter) -> Iterator[DebateRecord]:
    last = ""
    while chunk := connection.execute(_filtered(where, last)).all():
        yield from _complete(connection, [to_debate(row) for row in chunk])
        last = chunk[-1].id


def _filtered(where: ExportFilter, after: str) -> Select[Any]:
    query = select(debates).where(debates.c.status.in_(ENDED), debates.c.id > after)
    if where.platform is not None:
        query = query.where(debates.c.platform == where.platform)
    if where.revealed:
        query = query.where(debates.c.revealed_at.is_not(None))
    if where.community is not None:
        query = query.where(debates.c.community == where.community)
    if where.formats:
        query = query.where(debates.c.format.in_(where.formats))
    if where.languages:
        query = query.where(debates.c.language.in_(where.languages))
    return query.order_by(debates.c.id).limit(CHUNK)


def _complete(connection: Connection, chunk: Sequence[Debate]) -> Iterator[DebateRecord]:
    ids = [debate.id for debate in chunk]

    def grouped(query: Select[Any]) -> dict[str, list[Row[Any]]]:
        rows: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in connection.execute(query):
            rows[row.debate].append(row)
        return rows

    spoken = grouped(select(turns).where(turns.c.debate.in_(ids)).order_by(turns.c.number))
    read = grouped(select_ballots().where(ballots.c.debate.in_(ids)))
    judged = grouped(select(verdicts).where(verdicts.c.debate.in_(ids), verdicts.c.judge == PANEL))
    cast = grouped(
        select(votes).where(votes.c.debate.in_(ids)).order_by(votes.c.question, votes.c.person)
    )
    thumbs = grouped(
        select(turn_reactions)
        .where(turn_reactions.c.debate.in_(ids))
        .order_by(turn_reactions.c.number)
    )
    called = grouped(
        select(calls).where(calls.c.debate.in_(ids)).order_by(calls.c.step, calls.c.attempt)
    )
    found = read_findings(grouped, ids)
    for debate in chunk:
        verdict = judged[debate.id]
        answers = [Vote.model_validate_json(row.body) for row in cast[debate.id]]
        yield DebateRecord(
            debate=debate,
            turns=tuple(Turn.model_validate_json(row.body) for row in spoken[debate.id]),
            ballots=tuple(to_ballot(row) for row in read[debate.id]),
            verdict=Verdict.model_validate_json(verdict[0].body) if verdict else None,
            votes=asked(answers, Question.VOTE),
            stances=(
                *asked(answers, Question.STANCE_BEFORE),
                *asked(answers, Question.STANCE_AFTER),
            ),
            labels=_to_labels(thumbs[debate.id], debate),
            calls=tuple(_to_call(row) for row in called[debate.id]),
            **found[debate.id],
        )


def _to_labels(rows: Sequence[Row[Any]], debate: Debate) -> tuple[TurnLabel, ...]:
    thumbs: dict[str, list[VoteEvent]] = defaultdict(list)
    for row in rows:
        plain = {name: getattr(row, name) for name in THUMB_FIELDS}
        thumbs[row.step].append(VoteEvent(**plain, how=How.LIVE, question=Question.TURN))
    return turn_labels(thumbs, debate.revealed_at)


def _to_call(row: Row[Any]) -> CallRecord:
    return CallRecord(
        step=row.step,
        attempt=row.attempt,
        reply=Reply.model_validate_json(row.reply) if row.reply else None,
        error=row.error,
        cost=row.cost,
        cost_max=row.cost_max,
        prompt_hash=row.prompt_hash,
    )
