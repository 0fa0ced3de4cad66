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


# What a shell completes is read from the database or the settings, once it is asked for.


def complete_debates(incomplete: str) -> list[tuple[str, str]]:
    """Return codes of debates."""
    from bot.completion import debates

    return debates(incomplete)


def complete_series(incomplete: str) -> list[tuple[str, str]]:
    """Return names of series."""
    from bot.completion import series

    return series(incomplete)


def complete_both(incomplete: str) -> list[tuple[str, str]]:
    """Return names of series, and codes of debates."""
    return [*complete_series(incomplete), *complete_debates(incomplete)]


def complete_models(incomplete: str) -> list[tuple[str, str]]:
    """Return the configured models."""
    from bot.completion import models

    return models(incomplete)


def complete_panels(incomplete: str) -> list[str]:
    """Return how a jury may read."""
    from engine.values.debate import PanelMode

    return [mode.value for mode in PanelMode if mode.startswith(incomplete)]
