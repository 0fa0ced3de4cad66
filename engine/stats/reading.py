"""Reads debates for statistics, in a worker thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.stats.row import Row, row_of
from engine.store import Archive, ExportFilter
from engine.values.errors import StoppedError

T = TypeVar("T")


async def work_out(archive: Archive, where: ExportFilter, make: Callable[[Sequence[Row]], T]) -> T:
    """Apply a function to the revealed debates of a filter, in a worker thread.

    Only a small row of each debate is kept in memory. Cancelling stops the reading. Raises
    StoreError if the debates cannot be read.
    """
    stopped = threading.Event()

    def work() -> T:
        return make(read_rows(archive, where, stopped))

    try:
        return await asyncio.to_thread(work)
    finally:
        stopped.set()


def read_rows(archive: Archive, where: ExportFilter, stopped: threading.Event) -> list[Row]:
    """Read the revealed debates of a filter, in one consistent view, by id."""
    rows = []
    with archive.reading(where) as records:
        for record in records:
            if stopped.is_set():
                raise StoppedError("The statistics were stopped.")
            row = row_of(record)
            if row is not None:
                rows.append(row)
    return rows
