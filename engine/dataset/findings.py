"""The tables of what formats find out beside their turns, and their columns."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from engine.blinding.mentions import scrub
from engine.dataset.columns import DEBATE, FLAG, REAL, REPLACED, SIDE, SPLIT, TEXT, WHOLE, Column
from engine.dataset.entry import Entry

Plain = Mapping[str, "str | int | float | bool | None"]

_SUBJECT = Column("subject", TEXT, "a turn's step, an argument's id, a seat, or `total`")
JUDGMENTS = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("judge", TEXT, "the format whose own judge it is: never the panel"),
    Column("winner", TEXT, "a side or `tie`; null without a verdict", "judge"),
    Column("problem", TEXT, "why there is none; null with one"),
    Column("n_valid", WHOLE, "answers that could be read, or people whose stances decided"),
    Column("n_invalid", WHOLE, "answers that could not be read"),
    Column("rubric", TEXT, "what it went by"),
    Column("blind", FLAG, "whether it knew neither models nor sides"),
)
SCORES = (
    DEBATE,
    SPLIT,
    REPLACED,
    _SUBJECT,
    SIDE,
    Column("criterion", TEXT, "what was scored"),
    Column("value", REAL, "the score that stands, on the format's own scale", "judge", "points"),
    Column(
        "original",
        REAL,
        "what the judge said, where a rule moved it; null elsewhere",
        "judge",
        "points",
    ),
)
ADJUSTMENTS = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("name", TEXT, "unique in its debate"),
    _SUBJECT,
    SIDE,
    Column("criterion", TEXT, "what it is taken from or added to; null for the total"),
    Column("amount", REAL, "what is added; below 0 it is taken away", unit="points"),
    Column("reason", TEXT, "why"),
    Column(
        "by", TEXT, "what brought it about, such as the turn that exposed a claim; null without"
    ),
)
ARTIFACTS = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("name", TEXT, "unique in its debate"),
    Column("kind", TEXT, "which type of JSON the body is"),
    Column("valid", FLAG, "false for a judge's answer that could not be read"),
    Column("body", TEXT, "JSON; mentions removed"),
)


def judgment_rows(entry: Entry) -> list[Plain]:
    """Return a row for each verdict of a format's own judge."""
    return [
        {
            "judge": judge,
            "winner": verdict.winner,
            "problem": scrub(verdict.problem) or None,
            "n_valid": verdict.valid,
            "n_invalid": verdict.invalid,
            "rubric": verdict.rubric,
            "blind": verdict.blind,
        }
        for judge, verdict in entry.record.verdicts.items()
    ]


def score_rows(entry: Entry) -> list[Plain]:
    """Return a row for each score of a format's own judge."""
    return [score.model_dump() for score in entry.record.scores]


def adjustment_rows(entry: Entry) -> list[Plain]:
    """Return a row for each adjustment of a score."""
    return [
        adjustment.model_dump()
        | {
            "criterion": adjustment.criterion or None,
            "reason": scrub(adjustment.reason),
            "by": adjustment.by or None,
        }
        for adjustment in entry.record.adjustments
    ]


def artifact_rows(entry: Entry) -> list[Plain]:
    """Return a row for each artifact."""
    return [
        artifact.model_dump(exclude={"body"})
        | {"body": scrub(orjson.dumps(artifact.body, option=orjson.OPT_SORT_KEYS).decode())}
        for artifact in entry.record.artifacts
    ]
