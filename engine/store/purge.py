"""Deletes a community's debates with everything that belongs to them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

from engine.store.budgets import community_scope, day_of
from engine.store.database import ADD, DELETED, FIND, UNWIPED, Database, SqlConnection
from engine.tally.questions import KINDS
from engine.values.ports import utc_now

PUT = """
INSERT INTO installation (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
REMOVE = "DELETE FROM installation WHERE name = :name AND value = :value"
SCRATCH, ROOM = "scratch", "0" * 100_000
AT_ONCE = 20  # debates per commit, as every other write waits for it
LEASED = ("gone", "thumbs", *{kind.lease for kind in KINDS.values()})
SOME = """
SELECT id FROM debates
WHERE platform = :platform AND community = :community AND status NOT IN ('queued', 'running')
LIMIT :most /*+ FOR UPDATE */
"""
DELETE_OF = "DELETE FROM {} WHERE debate IN :debates"
DELETE_LEASES = "DELETE FROM leases WHERE name IN :names"
DELETE_DEBATES = "DELETE FROM debates WHERE id IN :debates"
ANY_LEFT = "SELECT 1 FROM debates WHERE platform = :platform AND community = :community LIMIT 1"
DELETE_USAGE = "DELETE FROM usage WHERE scope = :scope"
# That of today stays: a community that comes back, and the installation, have spent it.
DELETE_PAST_USAGE = "DELETE FROM usage WHERE scope = :scope AND day < :today"
MARK_USAGE = "UPDATE usage SET purged = TRUE WHERE scope = :scope"
ANY_LATE_USAGE = "SELECT 1 FROM usage WHERE purged AND day < :today LIMIT 1"
DELETE_LATE_USAGE = "DELETE FROM usage WHERE purged AND day < :today"
DELETE_SERIES_USAGE = """
DELETE FROM usage WHERE scope IN (
    SELECT 'series:' || name FROM series WHERE platform = :platform AND community = :community
)
"""
DELETE_SERIES = "DELETE FROM series WHERE platform = :platform AND community = :community"
# Those of these debates, or all of a community.
DELETE_UPVOTES = """
DELETE FROM upvotes WHERE suggestion IN (SELECT number FROM suggestions WHERE {})
"""
DELETE_SUGGESTIONS = "DELETE FROM suggestions WHERE {}"
HELD, OF_COMMUNITY = "debate IN :debates", "platform = :platform AND community = :community"
DELETE_DELETIONS = "DELETE FROM deletions WHERE platform = :platform AND community = :community"
# Its managers' labelling tasks, whose debates are gone.
OF_TASKS = """
DELETE FROM {} WHERE task IN (
    SELECT name FROM label_tasks WHERE platform = :platform AND community = :community
)
"""
OF_TASK = ("sheets", "label_debates", "annotators", "label_links")
DELETE_TASKS = (
    *(OF_TASKS.format(table) for table in OF_TASK),
    "DELETE FROM label_tasks WHERE platform = :platform AND community = :community",
)
DELETE_COMMUNITY = """
DELETE FROM communities WHERE platform = :platform AND community = :community
"""
DELETE_PERSON = "DELETE FROM people WHERE id = :person"


def purge_some(connection: SqlConnection, left: Mapping[str, str]) -> int:
    """Delete a few of a community's ended debates; return how many."""
    return delete_debates(connection, connection.column(SOME, most=AT_ONCE, **left))


async def load_tables() -> None:
    """Load what describes the tables in a thread that no write waits for."""
    await asyncio.to_thread(import_module, "engine.store.tables")


@cache
def unmentioned(**instead: str) -> str:
    """Return the condition for `people` without any record, not even an opt-out.

    Every table that refers to people counts, or `instead` of all its rows what the given query on
    it finds.
    """
    # Only here: SQLAlchemy, which describes the tables, takes a third of a second to import.
    from engine.store.tables import people, referring_to

    records = (
        instead.get(table.name, f"SELECT 1 FROM {table.name}")  # noqa: S608
        + f" {'AND' if table.name in instead else 'WHERE'} {table.name}.{column.name} = people.id"
        for table, column in referring_to(people)
    )
    nowhere = " AND ".join(f"NOT EXISTS ({record})" for record in records)
    return f"NOT opted_out AND since IS NULL AND {nowhere}"


def delete_debates(connection: SqlConnection, ids: Sequence[str]) -> int:
    """Delete debates with everything of them; budgets keep what they spent. Return how many."""
    from engine.store.tables import OF_DEBATES

    for table in OF_DEBATES:
        connection.run(DELETE_OF.format(table.name), debates=ids)
    for delete in (DELETE_UPVOTES, DELETE_SUGGESTIONS):
        connection.run(delete.format(HELD), debates=ids)
    names = [f"{kind}/{debate}" for debate in ids for kind in LEASED]
    connection.run(DELETE_LEASES, names=names)
    if ids:
        mark_deleted(connection)
    return connection.run(DELETE_DEBATES, debates=ids)


def finish_purge(connection: SqlConnection, left: Mapping[str, str]) -> None:
    """Delete the rest of a community without debates, and people without any record."""
    if connection.value(ANY_LEFT, **left) is None:
        scope = community_scope(**left)
        connection.run(DELETE_PAST_USAGE, scope=scope, today=day_of(utc_now()))
        connection.run(MARK_USAGE, scope=scope)
        connection.run(DELETE_DELETIONS, **left)
        suggested = [text.format(OF_COMMUNITY) for text in (DELETE_UPVOTES, DELETE_SUGGESTIONS)]
        for statement in (
            *suggested,
            *DELETE_TASKS,
            DELETE_SERIES_USAGE,
            DELETE_SERIES,
            DELETE_COMMUNITY,
        ):
            connection.run(statement, **left)
    for person in connection.column(f"SELECT id FROM people WHERE {unmentioned()}"):  # noqa: S608
        connection.run(DELETE_USAGE, scope=f"person:{person}")
        connection.run(DELETE_PERSON, person=person)
    mark_unwiped(connection)


def mark_unwiped(connection: SqlConnection) -> None:
    """Record that the write-ahead log still holds something that was deleted."""
    connection.run(PUT, name=UNWIPED, value=secrets.token_hex(8))


def mark_deleted(connection: SqlConnection) -> None:
    """Record that a debate was deleted, so that nothing worked out before stands any more."""
    connection.run(PUT, name=DELETED, value=secrets.token_hex(8))


async def wipe(database: Database) -> bool:
    """Empty the write-ahead log of deleted data; False: a reader still uses it, so try again."""
    seen = await database.value(FIND, name=UNWIPED)
    if seen is None:
        return True
    if not await database.checkpoint():
        return False
    # Later deletions have a mark of their own.
    await database.run(REMOVE, name=UNWIPED, value=seen)
    return True


async def write_scratch(database: Database) -> None:
    """Commit a row and delete it again. Raises StoreError if the database cannot be written."""
    await database.run(ADD, name=SCRATCH, value=ROOM)
    await database.run(REMOVE, name=SCRATCH, value=ROOM)
