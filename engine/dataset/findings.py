"""The tables of what formats find out beside their turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import orjson

from engine.blinding.mentions import scrub
from engine.dataset.columns import (
    DEBATE,
    FLAG,
    REAL,
    REPLACED,
    SIDE,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    Table,
    list_of,
    part_of,
)
from engine.dataset.entry import Entry
from engine.findings import Score

_SUBJECT = "a turn's step, an argument's id, a seat, or `total`"
JUDGMENTS = Table(
    "judgments",
    "a verdict of a format's own judge",
    lambda entry: entry.record.verdicts.items(),
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("judge", TEXT, "the format whose own judge it is: never the panel", 0),
        *part_of(
            1,
            Column("winner", TEXT, "a side or `tie`; null without a verdict", maker="judge"),
            Column("problem", TEXT, "why there is none; null with one",
                   lambda verdict: scrub(verdict.problem) or None),
            Column("n_valid", WHOLE, "answers that could be read, or people whose stances decided",
                   "valid"),
            Column("n_invalid", WHOLE, "answers that could not be read", "invalid"),
            Column("rubric", TEXT, "what it went by"),
            Column("blind", FLAG, "whether it knew neither models nor sides"),
            list_of(
                "by_judge",
                (Column("winner", TEXT, "a side or `tie`; null without a score", 0, "judge"),),
                "who wins by each of several judges alone, in their order; null with one judge",
                lambda verdict: [(winner,) for winner in verdict.by_judge] or None,
            ),
        ),
    ),
)  # fmt: skip


def _scores(entry: Entry) -> Iterator[tuple[Score, float]]:
    """Yield each score, and what it is after every adjustment to it or to a part of it."""
    added: defaultdict[tuple[str, str], float] = defaultdict(float)
    for change in entry.record.adjustments:
        if change.criterion:  # one to a total is in the total already
            for criterion in {change.criterion, "total"}:
                added[change.subject, criterion] += change.amount
    for score in entry.record.scores:
        yield score, score.value + added[score.subject, score.criterion]


SCORES = Table(
    "scores",
    "a score that a format's own judge gave",
    _scores,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        *part_of(
            0,
            Column("subject", TEXT, _SUBJECT),
            SIDE,
            Column("criterion", TEXT, "what was scored"),
            Column("value", REAL, "the score as it was given, on the format's own scale",
                   maker="judge", unit="points"),
            Column("original", REAL,
                   "what the judge said, where a rule moved it as it was given; null elsewhere",
                   maker="judge", unit="points"),
            Column("spread", REAL, "of several judges, whose median `value` is: the highest score "
                   "less the lowest; null with one judge", maker="judge", unit="points"),
        ),
        Column("adjusted", REAL, "the score that stands in the end: `value` and all that "
               "`adjustments` adds to it", 1, unit="points"),
    ),
)  # fmt: skip
ADJUSTMENTS = Table(
    "adjustments",
    "points added to a score afterwards",
    lambda entry: entry.record.adjustments,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("name", TEXT, "unique in its debate"),
        Column("subject", TEXT, _SUBJECT),
        SIDE,
        Column("criterion", TEXT, "what it is taken from or added to; null for the total",
               lambda adjustment: adjustment.criterion or None),
        Column("amount", REAL, "what is added; below 0 it is taken away", unit="points"),
        Column("reason", TEXT, "why", lambda adjustment: scrub(adjustment.reason)),
        Column("by", TEXT,
               "what brought it about, such as the turn that exposed a claim; null without",
               lambda adjustment: adjustment.by or None),
    ),
)  # fmt: skip
ARTIFACTS = Table(
    "artifacts",
    "what a format found out, as JSON",
    lambda entry: entry.record.artifacts,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("name", TEXT, "unique in its debate"),
        Column("kind", TEXT, "which type of JSON the body is"),
        Column("valid", FLAG, "false for a judge's answer that could not be read"),
        Column("body", TEXT, "JSON; mentions removed",
               lambda one: scrub(orjson.dumps(one.body, option=orjson.OPT_SORT_KEYS).decode())),
    ),
)  # fmt: skip
