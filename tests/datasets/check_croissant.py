"""Whether mlcroissant accepts the metadata of every kind of export, and reads its records.

Run by `make test-datasets`, as check_loading.py is.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.dataset.columns import MOMENT, Column
from engine.dataset.entry import Keys
from engine.dataset.folder import FileFormat
from engine.dataset.layouts import LAYOUTS
from engine.dataset.tables import TABLES, ExportRequest
from engine.dataset.writer import write_export
from tests.datasets.check_loading import RECORDS
from tests.doubles.archive import MemoryArchive

EVERY = (
    *(ExportRequest(file_format=each, license="CC-BY-4.0") for each in FileFormat),
    *(ExportRequest(layout=name, license="LicenseRef-own") for name in LAYOUTS),
)


def write(out: Path, wanted: ExportRequest) -> Any:
    keys = Keys(splits=b"splits", master=b"master")
    write_export(MemoryArchive(*RECORDS), wanted, out, keys, version="1")
    return import_module("mlcroissant").Dataset(jsonld=str(out / "croissant.json"))


@pytest.mark.parametrize("wanted", EVERY, ids=lambda one: one.layout or one.file_format.value)
def test_metadata_is_valid(tmp_path: Path, wanted: ExportRequest) -> None:
    dataset = write(tmp_path / "out", wanted)
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    # Who publishes an export, where, and how to cite it, is not known when it is written.
    assert all(
        any(word in said for word in ("url", "creator", "citeAs", "publisher"))
        for said in issues.warnings
    ), issues.warnings


def test_its_records_are_the_rows(tmp_path: Path) -> None:
    out = tmp_path / "out"
    dataset = write(out, ExportRequest())
    for table in TABLES:
        for path in sorted((out / "data" / table.name).glob("*.jsonl")):
            name = f"{table.name}/{path.stem}"
            read = [plain(record, name, table.columns) for record in dataset.records(name)]
            rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
            for one, row in zip(read, rows, strict=True):
                differing = [(c, one[c], row[c]) for c in row if near(one[c]) != near(row[c])]
                assert differing == [], name


def plain(record: dict[str, Any], name: str, columns: tuple[Column[Any], ...]) -> dict[str, Any]:
    """Return a record as it was written: bytes as text, moments as texts, lists by field."""
    found = {}
    for column in columns:
        value = record[f"{name}/{column.name}"]
        if not isinstance(column.type, str):
            parts = [
                {p.name: said(one[f"{name}/{column.name}/{p.name}"]) for p in column.type}
                for one in value or ()
            ]
            empty = [dict.fromkeys(p.name for p in column.type)]
            found[column.name] = None if parts == empty else parts
        elif column.type == MOMENT and value is not None:
            found[column.name] = value.strftime("%Y-%m-%dT%H:%M:%SZ")
        else:
            found[column.name] = said(value)
    return found


def said(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def near(value: Any) -> Any:
    """Return a value with its numbers as exact as pandas reads them."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, list):
        return [{name: near(part) for name, part in one.items()} for one in value]
    return value
