"""The append-only log of what people answer, in the order of receipt, and what may be missing."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, Self

from engine.store.database import Database, SqlConnection
from engine.store.leases import Lease, guard
from engine.store.people import barred, ensure_person, find_key
from engine.store.targets import ASKED, LOCK_QUESTION, Target
from engine.values.debate import Value
from engine.values.verdicts import How, Question, VoteEvent
from engine.words.phrases import VOTE_DELETED


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A vote event that is still to be numbered and appended to the log."""

    person: int
    option: str
    added: bool
    how: How = How.RECOVERED
    variant: str = ""
    heard_from: datetime | None = None
    newer_since: datetime | None = None
    account_days: int | None = None


Outcome = Literal["stored", "duplicate", "closed", "unknown", "forgotten", "unvoted"]
"""What became of an answer: kept, kept already, too late, or to nothing that was asked.

"forgotten" is of somebody who was forgotten, or who came back after the debate had begun;
"unvoted" of one who has to vote first.
"""


Act = Literal["cleared", "deleted", "archived", "locked", "reopened", "shown", "unseeded", "seeded"]
"""What a moderator does to a message, or to its thread.

"shown": a reaction of a secret ballot stays on the message, as the bot may not take it away.
"unseeded": the bot could not add its own reaction for an option; "seeded": later it could.
"""


class Intervention(Value):
    """What a moderator did to a question's message; `option` is the one cleared, None for all.

    `step` is that of a turn.
    """

    debate: str
    question: Question
    step: str = ""
    act: Act
    option: str | None = None
    at: datetime

    @classmethod
    def on(cls, target: Target, act: Act, at: datetime, option: str | None = None) -> Self:
        """Say what was done to the message of a question."""
        return cls(
            debate=target.debate,
            question=target.question,
            step=target.step,
            act=act,
            option=option,
            at=at,
        )


def unseeded_of(target: Target, interventions: Sequence[Intervention]) -> frozenset[str]:
    """Return the options of a question that never had the bot's own reaction."""
    lacking: set[str] = set()
    for noted in interventions:
        same = (noted.question, noted.step) == (target.question, target.step)
        if same and noted.option is not None:
            if noted.act == "unseeded":
                lacking.add(noted.option)
            elif noted.act == "seeded":
                lacking.discard(noted.option)
    return frozenset(lacking)


INSERT_EVENT = """
INSERT INTO vote_events (
    debate, person, option, variant, added, how, event, received_at, given_at, heard_from,
    newer_since, read_at, late_seen, question, step, account_days, member_days
) VALUES (
    :debate, :person, :option, :variant, :added, :how, :event, :received_at, :given_at,
    :heard_from, :newer_since, :read_at, :late_seen, :question, :step,
    :account_days, :member_days
)
ON CONFLICT DO NOTHING
"""
LOG = """
SELECT * FROM vote_events
WHERE debate = :debate AND question IN :questions AND (:step = '' OR step = :step)
ORDER BY number
"""
MIRROR_REVEALED_AT = "SELECT mirror_revealed_at FROM debates WHERE id = :debate"
REVISED_BY = """
SELECT vote_events.debate FROM vote_events JOIN people ON people.id = vote_events.person
WHERE people.platform = :platform AND people."user" = :user AND vote_events.question = 'again'
    AND vote_events.debate IN :debates
"""
SET_READ = """
UPDATE questions SET read_at = :read_at
WHERE debate = :debate AND question = :question AND step = :step
"""
READ_AT = """
SELECT read_at FROM questions
WHERE debate = :debate AND question = :question AND step = :step
"""
HEAR_AGAIN = "INSERT INTO connection_gaps (platform, ended_at) VALUES (:platform, :now)"
FIRST_SILENCE = """
SELECT ended_at FROM connection_gaps
WHERE platform = :platform AND (ended_at > :read_at) IS NOT FALSE
ORDER BY ended_at LIMIT 1
"""
LAST_SILENCE = """
SELECT ended_at FROM connection_gaps
WHERE platform = :platform AND (ended_at > :read_at) IS NOT FALSE
ORDER BY ended_at DESC LIMIT 1
"""
INTERVENE = """
INSERT INTO interventions (debate, question, step, act, option, at)
SELECT id, :question, :step, :act, :option, :at FROM debates WHERE id = :debate
/*+ FOR KEY SHARE */
"""
FREEZE = """
UPDATE targets SET closed_at = :now
WHERE platform = :platform AND place = :place AND message = :message AND closed_at IS NULL
"""
# No one can vote below a deleted message; one vote of a mirrored pair stays open with the other.
END_VOTE = """
UPDATE questions SET close_asked_at = :now
WHERE debate = :debate AND question = 'vote' AND closed_at IS NULL AND closes_at IS NOT NULL
    AND close_asked_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM debates WHERE id = :debate AND mirror IS NOT NULL)
"""
SAY_DELETED = """
UPDATE debates SET reason = :why
WHERE id = :debate AND status = 'voting' AND mirror IS NOT NULL AND NOT gone
"""
INTERVENTIONS = """
SELECT debate, question, step, act, option, at FROM interventions
WHERE debate = :debate ORDER BY number
"""
UNSAID = {
    **dict.fromkeys(("event", "given_at", "heard_from", "newer_since", "read_at")),
    **dict.fromkeys(("account_days", "member_days")),
    **{"late_seen": False, "step": "", "variant": ""},
}
EVENT_FIELDS = tuple(set(VoteEvent.model_fields) - {"votes_seen_before", "mirror_revealed"})


def append(connection: SqlConnection, **row: Any) -> Outcome:
    """Append an event; one whose platform's id is known already changes nothing."""
    return "stored" if connection.run(INSERT_EVENT, **UNSAID | row) else "duplicate"


def append_all(connection: SqlConnection, rows: Iterable[dict[str, Any]]) -> None:
    """Append events at once."""
    connection.run_each(INSERT_EVENT, (UNSAID | row for row in rows))


def read_log(
    rows: Iterable[Any], mirror_revealed_at: datetime | None = None
) -> Iterator[VoteEvent]:
    """Read a debate's log, with what its voters could know: others' answers, and its mirror."""
    known: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        others = known[row.question, row.step]
        plain = {name: getattr(row, name) for name in EVENT_FIELDS}
        told = mirror_revealed_at is not None and row.received_at >= mirror_revealed_at
        seen = len(others) - (row.person in others)
        yield VoteEvent(**plain, votes_seen_before=seen, mirror_revealed=told)
        others.add(row.person)


def find_log(
    connection: SqlConnection, debate_id: str, question: Question | None = None, step: str = ""
) -> tuple[VoteEvent, ...]:
    """Return the log of a question or turn; without a question, those of all but thumbs."""
    asked = ASKED if question is None else (question,)
    rows = connection.rows(LOG, debate=debate_id, questions=asked, step=step)
    return tuple(read_log(rows, connection.value(MIRROR_REVEALED_AT, debate=debate_id)))


def _of(target: Target) -> dict[str, str]:
    return {"debate": target.debate, "question": target.question, "step": target.step}


class VoteLog:
    """The logs, as the Votes part of the store knows them."""

    _database: Database

    async def events(
        self, debate_id: str, question: Question | None = None
    ) -> tuple[VoteEvent, ...]:
        """Return a question's log, or those of all but thumbs, in the order of receipt."""
        asked = ASKED if question is None else (question,)
        rows = await self._database.rows(LOG, debate=debate_id, questions=asked, step="")
        # After the log: what is revealed meanwhile came after every answer in it.
        revealed_at = await self._database.value(MIRROR_REVEALED_AT, debate=debate_id)
        # Thousands of answers are work for a thread.
        return await asyncio.to_thread(lambda: tuple(read_log(rows, revealed_at)))

    async def revised_by(self, platform: str, user: str, among: Sequence[str]) -> frozenset[str]:
        """Return those of some debates that somebody has answered after the reveal."""
        whose = {"platform": platform, "user": user}
        return frozenset(await self._database.column(REVISED_BY, debates=among, **whose))

    async def people(self, platform: str, users: Sequence[str]) -> dict[str, int]:
        """Return surrogate ids of platform users, making those that are new.

        Forgotten people are left out.
        """

        def ensure(connection: SqlConnection) -> dict[str, int]:
            key = find_key(connection)
            found = {user: ensure_person(connection, platform, user, key) for user in users}
            return {user: person.id for user, person in found.items() if person is not None}

        return await self._database.write(ensure)

    async def recover(
        self,
        lease: Lease,
        target: Target,
        find: Callable[[tuple[VoteEvent, ...]], Sequence[NewEvent]],
        now: datetime,
        late: bool,
        *,
        read_at: datetime | None = None,
    ) -> int:
        """Append what `find` makes of the log and a reading, at once; return how many events.

        The log is that of the target's question, or of its turn; `now` is when the reading ended,
        and `read_at` when it began, if it was complete.
        A vote that is cast meanwhile is in the log that `find` sees, or comes after all of it.
        Nothing is appended of somebody who was forgotten, nor taken back.
        """

        def store(connection: SqlConnection) -> int:
            guard(connection, lease)
            connection.lock(LOCK_QUESTION, **_of(target))  # answers that come in now wait
            events = find(find_log(connection, target.debate, target.question, target.step))
            out = barred(connection, target.debate, {event.person for event in events})
            found = [event for event in events if event.person not in out]
            common = _of(target) | {"received_at": now, "read_at": read_at}
            rows = (asdict(event) | {"late_seen": late and event.added} for event in found)
            append_all(connection, (row | common for row in rows))
            if read_at is not None:
                connection.run(SET_READ, read_at=read_at, **_of(target))
            return len(found)

        return await self._database.write(store)

    async def hear_again(self, platform: str, now: datetime) -> None:
        """Note that what happened until now may not have been told, and is told from now on."""
        await self._database.run(HEAR_AGAIN, platform=platform, now=now)

    async def connection_gaps(self, target: Target) -> tuple[datetime | None, ...]:
        """Return when answers to a target's question, or its turn, can have been missed.

        First when the last reading that was complete began, then the ends of the first and the last
        silence of the platform since.
        """
        read_at = await self._database.value(READ_AT, **_of(target))
        since = {"platform": target.platform, "read_at": read_at}
        first = await self._database.value(FIRST_SILENCE, **since)
        last = await self._database.value(LAST_SILENCE, **since)
        return read_at, first, last

    async def intervene(self, target: Target, intervention: Intervention) -> None:
        """Note what a moderator did, unless the debate was deleted.

        A message that was deleted takes no more answers, and a vote on it is to close, unless it
        is tied to that on a mirror.
        """
        where = {"platform": target.platform, "place": target.place, "message": target.message}

        def store(connection: SqlConnection) -> None:
            deleted = intervention.act == "deleted"
            if not deleted or connection.run(FREEZE, now=intervention.at, **where):
                connection.run(INTERVENE, **intervention.model_dump())
                if deleted and target.question is Question.VOTE:
                    connection.run(END_VOTE, debate=target.debate, now=intervention.at)
                    connection.run(SAY_DELETED, debate=target.debate, why=VOTE_DELETED)

        await self._database.write(store)

    async def interventions(self, debate_id: str) -> tuple[Intervention, ...]:
        """Return what moderators did to a debate's messages, the first first."""
        rows = await self._database.rows(INTERVENTIONS, debate=debate_id)
        return tuple(Intervention(**row._asdict()) for row in rows)
