"""Debates: their states and frozen inputs, templates, and the installation's secrets.

What lists search them by is a small row beside each setup, which is large.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import orjson

from engine.store.budgets import NewDebate, reserve, settle
from engine.store.database import FIND, Database, SqlConnection, make_secret
from engine.store.leases import Lease, guard, partition_key_of
from engine.store.outbox import LOCK_DEBATE, Post, insert_posts
from engine.store.people import ensure_starter
from engine.store.targets import let_seeds_go
from engine.values.debate import TRANSITIONS, Cause, Debate, Setup, Status, short_code
from engine.values.errors import (
    NotFoundError,
    StoppedError,
    StoreError,
    UsageError,
)
from engine.values.language import N_, from_stored, to_stored
from engine.values.limits import Caps
from engine.values.messages import Reveal
from engine.values.text import clean, headline, redact
from engine.values.topics import topic_id
from engine.values.verdicts import Verdict

TOPIC_LENGTH = 60
SEVERAL = N_("Several debates have the code {code}; give one of these instead: {debates}.")


def stopped(row: Any) -> StoppedError:
    """Return the error that ends the work on a debate that is asked to stop."""
    return StoppedError(from_stored(row.stop), ends="thread" if row.gone else "")


def no_debate(name: str) -> str:
    """Return the sentence for a name that no debate has."""
    return f"There is no debate “{headline(clean(name), 30)}”; take an id from the list."


def the_one(name: str, found: Sequence[Debate]) -> Debate:
    """Return the only debate of a name. Raises NotFoundError, which names them, for several."""
    if len(found) > 1:
        raise NotFoundError(
            SEVERAL, code=headline(clean(name), 30), debates=tuple(map(_line, found))
        )
    return found[0]


def _line(debate: Debate) -> str:
    topic = headline(clean(debate.request.topic), TOPIC_LENGTH)
    return f"{debate.id.lower()} ({debate.created_at:%Y-%m-%d}, “{topic}”)"


KEEP_LISTING = """
INSERT INTO listings (debate, topic, models) VALUES (:debate, :topic, :models)
ON CONFLICT (debate) DO UPDATE SET topic = excluded.topic, models = excluded.models
"""
JUDGED = """
UPDATE listings SET people = :people, jury = :jury, agree = :agree, votes = :votes,
    dispute = :dispute, lead = :lead
WHERE debate = :debate
"""


class ListedResult(NamedTuple):
    """How a debate ended, as lists show and sort it; without a reveal there is only `usd`.

    `people` and `jury` are who won by each: a side, `tie`, or None where it did not decide.
    `dispute` is how far people's shares and the panel's probabilities are apart, from 0 to 1 (the
    total variation), None unless both decided. `lead` is by how much the winner is ahead, from 0
    to 1, with people, else with the jury. An unknown price counts in `usd` at its maximum.
    """

    people: str | None = None
    jury: str | None = None
    agree: bool | None = None
    votes: int | None = None
    dispute: float | None = None
    lead: float | None = None
    usd: float | None = None


def keep_listing(connection: SqlConnection, debate: str, setup: Setup) -> None:
    """Keep what lists find a debate by, or renew it."""
    connection.run(KEEP_LISTING, debate=debate, **listing_of(setup))


def listing_of(setup: Setup) -> dict[str, str]:
    """Return what lists find a debate by; models stand between spaces."""
    models = dict.fromkeys(model.ref for model in setup.request.speakers)
    topic = redact(setup.request.topic).casefold()
    return {"topic": topic, "models": f" {' '.join(models)} "}


def note_result(connection: SqlConnection, debate: str, posts: Iterable[Post]) -> None:
    """Note how a debate ended, as the reveal among these says."""
    for reveal in [post.message for post in posts if isinstance(post.message, Reveal)]:
        connection.run(JUDGED, debate=debate, **result_of(reveal)._asdict())


def note_verdict(connection: SqlConnection, debate: str, verdict: Verdict) -> None:
    """Note how a debate ended that no one watched: its jury alone decided."""
    jury = verdict.winner if verdict.blind else None
    first, second, *_ = (*sorted(verdict.p.values(), reverse=True), 0.0, 0.0)
    result = ListedResult(jury=jury, votes=0, lead=first - second if jury else None)
    connection.run(JUDGED, debate=debate, **result._asdict())


def result_of(reveal: Reveal) -> ListedResult:
    """Return what lists show of a reveal."""
    sides, tally, verdict = tuple(reveal.models), reveal.tally, reveal.verdict
    votes, apart = tally.deciding, None
    even = sum(n for option, n in votes.items() if option not in sides) / len(sides)
    cast = sum(votes.values()) or 1
    shares = {side: (votes.get(side, 0) + even) / cast for side in sides}
    jury = verdict.winner if verdict.blind else None
    p = {side: verdict.p.get(side, 0.0) for side in sides}
    if reveal.agree is not None:
        apart = sum(abs(shares[side] - p[side]) for side in sides) / 2
    decided = shares if tally.winner else p if jury else {}
    first, second, *_ = (*sorted(decided.values(), reverse=True), 0.0, 0.0)
    return ListedResult(
        people=tally.winner,
        jury=jury,
        agree=reveal.agree,
        votes=sum(tally.counts.values()),
        dispute=apart,
        lead=first - second if decided else None,
        usd=reveal.usd,
    )


ID_LENGTH = 26
NEXT_NUMBER = """
INSERT INTO installation (name, value) VALUES ('debates', '1')
ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(installation.value AS INTEGER) + 1 AS TEXT)
RETURNING value
"""
INSERT = """
INSERT INTO debates (
    id, number, platform, community, place, starter, status, reason, gone, format, language, setup,
    rehearsal, reserved_usd, settled_usd, budget_day, created_at, closed_early, mirror, series,
    series_key, arm, partition_key, rematch_of
) VALUES (
    :id, :number, :platform, :community, :place, :starter, :status, '', FALSE, :format, :language,
    :setup, :rehearsal, :reserved_usd, 0, :budget_day, :created_at, FALSE, :mirror, :series,
    :series_key, :arm, :partition_key, :rematch_of
)
"""
REMATCH = """
SELECT id FROM debates
WHERE rematch_of = :debate AND status IN ('queued', 'running', 'voting') LIMIT 1
"""
REMATCH_GOES_ON = N_(
    "A rematch is already under way: debate {code}. Another one can begin once its vote has closed."
)
# A suggestion of the topic, if the community has one, is used up by the debate that is stored.
USE_SUGGESTION = """
UPDATE suggestions SET debate = :debate
WHERE platform = :platform AND community = :community AND topic = :topic AND debate IS NULL
"""
SEAL = """
INSERT INTO sealed_answers (debate, answer, side, choices)
VALUES (:debate, :answer, :side, :choices)
"""
# A rematch has the question of the debate before, on the same sides.
SEAL_AGAIN = """
INSERT INTO sealed_answers (debate, answer, side, choices)
SELECT :debate, answer, side, choices FROM sealed_answers WHERE debate = :before
"""
RESEAT = "UPDATE debates SET setup = :setup WHERE id = :debate"
STOPS = """
SELECT id, stop, gone FROM debates WHERE status IN ('queued', 'running') AND stop IS NOT NULL
"""
SET_MIRROR = "UPDATE debates SET mirror = :mirror WHERE id = :debate"
# A debate, with what it asked people.
SELECT = """
SELECT debates.*, vote.message AS vote_message, vote.opened_at AS vote_opened_at,
    vote.closes_at AS vote_deadline, vote.extended AS vote_extended, vote.close_asked_at,
    stance.closes_at AS stance_deadline, stance.closed_at AS stance_closed_at,
    guests.person AS guest
FROM debates
LEFT JOIN guests ON guests.debate = debates.id
LEFT JOIN questions AS vote
    ON vote.debate = debates.id AND vote.question = 'vote' AND vote.step = ''
LEFT JOIN questions AS stance
    ON stance.debate = debates.id AND stance.question = 'stance_before' AND stance.step = ''
"""
BY_ID = f"{SELECT} WHERE id = :id"
THREAD = "SELECT thread FROM debates WHERE id = :id"
# By the end of an id, which has 26 characters: the short code, or more of it.
CODED = "lower(substr(id, 27 - :length)) = :code AND :length >= 6"
BY_CODE = f"{SELECT} WHERE {CODED} ORDER BY number DESC"
# The reason why a thread is gone must not be overwritten by what follows.
MOVE = """
UPDATE debates SET status = :status,
    reason = CASE WHEN gone AND :reason = '' THEN reason ELSE :reason END,
    cause = :cause, cause_model = :model
WHERE id = :debate AND status IN :before
"""
KEEP_TEMPLATES = """
INSERT INTO templates (digest, texts) VALUES (:digest, :texts) ON CONFLICT DO NOTHING
"""
TEMPLATES = "SELECT texts FROM templates WHERE digest = :digest"
# By status: itself and the statuses that may precede it.
BEFORE = {
    status: (status, *(old for old in Status if status in TRANSITIONS[old])) for status in Status
}
KEPT_SETUPS = 64  # that no one holds any more; each takes some kilobytes
DEBATE_FIELDS = tuple(name for name in Debate.model_fields if name != "setup")
NEW_FIELDS = tuple(
    name for name in NewDebate.model_fields if name in DEBATE_FIELDS and name != "guest"
)


def to_debate(row: Any) -> Debate:
    """Read a row of the debates table."""
    plain = {name: getattr(row, name) for name in DEBATE_FIELDS}
    plain["vote_extended"] = bool(row.vote_extended)  # null: no vote was asked for yet
    return Debate(
        setup=_setups.get(row.setup) or _remember(row.setup, Setup.model_validate_json(row.setup)),
        **plain,
    )


# Parsing one takes most of a millisecond: those of debates under way stay as long as these run.
_setups: WeakValueDictionary[str, Setup] = WeakValueDictionary()
_newest: deque[Setup] = deque(maxlen=KEPT_SETUPS)


def _remember(stored: str, setup: Setup) -> Setup:
    _setups[stored] = setup
    _newest.append(setup)
    return setup


class Debates:
    """Debates and their states."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: set[str] = set()  # digests of stored templates

    async def next_number(self) -> int:
        """Count one more debate and return its number, from 1."""
        return int(await self._database.write(lambda c: c.value(NEXT_NUMBER), first=True))

    async def create(
        self, queued: Sequence[tuple[NewDebate, Sequence[Post]]], caps: Caps
    ) -> list[Debate]:
        """Store queued debates with their first posts, reserving each budget in one update.

        The one that passes the share of the day's money for an alert gets one more post, once a day
        and community. All of them or none. Raises BudgetError naming the cap that is reached, and
        NotAllowedError for a starter who was forgotten, or a guest who cannot be asked; then
        nothing is stored.
        """

        def store(connection: SqlConnection) -> list[Debate]:
            debates = [_create(connection, new, caps, posts) for new, posts in queued]
            if self._database.queues:
                from engine.store.jobs import defer  # of several processes alone

                for debate in debates:
                    defer(connection, debate.id, debate.setup)
            return debates

        return await self._database.write(store, first=True)

    async def get(self, debate_id: str) -> Debate:
        """Return a debate by its id or its short code.

        Raises NotFoundError, which names the debates if several have that code.
        """
        query, values = find_by_name(debate_id)
        return _found(await self._database.read_fast(query, **values), debate_id)

    async def thread_of(self, debate_id: str) -> str | None:
        """Return a debate's thread, None while it has none. Raises NotFoundError."""
        rows = await self._database.read_fast(THREAD, id=debate_id)
        if not rows:
            raise NotFoundError(no_debate(debate_id))
        found: str | None = rows[0].thread
        return found

    async def mirror_of(self, debate: Debate) -> Debate | None:
        """Return the debate with sides swapped; None if there is none, or it was deleted."""
        if debate.mirror is None:
            return None
        row = await self._database.first(BY_ID, id=debate.mirror)
        return row and to_debate(row)

    async def stops(self) -> dict[str, StoppedError]:
        """Return the live debates that were asked to stop, and the errors that end their work."""
        rows = await self._database.rows(STOPS)
        return {row.id: stopped(row) for row in rows}

    async def reseat(self, lease: Lease, debate_id: str, setup: Setup) -> None:
        """Store the setup of a running debate whose first model has chosen its side."""

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(RESEAT, debate=debate_id, setup=setup.model_dump_json())

        await self._database.write(store)

    async def advance(
        self,
        lease: Lease,
        debate_id: str,
        status: Status,
        reason: str = "",
        *,
        cause: Cause | None = None,
        model: str | None = None,
    ) -> None:
        """Move a debate to an allowed next status; an end settles its budget.

        `cause` and `model` are of an early end.
        """

        def store(connection: SqlConnection) -> None:
            guard(connection, lease)
            move(connection, debate_id, status, reason, cause, model)

        await self._database.write(store)

    async def keep_templates(self, digest: str, texts: Mapping[str, str]) -> None:
        """Store a set of template texts under its hash."""
        if digest in self._kept:
            return
        body = orjson.dumps(dict(texts), option=orjson.OPT_SORT_KEYS).decode()
        await self._database.run(KEEP_TEMPLATES, digest=digest, texts=body)
        self._kept.add(digest)

    async def templates(self, digest: str) -> dict[str, str]:
        """Return the template texts stored under a hash."""
        body = await self._database.value(TEMPLATES, digest=digest)
        if body is None:
            raise StoreError(f"The templates {digest[:12]}… are not in the database; restore it.")
        texts: dict[str, str] = orjson.loads(body)
        return texts

    async def secret(self, name: str) -> bytes:
        """Return this installation's random 32 bytes of that name, made on first use."""
        # Read first, so that an export beside a running process need not write.
        known = await self._database.value(FIND, name=name)
        if known is not None:
            return bytes.fromhex(known)
        return await self._database.write(lambda connection: make_secret(connection, name))


def _create(connection: SqlConnection, new: NewDebate, caps: Caps, posts: Sequence[Post]) -> Debate:
    if new.setup.rematch_of is not None:  # of two presses, one starts it
        connection.lock(LOCK_DEBATE, debate=new.setup.rematch_of)
        under_way = connection.value(REMATCH, debate=new.setup.rematch_of)
        if under_way is not None:
            raise UsageError(REMATCH_GOES_ON, code=short_code(under_way))
    capped = caps.user_daily_debates is not None
    starter = new.user and ensure_starter(
        connection, new.platform, new.user, new.created_at, capped=capped
    )
    alerts = reserve(connection, new, starter or None, caps)
    known = to_row(new) | {"starter": starter or None, "status": Status.QUEUED}
    _remember(known["setup"], new.setup)
    guest = None
    if new.guest is not None:
        from engine.store.guests import find_guest, insert_guest  # few debates have one

        guest = find_guest(connection, new.platform, new.guest)
    connection.run(INSERT, **known)
    keep_listing(connection, new.id, new.setup)
    if guest is not None and new.guest is not None:
        insert_guest(connection, new.id, guest, new.guest, accepted=guest == starter or None)
    if new.answer:
        connection.run(SEAL, debate=new.id, **new.answer)
    elif new.setup.request.protocol and new.setup.rematch_of:
        connection.run(SEAL_AGAIN, debate=new.id, before=new.setup.rematch_of)
    if new.setup.mirror_of is not None:
        connection.run(SET_MIRROR, debate=new.setup.mirror_of, mirror=new.id)
    of = {"platform": new.platform, "community": new.community}
    connection.run(USE_SUGGESTION, **of, debate=new.id, topic=topic_id(new.setup.request.topic))
    insert_posts(connection, new.id, [*posts, *alerts])
    told = {name: known[name] for name in (*NEW_FIELDS, "starter", "status", "mirror")}
    return Debate(setup=new.setup, guest=guest, **told)


def to_row(new: NewDebate) -> dict[str, Any]:
    """Return the row of a new debate, without a starter and queued."""
    known = {name: getattr(new, name) for name in NEW_FIELDS}
    return known | {
        "starter": None,
        "status": Status.QUEUED,
        "format": new.setup.request.format,
        "language": new.setup.request.language,
        "setup": new.setup.model_dump_json(),
        "rehearsal": bool(new.setup.rehearsal),
        "reserved_usd": new.setup.reserved_usd,
        "budget_day": new.created_at.date().isoformat(),
        "mirror": new.setup.mirror_of,
        "partition_key": partition_key_of(new.community),
        "rematch_of": new.setup.rematch_of,
    }


def get_debate(connection: SqlConnection, debate_id: str) -> Debate:
    """Return a debate by its id or its short code; see `Debates.get`."""
    query, values = find_by_name(debate_id)
    return _found(connection.rows(query, **values), debate_id)


def find_by_name(
    name: str, by_id: str = BY_ID, by_code: str = BY_CODE
) -> tuple[str, dict[str, Any]]:
    """Return the query for an id or a short code, with its values."""
    if len(name) == ID_LENGTH:
        return by_id, {"id": name.upper()}
    return by_code, {"code": name.lower(), "length": len(name)}


def _found(rows: Sequence[Any], name: str) -> Debate:
    if not rows:
        raise NotFoundError(no_debate(name))
    return the_one(name, [to_debate(row) for row in rows])


def move(
    connection: SqlConnection,
    debate_id: str,
    status: Status,
    reason: str = "",
    cause: Cause | None = None,
    model: str | None = None,
) -> None:
    """Change the status in one statement that also checks the old one; an end settles."""
    moved = {"status": status, "before": BEFORE[status], "reason": to_stored(reason)}
    early = {"cause": cause, "model": model}
    if not connection.run(MOVE, debate=debate_id, **moved, **early):
        now = get_debate(connection, debate_id).status
        raise StoreError(f"Debate {debate_id} is {now} and cannot become {status}.")
    if status is Status.CANCELLED:
        let_seeds_go(connection, debate_id)
    if not status.live:
        settle(connection, debate_id)
