"""What was learned of jurors: stored fits, and what each rests on."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from engine.store.database import Database, SqlConnection
from engine.store.leases import Lease, guard
from engine.values.debate import Value


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


class Fits:
    """Stored fits, one line for real debates and one for rehearsals."""

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


def _to_fit(row: Any) -> StoredFit:
    evidence = Evidence.model_validate_json(row.evidence)
    return StoredFit(row.number, row.made_at, evidence, row.body)
