"""Whether an export loads unchanged in the libraries that it is meant for.

Run by `make test-datasets` in an environment of its own: these libraries are heavy, and `make
test` checks the same shapes cheaply. What needs TRL is skipped where it cannot be imported.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from engine.dataset.columns import Column
from engine.dataset.manifest import Manifest
from engine.dataset.rowfiles import FileFormat
from engine.dataset.tables import TABLES, Table
from engine.dataset.voters import Keys
from engine.dataset.writer import Wanted, write_export
from tests.doubles.archive import (
    BIRCH,
    MAPLE,
    MemoryArchive,
    make_debate,
    make_label,
    make_record,
    make_vote,
)

datasets: Any = import_module("datasets")
MIRROR = make_debate(41, topic="Topic 1", sides={"A": BIRCH, "B": MAPLE})
RECORDS = (
    make_record(labels=[make_label("turn/opening/A"), make_label("turn/opening/B", up=False)]),
    make_record(MIRROR, votes=[make_vote(n, option) for n, option in enumerate("ABB")]),
    *(make_record(make_debate(number)) for number in range(2, 30)),
)


class Exported:
    """An export on the disk, and what is in it."""

    def __init__(self, folder: Path, file_format: FileFormat) -> None:
        self.folder = folder / "export"
        self.cache = folder / "cache"
        keys = Keys(splits=b"splits", master=b"master")
        wanted = Wanted(file_format=file_format)
        archive = MemoryArchive(*RECORDS)
        self.manifest: Manifest = write_export(archive, wanted, self.folder, keys, version="1")

    def load(self, name: str) -> Any:
        return datasets.load_dataset(str(self.folder), name, cache_dir=str(self.cache))


@pytest.fixture(scope="module", params=list(FileFormat))
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("export"), request.param)


def feature_of(column: Column) -> Any:
    """Return what a column is declared as, in the library's words."""
    if isinstance(column.type, str):
        return datasets.Value(column.type)
    return datasets.List({part.name: feature_of(part) for part in column.type})


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_loads_as_it_is(exported: Exported, table: Table) -> None:
    loaded = exported.load(table.name)
    rows = {split: len(loaded[split]) for split in loaded}
    assert rows == exported.manifest.rows[table.name]
    for split in loaded.values():
        features = {column.name: feature_of(column) for column in table.columns}
        assert dict(split.features) == features


@pytest.mark.parametrize("name", ["preference", "preference_same_side", "unpaired"])
def test_trainers_see_conversations(exported: Exported, name: str) -> None:
    trl = pytest.importorskip("trl.data_utils", exc_type=ImportError)
    for split in exported.load(name).values():
        assert all(trl.is_conversational(row) for row in split)


def test_pairs_can_be_taken_apart_for_kto(exported: Exported) -> None:
    trl = pytest.importorskip("trl.data_utils", exc_type=ImportError)
    pairs = exported.load("preference")["train"].select_columns(["prompt", "chosen", "rejected"])
    single = trl.unpair_preference_dataset(pairs)
    assert len(single) == 2 * len(pairs)
    assert set(single.column_names) == {"prompt", "completion", "label"}
    (own, *_) = exported.load("unpaired").values()
    assert all(own.features[name] == single.features[name] for name in single.column_names)
