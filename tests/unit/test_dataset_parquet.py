"""Parquet holds what the lines of JSON hold, with the columns' types, whatever is null."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from engine.dataset import parquet
from engine.dataset.columns import MOMENT
from engine.dataset.entry import Keys
from engine.dataset.folder import FileFormat, Manifest
from engine.dataset.parquet import read_rows
from engine.dataset.tables import TABLES, ExportRequest
from engine.dataset.writer import write_export
from engine.values.debate import Quotation, Source, Status
from engine.values.errors import StoppedError, StoreError
from engine.values.verdicts import Question
from tests.doubles.archive import MemoryArchive
from tests.doubles.command import printed_by
from tests.kit import (
    BIRCH,
    MAPLE,
    id_of,
    make_debate,
    make_label,
    make_record,
    make_turn,
    make_vote,
)

KEYS = Keys(splits=b"splits", master=b"master")
SAID = 'A "quote", a \\ and\na line\u2028ünïcode 猫 \U0001f600'
MIRROR = make_debate(41, mirror_of=id_of(1), topic="Topic 1", sides={"A": BIRCH, "B": MAPLE})
RECORDS = (
    make_record(labels=[make_label("turn/opening/A")], questions=["Is tea cheaper?"]),
    make_record(
        MIRROR,
        votes=[
            *(make_vote(n, option) for n, option in enumerate("ABB")),
            make_vote(1, MAPLE.ref, question=Question.GUESS, step="A"),
        ],
    ),
    make_record(make_debate(2, Status.PARTIAL), turns=[make_turn(1, SAID)], calls=[]),
    make_record(
        make_debate(3, sources=(Source(title="Tea", text="Tea is fine."),)),
        turns=[
            make_turn(1, quotations=(Quotation(text="fine", source=1, found_in=None, share=0.0),))
        ],
    ),
    *(make_record(make_debate(number)) for number in range(4, 30)),
)


def write(out: Path, file_format: FileFormat = FileFormat.PARQUET, **given: Any) -> Manifest:
    archive = given.pop("archive", MemoryArchive(*RECORDS))
    wanted = ExportRequest(file_format=file_format)
    return write_export(archive, wanted, out, KEYS, version="1.2.3", **given)


def read(out: Path, name: str, split: str) -> list[dict[str, Any]]:
    """Read a file of Parquet as its rows, with moments as JSON has them."""
    rows: list[dict[str, Any]] = pq.read_table(out / "data" / name / f"{split}.parquet").to_pylist()
    (columns,) = (table.columns for table in TABLES if table.name == name)
    for row in rows:
        for column in columns:
            if column.type == MOMENT and row[column.name]:
                row[column.name] = row[column.name].strftime("%Y-%m-%dT%H:%M:%SZ")
    return rows


def test_every_table_holds_the_same_as_the_lines_of_json(tmp_path: Path) -> None:
    write(tmp_path / "lines", FileFormat.JSONL)
    manifest = write(tmp_path / "parquet")
    filled = {name for name, rows in manifest.rows.items() if rows}
    assert {table.name for table in TABLES} == filled
    for name, by_split in manifest.rows.items():
        for split, number in by_split.items():
            text = (tmp_path / "lines" / "data" / name / f"{split}.jsonl").read_bytes()
            lines = [orjson.loads(line) for line in text.splitlines()]
            rows = read(tmp_path / "parquet", name, split)
            assert len(rows) == number
            assert rows == lines
    card = (tmp_path / "parquet" / "README.md").read_text()
    files = [file.path for file in manifest.files if file.path.startswith("data/")]
    for path in files:
        assert path.endswith(".parquet")
        assert f"    path: {path}\n" in card
        group = pq.ParquetFile(tmp_path / "parquet" / path).metadata.row_group(0)
        assert group.column(0).compression == "ZSTD"


def test_a_column_that_is_null_throughout_has_its_type(tmp_path: Path) -> None:
    write(tmp_path / "out", archive=MemoryArchive(RECORDS[2]))
    (path,) = tmp_path.glob("out/data/debates/*.parquet")
    schema = pq.read_schema(path)
    assert schema.field("human_winner").type == pa.string()
    assert schema.field("gold_a").type == pa.int64()
    assert pa.types.is_timestamp(schema.field("revealed_at").type)
    assert schema.field("revealed_at").type.tz == "UTC"
    kinds = {field.name: field.type for field in schema.field("tally").type.value_type}
    assert kinds == {"option": pa.string(), "n": pa.int64(), "gold": pa.int64()}


def test_what_votes_repeat_is_in_the_file_once_and_comes_back_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The lines are read in several pieces, and more than a row group's where nothing is repeated.
    monkeypatch.setattr(parquet, "PIECE", 300_000)
    monkeypatch.setattr(parquet, "GROUP", 500_000)
    said = "".join(f"{n:x}" for n in range(5_000))
    votes = [make_vote(n, option) for n, option in enumerate("AB" * 30)]
    record = make_record(turns=[make_turn(1, said), make_turn(2)], votes=votes)
    write(tmp_path / "out", archive=MemoryArchive(record))
    (path,) = tmp_path.glob("out/data/arena_human/*.parquet")
    file = pq.ParquetFile(path)
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (len(votes), 1)
    assert path.stat().st_size < 3 * len(said)
    kinds = file.schema_arrow.field("conversation_a").type.value_type
    assert {field.name: field.type for field in kinds} == {
        "content": pa.string(),
        "role": pa.string(),
    }


@pytest.mark.slow
def test_repeated_it_is_the_same_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So small that files are written in several row groups.
    monkeypatch.setattr(parquet, "PIECE", 2_500)
    monkeypatch.setattr(parquet, "GROUP", 10_000)
    for name in ("one", "two"):
        write(tmp_path / name)
    (one, two) = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in files}
        for name in ("one", "two")
        for files in [[path for path in (tmp_path / name).rglob("*") if path.is_file()]]
    )
    assert one == two
    (path,) = tmp_path.glob("one/data/turns/train.parquet")
    assert pq.ParquetFile(path).metadata.num_row_groups > 1


def test_an_export_that_breaks_off_or_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="The database is gone"):
        write(tmp_path / "out", archive=MemoryArchive(*RECORDS, fails_after=9))

    def stop(*_: object) -> None:
        if list(tmp_path.rglob("*.parquet")):
            raise StoppedError("Stopped.")

    with pytest.raises(StoppedError):
        write(tmp_path / "out", report=stop)
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_finished_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "PIECE", 2_500)
    told: list[tuple[str, int, int]] = []
    write(tmp_path / "out", report=lambda *done: told.append(done))
    write(tmp_path / "lines", FileFormat.JSONL)
    size = sum(path.stat().st_size for path in (tmp_path / "lines" / "data").rglob("*.jsonl"))
    turned = [done for stage, done, _ in told if stage == "PARQUET"]
    assert (turned[0], turned[-1]) == (0, size)
    assert len(turned) > 2 * len(TABLES)
    assert turned == sorted(turned)
    assert {total for stage, _, total in told if stage == "PARQUET"} == {size}
    stages = [stage for stage, *_ in told]
    assert stages == sorted(stages)


@pytest.mark.slow
def test_numpy_is_not_taken_along_and_can_be_imported_afterwards(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from engine.dataset.folder import Staging
from engine.dataset.conversion import turn_into_parquet
turn_into_parquet(Staging(Path(sys.argv[1])), (), (), lambda done, total: None)
print("pyarrow" in sys.modules, "numpy" in sys.modules)
import numpy
"""
    assert printed_by(code, str(tmp_path)) == "True False\n"


@pytest.mark.slow
def test_without_pyarrow_a_sentence_says_what_to_install() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
from engine.dataset.folder import FileFormat
from engine.values.errors import UsageError
FileFormat.JSONL.check()
try:
    FileFormat.PARQUET.check()
except UsageError as error:
    print(error)
"""
    assert "pip install 'pyarrow>=22'" in printed_by(code)


@pytest.mark.slow
def test_a_small_file_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    # Four hundred kilobytes that would be gigabytes.
    places = pa.array(bytes(4_000_000), pa.int8()).cast(pa.int32())
    texts = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 1000]))
    pq.write_table(pa.table({"debate_id": texts}), tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 500_000
    with pytest.raises(ValueError, match="unfolds to more than"):
        list(read_rows(tmp_path / "bomb.parquet"))
