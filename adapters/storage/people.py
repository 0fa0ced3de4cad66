"""People: the one mapping of platforms' user ids, and how it is taken back.

Who is forgotten leaves a row without a user id, so that every tally stays, and a tombstone: a
keyed hash of the id, which no row refers to. While it stands, nothing of that person is stored.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime
from itertools import product
from typing import NamedTuple

from sqlalchemy import Text, bindparam, delete, distinct, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.installation import find_secret, make_secret
from adapters.storage.tables import (
    OF_DEBATES,
    debates,
    installation,
    people,
    tombstones,
    usage,
    vote_events,
)
from engine.errors import NotAllowedError
from engine.judging import Question
from engine.store import Traces

KEY = "forget"
UNWIPED = "unwiped"
NOBODY = "@somebody"
# Built once, as each vote runs them: that costs twice what running them does.
FIND_PERSON = select(people.c.id, people.c.since).where(
    people.c.platform == bindparam("on"), people.c.user == bindparam("who")
)
FIND_TOMBSTONE = select(tombstones.c.digest).where(tombstones.c.digest == bindparam("same"))
FIND_BARRED = select(people.c.id).where(
    people.c.id == bindparam("who"),
    or_(people.c.user.is_(None), people.c.since > bindparam("began")),
)
INSERT_PERSON = insert(people)


class Known(NamedTuple):
    """A person's surrogate id, and since when they are back after they were forgotten."""

    id: int
    since: datetime | None = None

    def may_answer(self, began: datetime) -> bool:
        """Whether a debate that began then takes their answers.

        One that they may have voted on before they were forgotten would count them twice.
        """
        return self.since is None or self.since <= began


def find_key(connection: Connection) -> bytes | None:
    """Return what tombstones are keyed with, None while nobody was ever forgotten."""
    return find_secret(connection, KEY)


def ensure_person(
    connection: Connection, platform: str, user: str, key: bytes | None
) -> Known | None:
    """Return who a platform's user is, making one who is new; None for one who was forgotten."""
    known = _find(connection, platform, user)
    if known is not None:
        return known
    if key is not None and _is_forgotten(connection, _digest(key, platform, user)):
        return None
    made = connection.execute(INSERT_PERSON, {"platform": platform, "user": user})
    return Known(int(made.inserted_primary_key[0]))


def ensure_starter(connection: Connection, platform: str, user: str, now: datetime) -> int:
    """Return the surrogate id of who starts a debate. Raises NotAllowedError for the forgotten."""
    person = ensure_person(connection, platform, user, find_key(connection))
    if person is None:
        raise NotAllowedError(
            "You asked to be forgotten, so nothing of you is stored; use optin to start debates "
            "and to vote again."
        )
    if person.since is not None and person.since.date() == now.date():
        raise NotAllowedError(
            "You came back today, and how many debates you had started was forgotten; start the "
            "next one tomorrow (UTC)."
        )
    return person.id


def barred(connection: Connection, debate_id: str, persons: Iterable[int]) -> set[int]:
    """Return those of whom nothing is to be appended to a debate's log."""
    began = connection.scalar(select(debates.c.created_at).where(debates.c.id == debate_id))
    found = (connection.scalar(FIND_BARRED, {"who": one, "began": began}) for one in persons)
    return {person for person in found if person is not None}


def hidden_people(connection: Connection) -> frozenset[int]:
    """Return those of whom an export shows nothing: who opted out, and who was forgotten."""
    query = select(people.c.id).where(or_(people.c.user.is_(None), people.c.opted_out))
    return frozenset(connection.scalars(query))


def mark_unwiped(connection: Connection) -> None:
    """Note that something was deleted whose older state is still in the write-ahead log."""
    row = insert(installation).values(name=UNWIPED, value=secrets.token_hex(8))
    fresh = {"value": row.excluded.value}
    connection.execute(row.on_conflict_do_update(index_elements=["name"], set_=fresh))


class PeopleTable:
    """The People part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def traces(self, platform: str, user: str) -> Traces:
        """Return what is stored of a person."""
        return await self._database.read(lambda c: _traces(c, platform, user))

    async def starter_of(self, debate_id: str) -> str | None:
        """Return who started a debate, None where nobody is known or they were forgotten."""
        query = (
            select(people.c.user)
            .join(debates, debates.c.starter == people.c.id)
            .where(debates.c.id == debate_id)
        )
        return await self._database.read(lambda connection: connection.scalar(query))

    async def mentions(self, user: str) -> int:
        """Return how many debates have a topic or conditions that mention a user."""
        forms = (f"<@{user}>", f"<@!{user}>", f"<@{user}|")
        named = or_(*(debates.c.setup.contains(form, autoescape=True) for form in forms))
        query = select(func.count()).select_from(debates).where(named)
        return await self._database.read(lambda connection: connection.scalars(query).one())

    async def forget(self, platform: str, user: str) -> None:
        """Delete who is behind a surrogate id, for good, and store nothing of them any more."""

        def store(connection: Connection) -> None:
            digest = _digest(make_secret(connection, KEY), platform, user)
            stone = insert(tombstones).values(digest=digest)
            connection.execute(stone.on_conflict_do_nothing())
            person = _find(connection, platform, user)
            if person is not None:
                _cut_off(connection, person.id)
            _erase_mentions(connection, user)
            mark_unwiped(connection)

        await self._database.write(store)

    async def opt_out(self, platform: str, user: str) -> None:
        """Leave a person out of exports; whoever was forgotten is in none anyway."""

        def store(connection: Connection) -> None:
            person = ensure_person(connection, platform, user, find_key(connection))
            if person is not None:
                row = update(people).where(people.c.id == person.id)
                connection.execute(row.values(opted_out=True))

        await self._database.write(store)

    async def opt_in(self, platform: str, user: str, now: datetime) -> None:
        """Undo an opting out; whoever was forgotten comes back, as somebody new."""

        def store(connection: Connection) -> None:
            _let_return(connection, platform, user, now)
            row = update(people).where(people.c.platform == platform, people.c.user == user)
            connection.execute(row.values(opted_out=False))

        await self._database.write(store)

    async def unforget(self, platform: str, user: str, now: datetime) -> bool:
        """Let somebody who was forgotten be stored again, as somebody new; False: they were not."""
        return await self._database.write(lambda c: _let_return(c, platform, user, now))

    async def wipe(self) -> bool:
        """Empty the write-ahead log of what was deleted; False: somebody reads it, try again."""
        mark = installation.c.name == UNWIPED
        query = select(installation.c.value).where(mark)
        seen = await self._database.read(lambda connection: connection.scalar(query))
        if seen is None:
            return True
        if not await self._database.checkpoint():
            return False
        # What was deleted since has a mark of its own.
        done = delete(installation).where(mark, installation.c.value == seen)
        await self._database.write(lambda connection: connection.execute(done))
        return True


def _cut_off(connection: Connection, person: int) -> None:
    """Take away what leads from a surrogate id to its person."""
    connection.execute(delete(usage).where(usage.c.scope == f"person:{person}"))
    row = update(people).where(people.c.id == person)
    connection.execute(row.values(user=None, opted_out=False, since=None))
    # Some platforms make an event's id of its user's.
    connection.execute(update(vote_events).where(vote_events.c.person == person).values(event=None))


def _let_return(connection: Connection, platform: str, user: str, now: datetime) -> bool:
    """Take a tombstone away and make a new number; False where there is none."""
    key = find_key(connection)
    if key is None:
        return False
    stone = tombstones.c.digest == _digest(key, platform, user)
    if not connection.execute(delete(tombstones).where(stone)).rowcount:
        return False
    connection.execute(insert(people).values(platform=platform, user=user, since=now))
    return True


def _erase_mentions(connection: Connection, user: str) -> None:
    """Take a user's id out of the debates whose topic or conditions mention them."""
    forms = (f"@{user}", f"@!{user}")
    named = or_(*(debates.c.setup.contains(form, autoescape=True) for form in forms))
    ids = connection.scalars(select(debates.c.id).where(named)).all()
    for table in (debates, *OF_DEBATES) if ids else ():
        texts = [column for column in table.c if isinstance(column.type, Text)]
        for column, form in product(texts, forms):
            of = table.c.id if table is debates else table.c.debate
            row = update(table).where(of.in_(ids), column.contains(form, autoescape=True))
            connection.execute(row.values({column: func.replace(column, form, NOBODY)}))


def _digest(key: bytes, platform: str, user: str) -> str:
    return hmac.digest(key, f"{platform}/{user}".encode(), "sha256").hex()


def _find(connection: Connection, platform: str, user: str) -> Known | None:
    row = connection.execute(FIND_PERSON, {"on": platform, "who": user}).first()
    return None if row is None else Known(row.id, row.since)


def _is_forgotten(connection: Connection, digest: str) -> bool:
    return connection.scalar(FIND_TOMBSTONE, {"same": digest}) is not None


def _traces(connection: Connection, platform: str, user: str) -> Traces:
    query = select(people).where(people.c.platform == platform, people.c.user == user)
    row = connection.execute(query).first()
    if row is None:
        key = find_key(connection)
        stone = key is not None and _is_forgotten(connection, _digest(key, platform, user))
        return Traces(forgotten=stone)
    asked = vote_events.c.debate.concat(vote_events.c.step)
    answered = (
        select(vote_events.c.question, func.count(distinct(asked)), func.count())
        .where(vote_events.c.person == row.id)
        .group_by(vote_events.c.question)
    )
    counts = {row[0]: (row[1], row[2]) for row in connection.execute(answered)}
    held = select(func.count()).select_from(debates).where(debates.c.starter == row.id)
    stances = (Question.STANCE_BEFORE, Question.STANCE_AFTER)
    return Traces(
        known=True,
        votes=counts.get(Question.VOTE, (0, 0))[0],
        stances=sum(counts.get(question, (0, 0))[0] for question in stances),
        revisions=counts.get(Question.AGAIN, (0, 0))[0],
        thumbs=counts.get(Question.TURN, (0, 0))[0],
        entries=sum(entries for _, entries in counts.values()),
        started=connection.scalars(held).one(),
        opted_out=row.opted_out,
        since=row.since,
    )
