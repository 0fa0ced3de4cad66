"""What an export holds, to the byte: `manifest.json`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ValidationError

from engine.debate import Value

MANIFEST = "manifest.json"


class Filters(Value):
    """Which debates and tables were asked for; empty: all. `community` is a pseudonym."""

    platform: str | None = None
    community: str | None
    revealed: bool = False
    formats: tuple[str, ...]
    languages: tuple[str, ...]
    since: datetime | None = None
    until: datetime | None = None
    quorum_met: bool = False
    without_rehearsal: bool = False
    tables: tuple[str, ...] = ()


class ExportedFile(Value):
    """A file of an export: its path within it, its size in bytes, its SHA-256."""

    path: str
    bytes: int
    sha256: str


class Manifest(Value):
    """The inventory of an export; it says nothing of when or where it was made.

    `rostrum` is the version that made it, `cutoff` the moment up to which debates are in it
    (None without any), `rows` the number of rows by table and split.
    """

    kind: Literal["rostrum-export"] = "rostrum-export"
    schema_version: int
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
    """What the manifest of every version has; the rest may differ."""

    kind: Literal["rostrum-export"]
    files: tuple[ExportedFile, ...]


def listed_files(folder: Path) -> frozenset[str] | None:
    """Return the paths that a folder's manifest lists, itself included; None without one of ours.

    Raises OSError when it cannot be read.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        stamp = _Stamp.model_validate_json(path.read_bytes())
    except ValidationError:
        return None
    return frozenset(file.path for file in stamp.files) | {MANIFEST}
