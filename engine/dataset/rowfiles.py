"""The files of an export's tables: JSON lines, or Parquet made of the same lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib.util import find_spec

from engine.dataset.folder import Staging
from engine.dataset.tables import Table
from engine.errors import UsageError


class FileFormat(StrEnum):
    """What an export's tables are written as; the value is the files' ending too."""

    JSONL = "jsonl"
    PARQUET = "parquet"

    def path(self, table: str, split: str) -> str:
        """Return where a table's split is within the export."""
        return f"data/{table}/{split}.{self.value}"

    def check(self) -> None:
        """Raise UsageError for Parquet without the library that writes it."""
        if self is FileFormat.PARQUET and find_spec("pyarrow") is None:
            raise UsageError(
                "Parquet is written with pyarrow, which is not installed; install it with "
                "pip install 'pyarrow>=22', or export as jsonl."
            )


def turn_into_parquet(
    staging: Staging, tables: Iterable[Table], splits: Iterable[str], go_on: Callable[[], None]
) -> None:
    """Put Parquet in the place of lines of JSON, a file after another.

    Row by row it would have row groups of a few rows, or keep rows of every file in memory.
    `go_on` is called now and then, and may raise.
    """
    # The system's allocator gives memory back; Arrow's own keeps 15 MB of it.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Only now: it takes half a second and 40 MB to import, for one command's option.
    from engine.dataset.parquet import convert

    for table in tables:
        for split in splits:
            if lines := staging.take(FileFormat.JSONL.path(table.name, split)):
                path = FileFormat.PARQUET.path(table.name, split)
                convert(lines, staging.place(path), table, go_on)
                lines.unlink()
                staging.adopt(path)
