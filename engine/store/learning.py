"""What jurors are judged by: past debates, later judgings, and ballots from outside."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from engine.store.budgets import NewDebate
from engine.store.database import Database, SqlConnection
from engine.store.debates import INSERT, SELECT, to_debate, to_row
from engine.store.journal import BALLOTS, JUDGES, JUDGINGS, Judging, Note, to_ballot, to_judging
from engine.store.leases import Lease, guard
from engine.tally import count
from engine.values.debate import Criterion, Debate, Model, PanelMode, Setup, Status, Value
from engine.values.verdicts import Ballot, Verdict, Vote


class PastDebate(NamedTuple):
    """A closed debate as the fit needs it.

    `human` is the winner by gold votes (a contender or "tie"), None without one; `z` is the
    verdict's, None without a verdict. `criteria` are those of a rubric that is not built
    in. `id` is the debate's, empty for what was judged elsewhere.
    """

    ballots: tuple[Ballot, ...]
    rubric: str = "debate"
    criteria: tuple[Criterion, ...] = ()
    human: str | None = None
    z: float | None = None
    blind: bool = True
    id: str = ""


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


SESSION = "calibration"  # the platform of the debates that calibrations are journaled as
PAST = """
SELECT debates.id, debates.setup, verdicts.body
FROM debates JOIN verdicts ON verdicts.debate = debates.id
WHERE debates.status = 'closed' AND debates.rehearsal = :rehearsal AND verdicts.judge = 'panel'
ORDER BY debates.number DESC LIMIT :limit
"""
VOTES = "SELECT debate, body FROM votes WHERE debate IN :debates AND question = 'vote'"
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
INSERT_JUDGING = """
INSERT INTO judgings (debate, number, judges, mode) VALUES (:debate, :number, :judges, :mode)
"""
CLOSE_JUDGING = """
UPDATE judgings SET body = :body WHERE debate = :debate AND number = :number AND body IS NULL
"""


class Learning:
    """What jurors are fitted to, here and from outside; and later judgings, each stored whole.

    These are by other judges of the format, or by another panel.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def past(self, limit: int, *, rehearsal: bool) -> list[PastDebate]:
        """Return the ballots of the newest revealed debates of one kind, oldest first."""

        def read(connection: SqlConnection) -> list[PastDebate]:
            closed = connection.rows(PAST, limit=limit, rehearsal=rehearsal)
            chosen = [row.id for row in closed]
            readings: defaultdict[str, list[Ballot]] = defaultdict(list)
            for row in connection.rows(BALLOTS, debates=chosen):
                readings[row.debate].append(to_ballot(row))
            cast: defaultdict[str, list[Vote]] = defaultdict(list)
            for row in connection.rows(VOTES, debates=chosen):
                cast[row.debate].append(Vote.of(orjson.loads(row.body)))
            past = (_to_past(row, readings[row.id], cast[row.id]) for row in reversed(closed))
            return [one for one in past if one is not None]

        # Thousands of ballots are read here: work for a thread.
        return await asyncio.to_thread(self._database.read_snapshot, read)

    async def learn(self, lease: Lease, judgments: Sequence[Learnt]) -> None:
        """Store judgments from outside; one that is there already gets the new ballots too."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            for one in judgments:
                _learn(connection, one)

        await self._database.write(store)

    async def learnt(self, *, rehearsal: bool) -> list[Learnt]:
        """Return the judgments from outside."""

        def read(connection: SqlConnection) -> list[Learnt]:
            bodies = connection.column(LEARNT, rehearsal=rehearsal)
            return [Learnt.model_validate_json(body) for body in bodies]

        # Thousands of ballots are read here: work for a thread.
        return await asyncio.to_thread(self._database.read_snapshot, read)

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

    async def open_judging(
        self,
        lease: Lease,
        debate_id: str,
        judges: Sequence[Model],
        mode: PanelMode | None = None,
    ) -> Judging:
        """Return the judging by these judges, or by these jurors: theirs so far, or a new one."""

        def open_or_find(connection: SqlConnection) -> Judging:
            guard(connection, lease)
            known = [to_judging(row) for row in connection.rows(JUDGINGS, debates=[debate_id])]
            for judging in known:
                if judging.is_by(judges, mode):
                    return judging
            opened = Judging(number=len(known) + 1, judges=tuple(judges), mode=mode)
            body = JUDGES.dump_json(opened.judges).decode()
            row = {"debate": debate_id, "number": opened.number, "judges": body}
            connection.run(INSERT_JUDGING, **row, mode=mode)
            return opened

        return await self._database.write(open_or_find)

    async def close_judging(self, lease: Lease, debate_id: str, number: int, found: Note) -> None:
        """Store what a judging found, once."""
        body = found.model_dump_json()

        def close(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(CLOSE_JUDGING, debate=debate_id, number=number, body=body)

        await self._database.write(close)


def _to_past(row: Any, readings: Sequence[Ballot], cast: Sequence[Vote]) -> PastDebate | None:
    """Return what a debate says of its jurors; None where people knew that a side is a person."""
    setup, verdict = Setup.model_validate_json(row.setup), Verdict.model_validate_json(row.body)
    request = setup.request
    if request.guest:
        return None
    tally = count(cast, tuple(request.sides), request.quorum)
    return PastDebate(
        ballots=tuple(readings),
        human=tally.winner,
        z=verdict.z,
        blind=request.blind,
        id=row.id,
        rubric=verdict.rubric,
        criteria=setup.panel.criteria,
    )


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
