"""Whether an export loads unchanged in the libraries that it is meant for.

Run by `make test-datasets` in an environment of its own: these libraries are heavy, and `make
test` checks the same shapes cheaply.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.dataset.columns import MOMENT, Column, Table
from engine.dataset.entry import Keys
from engine.dataset.folder import FileFormat, Manifest
from engine.dataset.tables import TABLES, ExportRequest
from engine.dataset.writer import write_export
from engine.values.debate import Quotation, Source
from engine.values.verdicts import Question
from tests.doubles.archive import MemoryArchive
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

datasets: Any = import_module("datasets")
hub: Any = import_module("huggingface_hub")
tokenizers: Any = import_module("tokenizers")
transformers: Any = import_module("transformers")
trl: Any = import_module("trl.data_utils")
MIRROR = make_debate(41, mirror_of=id_of(1), topic="Topic 1", sides={"A": BIRCH, "B": MAPLE})
SOURCED = make_record(
    make_debate(42, sources=(Source(title="Tea", text="Tea is fine."),)),
    turns=[
        make_turn(1, quotations=(Quotation(text="fine", source=1, found_in=None, share=0.0),)),
        make_turn(2),
    ],
    votes=[
        *(make_vote(n) for n in range(3)),
        make_vote(1, MAPLE.ref, question=Question.GUESS, step="A"),
    ],
    questions=["Why?"],
)
RECORDS = (
    SOURCED,
    make_record(labels=[make_label("turn/opening/A"), make_label("turn/opening/B", up=False)]),
    make_record(MIRROR, votes=[make_vote(n, option) for n, option in enumerate("ABB")]),
    *(make_record(make_debate(number)) for number in range(2, 30)),
)
# As many models have it: the reply is asked for by its heading.
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"content": "string", "role": "string"}]
# lmsys/mt_bench_human_judgments, in its order.
MT_BENCH = {
    "question_id": "int64",
    "model_a": "string",
    "model_b": "string",
    "winner": "string",
    "judge": "string",
    "conversation_a": MESSAGES,
    "conversation_b": MESSAGES,
    "turn": "int64",
}


class Exported:
    """An export on the disk, and what is in it."""

    def __init__(self, folder: Path, file_format: FileFormat) -> None:
        self.folder = folder / "export"
        self.cache = folder / "cache"
        self.lines = folder / "lines"
        self.manifest = write(self.folder, file_format)
        write(self.lines, FileFormat.JSONL)

    def load(self, name: str) -> Any:
        return datasets.load_dataset(str(self.folder), name, cache_dir=str(self.cache))

    def written(self, table: str, split: str) -> list[dict[str, Any]]:
        text = (self.lines / FileFormat.JSONL.path(table, split)).read_bytes()
        return [orjson.loads(line) for line in text.splitlines()]


def write(out: Path, file_format: FileFormat) -> Manifest:
    keys = Keys(splits=b"splits", master=b"master")
    wanted = ExportRequest(file_format=file_format)
    return write_export(MemoryArchive(*RECORDS), wanted, out, keys, version="1")


@pytest.fixture(scope="module", params=list(FileFormat))
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("export"), request.param)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    words = tokenizers.models.WordLevel({"?": 0}, unk_token="?")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words), unk_token="?", chat_template=TEMPLATE
    )


def feature_of(column: Column[Any]) -> Any:
    """Return what a column is declared as, in the library's words."""
    if isinstance(column.type, str):
        return datasets.Value(column.type)
    return datasets.List({part.name: feature_of(part) for part in column.type})


def as_written(row: dict[str, Any], table: Table[Any]) -> dict[str, Any]:
    moments = [column.name for column in table.columns if column.type == MOMENT]
    return row | {name: row[name] and row[name].strftime("%Y-%m-%dT%H:%M:%SZ") for name in moments}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_loads_as_it_is(exported: Exported, table: Table[Any]) -> None:
    loaded = exported.load(table.name)
    rows = {split: len(loaded[split]) for split in loaded}
    assert rows == exported.manifest.rows[table.name]
    features = {column.name: feature_of(column) for column in table.columns}
    for split in loaded:
        assert dict(loaded[split].features) == features
        read = [as_written(row, table) for row in loaded[split]]
        assert read == exported.written(table.name, split)


def test_the_cards_front_matter_parses(exported: Exported) -> None:
    card = hub.DatasetCard.load(exported.folder / "README.md").data
    assert card.language == ["en"]
    assert card.pretty_name == "Rostrum debates"
    assert card.license == "other"
    assert [config["config_name"] for config in card.to_dict()["configs"]] == [
        name for name, rows in exported.manifest.rows.items() if rows
    ]


@pytest.mark.parametrize("name", ["arena_human", "arena_jury"])
def test_judgments_have_the_columns_of_mt_bench(exported: Exported, name: str) -> None:
    for split in exported.load(name).values():
        features = dict(list(split.features.items())[: len(MT_BENCH)])
        assert list(features) == list(MT_BENCH)
        assert {column: plain(feature) for column, feature in features.items()} == MT_BENCH


def plain(feature: Any) -> Any:
    """Return a feature as the names of its types."""
    if isinstance(feature, datasets.Value):
        return feature.dtype
    return [{name: plain(part) for name, part in feature.feature.items()}]


@pytest.mark.parametrize("name", ["preference", "preference_same_side"])
def test_pairs_are_what_dpo_and_reward_trainers_read(
    exported: Exported, name: str, tokenizer: Any
) -> None:
    for row in (row for split in exported.load(name).values() for row in split):
        assert trl.is_conversational(row)
        assert isinstance(row["margin"], float)
        pair = {key: row[key] for key in ("prompt", "chosen", "rejected")}
        texts = trl.apply_chat_template(pair, tokenizer)
        assert texts["prompt"].startswith("<user>Topic: ")
        assert texts["prompt"].endswith("</s><assistant>")
        for key in ("chosen", "rejected"):
            assert texts[key] == f"{row[key][0]['content']}</s>"
        # Trainers of rewards may also be given both as whole chats.
        chats = {key: row["prompt"] + row[key] for key in ("chosen", "rejected")}
        assert trl.extract_prompt(chats) == pair


def test_turns_with_thumbs_are_what_kto_reads(exported: Exported, tokenizer: Any) -> None:
    labels = set()
    for row in (row for split in exported.load("unpaired").values() for row in split):
        assert trl.is_conversational(row)
        single = {key: row[key] for key in ("prompt", "completion", "label")}
        texts = trl.apply_chat_template(single, tokenizer)
        assert texts["completion"] == f"{row['completion'][0]['content']}</s>"
        assert texts["prompt"].endswith("</s><assistant>")
        labels.add(texts["label"])
    assert labels == {True, False}


def test_pairs_can_be_taken_apart_for_kto(exported: Exported) -> None:
    pairs = exported.load("preference")["train"].select_columns(["prompt", "chosen", "rejected"])
    single = trl.unpair_preference_dataset(pairs)
    assert len(single) == 2 * len(pairs)
    assert set(single.column_names) == {"prompt", "completion", "label"}
    (own, *_) = exported.load("unpaired").values()
    assert all(own.features[name] == single.features[name] for name in single.column_names)


def test_the_recipe_for_trl_runs_as_it_is_written(tmp_path: Path) -> None:
    write(tmp_path / "out", FileFormat.JSONL)
    text = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    ((_, _, block),) = [text.partition("```python trl\n")]
    found: dict[str, Any] = {"FOLDER": str(tmp_path / "out")}
    exec(block.partition("```")[0], found)  # noqa: S102
    assert found["pairs"].column_names == ["prompt", "chosen", "rejected", "margin"]
    assert len(found["pairs"])


def test_the_first_steps_of_the_card_run_as_they_are_written(
    exported: Exported, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", exported.cache)
    text = (exported.folder / "README.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for block in text.split("```python\n")[1:]:
        code = block.partition("```")[0].replace("path/to/this/folder", str(exported.folder))
        exec(code, found)  # noqa: S102
    assert set(found["debates"].columns) == {column.name for column in TABLES[0].columns}
    assert "debates decided by both" in capsys.readouterr().out
    assert found["pairs"].column_names == ["prompt", "chosen", "rejected"]
    assert len(found["pairs"])
