"""docs/dataset.md says of every column what the program says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.dataset.card import describe_table
from engine.dataset.tables import TABLES, Table

DOCUMENT = Path(__file__).parents[2] / "docs" / "dataset.md"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_described_as_it_is_declared(table: Table) -> None:
    section = describe_table(table).strip()
    assert section in DOCUMENT.read_text(encoding="utf-8"), f"docs/dataset.md lacks:\n{section}"


def test_no_table_is_described_that_does_not_exist() -> None:
    _, _, text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Tables\n")
    found = [line for line in text.splitlines() if line.startswith("### ")]
    assert found == [f"### `{table.name}`" for table in TABLES]
