"""docs/dataset.md: the text before the tables is handwritten, the tables come from `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.dataset.card import describe_table
from engine.dataset.tables import every_table

HEADING = "## Tables\n"


def renew_tables(document: str) -> str:
    """Return the document with its tables replaced by those declared now."""
    by_hand, _, _ = document.partition(f"\n{HEADING}")
    return "\n".join([by_hand, HEADING, *map(describe_table, every_table())])


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(renew_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
