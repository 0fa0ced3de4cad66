"""All that is stored of one person: read, exported, left out, or erased for good.

It is found by the tables' own references to people: a new table is in it as soon as it refers to
`people`; `tests/contract/test_own_data.py` fails for a column that holds a person without doing so.
A forgotten person leaves a row without a user id, so that every tally stays, and a tombstone: a
keyed hash of the id, which no row refers to. With a tombstone nothing is stored about that person.
Finding their mentions reads what all people of a platform wrote, so it is done outside of writes; a
write then reads and changes only the rows of what was found.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from engine.store.budgets import community_scope
from engine.store.database import Database, SqlConnection, make_secret
from engine.store.leases import OWN
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
from engine.tally import count
from engine.values.debate import Value, short_code
from engine.values.verdicts import Question, Vote

if TYPE_CHECKING:
    from sqlalchemy import Column, Table

OwnRow = Mapping[str, Any]
"""A row of a table, by column, as JSON has it."""


class OwnData(Value):
    """Everything that is stored of one person, and nothing of anyone else.

    `person` is what stands beside their user id, `started` are the ids of debates that they began,
    `days` say on which day they began how many, and `tables` has their rows of every other table.
    `debates` says what all those debates were about, by id; of no model, and nothing sealed.
    `direct_messages` is what is stored of a personal installation: its settings and schedules, and
    what its debates cost day by day; None where there is none.
    """

    person: OwnRow
    started: tuple[str, ...]
    days: tuple[OwnRow, ...]
    tables: Mapping[str, tuple[OwnRow, ...]]
    debates: Mapping[str, OwnRow]
    direct_messages: OwnRow | None = None


class OwnVote(Value):
    """A person's vote on a revealed debate, as it stood at the close.

    `option` is None where it was unclear which stood. `people` is the people's winner or "tie"
    (None without enough votes that count), `jury` the panel's.
    """

    debate: str
    option: str | None
    people: str | None
    jury: str | None
    rehearsal: bool
    revealed_at: datetime


class GuessRecord(Value):
    """How often a person guessed the model of a side, before anything named it.

    `right` of `n` guesses; `chance` is how many would be right by choosing from the menu blindly.
    `user` is only there for those who want to be named.
    """

    right: int = 0
    n: int = 0
    chance: float = 0.0
    user: str = ""


PERSON = "SELECT * FROM people WHERE id = :person"
DAYS = "SELECT day, debates FROM usage WHERE scope = :scope AND debates > 0 ORDER BY day"
ABOUT = """
SELECT id, number, platform, community, format, language, status, created_at, revealed_at, setup
FROM debates WHERE id IN :debates ORDER BY id
"""
# Of a debate its starter gets what it was asked: models and jurors are sealed until the reveal.
ASKED = ("topic", "conditions", "stance_a", "stance_b")
STARTED_DEBATES = "SELECT id FROM debates WHERE starter = :person ORDER BY id"
HERE = "platform = :platform AND community = :community"
SETTINGS = f"SELECT settings, joined_at FROM communities WHERE {HERE}"  # noqa: S608
SCHEDULES = f"SELECT body, due_at FROM series WHERE {HERE} ORDER BY name"  # noqa: S608
SPENT = "SELECT day, debates, spent_usd FROM usage WHERE scope = :scope ORDER BY day"
HELD = f"SELECT id FROM debates WHERE {HERE} ORDER BY id"  # noqa: S608
DEBATES = "debates"
AT_ONCE = 500  # debates


def read_own(connection: SqlConnection, platform: str, user: str) -> OwnData | None:
    """Return everything that is stored of a user; None for nothing."""
    person = connection.value(FIND, platform=platform, user=user)
    if person is None:
        return None
    # Only here: SQLAlchemy, which describes the tables, takes a third of a second to import.
    from engine.store.tables import people, referring_to

    (about,) = _rows(connection, people, PERSON, person=person)
    tables: dict[str, tuple[OwnRow, ...]] = {}
    for table, column in referring_to(people):
        if table.name != DEBATES:
            order = ", ".join(f'"{key.name}"' for key in table.primary_key)
            query = f'SELECT * FROM "{table.name}" WHERE "{column.name}" = :person ORDER BY {order}'  # noqa: S608
            found = _rows(connection, table, query, person=person)
            tables[table.name] = tuple(_without(row, column.name) for row in found)
    started = connection.column(STARTED_DEBATES, person=person)
    own = {"platform": platform, "community": f"{OWN}{person}"}
    rows = [row for of_table in tables.values() for row in of_table]
    named = {row["debate"] for row in rows if row.get("debate")}
    named |= {*started, *connection.column(HELD, **own)}
    guessed = {row["debate"] for row in rows if row.get("question") == Question.GUESS}
    return OwnData(
        person=_without(about, "id"),
        started=tuple(started),
        days=tuple(
            {"day": row.day, "debates": row.debates}
            for row in connection.rows(DAYS, scope=f"person:{person}")
        ),
        tables=tables,
        debates={one["id"]: one for one in _debates(connection, sorted(named), guessed)},
        direct_messages=_direct_messages(connection, own),
    )


def _direct_messages(connection: SqlConnection, own: Mapping[str, str]) -> OwnRow | None:
    """Return what is stored of the community that a person's direct messages are."""
    kept = connection.first(SETTINGS, **own)
    spent = connection.rows(SPENT, scope=community_scope(**own))
    if kept is None and not spent:
        return None
    return {
        "settings": orjson.loads(kept.settings) if kept else {},
        "since": kept and kept.joined_at.isoformat(),
        "schedules": [
            {"said": orjson.loads(row.body), "due_at": row.due_at and row.due_at.isoformat()}
            for row in connection.rows(SCHEDULES, **own)
        ],
        "days": [row._asdict() for row in spent],
    }


def _rows(connection: SqlConnection, table: Table, sql: str, **values: Any) -> list[dict[str, Any]]:
    rows = (row._asdict() for row in connection.rows(sql, **values))
    return [
        {column.name: _plain(column, row[column.name]) for column in table.c if column.name in row}
        for row in rows
    ]


def _plain(column: Column[Any], value: Any) -> Any:
    """Return a stored value as JSON has it; a body is the JSON that it holds."""
    if isinstance(value, datetime):
        return value.isoformat()
    if value is not None and column.type.python_type is bool:
        return bool(value)
    return orjson.loads(value) if column.name == "body" and value else value


def _without(row: Mapping[str, Any], key: str) -> OwnRow:
    """Return a row without the surrogate id, which means nothing to its person."""
    kept = {name: value for name, value in row.items() if name != key}
    if isinstance(body := kept.get("body"), dict):
        kept["body"] = {name: value for name, value in body.items() if name != key}
    return kept


def _debates(
    connection: SqlConnection, ids: list[str], guessed: set[str]
) -> Iterator[dict[str, Any]]:
    for at in range(0, len(ids), AT_ONCE):
        for row in connection.rows(ABOUT, debates=ids[at : at + AT_ONCE]):
            about = row._asdict()
            setup = orjson.loads(about.pop("setup"))
            request = setup["request"]
            asked = {name: request[name] for name in ASKED if request.get(name)}
            # A guess is a number on this menu, from 0. Others get no names before the reveal.
            asked |= {"menu": setup["menu"]} if row.id in guessed else {}
            yield {
                name: value.isoformat() if isinstance(value, datetime) else value
                for name, value in {**about, **asked, "code": short_code(row.id)}.items()
            }


# What stood at the close, of the newest debates of one community.
STOOD = """
SELECT debates.id, debates.revealed_at, debates.rehearsal, debates.setup, votes.body
FROM votes JOIN debates ON debates.id = votes.debate JOIN people ON people.id = votes.person
WHERE people.platform = :platform AND people."user" = :user AND debates.community = :community
    AND debates.platform = :platform AND debates.revealed_at IS NOT NULL
    AND votes.question = 'vote'
ORDER BY debates.revealed_at DESC LIMIT :most
"""
CAST = "SELECT debate, body FROM votes WHERE question = 'vote' AND debate IN :debates"
JURIES = "SELECT debate, body FROM verdicts WHERE judge = 'panel' AND debate IN :debates"
GUESSES = """
SELECT people."user", votes.step, votes.body, debates.setup
FROM votes JOIN debates ON debates.id = votes.debate JOIN people ON people.id = votes.person
WHERE debates.platform = :platform AND debates.community = :community
    AND debates.revealed_at IS NOT NULL AND votes.question = 'guess' AND people."user" IS NOT NULL
    AND {}
ORDER BY debates.revealed_at DESC LIMIT 2000
"""
OWN_GUESSES = GUESSES.format('people."user" = :user')
NAMED_GUESSES = GUESSES.format("people.scoreboard")


def read_own_guesses(
    connection: SqlConnection, platform: str, community: str, user: str
) -> GuessRecord:
    """Return how a person guessed here."""
    rows = connection.rows(OWN_GUESSES, platform=platform, community=community, user=user)
    return _guessed(rows).get(user, GuessRecord()).model_copy(update={"user": ""})


def read_guessers(
    connection: SqlConnection, platform: str, community: str, most: int
) -> tuple[GuessRecord, ...]:
    """Return those who want to be named, the best first."""
    found = _guessed(connection.rows(NAMED_GUESSES, platform=platform, community=community))
    return tuple(sorted(found.values(), key=lambda one: (-one.right, one.n, one.user))[:most])


def _guessed(rows: Sequence[Any]) -> dict[str, GuessRecord]:
    """Count guesses of people who could not know, by user."""
    counts: dict[str, GuessRecord] = {}
    for row in rows:
        vote, setup = orjson.loads(row.body), orjson.loads(row.setup)
        if not vote["gold"]:
            continue
        model, menu = setup["request"]["sides"][row.step], setup.get("menu") or ()
        ref = f"{model['backend']}/{model['name']}"
        old = counts.get(row.user, GuessRecord(user=row.user))
        new = {
            "right": old.right + (vote["option"] == ref),
            "n": old.n + 1,
            "chance": old.chance + (1 / len(menu) if ref in menu else 0.0),
        }
        counts[row.user] = old.model_copy(update=new)
    return counts


def read_own_votes(
    connection: SqlConnection, platform: str, community: str, user: str, most: int
) -> tuple[OwnVote, ...]:
    """Return a person's newest votes, the newest first."""
    whose = {"platform": platform, "community": community, "user": user}
    stood = connection.rows(STOOD, most=most, **whose)
    if not stood:
        return ()
    ids = [row.id for row in stood]
    cast: dict[str, list[Vote]] = defaultdict(list)
    for row in connection.rows(CAST, debates=ids):
        cast[row.debate].append(Vote.of(orjson.loads(row.body)))
    juries = {row.debate: orjson.loads(row.body) for row in connection.rows(JURIES, debates=ids)}
    return tuple(_own(row, cast[row.id], juries.get(row.id, {}).get("winner")) for row in stood)


def _own(row: Any, cast: Sequence[Vote], jury: str | None) -> OwnVote:
    vote, request = orjson.loads(row.body), orjson.loads(row.setup)["request"]
    return OwnVote(
        debate=row.id,
        option=None if vote["ambiguous"] else vote["option"],
        people=count(cast, tuple(request["sides"]), request["quorum"]).winner,
        jury=jury,
        rehearsal=bool(row.rehearsal),
        revealed_at=row.revealed_at,
    )


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

        return await asyncio.to_thread(
            self._database.read_snapshot, lambda connection: read_own(connection, platform, user)
        )

    async def own_votes(
        self, platform: str, community: str, user: str, most: int
    ) -> tuple[OwnVote, ...]:
        """Return a person's newest votes on revealed debates of a community, newest first."""

        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: read_own_votes(connection, platform, community, user, most),
        )

    async def own_guesses(self, platform: str, community: str, user: str) -> GuessRecord:
        """Return how a person guessed in a community's revealed debates."""

        return await asyncio.to_thread(
            self._database.read_snapshot,
            lambda connection: read_own_guesses(connection, platform, community, user),
        )

    async def guessers(self, platform: str, community: str, most: int) -> tuple[GuessRecord, ...]:
        """Return those who want to be named, most right guesses first."""

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
