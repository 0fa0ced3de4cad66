"""The files of an export's tables: JSON lines, or Parquet made of the same lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

from engine.dataset.columns import Table
from engine.dataset.folder import Staging
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
    staging: Staging,
    tables: Iterable[Table[Any]],
    splits: Iterable[str],
    report: Callable[[int, int], None],
) -> None:
    """Make Parquet of drafts, which are lines of JSON, a file after another.

    Row by row it would have row groups of a few rows, or keep rows of every file in memory.
    `report` is told now and then how many bytes of lines are done, of how many; it may raise.
    """
    total, done = staging.drafted, 0
    report(done, total)
    # Arrow's own choice takes 15 MB more, and the system's is left in pieces by large files.
    pool = "jemalloc" if sys.platform == "linux" else "system"
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", pool)
    # Only now: it takes half a second and 40 MB to import, for one command's option.
    with _without_numpy():
        from engine.dataset.parquet import convert

    def go_on(turned: int) -> None:
        nonlocal done
        done += turned
        report(done, total)

    for table in tables:
        for split in splits:
            if lines := staging.take(FileFormat.JSONL.path(table.name, split)):
                path = FileFormat.PARQUET.path(table.name, split)
                convert(lines, staging.place(path), table, go_on)
                lines.unlink()
                staging.adopt(path)


@contextmanager
def _without_numpy() -> Iterator[None]:
    """Import pyarrow as if numpy were not installed, unless somebody has loaded it already.

    Rostrum does not need it, and pyarrow only to exchange arrays with it, which takes 10 MB.
    """
    modules: dict[str, Any] = sys.modules
    if "numpy" in modules:
        yield
        return
    modules["numpy"] = None
    try:
        yield
    finally:
        del modules["numpy"]
