"""People: the only mapping of platforms' user ids; their erasure is in privacy.py."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from engine.store.database import Database, SqlConnection, find_secret
from engine.values.errors import NotAllowedError

KEY = "forget"
FIND = 'SELECT id, since, opted_out FROM people WHERE platform = :platform AND "user" = :user'
# Until this write ends, nobody forgets them.
FIND_KEPT = f"{FIND} /*+ FOR KEY SHARE */"
NUMBER = 'SELECT id FROM people WHERE platform = :platform AND "user" = :user'
LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended(:user, 0))"
LOCK_PERSON = "SELECT id FROM people WHERE id = :person FOR NO KEY UPDATE"
ADD = (
    'INSERT INTO people (platform, "user", opted_out) VALUES (:platform, :user, FALSE) RETURNING id'
)
BOTS = """
SELECT "user", bot FROM people WHERE platform = :platform AND "user" IN :users AND bot IS NOT NULL
"""
NOTE_BOT = 'UPDATE people SET bot = :bot WHERE platform = :platform AND "user" = :user'
IS_FORGOTTEN = "SELECT 1 FROM tombstones WHERE digest = :digest"
BEGAN = "SELECT created_at FROM debates WHERE id = :debate"
OPTED_OUT = "SELECT 1 FROM people WHERE id = :person AND opted_out"
BARRED = 'SELECT id FROM people WHERE id = :person AND ("user" IS NULL OR since > :began)'
HIDDEN = 'SELECT id FROM people WHERE "user" IS NULL OR opted_out'
STARTER = """
SELECT people."user" FROM people JOIN debates ON debates.starter = people.id
WHERE debates.id = :debate
"""


class PersonIdentity(NamedTuple):
    """A person's surrogate id, and when they came back after being forgotten."""

    id: int
    since: datetime | None = None

    def may_answer(self, began: datetime) -> bool:
        """Return whether a debate that began then accepts their answers.

        In an older debate they may have voted before they were forgotten, and would count twice.
        """
        return self.since is None or self.since <= began


def find_key(connection: SqlConnection) -> bytes | None:
    """Return the key of tombstones, None if no one was ever forgotten."""
    return find_secret(connection, KEY)


def ensure_person(
    connection: SqlConnection, platform: str, user: str, key: bytes | None
) -> PersonIdentity | None:
    """Return a platform's user, adding a new one; None for a forgotten one."""
    known = find_person(connection, platform, user)
    if known is None and lock_user(connection, platform, user):
        # Another process may have added or forgotten them.
        known, key = find_person(connection, platform, user), find_key(connection)
    if known is not None:
        return known
    if _is_forgotten(connection, key, platform, user):
        return None
    return PersonIdentity(connection.value(ADD, platform=platform, user=user))


def ensure_starter(
    connection: SqlConnection, platform: str, user: str, now: datetime, *, capped: bool
) -> int:
    """Return the surrogate id of a debate's starter.

    Raises NotAllowedError if forgotten, or if they came back today and their debates are `capped`.
    """
    person = ensure_person(connection, platform, user, find_key(connection))
    if person is None:
        raise NotAllowedError(
            "You asked to be forgotten, so nothing of you is stored; use optin to start debates "
            "and to vote again."
        )
    if capped and person.since is not None and person.since.date() == now.date():
        raise NotAllowedError(
            "You came back today, and how many debates you had started was forgotten; start the "
            "next one tomorrow (UTC)."
        )
    return person.id


def is_opted_out(connection: SqlConnection, person: int) -> bool:
    """Return whether somebody wants to be left out of exports."""
    return connection.value(OPTED_OUT, person=person) is not None


def barred(connection: SqlConnection, debate_id: str, persons: Iterable[int]) -> set[int]:
    """Return the people whose events must not be added to a debate's log."""
    began = connection.value(BEGAN, debate=debate_id)
    found = (connection.value(BARRED, person=one, began=began) for one in persons)
    return {person for person in found if person is not None}


def is_forgotten(connection: SqlConnection, platform: str, user: str) -> bool:
    """Return whether a user has been forgotten."""
    return _is_forgotten(connection, find_key(connection), platform, user)


def hidden_people(connection: SqlConnection) -> frozenset[int]:
    """Return the people hidden from exports: opted out or forgotten."""
    return frozenset(connection.column(HIDDEN))


def find_person(connection: SqlConnection, platform: str, user: str) -> PersonIdentity | None:
    """Return a platform's user who is stored, None for anyone else."""
    row = connection.first(FIND_KEPT, platform=platform, user=user)
    return row and PersonIdentity(row.id, row.since)


def lock_user(connection: SqlConnection, platform: str, user: str) -> bool:
    """Let no other process add, forget or readmit a user until this write ends."""
    return connection.lock(LOCK_USER, user=f"{platform}/{user}")


def digest_of(key: bytes, platform: str, user: str) -> str:
    """Return what a tombstone keeps of a user."""
    return hmac.digest(key, f"{platform}/{user}".encode(), "sha256").hex()


class PeopleStore:
    """Who is behind the surrogate ids, and what they are; users are platform ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def number(self, platform: str, user: str) -> int | None:
        """Return a person's surrogate id, None for one who is not stored."""
        found: int | None = await self._database.value(NUMBER, platform=platform, user=user)
        return found

    async def starter_of(self, debate_id: str) -> str | None:
        """Return a debate's starter, None if unknown or forgotten."""
        known: str | None = await self._database.value(STARTER, debate=debate_id)
        return known

    async def bots(self, platform: str, users: Collection[str]) -> dict[str, bool]:
        """Return which of these users are bots; those never noted are missing."""
        rows = await self._database.rows(BOTS, platform=platform, users=list(users))
        return {row.user: bool(row.bot) for row in rows}

    async def note_bots(self, platform: str, found: Mapping[str, bool]) -> None:
        """Note which users the platform calls bots; anyone who is not stored is skipped."""

        def store(connection: SqlConnection) -> None:
            for user, bot in found.items():
                connection.run(NOTE_BOT, platform=platform, user=user, bot=bot)

        if found:
            await self._database.write(store)


def lock_person(connection: SqlConnection, person: int) -> None:
    """Let no other process write what somebody answers, until this write ends."""
    connection.lock(LOCK_PERSON, person=person)


def _is_forgotten(connection: SqlConnection, key: bytes | None, platform: str, user: str) -> bool:
    if key is None:
        return False
    return connection.value(IS_FORGOTTEN, digest=digest_of(key, platform, user)) is not None
