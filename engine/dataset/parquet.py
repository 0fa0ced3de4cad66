"""Tables as Parquet, compressed with zstd: the lines of JSON, read by pyarrow in its own code.

The schema is the columns', so that a column which is null throughout a file has its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from engine.dataset.columns import FLAG, MOMENT, REAL, TEXT, WHOLE, Column
from engine.dataset.folder import Staging
from engine.dataset.rowfiles import FileFormat
from engine.dataset.tables import Table
from engine.errors import UsageError

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.json as pa_json  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
except ImportError:
    raise UsageError(
        "Parquet is written with pyarrow, which is not installed; install it with "
        "pip install 'pyarrow>=22', or export as jsonl."
    ) from None

FILLED = 4 * 2**20  # bytes of lines that wait, in all files together
TYPES = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    MOMENT: pa.timestamp("s", tz="UTC"),
}


@dataclass(slots=True)
class _File:
    """A Parquet file in the making; `waiting` lines are in none of its row groups yet."""

    table: Table
    waiting: list[bytes] = field(default_factory=list)
    size: int = 0
    writer: Any = None


@dataclass(slots=True)
class ParquetFiles:
    """Parquet files in the making; whichever holds most is written when all hold too much."""

    staging: Staging
    _files: dict[str, _File] = field(default_factory=dict)
    _waiting: int = 0

    def append(self, table: Table, split: str, lines: bytes) -> None:
        """Add rows to a table's split."""
        path = FileFormat.PARQUET.path(table.name, split)
        file = self._files.get(path) or self._files.setdefault(path, _File(table))
        file.waiting.append(lines)
        file.size += len(lines)
        self._waiting += len(lines)
        if self._waiting > FILLED:
            self._write(max(self._files, key=lambda path: self._files[path].size))

    def finish(self) -> None:
        """Write what waits still, and list the files."""
        for path, file in self._files.items():
            if file.waiting:
                self._write(path)
        self.close()
        for path in self._files:
            self.staging.adopt(path)

    def close(self) -> None:
        """Close every file."""
        for file in self._files.values():
            if file.writer is not None:
                file.writer.close()

    def _write(self, path: str) -> None:
        """Write what waits for a file as a row group."""
        file = self._files[path]
        if file.writer is None:
            schema = schema_of(file.table.columns)
            # Statistics would keep texts of every row group in memory until the file is closed.
            file.writer = pq.ParquetWriter(
                self.staging.place(path), schema, compression="zstd", write_statistics=False
            )
        file.writer.write_table(read_lines(b"".join(file.waiting), file.table))
        pa.default_memory_pool().release_unused()
        self._waiting -= file.size
        file.waiting, file.size = [], 0


@contextmanager
def open_parquet(staging: Staging) -> Iterator[ParquetFiles]:
    """Open the Parquet files of an export, which are complete when the block has ended."""
    files = ParquetFiles(staging)
    try:
        yield files
        files.finish()
    finally:
        files.close()


def schema_of(columns: tuple[Column, ...]) -> Any:
    """Return the columns as an Arrow schema."""
    return pa.schema([pa.field(column.name, _type_of(column)) for column in columns])


def read_lines(lines: bytes, table: Table) -> Any:
    """Return rows, as lines of JSON, as an Arrow table."""
    # In one block, as a row may not be longer than a block; in one thread, as others work too.
    reading = pa_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    shape = pa_json.ParseOptions(
        explicit_schema=schema_of(table.columns), unexpected_field_behavior="error"
    )
    return pa_json.read_json(pa.BufferReader(lines), read_options=reading, parse_options=shape)


def _type_of(column: Column) -> Any:
    if isinstance(column.type, str):
        return TYPES[column.type]
    return pa.list_(pa.struct([pa.field(part.name, _type_of(part)) for part in column.type]))
