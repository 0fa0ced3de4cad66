"""Connections for reading: a few of aiosqlite's, each in its own thread.

A read is one statement and one trip to a thread. Reads that must agree with one another use
`Database.snapshot`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.database.sqlite import READER, SETTINGS, address, set_pragmas, spell_out
from engine.store.database import shape

if TYPE_CHECKING:
    import aiosqlite

CONNECTIONS = 4


class Readers:
    """Connections to one file, opened when they are needed."""

    def __init__(self, path: Path, *, frozen: bool = False) -> None:
        self._address = address(path, frozen=frozen)
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[aiosqlite.Connection] = []
        self._closed = False

    async def fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        """Return a query's rows as named tuples. Raises the errors of SQLite and its driver."""
        connection = await self._take()
        try:
            rows = await connection.execute_fetchall(*spell_out(sql, values))
        except BaseException:
            self._end(connection)
            raise
        if self._closed:
            self._end(connection)
        else:
            self._idle.append(connection)
            self._free.release()
        return list(rows)

    async def close(self) -> None:
        """Let every read finish, then end the threads."""
        self._closed = True
        ended = [connection.stop() for connection in self._idle]
        self._idle.clear()
        for _ in range(CONNECTIONS):
            await self._free.acquire()
        for end in filter(None, ended):
            await end
        for _ in range(CONNECTIONS):
            self._free.release()

    async def _take(self) -> aiosqlite.Connection:
        await self._free.acquire()
        if self._idle:
            return self._idle.pop()
        opening = asyncio.ensure_future(self._open())
        try:
            return await asyncio.shield(opening)
        except BaseException:
            opening.add_done_callback(self._end_opened)
            raise

    async def _open(self) -> aiosqlite.Connection:
        # Only here: it takes two milliseconds, and not every command reads.
        import aiosqlite

        return await aiosqlite.connect(self._address, factory=_Reader, **SETTINGS)

    def _end_opened(self, opening: asyncio.Future[aiosqlite.Connection]) -> None:
        failed = opening.cancelled() or opening.exception() is not None
        self._end(None if failed else opening.result())

    def _end(self, connection: aiosqlite.Connection | None) -> None:
        """Drop a connection; its place is free once its thread, which may still read, has ended.

        The next read must not wait for a cancelled or failed one, nor share its connection.
        """
        ended = None if connection is None else connection.stop()
        if ended is None:
            self._free.release()
        else:
            ended.add_done_callback(lambda _: self._free.release())


class _Reader(sqlite3.Connection):
    """A driver's connection that sets itself up, which saves trips to its thread."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        set_pragmas(self, READER)
        self.row_factory = _Rows()


class _Rows:
    """Turns a connection's rows into named tuples; caches the last statement's description."""

    def __init__(self) -> None:
        self._description: Any = None
        self._make: Any = None

    def __call__(self, cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Any:
        if cursor.description is not self._description:
            self._description = cursor.description
            self._make = shape(self._description)
        return self._make(row)
