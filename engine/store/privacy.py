"""A person's own data: what is stored of them, left out of exports, or erased for good.

A forgotten person leaves a row without a user id, so that every tally stays, and a tombstone: a
keyed hash of the id, which no row refers to. With a tombstone nothing is stored about that person.
Finding their mentions reads what all people of a platform wrote, so it is done outside of writes; a
write then reads and changes only the rows of what was found.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from engine.store.database import Database, SqlConnection
from engine.store.installation import make_secret
from engine.store.people import (
    FIND,
    KEY,
    digest_of,
    ensure_person,
    find_key,
    find_person,
    is_forgotten,
    lock_user,
)
from engine.store.purge import load_tables, mark_unwiped, wipe
from engine.values.debate import Value
from engine.values.verdicts import Question

if TYPE_CHECKING:  # few processes are asked for it
    from engine.store.own import GuessRecord, OwnData, OwnVote


class PersonTraces(Value):
    """What is stored about a person: their answers, and the debates they started.

    `known`: their user id is stored. `votes`, `confidences` (how clear they found it), `grounds`
    (what decided), `guesses` (at models), `rounds` (answers to who is ahead), `stances`,
    `revisions` (answers after a reveal) and `thumbs` count questions, `entries` every choice made
    or withdrawn. `suggested` topics are theirs, and `upvotes` the suggested topics that they want.
    `asked` counts questions that they asked the sides of debates, and `supported` the debates in
    which they were for somebody's question. `labels` counts debates that they labelled on pages.
    `since` is when a forgotten person came back.
    """

    known: bool = False
    votes: int = 0
    confidences: int = 0
    grounds: int = 0
    guesses: int = 0
    rounds: int = 0
    stances: int = 0
    revisions: int = 0
    thumbs: int = 0
    asked: int = 0
    supported: int = 0
    entries: int = 0
    started: int = 0
    suggested: int = 0
    upvotes: int = 0
    labels: int = 0
    opted_out: bool = False
    forgotten: bool = False
    since: datetime | None = None


ERASED = "@somebody"
# Which rows may have one; ids that only begin alike are told apart by `_pattern`.
HAS = "(replace({0}, :plain, '') <> {0} OR replace({0}, :nick, '') <> {0})"
# What people wrote: of a debate in which one is found, all texts are searched.
IN_DEBATES = f"""
SELECT id, setup AS text FROM debates WHERE platform = :platform AND {HAS.format("setup")}
"""  # noqa: S608
OF_DEBATES = (("asked", "text"), ("spoken", "text"), ("votes", "body"), ("sheets", "body"))
BESIDE = """
SELECT debate AS id, {table}.{column} AS text FROM {table} JOIN debates ON debates.id = debate
WHERE platform = :platform AND {has}
"""
# The others, with their keys.
ROWS = (
    ("suggestions", "number", "text"),
    ("series", "name", "body"),
    ("series", "name", "problem"),
    ("label_tasks", "name", "body"),
)
IN_ROWS = "SELECT {key} AS id, {column} AS text FROM {table} WHERE platform = :platform AND {has}"


class _Mentioning(NamedTuple):
    """The debates whose texts mention a person, and other rows: table, key, column and value."""

    debates: frozenset[str] = frozenset()
    rows: tuple[tuple[str, str, str, str | int], ...] = ()


NOWHERE = _Mentioning()


def find_mentions(connection: SqlConnection, platform: str, user: str) -> _Mentioning:
    """Return what mentions a user of a platform, by a scan."""
    pattern, given = _pattern(user), {"platform": platform, **_forms(user)}

    def search(query: str, table: str = "", key: str = "", column: str = "") -> list[Any]:
        has = HAS.format(f"{table}.{column}")
        rows = connection.rows(query.format(table=table, key=key, column=column, has=has), **given)
        return [row.id for row in rows if pattern.search(row.text)]

    beside = (one for table, column in OF_DEBATES for one in search(BESIDE, table, column=column))
    return _Mentioning(
        debates=frozenset([*search(IN_DEBATES), *beside]),
        rows=tuple((*of, one) for of in ROWS for one in search(IN_ROWS, *of)),
    )


def erase_mentions(connection: SqlConnection, user: str, found: _Mentioning) -> None:
    """Erase a user's id from all texts of these debates, and from these rows."""
    for debate in sorted(found.debates):
        # Only here: SQLAlchemy, which describes the tables, takes a third of a second to import.
        from engine.store.tables import TEXTS_OF_DEBATES

        for table, key, column in TEXTS_OF_DEBATES:
            _erase(connection, user, table, key, column, debate)
    for row in found.rows:
        _erase(connection, user, *row)


def _erase(
    connection: SqlConnection, user: str, table: str, key: str, column: str, of: str | int
) -> None:
    """Erase a user's id from a column's texts, by their values: they have keys of many kinds."""
    rows = f"{table} WHERE {key} = :of AND"
    find = f"SELECT DISTINCT {column} FROM {rows} {HAS.format(column)}"  # noqa: S608
    change = f"UPDATE {table} SET {column} = :new WHERE {key} = :of AND {column} = :old"  # noqa: S608
    for old in connection.column(find, of=of, **_forms(user)):
        new = _pattern(user).sub(ERASED, old)
        if new != old:
            connection.run(change, of=of, old=old, new=new)


def _forms(user: str) -> dict[str, str]:
    return {"plain": f"@{user}", "nick": f"@!{user}"}


def _pattern(user: str) -> re.Pattern[str]:
    """Return what matches an id as a mention has it, and no longer id."""
    return re.compile(rf"@!?{re.escape(user)}(?![0-9A-Za-z_])")


SHOW = 'UPDATE people SET scoreboard = :shown WHERE platform = :platform AND "user" = :user'
SHOWN = 'SELECT scoreboard FROM people WHERE platform = :platform AND "user" = :user'
ADD_AGAIN = """
INSERT INTO people (platform, "user", opted_out, since) VALUES (:platform, :user, FALSE, :now)
"""
OPT = 'UPDATE people SET opted_out = :out WHERE platform = :platform AND "user" = :user'
CUT_OFF = """
UPDATE people SET "user" = NULL, opted_out = FALSE, since = NULL, bot = NULL, scoreboard = FALSE
WHERE id = :person
"""
# Some platforms build an event's id from its user's, and ages lead to an account too.
CUT_EVENTS = """
UPDATE vote_events SET event = NULL, account_days = NULL, member_days = NULL WHERE person = :person
"""
# What they asked the sides of a debate goes, but what was put to these stays in its turns.
CUT_ASKED = (
    "UPDATE asked SET person = NULL, text = '', removed = 'forgotten' WHERE person = :person"
)
CUT_USAGE = "DELETE FROM usage WHERE scope = :scope"
# What they wanted debated; what a manager approved or others want stays, and nobody suggested it.
CUT_UPVOTES = "DELETE FROM upvotes WHERE person = :person"
CUT_SUGGESTIONS = """
DELETE FROM suggestions WHERE suggester = :person AND NOT approved AND debate IS NULL
    AND NOT EXISTS (SELECT 1 FROM upvotes WHERE suggestion = suggestions.number)
"""
CUT_SUGGESTER = "UPDATE suggestions SET suggester = NULL WHERE suggester = :person"
BURY = "INSERT INTO tombstones (digest) VALUES (:digest) ON CONFLICT DO NOTHING"
UNBURY = "DELETE FROM tombstones WHERE digest = :digest"
# Their own link ends, and what they wrote beside their labels goes; the labels stay.
CUT_ANNOTATORS = "DELETE FROM annotators WHERE person = :person"
# What they wrote for a side goes, also from its turns and prompts, as far as it is final.
CUT_GUEST = "UPDATE guests SET names = '[]' WHERE person = :person"
CUT_SPOKEN = "UPDATE spoken SET text = '' WHERE person = :person AND text IS NOT NULL"
# The tables with reasons in a person's own words, with the rest of their key.
COMMENTED = (("sheets", "id"), ("votes", "debate || question || step"))
COMMENTS = """
SELECT {key} AS key, body FROM {table}
WHERE person = :person AND body LIKE '%"comment":"%' AND body NOT LIKE '%"comment":""%'
"""
UNCOMMENT = "UPDATE {table} SET body = :body WHERE person = :person AND {key} = :key"
MENTIONS = """
SELECT count(*) FROM debates
WHERE platform = :platform AND (
    replace(setup, :plain, '') <> setup OR replace(setup, :nick, '') <> setup
    OR replace(setup, :named, '') <> setup
)
"""
ANSWERED = """
SELECT question, count(DISTINCT debate || step) AS answers, count(*) AS entries FROM vote_events
WHERE person = :person GROUP BY question
"""
QUESTIONS_OF = "SELECT count(*) FROM asked WHERE person = :person"
STARTED = "SELECT count(*) FROM debates WHERE starter = :person"
SUGGESTED = "SELECT count(*) FROM suggestions WHERE suggester = :person"
LABELLED = "SELECT count(*) FROM sheets WHERE person = :person AND answered_at IS NOT NULL"
UPVOTED = "SELECT count(*) FROM upvotes WHERE person = :person"


class Privacy:
    """What people may ask about themselves, and their choices; users are platform ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def traces(self, platform: str, user: str) -> PersonTraces:
        """Return what is stored about a person."""
        return await asyncio.to_thread(
            self._database.read_snapshot, lambda connection: _traces(connection, platform, user)
        )

    async def own(self, platform: str, user: str) -> OwnData | None:
        """Return everything that is stored of a person, None for nothing."""
        from engine.store.own import read_own

        return await asyncio.to_thread(
            self._database.read_snapshot, lambda connection: read_own(connection, platform, user)
        )

    async def own_votes(
        self, platform: str, community: str, user: str, most: int
    ) -> tuple[OwnVote, ...]:
        """Return a person's newest votes on revealed debates of a community, newest first."""
        from engine.store.own import read_own_votes

        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: read_own_votes(connection, platform, community, user, most),
        )

    async def own_guesses(self, platform: str, community: str, user: str) -> GuessRecord:
        """Return how a person guessed in a community's revealed debates."""
        from engine.store.own import read_own_guesses

        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: read_own_guesses(connection, platform, community, user),
        )

    async def guessers(self, platform: str, community: str, most: int) -> tuple[GuessRecord, ...]:
        """Return those who want to be named, most right guesses first."""
        from engine.store.own import read_guessers

        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: read_guessers(connection, platform, community, most),
        )

    async def on_scoreboard(self, platform: str, user: str, shown: bool | None) -> bool:
        """Return whether a person wants to be named there, after setting it unless None."""

        def store(connection: SqlConnection) -> None:
            ensure_person(connection, platform, user, find_key(connection))
            connection.run(SHOW, platform=platform, user=user, shown=shown)

        if shown is not None:
            await self._database.write(store)
        return bool(await self._database.value(SHOWN, platform=platform, user=user))

    async def mentions(self, platform: str, user: str) -> int:
        """Return how many debates of a platform have a topic or conditions that mention a user."""
        forms = {"plain": f"<@{user}>", "nick": f"<@!{user}>", "named": f"<@{user}|"}
        return int(await self._database.value(MENTIONS, platform=platform, **forms))

    async def forget(self, platform: str, user: str) -> None:
        """Delete the user behind a surrogate id for good, and never store them again."""
        await load_tables()
        found = await self._mentioning(platform, user)
        await self._database.write(lambda connection: forget(connection, platform, user, found))
        if any(later := await self._mentioning(platform, user)):  # stored since the first search
            await self._database.write(lambda connection: erase_mentions(connection, user, later))

    async def _mentioning(self, platform: str, user: str) -> _Mentioning:
        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: find_mentions(connection, platform, user),
        )

    async def opt_out(self, platform: str, user: str) -> None:
        """Leave a person out of exports; forgotten people are left out anyway."""

        def store(connection: SqlConnection) -> None:
            ensure_person(connection, platform, user, find_key(connection))
            connection.run(OPT, platform=platform, user=user, out=True)

        await self._database.write(store)

    async def opt_in(self, platform: str, user: str, now: datetime) -> None:
        """Undo an opt-out; a forgotten person is re-admitted as a new one."""

        def store(connection: SqlConnection) -> None:
            _let_return(connection, platform, user, now)
            connection.run(OPT, platform=platform, user=user, out=False)

        await self._database.write(store)

    async def unforget(self, platform: str, user: str, now: datetime) -> bool:
        """Re-admit a forgotten person as a new one; False if they were not forgotten.

        Questions from before `now` do not accept their answers.
        """
        return await self._database.write(lambda c: _let_return(c, platform, user, now))

    async def wipe(self) -> bool:
        """Overwrite deleted data in all files; False: a reader still uses it, so try again.

        Does nothing if nothing was deleted since the last call.
        """
        return await wipe(self._database)


def forget(
    connection: SqlConnection, platform: str, user: str, found: _Mentioning = NOWHERE
) -> None:
    """Delete what identifies a user, also where it was found, and keep a tombstone in its place."""
    lock_user(connection, platform, user)
    connection.run(BURY, digest=digest_of(make_secret(connection, KEY), platform, user))
    person = find_person(connection, platform, user)
    if person is not None:
        _cut_off(connection, person.id)
    erase_mentions(connection, user, found)
    mark_unwiped(connection)


def _cut_off(connection: SqlConnection, person: int) -> None:
    """Delete everything that links a surrogate id to its person."""
    connection.run(CUT_USAGE, scope=f"person:{person}")
    connection.run(CUT_OFF, person=person)
    cut = (CUT_EVENTS, CUT_ASKED, CUT_UPVOTES, CUT_SUGGESTIONS, CUT_SUGGESTER)
    for statement in (*cut, CUT_GUEST, CUT_SPOKEN, CUT_ANNOTATORS):
        connection.run(statement, person=person)
    for table, key in COMMENTED:
        for row in connection.rows(COMMENTS.format(table=table, key=key), person=person):
            body = orjson.dumps(orjson.loads(row.body) | {"comment": ""}).decode()
            change = UNCOMMENT.format(table=table, key=key)
            connection.run(change, person=person, key=row.key, body=body)


def _let_return(connection: SqlConnection, platform: str, user: str, now: datetime) -> bool:
    """Delete a tombstone and add the person again; False if there is none."""
    lock_user(connection, platform, user)
    key = find_key(connection)
    if key is None or not connection.run(UNBURY, digest=digest_of(key, platform, user)):
        return False
    connection.run(ADD_AGAIN, platform=platform, user=user, now=now)
    return True


def _traces(connection: SqlConnection, platform: str, user: str) -> PersonTraces:
    row = connection.first(FIND, platform=platform, user=user)
    if row is None:
        return PersonTraces(forgotten=is_forgotten(connection, platform, user))
    found = connection.rows(ANSWERED, person=row.id)
    answers = defaultdict(int, {of.question: of.answers for of in found})
    return PersonTraces(
        known=True,
        votes=answers[Question.VOTE],
        confidences=answers[Question.CONFIDENCE],
        grounds=answers[Question.GROUND],
        guesses=answers[Question.GUESS],
        rounds=answers[Question.ROUND],
        stances=answers[Question.STANCE_BEFORE] + answers[Question.STANCE_AFTER],
        revisions=answers[Question.AGAIN],
        thumbs=answers[Question.TURN],
        asked=connection.value(QUESTIONS_OF, person=row.id),
        supported=answers[Question.SUPPORT],
        entries=sum(of.entries for of in found),
        started=connection.value(STARTED, person=row.id),
        suggested=connection.value(SUGGESTED, person=row.id),
        upvotes=connection.value(UPVOTED, person=row.id),
        labels=connection.value(LABELLED, person=row.id),
        opted_out=row.opted_out,
        since=row.since,
    )
