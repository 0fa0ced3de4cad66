"""Ended debates, read for an export in one consistent view and in constant memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any

import orjson

from engine.store.database import DELETED, FIND, Database, SqlConnection
from engine.store.debates import SELECT, to_debate
from engine.store.journal import BALLOTS, JUDGINGS, Judging, read_findings, to_ballot, to_judging
from engine.store.people import hidden_people
from engine.store.targets import AudienceQuestion, to_question
from engine.store.vote_log import read_log
from engine.tally import count, revised_votes, turn_labels
from engine.values.debate import Debate, Turn
from engine.values.ports import Reply
from engine.values.verdicts import (
    REVEALED,
    Adjustment,
    Artifact,
    Ballot,
    PeopleCounts,
    Question,
    Recovery,
    Score,
    TurnLabel,
    Verdict,
    Vote,
)


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which debates an export covers; empty: all that have ended.

    `revealed` leaves out debates that never named their models and may still be resumed.
    `since` (exclusive) and `until` (inclusive) apply to the time of the reveal or, without a vote,
    of the request. `quorum_met` leaves out debates that people did not decide.
    `without_rehearsal` leaves out debates with a speaker, juror or judge that is a rehearsal model.
    `ids` are the only debates to include, `series` the series that they are part of.
    `settled` leaves out debates whose mirror goes on, `told` also those whose chat does not show
    the result yet.
    `asked` leaves out debates that did not ask people this. `prompts` reads what calls asked, too.
    With `steps` only the turns of these steps are read, and the calls; None reads all.
    """

    platform: str | None = None
    community: str | None = None
    revealed: bool = False
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    quorum_met: bool = False
    without_rehearsal: bool = False
    ids: tuple[str, ...] = ()
    series: str | None = None
    asked: Question | None = None
    prompts: bool = False
    steps: tuple[str, ...] | None = None
    settled: bool = False
    told: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One attempt of a model call, as exports and statistics read it; `model` was asked.

    `request` is JSON, and empty unless a filter wants prompts. `lost`: our own end cut it off.
    """

    step: str
    attempt: int
    reply: Reply | None
    error: str
    cost: float | None
    cost_max: float
    prompt_hash: str
    cost_origin: str
    model: str = ""
    request: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """Everything kept of one debate, for an export.

    `verdict` is the panel's; `verdicts` are those of the format's own judges, by judge.
    `answers` are all standing votes and stances, and the answers after the reveal. `opted_out` are
    people who count in every tally but appear nowhere else in an export, because they opted out or
    were forgotten. `judgings` are complete. `questions` are the audience's; those of people who are
    left out have no person. `people` are counts, if an export left out answers; `answer` is known.
    """

    debate: Debate
    turns: tuple[Turn, ...]
    ballots: tuple[Ballot, ...]
    verdict: Verdict | None
    answers: tuple[Vote, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    labels: tuple[TurnLabel, ...] = ()
    judgings: tuple[Judging, ...] = ()
    opted_out: frozenset[int] = frozenset()
    questions: tuple[AudienceQuestion, ...] = ()
    people: PeopleCounts | None = None
    answer: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    _by_question: dict[str, list[Vote]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def asked(self, question: Question) -> tuple[Vote, ...]:
        """Return the answers to a question."""
        if not self._by_question:  # grouped once, as every table asks
            for answer in self.answers:
                self._by_question.setdefault(answer.question, []).append(answer)
        return tuple(self._by_question.get(question, ()))


def count_rehearsals(archive: Archive, where: ExportFilter) -> int:
    """Return how many debates a filter leaves out because of rehearsal models."""
    if not where.without_rehearsal:
        return 0
    return archive.size(replace(where, without_rehearsal=False)) - archive.size(where)


BY_QUESTION = attrgetter("question", "step", "person")
# The parts of a filter that SQL can check; only the votes themselves say which were gold.
ENDED = """
status IN ('closed', 'partial', 'cancelled', 'failed') AND platform <> 'calibration'
"""
# It has the same models as its mirror, on which people may still vote.
SETTLED = """
NOT EXISTS (
    SELECT 1 FROM debates AS other WHERE other.id = debates.mirror
        AND other.status NOT IN ('closed', 'partial', 'cancelled', 'failed')
)
"""
# What a debate and its chat need before its result may stand elsewhere.
TOLD = f"""
{SETTLED} AND (
    NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.debate = debates.id
        AND outbox.key IN ('reveal', 'reveal/channel', 'reveal/starter')
        AND outbox.state IN ('pending', 'sending'))
    OR EXISTS (SELECT 1 FROM outbox WHERE outbox.debate = debates.id
        AND outbox.key IN ('reveal', 'reveal/channel', 'reveal/starter')
        AND outbox.state IN ('sent', 'doubtful'))
)
"""  # noqa: S608 - of constants
CONDITIONS = {
    "platform": "platform = :platform",
    "community": "community = :community",
    "formats": "format IN :formats",
    "languages": "language IN :languages",
    "ids": "id IN :ids",
    "series": "series = :series",
    "revealed": "revealed_at IS NOT NULL",
    "quorum_met": "revealed_at IS NOT NULL",
    "settled": SETTLED,
    "told": TOLD,
    "without_rehearsal": "NOT rehearsal",
    "asked": "EXISTS (SELECT 1 FROM questions WHERE questions.debate = debates.id "
    "AND questions.question = :asked)",
    "since": "coalesce(revealed_at, created_at) > :since",
    "until": "coalesce(revealed_at, created_at) <= :until",
}
UNASKED = (None, False, ())
NEWEST = """
SELECT revealed_at, created_at FROM debates WHERE {}
ORDER BY coalesce(revealed_at, created_at) DESC LIMIT 1
"""
SIZE = "SELECT count(*) FROM debates WHERE {}"
IDS = "SELECT id FROM debates WHERE {}"
CHUNK = f"{SELECT} WHERE {{}} AND id > :last ORDER BY id LIMIT 25"
TURNS = "SELECT debate, body FROM turns WHERE debate IN :debates AND {steps} ORDER BY number"
VERDICTS = "SELECT debate, body FROM verdicts WHERE debate IN :debates AND judge = 'panel'"
VOTES = "SELECT debate, body FROM votes WHERE debate IN :debates"
# The questions that stay open after the reveal.
REVEALED_LOGS = """
SELECT * FROM vote_events WHERE debate IN :debates AND question IN :questions ORDER BY number
"""
UNREAD = """
SELECT debate FROM questions WHERE debate IN :debates AND question = 'again' AND unread
"""
SEALED = "SELECT * FROM sealed_answers WHERE debate IN :debates"
ASKED_OF = "SELECT * FROM asked WHERE debate IN :debates ORDER BY number"
# Prompts are most of the database, and hardly any export reads them.
CALLS = """
SELECT debate, step, model, attempt, state, reply, error, cost, cost_max, cost_origin, prompt_hash,
    {request} AS request
FROM calls WHERE debate IN :debates AND step NOT LIKE 'judging/%' AND {steps}
ORDER BY step, attempt
"""


class Archive:
    """Finished debates, read beside a running process; used from a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        """Open one consistent view and yield its debates, by id."""
        with self._database.snapshot() as connection:
            yield read_records(connection, where)

    def newest(self, where: ExportFilter) -> datetime | None:
        """Return the newest time in the debates or None; ignores `quorum_met` for speed."""
        query, values = NEWEST.format(_conditions(where)), _values(where)
        row = self._database.read_snapshot(lambda connection: connection.first(query, **values))
        moment: datetime | None = row and (row.revealed_at or row.created_at)
        return moment

    def last_deletion(self) -> str:
        """Return a mark that every deletion of a debate changes."""
        found = self._database.read_snapshot(
            lambda connection: connection.value(FIND, name=DELETED)
        )
        return found or ""

    def size(self, where: ExportFilter) -> int:
        """Return the number of debates; ignores `quorum_met` for speed."""
        query, values = SIZE.format(_conditions(where)), _values(where)
        return int(
            self._database.read_snapshot(lambda connection: connection.value(query, **values))
        )

    def ids(self, where: ExportFilter) -> tuple[str, ...]:
        """Return the debates' ids; ignores `quorum_met` for speed."""
        query, values = IDS.format(_conditions(where)), _values(where)
        return tuple(
            self._database.read_snapshot(lambda connection: connection.column(query, **values))
        )


def read_records(connection: SqlConnection, where: ExportFilter) -> Iterator[DebateRecord]:
    """Yield the debates of a filter as a view has them, by id."""
    query, values, last = CHUNK.format(_conditions(where)), _values(where), ""
    hidden = hidden_people(connection)
    while chunk := connection.rows(query, last=last, **values):
        for record in _complete(connection, list(map(to_debate, chunk)), hidden, where):
            if not where.quorum_met or _meets_quorum(record):
                yield record
        last = chunk[-1].id


def _conditions(where: ExportFilter) -> str:
    asked = (text for name, text in CONDITIONS.items() if getattr(where, name) not in UNASKED)
    return " AND ".join((ENDED, *asked))


def _values(where: ExportFilter) -> dict[str, Any]:
    return {name: getattr(where, name) for name in CONDITIONS}


def _meets_quorum(record: DebateRecord) -> bool:
    request = record.debate.request
    return count(record.asked(Question.VOTE), tuple(request.sides), request.quorum).quorum_met


def _complete(
    connection: SqlConnection, chunk: Sequence[Debate], hidden: frozenset[int], where: ExportFilter
) -> Iterator[DebateRecord]:
    ids = [debate.id for debate in chunk]

    def grouped(query: str, **values: Any) -> dict[str, list[Any]]:
        rows: dict[str, list[Any]] = defaultdict(list)
        for row in connection.rows(query, debates=ids, **values):
            rows[row.debate].append(row)
        return rows

    some = "TRUE" if where.steps is None else "step IN :steps"
    calls = CALLS.format(request="request" if where.prompts else "''", steps=some)
    steps = {} if where.steps is None else {"steps": where.steps or ("",)}
    spoken = grouped(TURNS.format(steps=some), **steps)
    called = grouped(calls, **steps)
    read, judged = grouped(BALLOTS), grouped(VERDICTS)
    cast, found, again = grouped(VOTES), read_findings(grouped, ids), grouped(JUDGINGS)
    open_still = grouped(REVEALED_LOGS, questions=tuple(REVEALED))
    asked, sealed = grouped(ASKED_OF), grouped(SEALED)
    unread = set(connection.column(UNREAD, debates=ids))
    for debate in chunk:
        verdict = judged[debate.id]
        events = tuple(read_log(open_still[debate.id]))
        recovery: Recovery = "unread" if debate.id in unread else "complete"
        revised = revised_votes(debate, events, recovery)
        # As one text: parsing a million of them one by one takes longer.
        bodies = orjson.loads(f"[{','.join([row.body for row in cast[debate.id]])}]")
        answers = (*sorted(map(Vote.of, bodies), key=BY_QUESTION), *revised)
        yield DebateRecord(
            debate=debate,
            turns=tuple(Turn.model_validate_json(row.body) for row in spoken[debate.id]),
            ballots=tuple(to_ballot(row) for row in read[debate.id]),
            verdict=Verdict.model_validate_json(verdict[0].body) if verdict else None,
            answers=answers,
            labels=turn_labels(events, debate.models_known_at),
            calls=tuple(_to_call(row) for row in called[debate.id]),
            judgings=tuple(to_judging(row) for row in again[debate.id] if row.body),
            opted_out=hidden and hidden & {answer.person for answer in answers},
            questions=tuple(_to_question(row, hidden) for row in asked[debate.id]),
            answer=next((row._asdict() for row in sealed[debate.id]), {}),
            **found[debate.id],
        )


def _to_question(row: Any, hidden: frozenset[int]) -> AudienceQuestion:
    question = to_question(row)
    return question.model_copy(update={"person": None}) if row.person in hidden else question


def _to_call(row: Any) -> CallRecord:
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
        request=row.request,
        lost=row.state == "lost",
    )
