"""What was learned of jurors: stored fits, and ballots from outside the debates held here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from engine.store.budgets import NewDebate
from engine.store.database import Database, SqlConnection
from engine.store.debates import INSERT, SELECT, to_debate, to_row
from engine.store.leases import Lease, guard
from engine.values.debate import Criterion, Debate, Status, Value
from engine.values.verdicts import Ballot

SESSION = "calibration"  # the platform of the debates that calibrations are journaled as


class Evidence(Value):
    """What a fit rests on, or would: how many debates and ballots, from here and from outside.

    `debates` are the closed ones with a verdict, the newest of which has the number `newest`;
    `ballots` are theirs. `learnt` judgments came from outside, with `learnt_ballots`.
    """

    debates: int = 0
    newest: int = 0
    ballots: int = 0
    learnt: int = 0
    learnt_ballots: int = 0

    @property
    def readings(self) -> int:
        """All ballots."""
        return self.ballots + self.learnt_ballots


class StoredFit(NamedTuple):
    """A fit as it is stored: its number, from 1, when it was made, and its figures as JSON."""

    number: int
    made_at: datetime
    evidence: Evidence
    body: str


class Learnt(Value):
    """A judgment from outside: jurors' ballots, and whom people preferred, None where unknown.

    `key` is the id of the debate, or the source's own; `source` is a digest of where it came from.
    The ballots have scores and verdicts, and no text.
    """

    key: str
    source: str
    ballots: tuple[Ballot, ...]
    rubric: str = "debate"
    criteria: tuple[Criterion, ...] = ()
    human: str | None = None
    blind: bool = True
    rehearsal: bool = False


NEWEST = "SELECT * FROM fits WHERE rehearsal = :rehearsal ORDER BY number DESC LIMIT 1"
FIND = "SELECT * FROM fits WHERE number = :number"
INSERT_FIT = """
INSERT INTO fits (rehearsal, made_at, evidence, body)
VALUES (:rehearsal, :now, :evidence, :body) RETURNING number
"""
HELD = """
SELECT count(*) AS debates, coalesce(max(number), 0) AS newest, coalesce(sum((
    SELECT count(*) FROM ballots WHERE ballots.debate = debates.id
)), 0) AS ballots
FROM debates JOIN verdicts ON verdicts.debate = debates.id
WHERE debates.status = 'closed' AND debates.rehearsal = :rehearsal AND verdicts.judge = 'panel'
"""
COUNT_LEARNT = """
SELECT count(*) AS learnt, coalesce(sum(ballots), 0) AS ballots
FROM learnt WHERE rehearsal = :rehearsal
"""
LEARNT = "SELECT body FROM learnt WHERE rehearsal = :rehearsal ORDER BY key"
KNOWN = "SELECT body FROM learnt WHERE key = :key"
LEARN = """
INSERT INTO learnt (key, source, rehearsal, ballots, body)
VALUES (:key, :source, :rehearsal, :ballots, :body)
ON CONFLICT (key) DO UPDATE SET ballots = excluded.ballots, body = excluded.body
"""
OF_SOURCE = f"{SELECT} WHERE platform = :platform AND community = :community"
# Texts stay where they were given; only numbers are learnt from.
TEXTS = {"reasons": "", "raw": "", "prompt_hash": "", "problem": ""}


class Learning:
    """Stored fits, one line for real debates and one for rehearsals, and what came from outside."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, *, rehearsal: bool) -> StoredFit | None:
        """Return the newest fit, None before the first."""
        row = await self._database.first(NEWEST, rehearsal=rehearsal)
        return row and _to_fit(row)

    async def find(self, number: int) -> StoredFit | None:
        """Return a fit by its number."""
        row = await self._database.first(FIND, number=number)
        return row and _to_fit(row)

    async def evidence(self, *, rehearsal: bool) -> Evidence:
        """Return what a fit would rest on now."""
        held = await self._database.first(HELD, rehearsal=rehearsal)
        others = await self._database.first(COUNT_LEARNT, rehearsal=rehearsal)
        return Evidence(
            debates=held.debates,
            newest=held.newest,
            ballots=int(held.ballots),
            learnt=others.learnt,
            learnt_ballots=int(others.ballots),
        )

    async def keep(
        self, lease: Lease, evidence: Evidence, body: str, now: datetime, *, rehearsal: bool
    ) -> int:
        """Store a fit and return its number."""
        row = {"evidence": evidence.model_dump_json(), "body": body, "now": now}

        def store(connection: SqlConnection) -> int:
            guard(connection, lease)
            return int(connection.value(INSERT_FIT, rehearsal=rehearsal, **row))

        return await self._database.write(store)

    async def learn(self, lease: Lease, judgments: Sequence[Learnt]) -> None:
        """Store judgments from outside; one that is there already gets the new ballots too."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            for one in judgments:
                _learn(connection, one)

        await self._database.write(store)

    async def learnt(self, *, rehearsal: bool) -> list[Learnt]:
        """Return the judgments from outside."""
        # Thousands of ballots are read here: work for a thread.
        return await asyncio.to_thread(
            self._database.read_snapshot, lambda connection: _learnt(connection, rehearsal)
        )

    async def session(self, new: NewDebate) -> Debate:
        """Return the debate that a calibration is journaled as: the stored one, or this one.

        It is known by its community, the source's digest. It is over from the beginning, and no
        list, vote or export has it.
        """
        where = {"platform": SESSION, "community": new.community}
        row = to_row(new.model_copy(update={"platform": SESSION}))

        def find_or_open(connection: SqlConnection) -> Debate:
            found = connection.first(OF_SOURCE, **where)
            if found is None:
                connection.run(INSERT, **row | {"status": Status.CLOSED, "reserved_usd": 0.0})
                found = connection.first(OF_SOURCE, **where)
            return to_debate(found)

        return await self._database.write(find_or_open)


def _to_fit(row: Any) -> StoredFit:
    evidence = Evidence.model_validate_json(row.evidence)
    return StoredFit(row.number, row.made_at, evidence, row.body)


def _learnt(connection: SqlConnection, rehearsal: bool) -> list[Learnt]:
    bodies = connection.column(LEARNT, rehearsal=rehearsal)
    return [Learnt.model_validate_json(body) for body in bodies]


def _learn(connection: SqlConnection, new: Learnt) -> None:
    body = connection.value(KNOWN, key=new.key)
    known = Learnt.model_validate_json(body).ballots if body else ()
    cast = {(one.juror, one.order): one.model_copy(update=TEXTS) for one in (*known, *new.ballots)}
    merged = new.model_copy(update={"ballots": tuple(cast.values())})
    connection.run(
        LEARN,
        key=new.key,
        source=new.source,
        rehearsal=new.rehearsal,
        ballots=len(merged.ballots),
        body=merged.model_dump_json(),
    )
