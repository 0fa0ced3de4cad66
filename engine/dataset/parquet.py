"""Tables as Parquet, compressed with zstd, from JSON lines parsed by pyarrow.

The schema comes from the columns, so that even an all-null column has its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.json as pa_json  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from engine.dataset.columns import FLAG, MOMENT, REAL, TEXT, WHOLE, Column, Table

# Parsing takes many times the size of the lines, and each row group 20 KB until its file is closed:
# hence small pieces, several per group.
PIECE = 2**19  # bytes of lines
GROUP = 2**21  # minimum bytes of a row group in memory
PAGE = 2**16  # bytes of a column compressed together
AT_ONCE = 64  # rows that are read
ROW = 256  # bytes that a row takes at least, once it is read
ROOM, UNFOLDS = 2**24, 1000  # bytes of any file's rows, and of each byte of a file
TYPES = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    MOMENT: pa.timestamp("s", tz="UTC"),
}


def convert(lines: Path, target: Path, table: Table[Any], go_on: Callable[[int], None]) -> None:
    """Convert a file of lines to Parquet; `go_on` gets each row group's bytes, and may raise."""
    # Dictionaries would copy a row group's texts, and statistics keep every row group's until the
    # file is closed; zstd compresses the few repeated texts without them. A schema with
    # dictionaries is not stored, as readers would get them too.
    writer = pq.ParquetWriter(
        target,
        _fold(schema_of(table.columns).empty_table(), table).schema,
        compression="zstd",
        use_dictionary=table.repeats,
        store_schema=not table.repeats,
        write_statistics=False,
        data_page_size=PAGE,
    )
    # Once per file: per row group it would take a third of the time.
    pa.default_memory_pool().release_unused()
    reached = 0
    with lines.open("rb") as file, writer:
        for group in _read_groups(file, table):
            writer.write_table(group)
            reached, before = file.tell(), reached
            go_on(reached - before)


def _read_groups(file: BinaryIO, table: Table[Any]) -> Iterator[Any]:
    """Yield row groups; they have many rows if texts are repeated."""
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
    """Return rows with each text of their chats in memory once, if a table repeats them."""
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
    """Return texts as a dictionary array."""
    # Not with pyarrow.compute, whose import takes 20 MB.
    codes: dict[str, int] = {}
    places = [codes.setdefault(text, len(codes)) for text in texts.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(places, pa.int32()), pa.array(list(codes), pa.string())
    )


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield a file's rows. Raises ValueError for one that unfolds beyond all measure.

    A kilobyte can stand for millions of rows, or name one long text in each of them.
    """
    most, held = ROOM + UNFOLDS * file.stat().st_size, 0
    with pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(batch_size=AT_ONCE):
            held += batch.nbytes + ROW * batch.num_rows
            if held > most:
                raise ValueError(f"{file.name} unfolds to more than {most // 2**20} MB")
            yield from batch.to_pylist()


def schema_of(columns: tuple[Column[Any], ...]) -> Any:
    """Return the columns as an Arrow schema."""
    return pa.schema([pa.field(column.name, _type_of(column)) for column in columns])


def read_lines(lines: bytes, table: Table[Any]) -> Any:
    """Return JSON lines as an Arrow table."""
    # In one block, as a row must fit into a block; in one thread, to leave cores to others.
    reading = pa_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    shape = pa_json.ParseOptions(
        explicit_schema=schema_of(table.columns), unexpected_field_behavior="error"
    )
    return pa_json.read_json(pa.BufferReader(lines), read_options=reading, parse_options=shape)


def _type_of(column: Column[Any]) -> Any:
    if isinstance(column.type, str):
        return TYPES[column.type]
    return pa.list_(pa.struct([pa.field(part.name, _type_of(part)) for part in column.type]))
