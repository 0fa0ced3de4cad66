"""Drafts of JSON lines, converted to an export's Parquet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.dataset.columns import Table
from engine.dataset.folder import FileFormat, Staging


def turn_into_parquet(
    staging: Staging,
    tables: Iterable[Table[Any]],
    splits: Iterable[str],
    report: Callable[[int, int], None],
) -> None:
    """Convert drafts of JSON lines to Parquet, one file after another.

    Writing Parquet row by row would give tiny row groups, or keep rows of every file in memory.
    `report` gets the bytes of lines done and in total now and then; it may raise.
    """
    total, done = staging.drafted, 0
    report(done, total)
    # Arrow's default takes 15 MB more, and large files fragment the system's.
    pool = "jemalloc" if sys.platform == "linux" else "system"
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", pool)
    # Only here, as pyarrow looks for what stands above.
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
    """Import pyarrow as if numpy were not installed, unless it is loaded already.

    It takes 10 MB, and pyarrow needs it only to exchange arrays.
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
