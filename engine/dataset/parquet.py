"""Tables as Parquet, compressed with zstd: the lines of JSON, read by pyarrow in its own code.

The schema is the columns', so that a column which is null throughout a file has its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

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

ROW_GROUP = 4 * 2**20  # bytes of lines
TYPES = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    MOMENT: pa.timestamp("s", tz="UTC"),
}


@dataclass(slots=True)
class ParquetFiles:
    """Parquet files in the making: lines in files of their own until all of them are there.

    Row by row they would leave row groups of a few rows, or wait in memory for one another.
    """

    staging: Staging
    _tables: dict[Path, Table] = field(default_factory=dict)
    _lines: dict[Path, BinaryIO] = field(default_factory=dict)

    def append(self, table: Table, split: str, lines: bytes) -> None:
        """Add rows to a table's split."""
        place = self.staging.place(FileFormat.JSONL.path(table.name, split))
        if place not in self._lines:
            self._tables[place] = table
            self._lines[place] = place.open("wb")
        self._lines[place].write(lines)

    def finish(self) -> None:
        """Turn the lines into Parquet, a file after another, and list those."""
        self.close()
        for place, table in self._tables.items():
            path = FileFormat.PARQUET.path(table.name, place.stem)
            _convert(place, self.staging.place(path), table)
            place.unlink()
            self.staging.adopt(path)

    def close(self) -> None:
        """Close every file of lines."""
        for file in self._lines.values():
            file.close()


@contextmanager
def open_parquet(staging: Staging) -> Iterator[ParquetFiles]:
    """Open the Parquet files of an export, which are complete when the block has ended."""
    files = ParquetFiles(staging)
    try:
        yield files
        files.finish()
    finally:
        files.close()


def _convert(lines: Path, target: Path, table: Table) -> None:
    # Statistics would keep texts of every row group in memory until the file is closed.
    writer = pq.ParquetWriter(
        target, schema_of(table.columns), compression="zstd", write_statistics=False
    )
    with lines.open("rb") as file, writer:
        while group := file.readlines(ROW_GROUP):
            writer.write_table(read_lines(b"".join(group), table))
            pa.default_memory_pool().release_unused()


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
