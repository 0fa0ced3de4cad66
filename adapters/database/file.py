"""The database file: its path, its lock and its permissions."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from adapters import open_private
from engine.values.errors import StoreError

ADDRESS = "sqlite+aiosqlite:///"
BESIDE = ("-wal", "-shm", ".lock")  # endings of the files beside a database
BUSY_SECONDS = 10.0


def sqlite_path(url: str) -> Path:
    """Return the file of a `sqlite+aiosqlite:///…` URL. Raises StoreError for another kind."""
    kind, named, _ = url.partition("://")
    if not named:
        raise StoreError(f"ROSTRUM_DATABASE_URL is no database's address; set it to {ADDRESS}FILE.")
    name = url.removeprefix(ADDRESS).partition("?")[0]
    if not url.startswith(ADDRESS) or name in ("", ":memory:"):
        raise StoreError(
            f"The database is of a kind this version cannot use ({kind}); set "
            f"ROSTRUM_DATABASE_URL to {ADDRESS}FILE."
        )
    return Path(name)


def local_file(url: str) -> Path:
    """Return beside which file a process keeps what is no database's: the SQLite file itself.

    For a database of a server it is a name in the working directory.
    """
    if url.startswith(ADDRESS):
        return sqlite_path(url)
    parts = urlsplit(url)
    name = unquote(f"{parts.hostname or 'local'}-{parts.path.strip('/') or 'database'}")
    return Path(re.sub(r"[^\w.-]", "_", name))


def create_file(path: Path) -> None:
    """Create an empty file that only its owner may read; SQLite's other files copy its mode."""
    try:
        os.close(open_private(path, os.O_RDWR))
    except OSError:
        return  # a read-only file can still be inspected


def lock_file(path: Path) -> Path:
    """Return the name of the lock beside a database."""
    return path.with_name(path.name + ".lock")


def lock(path: Path) -> IO[str]:
    """Hold the lock beside the database. Raises StoreError when another runner does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.fdopen(open_private(lock_file(path), os.O_WRONLY | os.O_APPEND), "a")
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be written: {error.strerror}. "
            "Check its folder's permissions, or set ROSTRUM_DATABASE_URL."
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        raise StoreError(
            f"Another Rostrum already runs on {path}; stop it first, or set "
            "ROSTRUM_DATABASE_URL to another file."
        ) from error
    return handle


def is_frozen(path: Path) -> bool:
    """Return whether a database is unused and in a read-only folder."""
    running = path.with_name(path.name + "-wal").exists()
    return not running and not os.access(path.parent, os.W_OK)


def open_unchanged(path: Path) -> sqlite3.Connection:
    """Open a file without ever changing it, not even by a checkpoint at the end.

    A write-ahead log beside it is read too. Threads may take turns on the connection.
    """
    logged = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if logged else "immutable=1"
    return sqlite3.connect(
        f"file:{quote(str(path))}?{mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        check_same_thread=False,
    )
