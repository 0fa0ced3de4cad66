"""docs/dataset.md says of every table and column what the program says of it."""

from __future__ import annotations

from pathlib import Path

from engine.dataset.document import renew_tables

DOCUMENT = Path(__file__).parents[2] / "docs" / "dataset.md"


def test_the_document_is_what_make_docs_writes() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == renew_tables(text), "docs/dataset.md is not as declared: make docs"
