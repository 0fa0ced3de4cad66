"""The database as the store's parts see it: statements with named parameters, and writes in groups.

A text is the statement that the database gets, in SQL that SQLite and PostgreSQL share:
parameters are `:name`, upserts `ON CONFLICT (…) DO UPDATE SET x = excluded.x`, and a condition that
also holds for a null parameter is `(place = :channel) IS NOT FALSE`. A list, as in `id IN :ids`, is
expanded. What differs stands twice, as `/*-*/ SQLite's /*+ PostgreSQL's */`: to SQLite
the second is a comment, and PostgreSQL gets the second alone. A clause for PostgreSQL alone is
`/*+ FOR SHARE */`: a lock, which SQLite needs none of, as its writes follow one another. Rows are
named tuples of our types.
"""

from __future__ import annotations

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


class SqlConnection(ABC):
    """Runs statements on a driver's connection."""

    driver: Any

    @abstractmethod
    def execute(self, sql: str, values: Mapping[str, Any]) -> Any:
        """Run a text; return the driver's cursor."""

    @abstractmethod
    def lock(self, sql: str, /, **values: Any) -> bool:
        """Lock what a query names, for the rest of the transaction; False: nothing is shared.

        A write that decides on what it reads locks that first, and reads after it.
        """

    @abstractmethod
    def leave(self, cursor: Any) -> None:
        """Read no more of a cursor's rows."""

    @abstractmethod
    def run_each(self, sql: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        """Run a change for each row of values."""

    @abstractmethod
    def transaction(self, begin: str = "BEGIN") -> AbstractContextManager[None]:
        """Run the body as one transaction."""

    def close(self) -> None:
        """Close it for good."""
        self.driver.close()

    def run(self, sql: str, /, **values: Any) -> int:
        """Run a change; return how many rows it changed."""
        return int(self.execute(sql, values).rowcount)

    def rows(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the rows of a query, or of a change's RETURNING, as named tuples."""
        return shaped(self.execute(sql, values))

    def first(self, sql: str, /, **values: Any) -> Any:
        """Return the first row, None without any."""
        cursor = self.execute(sql, values)
        row = cursor.fetchone()
        found = row and shape(cursor.description)(row)
        self.leave(cursor)
        return found

    def value(self, sql: str, /, **values: Any) -> Any:
        """Return the first column of the first row, None without any."""
        cursor = self.execute(sql, values)
        row = cursor.fetchone()
        self.leave(cursor)
        return row and row[0]

    def column(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the first column of every row."""
        return [row[0] for row in self.execute(sql, values).fetchall()]


class Database(ABC):
    """The port: an open database. Every method may raise StoreError.

    `queues`: a debate gets a job for workers when it is stored.
    """

    queues = False

    @property
    @abstractmethod
    def exclusive(self) -> bool:
        """Whether no other process may run on it, so that older leases are void."""

    @property
    @abstractmethod
    def away(self) -> bool:
        """Whether a server does not answer now or a disk is full, so that what asks it waits."""

    @abstractmethod
    def enqueue(
        self, operation: Callable[[SqlConnection], T], *, first: bool = False
    ) -> asyncio.Future[T]:
        """Queue a write for the next group; its result comes once that is committed.

        Writes follow one another as they were queued, but for those that go `first`, as a person
        waits for them. A write that raises is rolled back alone, so an operation may run twice; it
        must change nothing but the database.
        """

    @abstractmethod
    async def rows(self, sql: str, /, **values: Any) -> list[Any]:
        """Return a query's rows as named tuples."""

    @abstractmethod
    async def read_fast(self, sql: str, /, **values: Any) -> list[Any]:
        """Return what a short query finds, as named tuples; it may go with the writes."""

    @abstractmethod
    def read_snapshot(self, operation: Callable[[SqlConnection], T]) -> T:
        """Read what must agree with itself, in a worker thread.

        Waits for a server that goes away, so that the reads may begin again.
        """

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[SqlConnection]:
        """Open one consistent view, for a worker thread."""

    @abstractmethod
    async def checkpoint(self) -> bool:
        """Empty what holds older pages; False while a reader uses it."""

    @abstractmethod
    def fail_fast(self) -> None:
        """Wait no longer than a moment for a database that is away: the process ends."""

    @abstractmethod
    async def close(self) -> None:
        """Finish queued work and close every connection; further calls are refused."""

    async def write(self, operation: Callable[[SqlConnection], T], *, first: bool = False) -> T:
        """Run a write in the next group and return its result; see `enqueue`."""
        return await self.enqueue(operation, first=first)

    async def run(self, sql: str, /, **values: Any) -> int:
        """Run one change in the next group; return how many rows it changed."""
        return await self.enqueue(lambda connection: connection.run(sql, **values))

    async def first(self, sql: str, /, **values: Any) -> Any:
        """Return a query's first row, None without any."""
        rows = await self.rows(sql, **values)
        return rows[0] if rows else None

    async def value(self, sql: str, /, **values: Any) -> Any:
        """Return the first column of the first row, None without any."""
        rows = await self.rows(sql, **values)
        return rows[0][0] if rows else None

    async def column(self, sql: str, /, **values: Any) -> list[Any]:
        """Return the first column of every row."""
        return [row[0] for row in await self.rows(sql, **values)]


def shaped(cursor: Any) -> list[Any]:
    """Return a cursor's rows as named tuples."""
    return list(map(shape(cursor.description), cursor.fetchall()))


def shape(description: Iterable[Any]) -> Any:
    """Return the function that turns a row with these columns into a named tuple."""
    return _named(tuple([column[0] for column in description]))


@cache
def _named(names: tuple[str, ...]) -> Any:
    # Its fields are the query's; an unnamed column such as count(*) gets a name.
    row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    return row._make


# The installation's own values: secrets, each made on first use.


FIND = "SELECT value FROM installation WHERE name = :name"
ADD = "INSERT INTO installation (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
UNWIPED, DELETED = "unwiped", "deleted"


def find_secret(connection: SqlConnection, name: str) -> bytes | None:
    """Return the installation's random 32 bytes of that name, None before they are made."""
    known = connection.value(FIND, name=name)
    return None if known is None else bytes.fromhex(known)


def make_secret(connection: SqlConnection, name: str) -> bytes:
    """Return the installation's random 32 bytes of that name, made on first use."""
    drawn = secrets.token_bytes(32)
    connection.run(ADD, name=name, value=drawn.hex())
    return find_secret(connection, name) or drawn
