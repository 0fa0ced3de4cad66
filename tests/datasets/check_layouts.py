"""Whether each layout loads in the tool that it is meant for, by that tool's own reader.

Run by `make test-datasets`, as check_loading.py is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest

from engine.dataset.entry import Keys
from engine.dataset.folder import Manifest
from engine.dataset.layouts import ANSWERS, LAYOUTS
from engine.dataset.tables import ExportRequest
from engine.dataset.writer import write_export
from tests.datasets.check_loading import RECORDS, TEMPLATE
from tests.doubles.archive import MemoryArchive


class Written:
    """A layout on the disk, and how many records each split has."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder / name, name
        keys = Keys(splits=b"splits", master=b"master")
        archive = MemoryArchive(*RECORDS)
        self.manifest: Manifest = write_export(
            archive, ExportRequest(layout=name), self.folder, keys, version="1"
        )
        self.rows = self.manifest.rows[name]

    def path(self, split: str) -> Path:
        return self.folder / LAYOUTS[self.name].path(split)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("layouts")
    return {name: Written(folder, name) for name in LAYOUTS}


def test_argilla_reads_its_settings_and_records(
    written: dict[str, Written], monkeypatch: pytest.MonkeyPatch
) -> None:
    argilla: Any = import_module("argilla")
    monkeypatch.setattr(argilla.Argilla, "_get_default", lambda: _Offline())
    reader: Any = import_module("argilla.records._io").JsonIO
    for split, count in written["argilla"].rows.items():
        folder = written["argilla"].path(split).parent
        # What `Dataset.from_disk` does before it talks to a server.
        model_path, settings_path, records_path = argilla.Dataset._define_child_paths(folder)
        model = argilla.Dataset._load_dataset_model(model_path)
        settings = argilla.Settings.from_json(settings_path)
        settings.validate()
        dataset = argilla.Dataset(name=model.name, settings=settings)
        records = reader._records_from_json(records_path)
        assert len(records) == count
        models = dataset.records._ingest_records(records)
        told = [{meta.name: meta.value for meta in one.metadata} for one in models]
        assert {one["split"] for one in told} == {split}
        question = settings.questions["winner"]
        assert question.labels == list(ANSWERS)


class _Offline:
    """A client of no server: the settings and records are checked before it is asked."""

    def __getattr__(self, name: str) -> Any:
        return _Offline()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return _Offline()


def test_label_studio_accepts_every_task_and_a_label(written: dict[str, Written]) -> None:
    interface: Any = import_module("label_studio_sdk.label_interface").LabelInterface
    layout = written["label-studio"]
    config = interface((layout.folder / "config.xml").read_text())
    config.validate()
    assert config.get_control("winner").labels == list(ANSWERS)
    for split, count in layout.rows.items():
        tasks = orjson.loads(layout.path(split).read_bytes())
        assert len(tasks) == count
        assert all(config.validate_task(task) for task in tasks)
    chosen = {"from_name": "winner", "to_name": "debate", "type": "choices"}
    for answer in (*ANSWERS, "A"):
        given = {"result": [chosen | {"value": {"choices": [answer]}}]}
        assert config.validate_annotation(given) is (answer in ANSWERS), answer


def test_rewardbench_reads_pairs(
    written: dict[str, Written], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "fastchat", "fastchat.conversation", "rewardbench.models"):
        monkeypatch.setitem(sys.modules, name, _Absent(name))
    package = ModuleType("rewardbench")
    found: Any = import_module("importlib.util").find_spec("rewardbench")
    package.__path__ = list(found.submodule_search_locations)
    monkeypatch.setitem(sys.modules, "rewardbench", package)
    utils: Any = import_module("rewardbench.utils")
    monkeypatch.delitem(sys.modules, "torch")  # libraries look whether it is there
    tokenizers: Any = import_module("tokenizers")
    words = tokenizers.models.WordLevel({"?": 0}, unk_token="?")
    tokenizer = import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words), unk_token="?", chat_template=TEMPLATE
    )
    layout = written["rewardbench"]
    for split, count in layout.rows.items():
        path = str(layout.path(split))
        pairs = utils.load_and_process_dataset(path, json=True, tokenizer=tokenizer)
        rows = [orjson.loads(line) for line in layout.path(split).read_bytes().splitlines()]
        assert len(pairs) == len(rows) == count
        for pair, row in zip(pairs, rows, strict=True):
            for kind in ("chosen", "rejected"):
                asked, answer = row[kind]
                text = f"<user>{asked['content']}</s><assistant>{answer['content']}</s>"
                assert pair[f"text_{kind}"] == text


class _Absent(ModuleType):
    """A module for running models, which reading does without."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def test_inspect_reads_samples_in_both_orders(written: dict[str, Written]) -> None:
    dataset: Any = import_module("inspect_ai.dataset")
    layout = written["inspect"]
    for split, count in layout.rows.items():
        samples = dataset.json_dataset(str(layout.path(split)))
        assert len(samples) == count
        by_debate: dict[str, list[Any]] = {}
        for sample in samples:
            by_debate.setdefault(sample.metadata["debate_id"], []).append(sample)
        for one, other in by_debate.values():
            assert one.choices == [*other.choices[1::-1], "tie"]
            flipped = {"A": "B", "B": "A", "C": "C"}
            assert other.target == flipped[one.target]
