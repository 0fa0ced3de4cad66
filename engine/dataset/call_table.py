"""The table of model calls: what each try read, found in a cache, wrote and cost."""

from __future__ import annotations

from collections.abc import Iterable

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    REAL,
    REPLACED,
    SPENT,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
    part_of,
)
from engine.dataset.entry import Entry
from engine.store import CallRecord
from engine.values.ports import Reply


def _tried(entry: Entry) -> Iterable[CallRecord]:
    return entry.record.calls


WRITTEN = Column[Reply](
    "tokens_written",
    WHOLE,
    "tokens of the prompt that were written to the backend's cache; null if it does not say",
    "usage.tokens_written",
    "backend",
    "tokens",
)
COST = Column[CallRecord](
    "cost_usd", REAL, "cost of this try; null if the price is unknown", "cost", "backend", "USD"
)

CALLS = Table(
    "calls",
    "a try of a model call, of a debater, captain, judge or juror",
    _tried,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("step", TEXT, "the call's name in its debate; a turn's is the turn's step"),
        Column("attempt", WHOLE, "the try's number, from 1"),
        Column("model_asked", TEXT, "the requested `backend/model`", "model"),
        Column("answered", FLAG, "whether there was an answer",
               lambda call: call.reply is not None),
        *part_of("reply", *SPENT[:2], WRITTEN, *SPENT[2:-1]),
        COST,
        Column("cost_origin", TEXT, "source of that cost: `reply`, `settings`, `backend`, "
               "`bundled`, `local`, or `unknown`"),
        Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages"),
    ),
)  # fmt: skip
