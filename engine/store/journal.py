"""Results, stored before the next step: calls, turns, ballots and a format's findings."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import TypeAdapter

from engine.store.budgets import day_of, settle
from engine.store.database import Database, SqlConnection
from engine.store.debates import move, note_verdict, stopped
from engine.store.leases import (
    EVERYONE,
    Lease,
    Partition,
    guard,
    run_guarded,
    value_guarded,
    within,
)
from engine.store.outbox import Post, insert_held, insert_posts
from engine.values.debate import Model, Origin, PanelMode, Status, Turn, Value
from engine.values.ports import Attempt, Call, CallRole, ChatMessage, FaultKind, Reply, utc_now
from engine.values.verdicts import (
    QUESTIONS,
    UNANSWERED,
    Adjustment,
    Artifact,
    Ballot,
    Score,
    Verdict,
)

JUDGING = "judging"  # what the steps of a later judging begin with


class _Step(Value):
    """A step's stored result."""

    reply: Reply
    prompt_hash: str


class Journaled(Value):
    """What the journal holds of a debate: results, and money settled or still unknown.

    `spent` is USD; an attempt of unknown cost counts at its maximum. `unanswered` gives, by step,
    the reason why the script continued without an answer. `asked` is what the audience put to the
    sides, None before its time to ask was over.
    """

    steps: dict[str, _Step]
    attempts: dict[str, int]
    spent: float
    unanswered: Mapping[str, str] = {}
    asked: tuple[str, ...] | None = None


class AttemptStart(NamedTuple):
    """One try of a step, stored before it is sent; `cost_max` is USD.

    `cost` is its cost if no response arrives: 0 for a free model, else None.
    """

    debate: str
    step: str
    number: int
    cost_max: float
    role: CallRole = "debater"
    cost: float | None = None
    origin: Origin = Origin.UNKNOWN


class Note(Value):
    """A format's findings beside its turns, stored together or not at all.

    `posts` are queued at once, `held` with the reveal. `verdicts` are those of the
    format's own judges, by judge. `ballots` are of a later jury, with its verdict.
    """

    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    ballots: tuple[Ballot, ...] = ()
    posts: tuple[Post, ...] = ()
    held: tuple[Post, ...] = ()


class Judging(Value):
    """A later judging of a debate, `number` from 1; `found` is None until it is complete.

    With a `mode` these are the jurors of another panel, else judges of the format.
    """

    number: int
    judges: tuple[Model, ...]
    mode: PanelMode | None = None
    found: Note | None = None

    @property
    def prefix(self) -> str:
        """What the names of its steps begin with."""
        return f"{JUDGING}/{self.number}/"

    @property
    def jury(self) -> str:
        """The name of a later jury, by its jurors and how they read; empty for judges."""
        jurors = ",".join(one.ref for one in self.judges)
        return f"{jurors}:{self.mode.value}" if self.mode else ""

    def is_by(self, judges: Sequence[Model], mode: PanelMode | None) -> bool:
        """Whether these judges, or these jurors in that mode, are its own."""
        return ([one.ref for one in self.judges], self.mode) == ([one.ref for one in judges], mode)


Part = Literal["turns", "verdict", "ballots", "verdicts", "judgings"]


class Record(NamedTuple):
    """What is kept of a debate: the parts that were read, and nothing of the others.

    `verdict` is the panel's; `verdicts` are those of the format's own judges, by judge. `judgings`
    are also those that are not complete.
    """

    turns: tuple[Turn, ...] = ()
    verdict: Verdict | None = None
    ballots: tuple[Ballot, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    judgings: tuple[Judging, ...] = ()
    artifacts: tuple[Artifact, ...] = ()


def prompt_hash(messages: Sequence[ChatMessage]) -> str:
    """Return the SHA-256 of a prompt's messages, in hexadecimal."""
    body = orjson.dumps([[message.role, message.content] for message in messages])
    return hashlib.sha256(body).hexdigest()


PANEL = "panel"  # whose verdict it is
INSERT_ARTIFACT = """
INSERT INTO artifacts (debate, name, kind, valid, body)
VALUES (:debate, :name, :kind, :valid, :body)
ON CONFLICT DO NOTHING
"""
INSERT_SCORE = """
INSERT INTO scores (debate, subject, side, criterion, value, original, spread)
VALUES (:debate, :subject, :side, :criterion, :value, :original, :spread)
ON CONFLICT DO NOTHING
"""
INSERT_ADJUSTMENT = """
INSERT INTO adjustments (debate, name, subject, side, criterion, amount, reason, "by")
VALUES (:debate, :name, :subject, :side, :criterion, :amount, :reason, :by)
ON CONFLICT DO NOTHING
"""
INSERT_VERDICT = """
INSERT INTO verdicts (debate, judge, body) VALUES (:debate, :judge, :body) ON CONFLICT DO NOTHING
"""
ARTIFACTS = "SELECT * FROM artifacts WHERE debate IN :debates ORDER BY name"
SCORES = "SELECT * FROM scores WHERE debate IN :debates ORDER BY subject, side, criterion"
ADJUSTMENTS = "SELECT * FROM adjustments WHERE debate IN :debates ORDER BY name"
VERDICTS = """
SELECT * FROM verdicts WHERE debate IN :debates AND judge <> 'panel' ORDER BY judge
"""
Grouped = Callable[[str], dict[str, list[Any]]]


def insert_note(connection: SqlConnection, debate_id: str, note: Note) -> None:
    """Store a note's parts and queue its posts; parts that are already stored stay as they are."""
    for artifact in note.artifacts:
        row = artifact.model_dump() | {"body": orjson.dumps(artifact.body).decode()}
        connection.run(INSERT_ARTIFACT, debate=debate_id, **row)
    scores = ({"debate": debate_id, **score.model_dump()} for score in note.scores)
    connection.run_each(INSERT_SCORE, scores)
    for adjustment in note.adjustments:
        connection.run(INSERT_ADJUSTMENT, debate=debate_id, **adjustment.model_dump())
    for judge, verdict in note.verdicts.items():
        insert_verdict(connection, debate_id, judge, verdict)
    insert_posts(connection, debate_id, note.posts)
    insert_held(connection, debate_id, note.held)


def insert_verdict(connection: SqlConnection, debate_id: str, judge: str, verdict: Verdict) -> None:
    """Store a judge's verdict once; a format's own judge is named after its format."""
    connection.run(INSERT_VERDICT, debate=debate_id, judge=judge, body=verdict.model_dump_json())


def to_unanswered(row: Any) -> tuple[str, str]:
    """Return an unanswered step and the reason, from its artifact."""
    return row.name.removeprefix(f"{UNANSWERED}/"), orjson.loads(row.body)["problem"]


def to_put(row: Any) -> tuple[str, ...]:
    """Return what the audience asked the sides, from its artifact."""
    return tuple(orjson.loads(row.body)["put"])


def to_artifact(row: Any) -> Artifact:
    """Return an artifact as it is stored."""
    return Artifact(name=row.name, kind=row.kind, valid=row.valid, body=orjson.loads(row.body))


def read_findings(grouped: Grouped, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return, by debate, the fields of a record that hold what its format found out.

    `grouped` runs a query for these debates and sorts its rows by debate.
    """
    kept, given, changed, judged = map(grouped, (ARTIFACTS, SCORES, ADJUSTMENTS, VERDICTS))
    return {
        debate: {
            "verdicts": {
                row.judge: Verdict.model_validate_json(row.body) for row in judged[debate]
            },
            "artifacts": tuple(map(to_artifact, kept[debate])),
            "scores": tuple(Score(**_fields(Score, row)) for row in given[debate]),
            "adjustments": tuple(Adjustment(**_fields(Adjustment, row)) for row in changed[debate]),
        }
        for debate in ids
    }


def _fields(kind: type[Score | Adjustment], row: Any) -> dict[str, Any]:
    """Return what a row has of a value; a newer version may have added columns."""
    return {name: getattr(row, name) for name in kind.model_fields}


STOP = "SELECT stop, gone FROM debates WHERE id = :debate"
INSERT_CALL = """
INSERT INTO calls (
    debate, step, attempt, role, state, model, request, prompt_hash, error, cost_max, cost,
    cost_origin, started_at
)
SELECT
    id, :step, :attempt, :role, 'out', :model, :request, :prompt_hash, '', :cost_max, :cost,
    :cost_origin, :started_at
FROM debates
WHERE id = :debate AND stop IS NULL
    AND EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
RETURNING (SELECT status FROM debates WHERE id = :debate /*+ FOR NO KEY UPDATE */)
"""
# A call that ends while its debate does waits for its row, so that one of the two counts it.
END_CALL = """
UPDATE calls SET
    state = :state, reply = :reply, error = :error, tokens_in = :tokens_in,
    tokens_out = :tokens_out, tokens_reasoning = :tokens_reasoning, tokens_cached = :tokens_cached,
    cost = :cost, cost_origin = :cost_origin, latency = :latency
WHERE debate = :debate AND step = :step AND attempt = :attempt
    AND EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
RETURNING (SELECT status FROM debates WHERE id = :debate /*+ FOR NO KEY UPDATE */)
"""
# An answer that was cut off is kept only until there is a longer one.
FORGET_CUT = """
UPDATE calls SET state = 'failed', reply = NULL
WHERE debate = :debate AND step = :step AND attempt < :attempt AND state = 'done'
"""
# A try still in flight when the next begins was lost with its process.
LOSE_CALLS = """
UPDATE calls SET state = 'lost', error = 'its process ended before the answer came'
WHERE debate = :debate AND step = :step AND state = 'out'
"""
CALLS = "SELECT * FROM calls WHERE debate = :debate ORDER BY started_at"
KEPT = """
SELECT name, kind, body FROM artifacts
WHERE debate = :debate AND kind IN ('unanswered', 'questions')
"""
THINKING = """
SELECT debates.id, debates.thread, calls.step
FROM calls JOIN debates ON debates.id = calls.debate
WHERE calls.state = 'out' AND debates.status = 'running' AND debates.platform = :platform
    AND debates.thread IS NOT NULL AND (debates.place = :channel) IS NOT FALSE
    AND coalesce(debates.partition_key, 0) % :shares IN :held
"""
INSERT_TURN = """
INSERT INTO turns (debate, step, number, body)
SELECT :debate, :step, :number, :body
WHERE EXISTS (
        SELECT 1 FROM leases WHERE name = :lease AND epoch = :epoch /*+ FOR SHARE */)
ON CONFLICT DO NOTHING
"""
ANSWERED = "SELECT step FROM calls WHERE debate = :debate AND state = 'done'"
INSERT_BALLOT = """
INSERT INTO ballots (debate, step, juror, valid, body)
VALUES (:debate, :step, :juror, :valid, :body)
ON CONFLICT DO NOTHING
"""
# By the reply, not the state: with the index on states SQLite would scan all calls.
BALLOTS = """
SELECT ballots.debate, ballots.body, calls.reply, calls.prompt_hash, calls.cost_origin
FROM ballots LEFT JOIN calls ON calls.debate = ballots.debate AND calls.step = ballots.step
    AND calls.reply IS NOT NULL
WHERE ballots.debate IN :debates
ORDER BY ballots.debate, ballots.step
"""
REVEALED = "UPDATE debates SET revealed_at = :now WHERE id = :debate"
TURNS_BETWEEN = """
SELECT body FROM turns
WHERE debate = :debate AND number BETWEEN :first AND :last ORDER BY number
"""
TURNS_HELD = "SELECT count(*) FROM turns WHERE debate = :debate"
NEWEST_TURN = "SELECT body FROM turns WHERE debate = :debate ORDER BY number DESC LIMIT 1"
SPENDING = """
SELECT count(*) AS tries, count(cost) AS known, coalesce(sum(cost), 0.0) AS cost
FROM calls WHERE debate = :debate AND step NOT LIKE 'judging/%'
"""
# Fields that a ballot shares with its call are stored once, in the journal.
FROM_CALL = {"raw", "prompt_hash", "model", "usage", "cost", "cost_origin", "latency"}


def to_ballot(row: Any) -> Ballot:
    """Join a ballot with the journal's record of its call."""
    fields = orjson.loads(row.body)
    if row.reply is not None:
        reply = Reply.model_validate_json(row.reply)
        fields |= {"raw": reply.text, "model": reply.model, "usage": reply.usage}
        fields |= {"cost_origin": row.cost_origin}
        fields |= {"cost": reply.cost, "latency": reply.latency, "prompt_hash": row.prompt_hash}
    return Ballot.model_validate(fields)


JUDGINGS = "SELECT * FROM judgings WHERE debate IN :debates ORDER BY debate, number"
JUDGES = TypeAdapter(tuple[Model, ...])


def to_judging(row: Any) -> Judging:
    """Return a later judging as it is stored."""
    found = row.body and Note.model_validate_json(row.body)
    judges = JUDGES.validate_json(row.judges)
    return Judging(number=row.number, judges=judges, mode=row.mode, found=found)


FOUND = "SELECT * FROM artifacts WHERE debate IN :debates AND kind = :kind ORDER BY name"
# The statement of each part of a record, and how its rows are read.
PARTS: Mapping[Part, tuple[str, Callable[[Sequence[Any]], Any]]] = {
    "turns": (
        "SELECT body FROM turns WHERE debate IN :debates ORDER BY number",
        lambda rows: tuple(Turn.model_validate_json(row.body) for row in rows),
    ),
    "verdict": (
        "SELECT body FROM verdicts WHERE debate IN :debates AND judge = 'panel'",
        lambda rows: Verdict.model_validate_json(rows[0].body) if rows else None,
    ),
    "ballots": (BALLOTS, lambda rows: tuple(map(to_ballot, rows))),
    "verdicts": (
        VERDICTS,
        lambda rows: {row.judge: Verdict.model_validate_json(row.body) for row in rows},
    ),
    "judgings": (JUDGINGS, lambda rows: tuple(map(to_judging, rows))),
}


class Journal:
    """Results, stored before the next step; a stored step is never called again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, debate_id: str) -> Journaled:
        """Return what a debate has so far, its steps in the order in which they began."""
        rows = await self._database.read_fast(CALLS, debate=debate_id)
        attempts: dict[str, int] = {}
        for row in rows:
            attempts[row.step] = max(row.attempt, attempts.get(row.step, 0))
        steps = {
            row.step: _Step(reply=Reply.model_validate_json(row.reply), prompt_hash=row.prompt_hash)
            for row in rows
            if row.state == "done"
        }
        spent = sum(row.cost_max if row.cost is None else row.cost for row in rows)
        kept = await self._database.rows(KEPT, debate=debate_id) if rows else []
        put = (to_put(row) for row in kept if row.kind == QUESTIONS)
        return Journaled(
            steps=steps,
            attempts=attempts,
            spent=spent,
            unanswered=dict(to_unanswered(row) for row in kept if row.kind == UNANSWERED),
            asked=next(put, None),
        )

    def began(self, lease: Lease, start: AttemptStart, call: Call) -> asyncio.Future[None]:
        """Store a try before it is sent. Raises StoppedError if the debate is to stop."""
        now = utc_now()

        def store(connection: SqlConnection) -> None:
            if start.number > 1:
                connection.run(LOSE_CALLS, debate=start.debate, step=start.step)
            row = _begun(start, call)
            status = value_guarded(connection, lease, INSERT_CALL, started_at=now, **row)
            if status is None:
                asked = connection.first(STOP, debate=start.debate)
                raise stopped(asked)
            if not Status(status).live:
                settle(connection, start.debate, day_of(now))

        return self._database.enqueue(store)

    def ended(
        self, lease: Lease, start: AttemptStart, attempt: Attempt, reply: Reply | None
    ) -> asyncio.Future[None]:
        """Store how a try ended, and with a successful one the step's result."""
        which = {"debate": start.debate, "step": start.step, "attempt": start.number}
        failed = "lost" if attempt.fault is FaultKind.CANCELLED else "failed"  # we ended it

        def store(connection: SqlConnection) -> None:
            if reply is not None and start.number > 1:
                connection.run(FORGET_CUT, **which)
            status = value_guarded(
                connection,
                lease,
                END_CALL,
                **which,
                state=failed if reply is None else "done",
                reply=reply and reply.model_dump_json(),
                error=attempt.error,
                **attempt.usage.model_dump(),
                cost=attempt.cost,
                cost_origin=attempt.origin or start.origin,
                latency=attempt.latency,
            )
            if status is not None and not Status(status).live:
                settle(connection, start.debate)

        return self._database.enqueue(store)

    def record_turn(
        self, lease: Lease, debate_id: str, turn: Turn, post: Post
    ) -> asyncio.Future[None]:
        """Store a turn and its post together; storing it again changes nothing."""

        def store(connection: SqlConnection) -> None:
            row = {"debate": debate_id, "step": turn.step, "number": turn.number}
            run_guarded(connection, lease, INSERT_TURN, body=turn.model_dump_json(), **row)
            insert_posts(connection, debate_id, [post])

        return self._database.enqueue(store)

    async def note(self, lease: Lease, debate_id: str, note: Note) -> None:
        """Store a format's findings; storing them again changes nothing."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            insert_note(connection, debate_id, note)

        await self._database.write(store)

    async def record_verdict(
        self,
        lease: Lease,
        debate_id: str,
        verdict: Verdict,
        ballots_by_step: Mapping[str, Ballot],
        invitation: Sequence[Post] = (),
        closes_at: datetime | None = None,
    ) -> None:
        """Store the panel's verdict and its ballots by step, sealed until the vote closes.

        An `invitation` to vote is queued with it, and the debate is then `voting`: no vote opens
        without a sealed verdict. A debate that no one watches `closes_at` once instead.
        """

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            answered = set(connection.column(ANSWERED, debate=debate_id))
            for step, ballot in ballots_by_step.items():
                # A juror whose retry failed has a ballot without a call of its own.
                body = ballot.model_dump_json(exclude=FROM_CALL if step in answered else None)
                row = {"debate": debate_id, "step": step, "juror": ballot.juror}
                connection.run(INSERT_BALLOT, valid=ballot.valid, body=body, **row)
            insert_verdict(connection, debate_id, PANEL, verdict)
            if invitation or closes_at:
                insert_posts(connection, debate_id, invitation)
                move(connection, debate_id, Status.VOTING)
            if closes_at:
                move(connection, debate_id, Status.CLOSED)
                connection.run(REVEALED, debate=debate_id, now=closes_at)
                note_verdict(connection, debate_id, verdict)

        await self._database.write(store)

    async def read(self, debate_id: str, *parts: Part, artifacts: str = "") -> Record:
        """Return these parts of a debate, and its artifacts of one kind; the others are empty."""
        found: dict[str, Any] = {}
        for part in parts:
            statement, to_value = PARTS[part]
            found[part] = to_value(await self._database.rows(statement, debates=[debate_id]))
        if artifacts:
            rows = await self._database.rows(FOUND, debates=[debate_id], kind=artifacts)
            found["artifacts"] = tuple(map(to_artifact, rows))
        return Record(**found)

    async def turns_between(self, debate_id: str, first: int, last: int) -> tuple[Turn, ...]:
        """Return the turns with these numbers and those between them, in order."""
        which = {"debate": debate_id, "first": first, "last": last}
        bodies = await self._database.column(TURNS_BETWEEN, **which)
        return tuple(map(Turn.model_validate_json, bodies))

    async def turns_held(self, debate_id: str) -> int:
        """Return how many turns a debate has so far."""
        return int(await self._database.value(TURNS_HELD, debate=debate_id))

    async def newest_turn(self, debate_id: str) -> Turn | None:
        """Return a debate's turn with the highest number, None before the first."""
        body = await self._database.value(NEWEST_TURN, debate=debate_id)
        return Turn.model_validate_json(body) if body else None

    async def spending(self, debate_id: str) -> tuple[int, float | None]:
        """Return how many tries a debate took and their cost in USD, None if unknown."""
        tries, known, cost = await self._database.first(SPENDING, debate=debate_id)
        return tries, (cost if known == tries else None)

    async def thinking(
        self, platform: str, channel: str | None = None, *, served: Partition = EVERYONE
    ) -> list[tuple[str, str, str]]:
        """Return (debate, thread, step) of every call in flight for an open thread."""
        where = {"platform": platform, "channel": channel, **within(served)}
        rows = await self._database.rows(THINKING, **where)
        return [(row.id, row.thread, row.step) for row in rows]


def _begun(start: AttemptStart, call: Call) -> dict[str, Any]:
    """Return a try's row but for its time; built by the writer's thread, as prompts are long."""
    request = {
        "messages": [{"role": one.role, "content": one.content} for one in call.messages],
        "sampling": call.sampling.model_dump(),
        "schema": call.schema and call.schema.name,
    }
    return {
        "debate": start.debate,
        "step": start.step,
        "role": start.role,
        "attempt": start.number,
        "cost_max": start.cost_max,
        "cost": start.cost,
        "cost_origin": start.origin,
        "model": call.model.ref,
        "request": orjson.dumps(request).decode(),
        "prompt_hash": prompt_hash(call.messages),
    }
