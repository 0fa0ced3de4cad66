"""The benchmark of exports measures exports of debates that are whole."""

from __future__ import annotations

from pathlib import Path

import orjson

from bench.export import _export, _fill, _write_alone, _write_ours
from bench.past_debates import CALLS, JURORS, Scale
from engine.dataset.folder import FileFormat


def test_made_up_debates_are_exported_in_both_formats(tmp_path: Path) -> None:
    _fill(tmp_path, Scale(debates=6, votes_each=10))
    tables = ("debates", "turns", "verdicts", "votes", "preference", "arena_human")
    lines = _export(tmp_path, FileFormat.JSONL, tables)
    parquet = _export(tmp_path, FileFormat.PARQUET, tables)
    assert lines.size > parquet.size > 0
    assert lines.report()["mb_per_s"]
    counts = orjson.loads((tmp_path / "jsonl" / "manifest.json").read_bytes())["rows"]
    totals = {name: sum(by_split.values()) for name, by_split in counts.items()}
    assert (totals["debates"], totals["votes"]) == (6, 60)
    assert totals["turns"] + totals["verdicts"] == 6 * CALLS
    assert totals["verdicts"] == 6 * JURORS
    assert _write_ours(tmp_path) > 0
    assert _write_alone(tmp_path) > 0
