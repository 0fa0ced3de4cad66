"""What talks to the outside world; here what all of it shares: checks of it, and private files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Finding(NamedTuple):
    """The result of one check; `good` is None for a note."""

    subject: str
    good: bool | None
    text: str


# Files that only their owner may read, whatever the umask.


FILE_MODE, FOLDER_MODE = 0o600, 0o700
OTHERS = 0o077


def open_private(path: str | Path, flags: int) -> int:
    """Open a file as `opener` of `open` does; a new file is readable by its owner only."""
    try:
        handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return os.open(path, flags)
    os.fchmod(handle, FILE_MODE)
    return handle


def make_private_folder(folder: Path) -> None:
    """Make a folder if it is missing, closed to others. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    tighten(folder, FOLDER_MODE)


def tighten(path: Path, mode: int = FILE_MODE) -> bool:
    """Remove others' access to a file; False if they had none, or it cannot be changed."""
    try:
        if not path.stat().st_mode & OTHERS:
            return False
        path.chmod(mode)
    except OSError:
        return False
    return True
