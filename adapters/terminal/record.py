"""The terminal's memory across restarts: an append-only transcript in JSON lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from adapters.private_files import make_private_folder, open_private
from adapters.terminal import texts
from engine.values.debate import Value
from engine.values.errors import VenueError
from engine.values.messages import File


class RecordEntry(Value):
    """A line of the transcript.

    A post has `reference` and `body`, an edit `body`, a seeding `options`; a raised or lowered
    hand has `user` and one option.
    """

    kind: Literal["post", "edit", "seed", "hold", "drop"]
    place: str
    message: str
    reference: str = ""
    body: str = ""
    user: str = ""
    options: tuple[str, ...] = ()


class TranscriptFile:
    """A transcript file; without a path nothing is stored."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self) -> tuple[RecordEntry, ...]:
        """Read all entries; cuts off a last line that a crash left unfinished.

        Raises VenueError if the file is unreadable or damaged.
        """
        if self.path is None or not self.path.exists():
            return ()
        try:
            lines, newline, torn = self.path.read_bytes().rpartition(b"\n")
            whole = lines + newline
            if torn:
                os.truncate(self.path, len(whole))
            return tuple(RecordEntry.model_validate_json(line) for line in whole.splitlines())
        except (OSError, ValidationError) as error:
            why = error.strerror if isinstance(error, OSError) else "a line is damaged"
            raise VenueError(texts.RECORD_UNREADABLE.format(path=self.path, why=why)) from error

    def append(self, entry: RecordEntry) -> None:
        """Write an entry to disk. Raises VenueError if that fails."""
        if self.path is None:
            return
        try:
            with open(self.path, "ab", opener=open_private) as file:
                file.write(entry.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = error.strerror
            raise VenueError(texts.RECORD_UNWRITABLE.format(path=self.path, why=why)) from error

    def folder(self, code: str) -> Path | None:
        """Return the folder of a debate's files, None without a transcript."""
        return self.path.parent / code if self.path else None

    def file(self, code: str, files: Sequence[File]) -> None:
        """Write a debate's files. Raises VenueError if that fails."""
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
    """Return the folder of a database file's transcripts."""
    return database.with_name(f"{database.name}.terminal")
