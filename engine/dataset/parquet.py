"""Tables as Parquet, compressed with zstd: the lines of JSON, read by pyarrow in its own code.

The schema is the columns', so that a column which is null throughout a file has its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.json as pa_json  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from engine.dataset.columns import FLAG, MOMENT, REAL, TEXT, WHOLE, Column
from engine.dataset.tables import Table

# Reading lines takes many times their size for a moment, and each row group some 15 KB until its
# file is closed: hence small pieces, and several to a group.
PIECE = 2**19  # bytes of lines
PIECES = 6  # a row group
PAGE = 2**16  # bytes of a column that are compressed together
TYPES = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    MOMENT: pa.timestamp("s", tz="UTC"),
}


def convert(lines: Path, target: Path, table: Table, go_on: Callable[[int], None]) -> None:
    """Write a file of lines as Parquet; `go_on` is told each row group's bytes, and may raise."""
    # Dictionaries keep a row group's texts in memory once more, and statistics those of every
    # row group until the file is closed; zstd finds what is repeated without them.
    writer = pq.ParquetWriter(
        target,
        schema_of(table.columns),
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        data_page_size=PAGE,
    )
    # Once a file: after every row group it would take a third of the time.
    pa.default_memory_pool().release_unused()
    reached = 0
    with lines.open("rb") as file, writer:
        while group := list(islice(_read_pieces(file, table), PIECES)):
            writer.write_table(pa.concat_tables(group))
            reached, before = file.tell(), reached
            go_on(reached - before)


def _read_pieces(file: BinaryIO, table: Table) -> Iterator[Any]:
    while piece := file.read(PIECE):
        yield read_lines(piece + file.readline(), table)


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
