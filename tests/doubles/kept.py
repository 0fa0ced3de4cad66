"""What a database of either kind holds, read and changed past the product."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import dict_row

TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
Run: TypeAlias = Callable[..., list[Mapping[str, Any]]]
"""Runs a statement with values for its `?`; returns its rows by name."""


@contextmanager
def opened(url: str) -> Iterator[Run]:
    """Open a database past the product until the body ends, in one transaction."""
    if is_file(url):
        with closing(sqlite3.connect(_path(url))) as file, file:
            file.row_factory = sqlite3.Row
            yield lambda sql, *values: [dict(row) for row in file.execute(sql, values)]
        return

    def run(sql: str, *values: object) -> list[Mapping[str, Any]]:
        text = sql.replace("%", "%%").replace("?", "%s") if values else sql
        cursor = server.execute(text.encode(), values or None)
        return [*cursor.fetchall()] if cursor.description else []

    with psycopg.connect(url, row_factory=dict_row) as server:
        server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield run


def select(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Return a query's rows."""
    with opened(url) as run:
        return [tuple(row.values()) for row in run(sql)]


def change(url: str, sql: str) -> None:
    """Run a change."""
    with opened(url) as run:
        run(sql)


def contents(url: str) -> dict[str, bytes]:
    """Return all that a database holds, by where: a file's bytes, or a table's rows as text."""
    if is_file(url):
        file = _path(url)
        return {path.name: path.read_bytes() for path in sorted(file.parent.glob(f"{file.name}*"))}
    with opened(url) as run:
        names = [str(row["name"]) for row in run(TABLES)]
        return {name: _text(run(f'SELECT * FROM "{name}"')) for name in names}  # noqa: S608


def traces(url: str, *ids: str) -> list[str]:
    """Return where a database holds one of the ids, anywhere in its bytes or its rows."""
    places = contents(url).items()
    return [f"{place}: {one}" for place, held in places for one in ids if one.encode() in held]


def is_file(url: str) -> bool:
    """Whether an address is a file's."""
    return url.startswith("sqlite")


def _text(rows: list[Mapping[str, Any]]) -> bytes:
    return "\n".join(str(value) for row in rows for value in row.values()).encode()


def _path(url: str) -> Path:
    return Path(url.partition(":///")[2])
