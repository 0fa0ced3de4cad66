"""Mentions of a person in what people wrote, and their erasure.

Finding them reads what all people of a platform wrote, so it is done outside of writes; a write
then reads and changes only the rows of what was found.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from adapters.storage.connection import SqlConnection

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


class Mentioning(NamedTuple):
    """The debates whose texts mention a person, and other rows: table, key, column and value."""

    debates: frozenset[str] = frozenset()
    rows: tuple[tuple[str, str, str, str | int], ...] = ()


NOWHERE = Mentioning()


def find_mentions(connection: SqlConnection, platform: str, user: str) -> Mentioning:
    """Return what mentions a user of a platform, by a scan."""
    pattern, given = _pattern(user), {"platform": platform, **_forms(user)}

    def search(query: str, table: str = "", key: str = "", column: str = "") -> list[Any]:
        has = HAS.format(f"{table}.{column}")
        rows = connection.rows(query.format(table=table, key=key, column=column, has=has), **given)
        return [row.id for row in rows if pattern.search(row.text)]

    beside = (one for table, column in OF_DEBATES for one in search(BESIDE, table, column=column))
    return Mentioning(
        debates=frozenset([*search(IN_DEBATES), *beside]),
        rows=tuple((*of, one) for of in ROWS for one in search(IN_ROWS, *of)),
    )


def erase_mentions(connection: SqlConnection, user: str, found: Mentioning) -> None:
    """Erase a user's id from all texts of these debates, and from these rows."""
    for debate in sorted(found.debates):
        for table, key, column in _texts_of_debates():
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


def _texts_of_debates() -> tuple[tuple[str, str, str], ...]:
    # Only here: SQLAlchemy, which describes the tables, takes a third of a second to import.
    from adapters.storage.tables import TEXTS_OF_DEBATES

    return TEXTS_OF_DEBATES
