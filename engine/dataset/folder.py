"""The folder of an export: filled in a temporary place, and moved when complete."""

from __future__ import annotations

import errno
import hashlib
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from enum import StrEnum
from importlib.util import find_spec
from operator import not_
from pathlib import Path
from typing import BinaryIO, Literal

import orjson
from pydantic import BaseModel, Field, ValidationError

from engine.values.debate import Value
from engine.values.errors import RostrumError, UsageError

# The inventory of an export: `manifest.json`.


MANIFEST = "manifest.json"


class Filters(Value):
    """The requested debates and tables; empty: all. `community` is a pseudonym.

    `ids` are the only debates. `labels` says whose winner makes pairs; empty: the chat's people.
    `flawed`: so do turns with flaws.
    """

    platform: str | None = None
    community: str | None
    revealed: bool = False
    formats: tuple[str, ...]
    languages: tuple[str, ...]
    since: datetime | None = None
    until: datetime | None = None
    quorum_met: bool = False
    without_rehearsal: bool = False
    series: str | None = None
    ids: tuple[str, ...] = Field((), exclude_if=not_)
    tables: tuple[str, ...] = ()
    labels: str = Field("", exclude_if=not_)
    flawed: bool = Field(False, exclude_if=not_)


class ExportedFile(Value):
    """A file of an export: its path within it, its size in bytes, its SHA-256."""

    path: str
    bytes: int
    sha256: str


class Manifest(Value):
    """The inventory of an export, without the time and place of its making.

    `rostrum` is the version that wrote it, `cutoff` the time of the newest debate (None without
    any), `rows` the number of rows by table and split. `layout` is there for another tool's folder.
    """

    kind: Literal["rostrum-export"] = "rostrum-export"
    schema_version: int
    layout: str = Field("", exclude_if=not_)
    rostrum: str
    filters: Filters
    cutoff: datetime | None
    rows: dict[str, dict[str, int]]
    files: tuple[ExportedFile, ...]

    def encode(self) -> bytes:
        """Return the text of `manifest.json`."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(self.model_dump(mode="json"), option=options)


class _Stamp(BaseModel):
    """The part common to the manifests of all versions."""

    kind: Literal["rostrum-export"]
    files: tuple[ExportedFile, ...]


def listed_files(folder: Path) -> frozenset[str] | None:
    """Return the paths in a folder's manifest, itself included; None without a Rostrum manifest.

    Raises OSError if it cannot be read.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        stamp = _Stamp.model_validate_json(path.read_bytes())
    except ValidationError:
        return None
    return frozenset(file.path for file in stamp.files) | {MANIFEST}


FULL = (errno.ENOSPC, errno.EDQUOT)


class Staging:
    """A folder being written; its files are hashed while they are written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, _Measured] = {}
        self._drafts: dict[str, BinaryIO] = {}
        self._adopted: list[ExportedFile] = []

    def place(self, path: str) -> Path:
        """Return the full path of a file; creates its folder."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def append(self, path: str, text: bytes) -> None:
        """Append to a file of the folder."""
        if path not in self._open:
            self._open[path] = _Measured(self.place(path).open("wb"))
        self._open[path].write(text)

    def draft(self, path: str, text: bytes) -> None:
        """Append to a draft, a file that is converted later and not exported itself."""
        if path not in self._drafts:
            self._drafts[path] = self.place(path).open("wb")
        self._drafts[path].write(text)

    @property
    def drafted(self) -> int:
        """The total size of the drafts not taken yet."""
        return sum(draft.tell() for draft in self._drafts.values())

    def take(self, path: str) -> Path | None:
        """Close a draft and return its path; None if there is none."""
        draft = self._drafts.pop(path, None)
        if draft is None:
            return None
        draft.close()
        return self.place(path)

    def adopt(self, path: str) -> None:
        """List a complete file that was written elsewhere."""
        place = self.folder / path
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = place.stat().st_size
        self._adopted.append(ExportedFile(path=path, bytes=size, sha256=digest))

    def files(self) -> tuple[ExportedFile, ...]:
        """Return the files written so far, by path."""
        measured = (
            ExportedFile(path=path, bytes=file.size, sha256=file.sha256.hexdigest())
            for path, file in self._open.items()
        )
        return tuple(sorted((*measured, *self._adopted), key=lambda file: file.path))

    def close(self) -> None:
        """Close every file, even if closing one fails."""
        with ExitStack() as stack:
            for measured in self._open.values():
                stack.callback(measured.file.close)
            for draft in self._drafts.values():
                stack.callback(draft.close)


class _Measured:
    """A file that counts and hashes what is written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = 0
        self.sha256 = hashlib.sha256()

    def write(self, text: bytes) -> None:
        self.file.write(text)
        self.sha256.update(text)
        self.size += len(text)


@contextmanager
def staged(out: Path) -> Iterator[Staging]:
    """Fill a folder that replaces `out` only if the body succeeds.

    Until then, and after any error, `out` is unchanged. Raises UsageError if anything but an
    earlier export is there, RostrumError if it cannot be written.
    """
    place = out.expanduser().resolve()
    with explained(out):
        check_replaceable(out)
        beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        beside.mkdir(parents=True)
        staging = Staging(beside)
        try:
            try:
                yield staging
            finally:
                staging.close()
            check_replaceable(out)
            _put_in_place(beside, place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def explained(out: Path, kind: type[RostrumError] = RostrumError) -> Iterator[None]:
    """Turn an OSError into a sentence that names `out`."""
    try:
        yield
    except OSError as error:
        advice = "Free space there or choose" if error.errno in FULL else "Choose"
        raise kind(
            f"The export could not be written to {out}: {error.strerror or error}. "
            f"{advice} another folder; what was there before is unchanged."
        ) from error


def check_writable(out: Path) -> None:
    """Raise UsageError for a folder in which no export could be put; nothing is left there."""
    with explained(out, UsageError):
        check_replaceable(out)
        place = out.expanduser().resolve()
        above = next((each for each in place.parents if each.exists()), place)
        probe = above / f".{place.name}.{secrets.token_hex(4)}"
        probe.mkdir()
        probe.rmdir()


def check_replaceable(out: Path) -> None:
    """Raise UsageError for a folder with anything but an earlier export."""
    place = out.expanduser().resolve()
    if not place.exists():
        return
    if not place.is_dir():
        raise UsageError(f"{out} is a file; name a folder for the export.")
    found = {str(file.relative_to(place)) for file in place.rglob("*") if not file.is_dir()}
    listed = listed_files(place)
    if found and listed is None:
        raise UsageError(
            f"The folder {out} contains other files than an export; name an empty or a new one."
        )
    if strange := sorted(found - (listed or frozenset())):
        raise UsageError(
            f"The folder {out} contains an earlier export and also other files, such as "
            f"{strange[0]}, which would be lost; name another folder, or move them away."
        )


def _put_in_place(beside: Path, place: Path) -> None:
    """Move a complete folder to its place; restore the old one if that fails.

    If another export has just taken the place, that one stays.
    """
    if not place.exists():
        beside.rename(place)
        return
    old = beside.with_name(f"{beside.name}.old")
    place.rename(old)
    try:
        beside.rename(place)
    except OSError:
        if place.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


# The files of an export's tables: JSON lines, or Parquet converted from them.


class FileFormat(StrEnum):
    """The file format of an export; the value is the file extension."""

    JSONL = "jsonl"
    PARQUET = "parquet"

    def path(self, table: str, split: str) -> str:
        """Return the path of a table's split in the export."""
        return f"data/{table}/{split}.{self.value}"

    def check(self) -> None:
        """Raise UsageError for Parquet without pyarrow."""
        if self is FileFormat.PARQUET and find_spec("pyarrow") is None:
            raise UsageError(
                "Parquet is written with pyarrow, which is not installed; install it with "
                "pip install 'pyarrow>=22', or export as jsonl."
            )
