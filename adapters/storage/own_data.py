"""All that is stored of one person, found by the tables' own references to people.

A new table is in it as soon as it refers to `people`; `tests/contract/test_own_data.py` fails for a
column that holds a person without doing so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from adapters.storage.budgets import community_scope
from adapters.storage.connection import SqlConnection
from engine.store import OwnData, OwnRow
from engine.store.served import OWN
from engine.values.debate import short_code
from engine.values.judging import Question

if TYPE_CHECKING:
    from sqlalchemy import Column, Table

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
    from adapters.storage.tables import people, referring_to

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
