"""The inventory of an export: `manifest.json`."""

from __future__ import annotations

from datetime import datetime
from operator import not_
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, Field, ValidationError

from engine.values.debate import Value

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


class Written(_Stamp):
    """Which version of Rostrum wrote an export, and the version of its tables; of any version."""

    schema_version: int
    rostrum: str


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
