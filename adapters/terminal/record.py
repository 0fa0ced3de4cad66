"""The terminal's memory across restarts: an append-only transcript, one JSON line an act."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from adapters.terminal import texts
from engine.debate import Value
from engine.errors import VenueError
from engine.messages import File
from engine.private_files import make_private_folder, open_private


class Act(Value):
    """Something that was done in the terminal, as its line in the transcript says it.

    A post has `reference` and `body`, an edit `body`, a seeding `options`; a hand that is
    held or dropped has `user` and one option.
    """

    kind: Literal["post", "edit", "seed", "hold", "drop"]
    place: str
    message: str
    reference: str = ""
    body: str = ""
    user: str = ""
    options: tuple[str, ...] = ()


class Record:
    """A transcript file; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self) -> tuple[Act, ...]:
        """Read all acts, and cut off a last line that a crash left unfinished.

        Raises VenueError when the file cannot be read or holds anything else.
        """
        if self.path is None or not self.path.exists():
            return ()
        try:
            lines, newline, torn = self.path.read_bytes().rpartition(b"\n")
            whole = lines + newline
            if torn:
                os.truncate(self.path, len(whole))
            return tuple(Act.model_validate_json(line) for line in whole.splitlines())
        except (OSError, ValidationError) as error:
            why = error.strerror if isinstance(error, OSError) else "a line is damaged"
            raise VenueError(texts.RECORD_UNREADABLE.format(path=self.path, why=why)) from error

    def append(self, act: Act) -> None:
        """Write an act, and return when it is on the disk. Raises VenueError when it is not."""
        if self.path is None:
            return
        try:
            with open(self.path, "ab", opener=open_private) as file:
                file.write(act.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = error.strerror
            raise VenueError(texts.RECORD_UNWRITABLE.format(path=self.path, why=why)) from error

    def folder(self, code: str) -> Path | None:
        """Return where a debate's files are, None where nothing is kept."""
        return self.path.parent / code if self.path else None

    def file(self, code: str, files: Sequence[File]) -> None:
        """Write a debate's files. Raises VenueError when they cannot be written."""
        folder = self.folder(code)
        if folder is None or not files:
            return
        try:
            make_private_folder(folder)
            for file in files:
                with open(folder / file.name, "wb", opener=open_private) as written:
                    written.write(file.data())
        except OSError as error:
            raise VenueError(
                texts.FILES_UNWRITABLE.format(folder=folder, why=error.strerror)
            ) from error


def records_of(database: Path) -> Path:
    """Return the folder of the transcripts that belong to a database file."""
    return database.with_name(f"{database.name}.terminal")


def count_records(folder: Path) -> int:
    """Return how many transcripts a folder holds."""
    return sum(1 for _ in folder.glob("*.jsonl"))


def erase_records(folder: Path) -> None:
    """Delete a folder of transcripts, with debates' files. Raises VenueError."""
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        why = error.strerror or "it is a link"
        raise VenueError(texts.RECORDS_STAY.format(folder=folder, why=why)) from error
