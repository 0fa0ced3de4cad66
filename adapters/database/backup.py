"""Copies a database that is in use, and verifies the copy."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from adapters import open_private
from adapters.database.database import SqlDatabase
from adapters.database.file import open_unchanged
from adapters.database.sqlite import FAULTS
from engine.values.errors import RostrumError, UsageError

PAGES_AT_ONCE = 2_000
NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
Counts: TypeAlias = dict[str, int]


def back_up(database: SqlDatabase, out: Path, go_on: Callable[[], None]) -> int:
    """Copy a database into a new file, which gets its name only after it was verified.

    Returns its size in bytes. `go_on` is called now and then, and may raise to stop. Raises
    UsageError if `out` exists, StoreError for a damaged database, and RostrumError.
    """
    if out.exists():
        raise UsageError(f"{out} exists already; name a new file.")
    draft = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        os.close(open_private(draft, os.O_RDWR))
        counts = _copy(database, draft, go_on)
        # It is read back, as it has to be sound and have every row.
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        try:
            with closing(open_unchanged(draft)) as copy:
                copy.set_progress_handler(go_on, 1_000_000)
                sound = copy.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
                whole = sound and _count(copy) == counts
        except FAULTS:
            whole = False
        go_on()
        if not whole:
            raise RostrumError(
                "The copy is not the same as the database, so it was deleted; check the disk, and "
                "make the backup again."
            )
        _put_in_place(draft, out)
    except FileExistsError:
        raise UsageError(f"{out} exists already; name a new file.") from None
    except OSError as error:
        raise RostrumError(
            f"The backup could not be written to {out}: {error.strerror}; free space or name "
            "another place."
        ) from error
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)
    return out.stat().st_size


def _copy(database: SqlDatabase, draft: Path, go_on: Callable[[], None]) -> Counts:
    """Copy page by page with SQLite's backup, which sees one state; return its row counts."""
    with database.snapshot() as connection, closing(sqlite3.connect(draft)) as copy:
        source = connection.driver
        counts = _count(source)
        if source.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise database.damage()
        try:
            source.backup(copy, pages=PAGES_AT_ONCE, progress=lambda *_: go_on())
            copy.execute("PRAGMA journal_mode = DELETE")  # so that the one file is all of it
        except sqlite3.Error as error:
            raise OSError(0, str(error)) from error  # of the copy: the source was just read
    return counts


def _count(connection: sqlite3.Connection) -> Counts:
    """Return how many rows each table has."""
    names = [name for (name,) in connection.execute(NAMES)]
    rows = 'SELECT count(*) FROM "{}"'
    quoted = {name: rows.format(name.replace('"', '""')) for name in names}
    return {name: connection.execute(query).fetchone()[0] for name, query in quoted.items()}


def _put_in_place(draft: Path, out: Path) -> None:
    """Give a file its name, but never replace another file that came there meanwhile."""
    try:
        os.link(draft, out)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if out.exists():
            raise FileExistsError from None
        draft.rename(out)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
