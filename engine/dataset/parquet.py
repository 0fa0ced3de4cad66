"""Tables as Parquet, compressed with zstd: the lines of JSON, read by pyarrow in its own code.

The schema is the columns', so that a column which is null throughout a file has its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.json as pa_json  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from engine.dataset.columns import FLAG, MOMENT, REAL, TEXT, WHOLE, Column, Table

# Reading lines takes many times their size for a moment, and each row group some 20 KB until its
# file is closed: hence small pieces, and several to a group.
PIECE = 2**19  # bytes of lines
GROUP = 2**21  # bytes that a row group's rows take in memory, at least
PAGE = 2**16  # bytes of a column that are compressed together
TYPES = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    MOMENT: pa.timestamp("s", tz="UTC"),
}


def convert(lines: Path, target: Path, table: Table[Any], go_on: Callable[[int], None]) -> None:
    """Write a file of lines as Parquet; `go_on` is told each row group's bytes, and may raise."""
    # Dictionaries keep a row group's texts in memory once more, and statistics those of every
    # row group until the file is closed; zstd finds what few texts are repeated without them.
    # Where dictionaries are in the schema, it is not stored: its readers would get them too.
    writer = pq.ParquetWriter(
        target,
        _fold(schema_of(table.columns).empty_table(), table).schema,
        compression="zstd",
        use_dictionary=table.repeats,
        store_schema=not table.repeats,
        write_statistics=False,
        data_page_size=PAGE,
    )
    # Once a file: after every row group it would take a third of the time.
    pa.default_memory_pool().release_unused()
    reached = 0
    with lines.open("rb") as file, writer:
        for group in _read_groups(file, table):
            writer.write_table(group)
            reached, before = file.tell(), reached
            go_on(reached - before)


def _read_groups(file: BinaryIO, table: Table[Any]) -> Iterator[Any]:
    """Yield as many rows as make a row group: many, where they repeat themselves."""
    pieces: list[Any] = []
    held = 0
    while piece := file.read(PIECE):
        pieces.append(_fold(read_lines(piece + file.readline(), table), table))
        held += pieces[-1].nbytes
        if held >= GROUP:
            yield pa.concat_tables(pieces).unify_dictionaries()
            pieces, held = [], 0
    if pieces:
        yield pa.concat_tables(pieces).unify_dictionaries()


def _fold(rows: Any, table: Table[Any]) -> Any:
    """Return rows with each text of their chats in memory once, where a table repeats them."""
    for place, field in enumerate(rows.schema):
        if table.repeats and pa.types.is_list(field.type):
            lists = rows.column(place).chunk(0)
            parts = [_encode(part) for part in lists.values.flatten()]
            names = [part.name for part in field.type.value_type]
            chats = pa.ListArray.from_arrays(
                lists.offsets, pa.StructArray.from_arrays(parts, names)
            )
            rows = rows.set_column(place, field.name, chats)
    return rows


def _encode(texts: Any) -> Any:
    """Return texts as a dictionary and places in it."""
    # Not by Arrow's own function: the first of those takes 20 MB to import.
    codes: dict[str, int] = {}
    places = [codes.setdefault(text, len(codes)) for text in texts.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(places, pa.int32()), pa.array(list(codes), pa.string())
    )


def schema_of(columns: tuple[Column[Any], ...]) -> Any:
    """Return the columns as an Arrow schema."""
    return pa.schema([pa.field(column.name, _type_of(column)) for column in columns])


def read_lines(lines: bytes, table: Table[Any]) -> Any:
    """Return rows, as lines of JSON, as an Arrow table."""
    # In one block, as a row may not be longer than a block; in one thread, as others work too.
    reading = pa_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    shape = pa_json.ParseOptions(
        explicit_schema=schema_of(table.columns), unexpected_field_behavior="error"
    )
    return pa_json.read_json(pa.BufferReader(lines), read_options=reading, parse_options=shape)


def _type_of(column: Column[Any]) -> Any:
    if isinstance(column.type, str):
        return TYPES[column.type]
    return pa.list_(pa.struct([pa.field(part.name, _type_of(part)) for part in column.type]))
