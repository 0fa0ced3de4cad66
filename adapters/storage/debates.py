"""Debates, their states and frozen inputs, and what is fixed for the installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import (
    Integer,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from adapters.storage import budgets
from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.installation import find_secret, make_secret
from adapters.storage.leases import guard
from adapters.storage.outbox import insert_posts, reopen
from adapters.storage.people import ensure_starter
from adapters.storage.prepared import Prepared, one_of
from adapters.storage.tables import debates, installation, people, templates
from engine.debate import TRANSITIONS, Debate, Setup, Status
from engine.errors import NotFoundError, StoreError
from engine.store import Caps, Lease, NewDebate, Post, Stop

ENDED = (Status.CLOSED, Status.PARTIAL, Status.CANCELLED, Status.FAILED)
SETTLED = (*ENDED, Status.VOTING)
ID_LENGTH, CODE_LENGTH = 26, 6
# Why its thread is gone is told once, and what a debate goes through afterwards must not hide it.
KEPT_REASON = and_(debates.c.gone, bindparam("why") == "")
# To each status from those that it may follow, and from itself.
MOVES = {
    status: Prepared(
        update(debates)
        .where(
            debates.c.id == bindparam("of"),
            or_(
                debates.c.status == status,
                *(debates.c.status == old for old in Status if status in TRANSITIONS[old]),
            ),
        )
        .values(reason=case((KEPT_REASON, debates.c.reason), else_=bindparam("why"))),
        ("status",),
    )
    for status in Status
}
BY_ID = Prepared(select(debates).where(debates.c.id == bindparam("of")))
BY_CODE = Prepared(
    select(debates)
    .where(func.lower(func.substr(debates.c.id, bindparam("from"))) == bindparam("code"))
    .order_by(debates.c.number.desc())
    .limit(1)
)
INSERT = Prepared(
    insert(debates),
    (
        *("id", "number", "platform", "community", "place", "starter", "status", "reason", "gone"),
        *(
            "format",
            "language",
            "setup",
            "rehearsal",
            "reserved_usd",
            "settled_usd",
            "budget_day",
            "created_at",
        ),
        *("vote_extended", "closed_early", "mirror"),
    ),
)
STOPS = Prepared(
    select(debates.c.id, debates.c.stop, debates.c.gone).where(
        one_of(debates.c.status, *(status for status in Status if status.live)),
        debates.c.stop.is_not(None),
    )
)
COUNT = Prepared(
    insert(installation)
    .values(name="debates", value="1")
    .on_conflict_do_update(
        index_elements=["name"],
        set_={"value": cast(cast(installation.c.value, Integer) + 1, Text)},
    )
    .returning(installation.c.value)
)
TEMPLATES = Prepared(insert(templates).on_conflict_do_nothing(), ("digest", "texts"))
DEBATE_FIELDS = tuple(name for name in Debate.model_fields if name != "setup")
NEW_FIELDS = tuple(name for name in NewDebate.model_fields if name in DEBATE_FIELDS)


def to_debate(row: Any) -> Debate:
    """Read a row of the debates table."""
    plain = {name: getattr(row, name) for name in DEBATE_FIELDS}
    return Debate(setup=Setup.model_validate_json(row.setup), **plain)


class DebateTable:
    """The Debates part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: set[str] = set()  # digests of templates that are stored

    async def next_number(self) -> int:
        """Count one more debate and return its number, from 1."""
        return await self._database.write(_count_debate)

    async def create(
        self, queued: Sequence[tuple[NewDebate, Sequence[Post]]], caps: Caps
    ) -> list[Debate]:
        """Store queued debates with their first posts, all or none of them. Raises BudgetError."""
        return await self._database.write(
            lambda connection: [_create(connection, new, caps, posts) for new, posts in queued]
        )

    async def get(self, debate_id: str) -> Debate:
        """Return a debate by its id or its short code. Raises NotFoundError."""
        query, values = _named(debate_id)
        return _only(await self._database.fetch(query, values), debate_id)

    async def mirror_of(self, debate: Debate) -> Debate | None:
        """Return the same debate with sides exchanged; None where there is none, or no more."""
        if debate.mirror is None:
            return None
        rows = await self._database.fetch(BY_ID, {"of": debate.mirror})
        return to_debate(rows[0]) if rows else None

    async def recent(self, statuses: Sequence[Status] = (), limit: int = 100) -> list[Debate]:
        """Return debates, newest first."""
        query = select(debates).order_by(debates.c.number.desc()).limit(limit)
        if statuses:
            query = query.where(debates.c.status.in_(statuses))
        return await self._database.read(lambda c: [to_debate(row) for row in c.execute(query)])

    async def of_community(
        self, platform: str, community: str, statuses: Sequence[Status] = (), limit: int = 100
    ) -> list[Debate]:
        """Return a community's own debates, newest first."""
        query = (
            select(debates)
            .where(debates.c.platform == platform, debates.c.community == community)
            .order_by(debates.c.created_at.desc(), debates.c.number.desc())
            .limit(limit)
        )
        if statuses:
            query = query.where(debates.c.status.in_(statuses))
        return await self._database.read(lambda c: [to_debate(row) for row in c.execute(query)])

    async def is_starter(self, debate_id: str, user: str) -> bool:
        """Tell whether a user of the debate's platform started it."""
        query = (
            select(debates.c.id)
            .join(people, debates.c.starter == people.c.id)
            .where(debates.c.id == debate_id, people.c.user == user)
        )
        return await self._database.read(lambda connection: connection.scalar(query) is not None)

    async def unfinished(self) -> list[str]:
        """Return the ids of debates that somebody has to think for, oldest first."""
        live = [status for status in Status if status.live]
        query = select(debates.c.id).where(debates.c.status.in_(live)).order_by(debates.c.number)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def advance(self, lease: Lease, debate_id: str, status: Status, reason: str = "") -> None:
        """Move a debate to a status that may follow its own; an end settles its budget."""

        def store(connection: Connection) -> None:
            guard(connection, lease)
            move(connection, debate_id, status, reason)

        await self._database.write(store)

    async def requeue(
        self,
        debate_id: str,
        caps: Caps,
        now: datetime,
        setup: Setup | None = None,
        posts: Sequence[Post] = (),
    ) -> Debate:
        """Queue a failed or partial debate again, with what it paid for kept.

        One that is queued or runs already stays as it is.
        """

        def store(connection: Connection) -> Debate:
            debate = _get(connection, debate_id)
            if debate.status.live:
                return debate
            budgets.reserve_rest(connection, debate, caps, now)
            move(connection, debate.id, Status.QUEUED)
            cap = caps.debate_usd
            if cap is None and caps.community_daily_usd is not None:
                cap = debate.setup.reserved_usd
            going = (setup or debate.setup).model_copy(update={"cap_usd": cap})
            fresh: dict[str, Any] = {"stop": None, "gone": False, "reason": ""}
            fresh |= {"setup": going.model_dump_json(), "rehearsal": bool(going.rehearsal)}
            if debate.gone:
                fresh |= dict.fromkeys(("vote_deadline", "vote_opened_at", "vote_message"))
                reopen(connection, debate.id)
            connection.execute(update(debates).where(debates.c.id == debate.id).values(fresh))
            insert_posts(connection, debate.id, posts)
            return _get(connection, debate.id)

        return await self._database.write(store)

    async def ask_stop(self, debate_id: str, reason: str) -> None:
        """Leave the wish, to be read between steps, that a debate stops."""
        live = [status for status in Status if status.live]
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.status.in_(live))
            .values(stop=reason)
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def stops(self) -> dict[str, Stop]:
        """Return the live debates that were asked to stop."""
        rows = await self._database.fetch(STOPS, {})
        return {row.id: Stop(reason=row.stop, gone=row.gone) for row in rows}

    async def set_waiting(self, debate_id: str, reason: str) -> None:
        """Say what a debate waits for; an empty reason: nothing any more.

        One whose thread is gone waits for nothing: why it is gone is what is shown of it.
        """
        going = [Status.QUEUED, Status.RUNNING, Status.VOTING]
        statement = (
            update(debates)
            .where(debates.c.id == debate_id, debates.c.status.in_(going))
            .where(debates.c.gone.is_(False))
            .values(reason=reason)
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def keep_templates(self, digest: str, texts: Mapping[str, str]) -> None:
        """Keep a set of template texts under its hash."""
        if digest in self._kept:
            return
        body = orjson.dumps(dict(texts), option=orjson.OPT_SORT_KEYS).decode()
        row = {"digest": digest, "texts": body}
        await self._database.write(lambda connection: TEMPLATES.run(connection, row))
        self._kept.add(digest)

    async def templates(self, digest: str) -> dict[str, str]:
        """Return the template texts that were kept under a hash."""
        query = select(templates.c.texts).where(templates.c.digest == digest)
        body = await self._database.read(lambda connection: connection.scalar(query))
        if body is None:
            raise StoreError(f"The templates {digest[:12]}… are not in the database; restore it.")
        texts: dict[str, str] = orjson.loads(body)
        return texts

    async def secret(self, name: str) -> bytes:
        """Return this installation's own random 32 bytes of that name, made when first asked."""
        # Read first: an export beside a running process has nothing to write then.
        known = await self._database.read(lambda connection: find_secret(connection, name))
        if known is not None:
            return known
        return await self._database.write(lambda connection: make_secret(connection, name))


def _create(connection: Connection, new: NewDebate, caps: Caps, posts: Sequence[Post]) -> Debate:
    starter = new.user and ensure_starter(connection, new.platform, new.user, new.created_at)
    budgets.reserve(connection, new, starter or None, caps)
    known = {name: getattr(new, name) for name in NEW_FIELDS}
    known |= {"starter": starter or None, "status": Status.QUEUED}
    request = new.setup.request
    row = {
        **known,
        "reason": "",
        "format": request.format,
        "language": request.language,
        "setup": new.setup.model_dump_json(),
        "rehearsal": bool(new.setup.rehearsal),
        "reserved_usd": new.setup.reserved_usd,
        "settled_usd": 0.0,
        "budget_day": new.created_at.date().isoformat(),
        "mirror": new.setup.mirror_of,
        **dict.fromkeys(("gone", "vote_extended", "closed_early"), False),
    }
    INSERT.run(connection, row)
    if new.setup.mirror_of is not None:
        mirrored = update(debates).where(debates.c.id == new.setup.mirror_of)
        connection.execute(mirrored.values(mirror=new.id))
    insert_posts(connection, new.id, posts)
    return Debate(setup=new.setup, mirror=new.setup.mirror_of, **known)


def _count_debate(connection: Connection) -> int:
    [row] = COUNT.rows(connection, {})
    return int(row.value)


def _get(connection: Connection, debate_id: str) -> Debate:
    query, values = _named(debate_id)
    return _only(query.rows(connection, values), debate_id)


def _named(debate_id: str) -> tuple[Prepared, dict[str, Any]]:
    if len(debate_id) == ID_LENGTH:
        return BY_ID, {"of": debate_id.upper()}
    return BY_CODE, {"code": debate_id.lower(), "from": -len(debate_id)}


def _only(rows: Sequence[Any], debate_id: str) -> Debate:
    if not rows or len(debate_id) < CODE_LENGTH:
        raise NotFoundError(f"There is no debate {debate_id!r}; take an id from the list.")
    return to_debate(rows[0])


def move(connection: Connection, debate_id: str, status: Status, reason: str = "") -> None:
    """Change the status in one statement that also checks the one before; an end settles."""
    values = {"of": debate_id, "status": status, "why": reason}
    if not MOVES[status].run(connection, values):
        now = _get(connection, debate_id).status
        raise StoreError(f"Debate {debate_id} is {now} and cannot become {status}.")
    if status in SETTLED:
        budgets.settle(connection, debate_id)
