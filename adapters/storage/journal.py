"""The journal: every try of every call, the turns, the sealed verdict."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import TypeAdapter
from sqlalchemy import (
    Row,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.debates import move
from adapters.storage.findings import insert_note, to_unanswered
from adapters.storage.leases import NEWEST, change_guarded, guard, insert_newest
from adapters.storage.outbox import IN_CHANNEL, insert_posts
from adapters.storage.prepared import Prepared
from adapters.storage.tables import artifacts, ballots, calls, debates, turns, verdicts, votes
from engine.debate import Setup, Status, Turn
from engine.findings import UNANSWERED
from engine.floor.steps import prompt_hash
from engine.judging import Ballot, Verdict, Vote
from engine.ports import Attempt, Call, ChatMessage, Reply, utc_now
from engine.store import AttemptStart, Journaled, Lease, Note, Post, Step, Stop
from engine.store.journal import PastDebate
from engine.votes.tally import count

PANEL = "panel"
MESSAGES = TypeAdapter(tuple[ChatMessage, ...])
IS_OUT = calls.c.state == literal_column("'out'")
BEGUN = (
    *("debate", "step", "attempt", "state", "model", "request", "prompt_hash", "error"),
    *("cost_max", "cost", "cost_origin", "started_at"),
)
STOP = Prepared(select(debates.c.stop, debates.c.gone).where(debates.c.id == bindparam("of")))
_GOES_ON = exists().where(debates.c.id == bindparam("debate"), debates.c.stop.is_(None))
INSERT_CALL = insert_newest(calls, BEGUN, _GOES_ON)
OUTCOME = ("state", "reply", "error", "tokens_in", "tokens_out", "cost", "cost_origin", "latency")
END_CALL = Prepared(
    update(calls).where(
        calls.c.debate == bindparam("of"),
        calls.c.step == bindparam("at"),
        calls.c.attempt == bindparam("try"),
        NEWEST,
    ),
    OUTCOME,
)
# A try that is still out when the next one begins went down with its process.
LOSE_CALLS = Prepared(
    update(calls)
    .where(calls.c.debate == bindparam("of"), calls.c.step == bindparam("at"))
    .where(calls.c.state == "out")
    .values(state="failed", error="its process ended before the answer came")
)
CALLS = Prepared(
    select(calls).where(calls.c.debate == bindparam("of")).order_by(calls.c.started_at)
)
MISSING = Prepared(
    select(artifacts.c.name, artifacts.c.body).where(
        artifacts.c.debate == bindparam("of"), artifacts.c.kind == UNANSWERED
    )
)
THINKING = Prepared(
    select(debates.c.id, debates.c.thread, calls.c.step)
    .join_from(calls, debates, calls.c.debate == debates.c.id)
    .where(IS_OUT, debates.c.status == Status.RUNNING)
    .where(debates.c.platform == bindparam("on"), debates.c.thread.is_not(None), IN_CHANNEL)
)
INSERT_TURN = insert_newest(turns, ("debate", "step", "number", "body"), repeatable=True)
ANSWERED = Prepared(
    select(calls.c.step).where(calls.c.debate == bindparam("of"), calls.c.state == "done")
)
INSERT_BALLOT = Prepared(
    insert(ballots).on_conflict_do_nothing(), ("debate", "step", "juror", "valid", "body")
)
INSERT_VERDICT = Prepared(insert(verdicts).on_conflict_do_nothing(), ("debate", "judge", "body"))
# What a ballot shares with the call that gave it is kept once, in the journal.
FROM_CALL = {"raw", "prompt_hash", "model", "usage", "cost", "cost_origin", "latency"}


def to_ballot(row: Row[Any]) -> Ballot:
    """Join a ballot with the journal's record of its call."""
    fields = orjson.loads(row.body)
    if row.reply is not None:
        reply = Reply.model_validate_json(row.reply)
        fields |= {"raw": reply.text, "model": reply.model, "usage": reply.usage}
        fields |= {"cost_origin": row.cost_origin}
        fields |= {"cost": reply.cost, "latency": reply.latency, "prompt_hash": row.prompt_hash}
    return Ballot.model_validate(fields)


def select_ballots() -> Any:
    """Return the query of ballots beside their calls, for `to_ballot`."""
    # By the reply, not the state: SQLite would go through all calls that are done, by its index.
    of_call = and_(
        calls.c.debate == ballots.c.debate,
        calls.c.step == ballots.c.step,
        calls.c.reply.is_not(None),
    )
    return (
        select(
            ballots.c.debate,
            ballots.c.body,
            calls.c.reply,
            calls.c.prompt_hash,
            calls.c.cost_origin,
        )
        .join_from(ballots, calls, of_call, isouter=True)
        .order_by(ballots.c.debate, ballots.c.step)
    )


class JournalTable:
    """The Journal part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, debate_id: str) -> Journaled:
        """Return what a debate has so far, its steps in the order in which they were begun."""
        rows = await self._database.fetch(CALLS, {"of": debate_id})
        attempts: dict[str, int] = {}
        for row in rows:
            attempts[row.step] = max(row.attempt, attempts.get(row.step, 0))
        steps = {
            row.step: Step(reply=Reply.model_validate_json(row.reply), prompt_hash=row.prompt_hash)
            for row in rows
            if row.state == "done"
        }
        spent = sum(row.cost_max if row.cost is None else row.cost for row in rows)
        missing = await self._database.fetch(MISSING, {"of": debate_id}) if rows else []
        return Journaled(
            steps=steps,
            attempts=attempts,
            spent=spent,
            unanswered=dict(map(to_unanswered, missing)),
        )

    def began(self, lease: Lease, start: AttemptStart, call: Call) -> asyncio.Future[None]:
        """Write down a try before it is sent. Raises StoppedError for a debate asked to stop."""
        now = utc_now()

        def store(connection: Connection) -> None:
            row = _begun(start, call) | {"started_at": now}
            if start.number > 1:
                LOSE_CALLS.run(connection, {"of": start.debate, "at": start.step})
            if not change_guarded(connection, lease, INSERT_CALL, row):
                [asked] = STOP.rows(connection, {"of": start.debate})
                raise Stop(reason=asked.stop, gone=asked.gone).error()

        return self._database.enqueue(store)

    def ended(
        self, lease: Lease, start: AttemptStart, attempt: Attempt, reply: Reply | None
    ) -> asyncio.Future[None]:
        """Write down how a try ended, and the step's result with the one that succeeded."""

        def store(connection: Connection) -> None:
            values = {
                "of": start.debate,
                "at": start.step,
                "try": start.number,
                "state": "failed" if reply is None else "done",
                "reply": reply and reply.model_dump_json(),
                "error": attempt.error,
                "tokens_in": attempt.usage.tokens_in,
                "tokens_out": attempt.usage.tokens_out,
                "cost": attempt.cost,
                "cost_origin": attempt.origin or start.origin,
                "latency": attempt.latency,
            }
            change_guarded(connection, lease, END_CALL, values)

        return self._database.enqueue(store)

    def record_turn(
        self, lease: Lease, debate_id: str, turn: Turn, post: Post
    ) -> asyncio.Future[None]:
        """Store a turn and its post together; storing it again changes nothing."""

        def store(connection: Connection) -> None:
            row = {"debate": debate_id, "step": turn.step, "number": turn.number}
            change_guarded(connection, lease, INSERT_TURN, row | {"body": turn.model_dump_json()})
            insert_posts(connection, debate_id, [post])

        return self._database.enqueue(store)

    async def note(self, lease: Lease, debate_id: str, note: Note) -> None:
        """Store what a format keeps beside its turns; storing it again changes nothing."""

        def store(connection: Connection) -> None:
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
    ) -> None:
        """Store the panel's verdict and its ballots by step, sealed until the vote closes."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            answered = {row.step for row in ANSWERED.rows(connection, {"of": debate_id})}
            for step, ballot in ballots_by_step.items():
                # A juror that failed when asked again has a ballot without a call of its own.
                body = ballot.model_dump_json(exclude=FROM_CALL if step in answered else None)
                row = {"debate": debate_id, "step": step, "juror": ballot.juror}
                INSERT_BALLOT.run(connection, row | {"valid": ballot.valid, "body": body})
            sealed = {"debate": debate_id, "judge": PANEL, "body": verdict.model_dump_json()}
            INSERT_VERDICT.run(connection, sealed)
            if invitation:
                insert_posts(connection, debate_id, invitation)
                move(connection, debate_id, Status.VOTING)

        await self._database.write(store)

    async def judged(self, debate_id: str) -> tuple[Verdict | None, tuple[Ballot, ...]]:
        """Return a debate's verdict and ballots, for the reveal."""
        verdict = select(verdicts.c.body).where(
            verdicts.c.debate == debate_id, verdicts.c.judge == PANEL
        )
        readings = select_ballots().where(ballots.c.debate == debate_id)

        def load(connection: Connection) -> tuple[Verdict | None, tuple[Ballot, ...]]:
            body = connection.scalar(verdict)
            found = tuple(to_ballot(row) for row in connection.execute(readings))
            return (Verdict.model_validate_json(body) if body else None), found

        return await self._database.read(load)

    async def words_spoken(self, debate_id: str) -> int:
        """Return how many words the turns of a debate have so far."""
        query = select(turns.c.body).where(turns.c.debate == debate_id)
        bodies = await self._database.read(lambda connection: connection.scalars(query).all())
        return sum(Turn.model_validate_json(body).words for body in bodies)

    async def turns_held(self, debate_id: str) -> int:
        """Return how many turns a debate has so far."""
        query = select(func.count()).select_from(turns).where(turns.c.debate == debate_id)
        return await self._database.read(lambda connection: connection.scalars(query).one())

    async def newest_turn(self, debate_id: str) -> Turn | None:
        """Return a debate's turn with the highest number, None before the first."""
        query = select(turns.c.body).where(turns.c.debate == debate_id)
        newest = query.order_by(turns.c.number.desc()).limit(1)
        body = await self._database.read(lambda connection: connection.scalar(newest))
        return Turn.model_validate_json(body) if body else None

    async def spending(self, debate_id: str) -> tuple[int, float | None]:
        """Return how many tries a debate took and their cost in USD, None if unknown."""
        query = select(
            func.count(), func.count(calls.c.cost), func.coalesce(func.sum(calls.c.cost), 0.0)
        ).where(calls.c.debate == debate_id)
        tries, known, cost = await self._database.read(lambda c: c.execute(query).one())
        return tries, (cost if known == tries else None)

    async def cost_origins(self, debate_id: str) -> dict[str, int]:
        """Return from where the cost of a debate's tries is known, and of how many."""
        query = (
            select(calls.c.cost_origin, func.count().label("tries"))
            .where(calls.c.debate == debate_id)
            .group_by(calls.c.cost_origin)
            .order_by(calls.c.cost_origin)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {row.cost_origin: row.tries for row in rows}

    async def thinking(
        self, platform: str, channel: str | None = None
    ) -> list[tuple[str, str, str]]:
        """Return (debate, thread, step) of every call that is out now on open threads."""
        rows = await self._database.fetch(THINKING, {"on": platform, "channel": channel})
        return [(row.id, row.thread, row.step) for row in rows]

    async def past(self, limit: int, *, rehearsal: bool) -> list[PastDebate]:
        """Return the ballots of the newest revealed debates of one kind, oldest first."""

        def load() -> list[PastDebate]:
            with self._database.snapshot() as connection:
                return _past(connection, limit, rehearsal)

        # Thousands of ballots are read here, which is work for a thread.
        return await asyncio.to_thread(load)


def _begun(start: AttemptStart, call: Call) -> dict[str, Any]:
    """Return the row of a try, all but its time; made by the writer, as a prompt is long."""
    request = {
        "messages": MESSAGES.dump_python(call.messages),
        "sampling": call.sampling.model_dump(),
        "schema": call.schema and call.schema.name,
    }
    return {
        "debate": start.debate,
        "step": start.step,
        "attempt": start.number,
        "cost_max": start.cost_max,
        "cost": start.cost,
        "cost_origin": start.origin,
        "state": "out",
        "error": "",
        "model": call.model.ref,
        "request": orjson.dumps(request).decode(),
        "prompt_hash": prompt_hash(call.messages),
    }


def _past(connection: Connection, limit: int, rehearsal: bool) -> list[PastDebate]:
    newest = (
        select(debates.c.id, debates.c.setup, verdicts.c.body)
        .join_from(debates, verdicts, debates.c.id == verdicts.c.debate)
        .where(
            debates.c.status == Status.CLOSED,
            debates.c.rehearsal.is_(rehearsal),
            verdicts.c.judge == PANEL,
        )
        .order_by(debates.c.number.desc())
        .limit(limit)
    )
    closed = connection.execute(newest).all()
    chosen = select(newest.subquery().c.id)
    readings: defaultdict[str, list[Ballot]] = defaultdict(list)
    for row in connection.execute(select_ballots().where(ballots.c.debate.in_(chosen))):
        readings[row.debate].append(to_ballot(row))
    cast: defaultdict[str, list[Vote]] = defaultdict(list)
    stood = select(votes.c.debate, votes.c.body).where(votes.c.debate.in_(chosen))
    for row in connection.execute(stood):
        cast[row.debate].append(Vote.model_validate_json(row.body))
    return [_to_past(row, readings[row.id], cast[row.id]) for row in reversed(closed)]


def _to_past(row: Row[Any], readings: Sequence[Ballot], cast: Sequence[Vote]) -> PastDebate:
    setup, verdict = Setup.model_validate_json(row.setup), Verdict.model_validate_json(row.body)
    request = setup.request
    tally = count(cast, tuple(request.sides), request.quorum)
    return PastDebate(
        ballots=tuple(readings),
        human=tally.winner,
        z=verdict.z,
        blind=request.blind,
        rubric=verdict.rubric,
    )
