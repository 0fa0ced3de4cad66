"""The tables of an export, in order; a new one is declared in its own file and listed here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.dataset.arena import ARENA_HUMAN, ARENA_JURY
from engine.dataset.columns import Table
from engine.dataset.debate_table import DEBATES, RECORDS
from engine.dataset.findings_tables import (
    ADJUSTMENTS,
    ARTIFACTS,
    JUDGINGS,
    JUDGMENTS,
    QUOTATIONS,
    SCORES,
    SOURCES,
)
from engine.dataset.people_tables import GUESSES, QUESTIONS_ASKED, VOTES
from engine.dataset.preferences import PREFERENCE, SAME_SIDE, UNPAIRED
from engine.dataset.turn_tables import CALLS, TURNS
from engine.dataset.verdict_tables import CALIBRATION, VERDICTS
from engine.values.errors import UsageError

TABLES: tuple[Table[Any], ...] = (
    DEBATES,
    TURNS,
    VERDICTS,
    CALIBRATION,
    VOTES,
    GUESSES,
    PREFERENCE,
    SAME_SIDE,
    UNPAIRED,
    ARENA_HUMAN,
    ARENA_JURY,
    JUDGMENTS,
    SCORES,
    ADJUSTMENTS,
    ARTIFACTS,
    JUDGINGS,
    SOURCES,
    QUOTATIONS,
    QUESTIONS_ASKED,
    CALLS,
    RECORDS,
)
PROMPTS, SETTINGS = "prompts", "settings"  # the tables that are written only if they are named


def every_table() -> tuple[Table[Any], ...]:
    """Return the tables of an export, with those that have to be named."""
    from engine.dataset import prompt_table  # few exports have them

    return (*TABLES, prompt_table.PROMPTS, prompt_table.SETTINGS)


def choose_tables(names: Iterable[str]) -> tuple[Table[Any], ...]:
    """Return the named tables, or all that are not optional.

    Raises UsageError for an unknown name.
    """
    wanted = set(names)
    if not wanted:
        return TABLES
    tables = TABLES if wanted <= {table.name for table in TABLES} else every_table()
    if unknown := sorted(wanted - {table.name for table in tables}):
        known = ", ".join(table.name for table in tables)
        raise UsageError(f"There is no table “{unknown[0]}”; choose from {known}.")
    return tuple(table for table in tables if table.name in wanted)
