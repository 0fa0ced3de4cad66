"""Files that only their owner may read, whatever the umask says."""

from __future__ import annotations

import os
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
OTHERS = 0o077


def open_private(path: str | Path, flags: int) -> int:
    """Open a file as `opener` of `open` does; one that is new is its owner's alone."""
    try:
        handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return os.open(path, flags)
    os.fchmod(handle, FILE_MODE)
    return handle


def make_private_folder(folder: Path) -> None:
    """Make a folder where there is none, and keep others out of it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    tighten(folder, FOLDER_MODE)


def tighten(path: Path, mode: int = FILE_MODE) -> bool:
    """Take the rights of others from a file; False where there is nothing to take, or no right."""
    try:
        if not path.stat().st_mode & OTHERS:
            return False
        path.chmod(mode)
    except OSError:
        return False
    return True
