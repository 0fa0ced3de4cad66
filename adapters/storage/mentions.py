"""Mentions of a person in what debates and suggestions are about, and their erasure.

Finding them reads every setup of a platform, so it is done outside of writes; a write then reads
and changes only the rows of what was found.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from adapters.storage.connection import SqlConnection

ERASED = "@somebody"
# Which rows may have one; ids that only begin alike are told apart by `_pattern`.
HAS = "(replace({0}, :plain, '') <> {0} OR replace({0}, :nick, '') <> {0})"
IN_DEBATES = f"""
SELECT id, setup AS text FROM debates WHERE platform = :platform AND {HAS.format("setup")}
"""  # noqa: S608
IN_SUGGESTIONS = f"""
SELECT number, text FROM suggestions WHERE platform = :platform AND {HAS.format("text")}
"""  # noqa: S608


class Mentioning(NamedTuple):
    """The debates and suggestions whose texts mention a person."""

    debates: tuple[str, ...] = ()
    suggestions: tuple[int, ...] = ()


NOWHERE = Mentioning()


def find_mentions(connection: SqlConnection, platform: str, user: str) -> Mentioning:
    """Return what mentions a user of a platform, by a scan."""
    pattern, given = _pattern(user), {"platform": platform, **_forms(user)}
    debates = (row for row in connection.rows(IN_DEBATES, **given) if pattern.search(row.text))
    topics = (row for row in connection.rows(IN_SUGGESTIONS, **given) if pattern.search(row.text))
    return Mentioning(
        debates=tuple(row.id for row in debates), suggestions=tuple(row.number for row in topics)
    )


def erase_mentions(connection: SqlConnection, user: str, found: Mentioning) -> None:
    """Erase a user's id from all texts of these debates, and from these suggestions."""
    for debate in found.debates:
        for table, key, column in _texts_of_debates():
            _erase(connection, user, table, key, column, debate)
    for number in found.suggestions:
        _erase(connection, user, "suggestions", "number", "text", number)


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
