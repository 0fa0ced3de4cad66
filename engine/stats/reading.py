"""Reading debates for statistics, in a worker thread beside whatever runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.errors import StoppedError
from engine.stats.row import Row, row_of
from engine.store import Archive, ExportFilter

T = TypeVar("T")


async def work_out(archive: Archive, where: ExportFilter, make: Callable[[Sequence[Row]], T]) -> T:
    """Make something of the revealed debates that a filter leaves, in a worker thread.

    Only a small row of each debate is held in memory. Cancelling it stops the reading. Raises
    StoreError when the debates cannot be read.
    """
    stopped = threading.Event()

    def work() -> T:
        return make(read_rows(archive, where, stopped))

    try:
        return await asyncio.to_thread(work)
    finally:
        stopped.set()


def read_rows(archive: Archive, where: ExportFilter, stopped: threading.Event) -> list[Row]:
    """Read the revealed debates that a filter leaves, in one consistent view, by id."""
    rows = []
    with archive.reading(where) as records:
        for record in records:
            if stopped.is_set():
                raise StoppedError("The statistics were stopped.")
            row = row_of(record)
            if row is not None:
                rows.append(row)
    return rows
