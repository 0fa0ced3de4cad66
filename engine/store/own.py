"""All that is stored of one person, found by the tables' own references to people.

A new table is in it as soon as it refers to `people`; `tests/contract/test_own_data.py` fails for a
column that holds a person without doing so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from engine.store.budgets import community_scope
from engine.store.database import SqlConnection
from engine.store.leases import OWN
from engine.tally.tally import count
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
FIND = 'SELECT id FROM people WHERE platform = :platform AND "user" = :user'
DAYS = "SELECT day, debates FROM usage WHERE scope = :scope AND debates > 0 ORDER BY day"
ABOUT = """
SELECT id, number, platform, community, format, language, status, created_at, revealed_at, setup
FROM debates WHERE id IN :debates ORDER BY id
"""
# Of a debate its starter gets what it was asked: models and jurors are sealed until the reveal.
ASKED = ("topic", "conditions", "stance_a", "stance_b")
STARTED = "SELECT id FROM debates WHERE starter = :person ORDER BY id"
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
            found = _rows(connection, table, _select(table, column), person=person)
            tables[table.name] = tuple(_without(row, column.name) for row in found)
    started = connection.column(STARTED, person=person)
    own = {"platform": platform, "community": f"{OWN}{person}"}
    named = _named_in(tables, [*started, *connection.column(HELD, **own)])
    return OwnData(
        person=_without(about, "id"),
        started=tuple(started),
        days=tuple(
            {"day": row.day, "debates": row.debates}
            for row in connection.rows(DAYS, scope=f"person:{person}")
        ),
        tables=tables,
        debates={one["id"]: one for one in _debates(connection, named, _guessed_in(tables))},
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


def _select(table: Table, column: Column[Any]) -> str:
    order = ", ".join(f'"{key.name}"' for key in table.primary_key)
    return f'SELECT * FROM "{table.name}" WHERE "{column.name}" = :person ORDER BY {order}'  # noqa: S608


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


def _named_in(tables: Mapping[str, tuple[OwnRow, ...]], started: list[str]) -> list[str]:
    named = {row["debate"] for rows in tables.values() for row in rows if row.get("debate")}
    return sorted({*started, *named})


def _guessed_in(tables: Mapping[str, tuple[OwnRow, ...]]) -> set[str]:
    rows = (row for of_table in tables.values() for row in of_table)
    return {row["debate"] for row in rows if row.get("question") == Question.GUESS}


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
