"""The table of verdicts: every ballot of the panel's jurors, valid or not."""

from __future__ import annotations

from engine.dataset.columns import (
    CALL,
    DEBATE,
    FLAG,
    REAL,
    REPLACED,
    RUBRIC,
    SIDE_FIRST,
    SPENT,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    OfDebate,
    Table,
    list_of,
)
from engine.dataset.entry import Entry
from engine.values.judging import Ballot
from engine.values.text import scrub


def _scores(ballot: Ballot) -> list[tuple[str, str, int]] | None:
    if ballot.scores is None:
        return None
    return [
        (side, criterion, score)
        for side, sheet in ballot.scores.items()
        for criterion, score in sheet.items()
    ]


def _all_ballots(entry: Entry) -> list[Ballot]:
    later = (judging.found for judging in entry.record.judgings if judging.found)
    return [*entry.record.ballots, *(ballot for found in later for ballot in found.ballots)]


VERDICTS = Table(
    "verdicts",
    "a juror's ballot, read in one order of the sides",
    _all_ballots,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("panel", WHOLE, "which jury: 0 the one that read the debate when it was held, else "
               "the `number` of a later one in `judgings`"),
        Column("juror", TEXT, "the requested `backend/model`"),
        Column("family", TEXT, "the juror's family"),
        Column("order", TEXT, "the sides in the order shown, e.g. `BA`",
               lambda ballot: "".join(ballot.order)),
        Column("audit", FLAG, "whether it only measures the effect of order and decides nothing"),
        Column("recused", FLAG, "whether its juror is of a debater's family, and so decides "
               "nothing where all jurors read"),
        Column("valid", FLAG,
               "whether the reply was readable; if not, it is no judgment"),
        Column("problem", TEXT, "what is wrong with the reply; null if nothing is",
               lambda ballot: scrub(ballot.problem) or None),
        Column("repaired", FLAG,
               "whether its JSON was repaired, or had characters that cannot be stored"),
        Column("contradictory", FLAG, "whether its verdict contradicts its scores"),
        list_of(
            "names",
            (
                SIDE_FIRST,
                Column("name", TEXT, "the neutral name that the juror read", 1),
            ),
            "the sides' neutral names",
            lambda ballot: ballot.names.items(),
        ),
        list_of(
            "scores",
            (
                SIDE_FIRST,
                Column("criterion", TEXT, "the rubric's criterion", 1),
                Column("score", WHOLE, "a whole number in the criterion's range, which `debates` "
                       "has under `criteria`", 2, "juror", "points"),
            ),
            "every score; null on an invalid ballot",
            _scores,
        ),
        Column("verdict", TEXT, "a side or `tie`; null on an invalid ballot", maker="juror"),
        Column("confidence", REAL, "the juror's confidence, 0 to 1; null on an invalid ballot",
               maker="juror", unit="share"),
        Column("reasons", TEXT, "the reasons, in neutral names; null on an invalid ballot",
               lambda ballot: scrub(ballot.reasons) or None, "juror"),
        Column("raw", TEXT, "the raw reply, mentions removed; null without one",
               lambda ballot: scrub(ballot.raw) or None, "juror"),
        Column("pos", REAL, "the juror's lean to the side shown first; null where unused",
               unit="points"),
        Column("sd", REAL, "the spread of the juror's margins; null where unused", unit="points"),
        Column("weight", REAL, "the juror's weight, 1 on average; null where unused"),
        OfDebate("slope", REAL, "the factor that turns the panel's signal into a probability",
                 "debate.setup.panel.slope"),
        list_of(
            "x",
            (SIDE_FIRST, Column("x", REAL, "its signal", 1)),
            "the signal for each side, corrected for lean and spread; null where unused",
            lambda ballot: (ballot.signal or {}).items() or None,
        ),
        RUBRIC,
        Column("model_answered", TEXT, "the model that answered; null if none did",
               lambda ballot: ballot.model or None, "backend"),
        *SPENT,
        *CALL,
    ),
)  # fmt: skip
