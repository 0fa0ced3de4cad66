"""Types and options that several commands share."""

from __future__ import annotations

from typing import Optional

import typer

# typer reads annotations at run time, and every version of it knows Optional.
Text = Optional[str]  # noqa: UP045
Names = Optional[list[str]]  # noqa: UP045
REHEARSAL = typer.Option(
    "--include-rehearsal", help="Include rehearsal debates, which are excluded by default."
)
REPLACE = typer.Option(help="Replace an unavailable model, e.g. online/x=online/y; repeatable.")
MOST = 1_000_000
JSON = typer.Option("--json", help="Print JSON.")
