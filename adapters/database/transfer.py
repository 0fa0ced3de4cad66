"""Copies an SQLite file into an empty database of PostgreSQL.

Before anything is written, every value is checked and every table is summed up. Then all rows are
written and read back in one transaction, so that a copy is whole or the database stays empty. The
file is locked meanwhile, and only read.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Float, Integer, Table

from adapters.database.database import SqlDatabase
from adapters.database.file import is_frozen, lock, open_unchanged
from adapters.database.migrate import fill, require_newest
from adapters.database.sqlite import FAULTS
from engine.store.tables import metadata
from engine.values.errors import StoreError
from migrations import newest

# Which values of an SQLite file PostgreSQL takes: SQLite stores anything in any column.


INT4, INT8 = 2**31, 2**63
Reader: TypeAlias = Callable[[Any], Any]


class _MisfitError(ValueError):
    """A value that PostgreSQL does not take, or that Rostrum would read otherwise there."""


def type_name(column: Column[Any]) -> str:
    """Return PostgreSQL's name of a column's type, as its binary COPY needs it."""
    match column.type:
        case Boolean():
            return "bool"
        case BigInteger():
            return "int8"
        case Integer():
            return "int4"
        case Float():
            return "float8"
        case DateTime():
            return "timestamptz"
        case _:
            return "text"


def reader(column: Column[Any]) -> Reader:
    """Return what turns a stored value of a column into PostgreSQL's; it raises _MisfitError.

    Times have no zone in a file, where they are in UTC.
    """
    convert = _converter(column)
    required = column.primary_key or not column.nullable

    def read(value: Any) -> Any:
        if value is not None:
            return convert(value)
        if required:
            raise _MisfitError("has no value")
        return None

    return read


def _converter(column: Column[Any]) -> Reader:
    match column.type:
        case Boolean():
            return _boolean
        case BigInteger():
            return lambda value: _whole(value, INT8)
        case Integer():
            return lambda value: _whole(value, INT4)
        case Float():
            return _number
        case DateTime():
            return _moment
    longest: int | None = getattr(column.type, "length", None)
    return _text if longest is None else lambda value: _short(value, longest)


def _boolean(value: Any) -> bool:
    if value not in (0, 1):
        raise _MisfitError("is neither true nor false")
    return bool(value)


def _whole(value: Any, limit: int) -> int:
    if not isinstance(value, int):
        raise _MisfitError("is not a whole number")
    if not -limit <= value < limit:
        raise _MisfitError("is out of range")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise _MisfitError("is not a number")
    return float(value)


def _moment(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _MisfitError("is not a time") from None
    if found.tzinfo is not None:
        raise _MisfitError("is a time with a zone, where all times are in UTC without one")
    return found.replace(tzinfo=UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _MisfitError("is not a text")
    if "\0" in value:
        raise _MisfitError("contains a NUL character")
    try:
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        raise _MisfitError("is not UTF-8") from None
    return value


def _short(value: Any, longest: int) -> str:
    text = _text(value)
    if len(text) > longest:
        raise _MisfitError(f"is longer than {longest} characters")
    return text


AT_ONCE = 20_000  # rows of a COPY; the server checks their foreign keys at its end
SAID_EVERY = 2_000  # rows
MOST_NAMED = 5
LOCK_SECONDS = 10
# What belongs to a database and not to what is in it; see migrate.py.
OWN = {"installation": "name <> 'min_version'"}
# No process of the file runs in the new database, so no lease is held there.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
VOID: dict[str, dict[str, Reader]] = {
    "leases": {"holder": lambda value: "", "until": lambda value: LONG_AGO}
}
PREPARE = f"""
SET LOCAL lock_timeout = '{LOCK_SECONDS}s';
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL synchronous_commit = on;
"""
JOBS = "procrastinate_jobs"
SET_SEQUENCE = """
SELECT setval(
    pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 1), count(*) > 0
) FROM {table}
"""
RUN_AGAIN = "Run rostrum copy again"


CopyStage = Literal["Checking", "Copying", "Verifying"]
"""What a copy does with a table's rows, as people read it."""


class CopyProgress(NamedTuple):
    """How many rows a stage has done, in this table and before, of all."""

    stage: CopyStage
    table: str
    done: int
    total: int


class _Sum(NamedTuple):
    """How many rows a table has, and a checksum of them that holds in any order."""

    rows: int
    digest: str


Report: TypeAlias = Callable[[CopyProgress], None]
Sums: TypeAlias = dict[str, _Sum]
Rows: TypeAlias = Iterable[tuple[Any, ...]]


class _Summing:
    """Adds a table's rows up as they pass."""

    def __init__(self) -> None:
        self._rows = self._total = 0

    def over(self, rows: Rows) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        for row in rows:
            digest = blake2b(orjson.dumps(row), digest_size=16).digest()
            self._total += int.from_bytes(digest, "big")
            self._rows += 1
            yield row

    def read(self, rows: Rows) -> _Sum:
        """Take all the rows, and return their sum."""
        for _ in self.over(rows):
            pass
        return _Sum(self._rows, f"{self._total % 2**128:032x}")


@dataclass(frozen=True, slots=True)
class _TableLayout:
    """A table's columns, and how each of its values is read."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    readers: tuple[Reader, ...]
    serial: str | None

    @classmethod
    def of(cls, table: Table) -> _TableLayout:
        """Return the layout of a table."""
        void = VOID.get(table.name, {})
        serial = table.autoincrement_column
        return cls(
            name=table.name,
            columns=tuple(column.name for column in table.c),
            types=tuple(map(type_name, table.c)),
            readers=tuple(void.get(column.name) or reader(column) for column in table.c),
            serial=serial.name if serial is not None else None,
        )

    @property
    def listed(self) -> str:
        """The columns' names, for a statement."""
        return ", ".join(f'"{name}"' for name in self.columns)

    def select(self, *first: str) -> str:
        """Return the query of the rows that are copied."""
        columns = ", ".join((*first, self.listed))
        return f"SELECT {columns} FROM {self.name} WHERE {OWN.get(self.name, 'TRUE')}"  # noqa: S608

    def convert(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return a stored row as PostgreSQL takes it. Raises _MisfitError."""
        return tuple([read(value) for read, value in zip(self.readers, values, strict=True)])

    def misfits(self, values: Iterable[Any]) -> Iterator[str]:
        """Say of each value of a stored row that does not fit what is wrong with it."""
        for name, read, value in zip(self.columns, self.readers, values, strict=True):
            try:
                read(value)
            except _MisfitError as error:
                yield f"{name} {error}"


LAYOUTS = tuple(map(_TableLayout.of, metadata.sorted_tables))  # what a row refers to comes first


class _CopySource:
    """A file that no Rostrum runs on, read as it is and never changed."""

    def __init__(self, driver: sqlite3.Connection, path: Path) -> None:
        self._driver, self._path = driver, path
        self._seen = _marks(path)
        self.total = 0

    def count(self) -> None:
        """Count the rows of all tables."""
        self.total = sum(
            self._driver.execute(f"SELECT count(*) FROM {layout.name}").fetchone()[0]  # noqa: S608
            for layout in LAYOUTS
        )

    def is_sound(self) -> bool:
        """Whether the form of every page and index is right."""
        return bool(self._driver.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))

    def orphans(self) -> Iterator[str]:
        """Name rows that refer to none."""
        for table, row, parent, _ in self._driver.execute("PRAGMA foreign_key_check"):
            yield f"{table}, row {row}: refers to no row of {parent}"

    def stored(self, layout: _TableLayout) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield a table's rows as they are stored, each with its number in the file."""
        for number, *values in self._driver.execute(layout.select("rowid")):
            yield number, tuple(values)

    def rows(self, layout: _TableLayout) -> Iterator[tuple[Any, ...]]:
        """Yield a table's rows, which were checked, as PostgreSQL takes them."""
        return (layout.convert(values) for _, values in self.stored(layout))

    def check_unchanged(self) -> None:
        """Raise StoreError if a command has written to the file meanwhile."""
        if _marks(self._path) != self._seen:
            raise StoreError(
                f"The database {self._path} was changed while it was copied, so nothing was "
                f"copied. {RUN_AGAIN} while no other command works on it."
            )


class _Copy:
    """One copy: what was summed up, and whether all of it was written."""

    def __init__(self, source: _CopySource, name: str, target: str, report: Report) -> None:
        self._source, self._name, self._target = source, name, target
        self._report = report
        self.sums: Sums = {}
        self.written = False

    def check(self) -> None:
        """Sum every table up. Raises StoreError that names what PostgreSQL does not take."""
        wrong = list(islice(self._source.orphans(), MOST_NAMED + 1))
        for layout, passing in self._stage("Checking"):
            rows = passing(self._fitting(layout, wrong))
            self.sums[layout.name] = _Summing().read(rows)
        if wrong:
            more = ", and more" if len(wrong) > MOST_NAMED else ""
            raise StoreError(
                f"The database {self._name} holds what PostgreSQL does not take, so nothing was "
                f"copied: {'; '.join(wrong[:MOST_NAMED])}{more}. Correct that in the file "
                "(docs/operations.md says how), and run rostrum copy again."
            )

    def _fitting(self, layout: _TableLayout, wrong: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that fit, and note what is wrong with the others."""
        for number, values in self._source.stored(layout):
            try:
                yield layout.convert(values)
            except _MisfitError:
                if len(wrong) <= MOST_NAMED:
                    found = ", ".join(layout.misfits(values))
                    wrong.append(f"{layout.name}, row {number}: {found}")

    def load(self, driver: Any) -> None:
        """Write everything in the transaction of a driver's connection, and read it back.

        Called again after a connection was lost, as late as in the commit.
        """
        driver.execute(PREPARE, prepare=False)
        names = ", ".join(layout.name for layout in LAYOUTS)
        driver.execute(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
        if self.written and self._has_arrived(driver):
            return
        queries = {layout.name: layout.select() for layout in LAYOUTS}
        queries[JOBS] = f"SELECT * FROM {JOBS}"  # noqa: S608
        for name, query in queries.items():
            if driver.execute(f"SELECT EXISTS ({query})").fetchone()[0]:
                raise StoreError(
                    f"The database {self._target} holds something already (in {name}), so nothing "
                    "was copied. Name an empty one."
                )
        for layout, passing in self._stage("Copying"):
            _write(driver, layout, passing(self._source.rows(layout)))
        if not self._has_arrived(driver):
            raise StoreError(
                f"What came to {self._target} is not what is in {self._name}, so nothing was "
                f"copied. Check both disks, and run rostrum copy again."
            )
        for layout in LAYOUTS:
            if layout.serial is not None:
                driver.execute(SET_SEQUENCE.format(table=layout.name, column=layout.serial))
        driver.execute(f"ANALYZE {names}")
        self._source.check_unchanged()
        self.written = True

    def _has_arrived(self, driver: Any) -> bool:
        """Read everything back, and compare it with what was summed up."""
        for layout, passing in self._stage("Verifying"):
            # Closed before anything else is asked of the connection, also by an error.
            with closing(_read(driver, layout)) as rows:
                if _Summing().read(passing(rows)) != self.sums[layout.name]:
                    return False
        return True

    def _stage(self, stage: CopyStage) -> Iterator[tuple[_TableLayout, Callable[[Rows], Rows]]]:
        """Yield each table, and what reports of its rows as they pass."""
        done = 0

        def passing(name: str, rows: Rows) -> Rows:
            nonlocal done
            for number, row in enumerate(rows):
                if number % SAID_EVERY == 0:
                    self._report(CopyProgress(stage, name, done, self._source.total))
                yield row
                done += 1

        for layout in LAYOUTS:
            yield layout, partial(passing, layout.name)


async def copy(path: Path, target: SqlDatabase, report: Report) -> Sums:
    """Copy a file into an empty database, and return what was copied, by table.

    `report` is called now and then, and may raise to stop. Raises StoreError; the database is
    then as empty as before.
    """
    source = SqlDatabase(f"sqlite+aiosqlite:///{path}", writable=False)
    try:
        await require_newest(source)
        if source.inspect().revision != newest():
            raise StoreError(
                f"The database {path} was made by a newer Rostrum; copy it with that version."
            )
        return await _copy(source, path, target, report)
    finally:
        await source.close()


async def _copy(database: SqlDatabase, path: Path, target: SqlDatabase, report: Report) -> Sums:
    def look() -> None:
        if not source.is_sound():
            raise database.damage()
        source.count()
        copying.check()

    with _opened(database, path) as source:
        copying = _Copy(source, str(path), target.name, report)
        await asyncio.to_thread(look)
        try:
            await fill(target, copying.load)
        except StoreError as error:
            if not copying.written:
                raise
            raise StoreError(
                f"{error} The connection was lost while the copy was committed. {RUN_AGAIN}: if "
                "it then says that the database holds something already, the copy was complete."
            ) from error
    return copying.sums


@contextmanager
def _opened(database: SqlDatabase, path: Path) -> Iterator[_CopySource]:
    """Hold a file's lock and one state of it. Raises StoreError while a Rostrum runs on it."""
    with nullcontext() if is_frozen(path) else lock(path):
        try:
            with closing(open_unchanged(path)) as driver:
                # Worker threads take turns on it; a text that is not UTF-8 is named, not raised.
                driver.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
                driver.execute("BEGIN")
                yield _CopySource(driver, path)
        except FAULTS as error:
            raise database.explain(error) from error


def _marks(path: Path) -> list[tuple[int, int] | None]:
    """Return what changes as soon as something is written to a file."""
    found = []
    for file in (path, path.with_name(path.name + "-wal")):
        size = file.stat().st_size if file.exists() else 0
        found.append((file.stat().st_mtime_ns, size) if size else None)
    return found


def _write(driver: Any, layout: _TableLayout, rows: Rows) -> None:
    """Write rows by COPY, a batch at a time."""
    text = f"COPY {layout.name} ({layout.listed}) FROM STDIN (FORMAT BINARY)"
    left = iter(rows)
    while batch := list(islice(left, AT_ONCE)):
        with driver.cursor() as cursor, cursor.copy(text) as stream:
            stream.set_types(layout.types)
            for row in batch:
                stream.write_row(row)


def _read(driver: Any, layout: _TableLayout) -> Generator[tuple[Any, ...]]:
    """Yield what is in a table of the server."""
    text = f"COPY ({layout.select()}) TO STDOUT (FORMAT BINARY)"
    with driver.cursor() as cursor, cursor.copy(text) as stream:
        stream.set_types(layout.types)
        yield from stream.rows()
