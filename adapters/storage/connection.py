"""A connection as statements see it: a text with named parameters, run in one line.

A text is the statement that the database gets, in SQL that SQLite and PostgreSQL share:
parameters are `:name`, upserts `ON CONFLICT (…) DO UPDATE SET x = excluded.x`, and a condition that
also holds for a null parameter is `(place = :channel) IS NOT FALSE`. Differences are handled here.
A list, as in `id IN :ids`, is expanded. Rows are named tuples of our types.
"""

from __future__ import annotations

import re
import sqlite3
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

BUSY_MS = 10_000  # how long another process may hold the file
# The pages that a thousand debates write to: with SQLite's own 2 MB most are read again for each
# write (measured: 0.5 ms of system time a model call instead of 0.2).
CACHE_KB = 8_000
# Pages of the log before it is copied into the file (16 MB). Hot pages, such as the ends of tables,
# are in it many times and are copied once: with SQLite's own 1,000 that was a fifth of all writing.
LOG_PAGES = 4_000
STATEMENTS = 512  # texts that a connection keeps parsed; there are about 200
READER = (f"busy_timeout = {BUSY_MS}", "synchronous = FULL", "foreign_keys = ON")
# Deleted data is overwritten: a forgotten user must not remain in free pages. The WAL mode stays
# with the file, so only a writer sets it: a reader of a read-only file could not.
WRITER = (
    *READER,
    "journal_mode = WAL",
    "secure_delete = ON",
    f"cache_size = -{CACHE_KB}",
    f"wal_autocheckpoint = {LOG_PAGES}",
)
LIST = re.compile(r"\bIN :(\w+)")
SETTINGS: dict[str, Any] = {
    "uri": True,
    "isolation_level": None,  # explicit BEGIN: the driver's own would come too late
    "check_same_thread": False,
    "detect_types": sqlite3.PARSE_DECLTYPES,
    "cached_statements": STATEMENTS,
}


class SqlConnection:
    """Runs statements on a driver's connection."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self.driver = driver

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        """Run the body as one transaction."""
        self.driver.execute(begin)
        try:
            yield
            self.driver.execute("COMMIT")
        except BaseException:
            if self.driver.in_transaction:
                self.driver.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close it for good."""
        self.driver.close()

    def run(self, sql: str, /, **values: Any) -> int:
        """Run a change; return how many rows it changed."""
        return self._execute(sql, values).rowcount

    def run_each(self, sql: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        """Run a change for each row of values."""
        self.driver.executemany(sql, rows)

    def rows(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the rows of a query, or of a change's RETURNING, as named tuples."""
        cursor = self._execute(sql, values)
        return list(map(shape(cursor.description), cursor.fetchall()))

    def first(self, sql: str, /, **values: Any) -> Any:
        """Return the first row, None without any."""
        cursor = self._execute(sql, values)
        row = cursor.fetchone()
        cursor.close()
        return row and shape(cursor.description)(row)

    def value(self, sql: str, /, **values: Any) -> Any:
        """Return the first column of the first row, None without any."""
        cursor = self._execute(sql, values)
        row = cursor.fetchone()
        cursor.close()
        return row and row[0]

    def column(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the first column of every row."""
        return [row[0] for row in self._execute(sql, values).fetchall()]

    def _execute(self, sql: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        return self.driver.execute(*spell_out(sql, values))


def connect(path: Path, pragmas: Iterable[str] = READER, *, frozen: bool = False) -> SqlConnection:
    """Open a file; see `address`."""
    driver = sqlite3.connect(address(path, frozen=frozen), **SETTINGS)
    set_pragmas(driver, pragmas)
    return SqlConnection(driver)


def address(path: Path, *, frozen: bool = False) -> str:
    """Return a file's URI for SQLite; a `frozen` one cannot change, so it needs no second file.

    In WAL mode even reading needs one, which cannot be created in a read-only folder.
    """
    return f"file:{quote(str(path))}" + ("?immutable=1" if frozen else "")


def set_pragmas(driver: sqlite3.Connection, pragmas: Iterable[str]) -> None:
    """Set a new connection up."""
    for pragma in pragmas:
        driver.execute(f"PRAGMA {pragma}")


def spell_out(sql: str, values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Expand each list into one parameter per item."""
    if " IN :" not in sql:
        return sql, values
    items = {
        f"{name}_{number}": item
        for name in LIST.findall(sql)
        for number, item in enumerate(values[name])
    }

    def spell(match: re.Match[str]) -> str:
        names = (f":{match[1]}_{number}" for number in range(len(values[match[1]])))
        return f"IN ({', '.join(names) or 'NULL'})"

    return LIST.sub(spell, sql), {**values, **items}


def shape(description: Iterable[tuple[Any, ...]]) -> Any:
    """Return the function that turns a row with these columns into a named tuple."""
    return _named(tuple([column[0] for column in description]))


@cache
def _named(names: tuple[str, ...]) -> Any:
    # Its fields are the query's; an unnamed column such as count(*) gets a name.
    row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    return row._make


def _write_datetime(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _read_datetime(stored: bytes) -> datetime:
    return datetime.fromisoformat(stored.decode()).replace(tzinfo=UTC)


# SQLite has neither datetimes nor booleans: the driver converts them by a column's declared type.
# An expression has no declared type, so queries select columns.
sqlite3.register_adapter(datetime, _write_datetime)
sqlite3.register_converter("DATETIME", _read_datetime)
sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")
