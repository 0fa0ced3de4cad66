"""A process that goes on elsewhere; its arguments are `FOLDER FORMAT URL`.

It is a driver of the folder's debate, on the database that this was copied to.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from adapters.storage.database import Database
from tests.crash.driver import hold
from tests.crash.inputs import order_of
from tests.crash.lives import live


async def go_on(folder: Path, format_name: str, url: str) -> None:
    """Hold a folder's debate on another database."""

    def open_there(_: str, **how: Any) -> Database:
        return Database(url, **how)

    with (
        patch("tests.crash.driver.Database", open_there),
        patch("tests.crash.inputs.Database", open_there),
    ):
        await hold(folder, order_of(format_name), shared=False)


def main() -> int:
    """Go on there, and return the exit code."""
    home, kind, there = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    return live(home, lambda: go_on(home, kind, there))
