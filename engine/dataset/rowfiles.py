"""The files of an export's tables: JSON lines, or Parquet made of the same lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from typing import Protocol

from engine.dataset.folder import Staging
from engine.dataset.tables import Table


class FileFormat(StrEnum):
    """What an export's tables are written as; the value is the files' ending too."""

    JSONL = "jsonl"
    PARQUET = "parquet"

    def path(self, table: str, split: str) -> str:
        """Return where a table's split is within the export."""
        return f"data/{table}/{split}.{self.value}"


class RowFiles(Protocol):
    """Where rows go, already as lines of JSON."""

    def append(self, table: Table, split: str, lines: bytes) -> None:
        """Add rows to a table's split."""
        ...


class JsonLines:
    """Writes each table's split as a file of JSON lines."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def append(self, table: Table, split: str, lines: bytes) -> None:
        """Add rows to a table's split."""
        self._staging.append(FileFormat.JSONL.path(table.name, split), lines)


def open_row_files(file_format: FileFormat, staging: Staging) -> AbstractContextManager[RowFiles]:
    """Open the files of an export, which are complete when the block has ended.

    Raises UsageError for Parquet without the library that writes it.
    """
    if file_format is FileFormat.PARQUET:
        # It takes half a second and 60 MB to import, for one command's option.
        from engine.dataset.parquet import open_parquet

        return open_parquet(staging)
    return _open_lines(staging)


@contextmanager
def _open_lines(staging: Staging) -> Iterator[RowFiles]:
    yield JsonLines(staging)
