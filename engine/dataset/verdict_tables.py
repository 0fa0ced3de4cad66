"""The tables of ballots: every verdict, and what each juror read in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

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
    part_of,
)
from engine.dataset.entry import Entry
from engine.jury.ballot import margins
from engine.jury.rubric import find_rubric
from engine.values.text import redact
from engine.values.verdicts import Ballot

# The table of verdicts: every ballot of the panel's jurors, valid or not.


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
               lambda ballot: redact(ballot.problem) or None),
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
               lambda ballot: redact(ballot.reasons) or None, "juror"),
        Column("raw", TEXT, "the raw reply, mentions removed; null without one",
               lambda ballot: redact(ballot.raw) or None, "juror"),
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
               "model or None", "backend"),
        *SPENT,
        *CALL,
    ),
)  # fmt: skip


# The table for papers on judges: what each juror read in which order, beside what people said.


class _Read(NamedTuple):
    """A valid ballot with its margin for the first of two sides."""

    ballot: Ballot
    side: str
    margin: float

    @property
    def x(self) -> float | None:
        """The signal for the first side."""
        return (self.ballot.signal or {}).get(self.side)


class _Judged(NamedTuple):
    """A juror's ballots on a debate, by whether the first or the second side was shown first.

    `any` is one of them, the valid one that decided first.
    """

    entry: Entry
    juror: str
    ballots: tuple[Ballot, ...]
    any: Ballot
    ab: _Read | None
    ba: _Read | None

    @property
    def consistent(self) -> bool | None:
        """Whether both orders gave the same verdict; None unless both are valid."""
        if self.ab is None or self.ba is None:
            return None
        return self.ab.ballot.verdict == self.ba.ballot.verdict

    @property
    def decided(self) -> str | None:
        """The orders of the ballots that the verdict rests on."""
        deciding = ("".join(one.order) for one in self.ballots if not (one.audit or one.recused))
        return "+".join(sorted(deciding)) or None


def _judged(entry: Entry) -> Iterator[_Judged]:
    sides = tuple(entry.debate.request.sides)
    if len(sides) != 2 or entry.person:
        return
    rubric = find_rubric(entry.debate.setup.panel.rubric, entry.debate.setup.panel.criteria)
    by_juror: dict[str, list[Ballot]] = {}
    for ballot in entry.record.ballots:
        by_juror.setdefault(ballot.juror, []).append(ballot)
    for juror, ballots in by_juror.items():
        read = {
            one.order: _Read(one, sides[0], margins(one, rubric)[sides[0]])
            for one in ballots
            if one.valid
        }
        best = min(ballots, key=lambda one: (not one.valid, one.audit))
        orders = read.get(sides), read.get(sides[::-1])
        yield _Judged(entry, juror, tuple(ballots), best, *orders)


def _agrees(order: str) -> Column[_Judged]:
    def value(judged: _Judged) -> bool | None:
        read: _Read | None = getattr(judged, order)
        tally = judged.entry.tally
        if read is None or tally is None or tally.winner is None:
            return None
        return bool(read.ballot.verdict == tally.winner)

    return Column(
        f"agrees_{order}", FLAG, "whether that verdict is the human winner, ties included; "
        "null unless both are there", value,
    )  # fmt: skip


def _in_order(order: str, shown: str) -> tuple[Column[Any], ...]:
    null = "null unless it has a valid ballot in that order"
    return (
        *part_of(
            order,
            Column(f"verdict_{order}", TEXT, f"its verdict with {shown} shown first, a side or "
                   f"`tie`; {null}", "ballot.verdict", "juror"),
            Column(f"margin_{order}", REAL, f"its weighted score of A less that of B, with {shown} "
                   f"shown first; {null}", "margin", unit="points"),
            Column(f"confidence_{order}", REAL, f"its confidence then, 0 to 1; {null}",
                   "ballot.confidence", "juror", "share"),
            Column(f"x_{order}", REAL, "its signal for A then, corrected for lean and spread; null "
                   "where unused", "x"),
        ),
        _agrees(order),
    )  # fmt: skip


CALIBRATION = Table(
    "calibration",
    "a juror of the panel that read a debate of two sides, with the panel's and people's judgment",
    _judged,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        OfDebate("topic_id", TEXT, "the topic, as in `debates`; errors cluster by it"),
        OfDebate("format", TEXT, "the debate's format", "debate.request.format"),
        OfDebate("language", TEXT, "BCP-47 code", "debate.request.language"),
        OfDebate("blind", FLAG, "whether model names were hidden from jurors",
                 "debate.request.blind"),
        OfDebate("spoke_last", TEXT, "the side whose turn was posted last; null without turns",
                 lambda entry: entry.speeches[-1].turn.side if entry.speeches else None),
        RUBRIC,
        Column("juror", TEXT, "the requested `backend/model`"),
        Column("family", TEXT, "the juror's family", "any.family"),
        Column("recused", FLAG, "whether it is of a debater's family, and so decides nothing",
               "any.recused"),
        Column("n_ballots", WHOLE, "its ballots, valid or not",
               lambda judged: len(judged.ballots), unit="ballots"),
        Column("n_invalid", WHOLE, "its unreadable ballots",
               lambda judged: sum(not one.valid for one in judged.ballots), unit="ballots"),
        Column("decided", TEXT, "the orders of its ballots that may decide, joined by +, as in "
               "`AB+BA`; the others are of the audit; null if none may"),
        *_in_order("ab", "A"),
        *_in_order("ba", "B"),
        Column("consistent", FLAG, "whether both orders gave the same verdict; null unless both "
               "are valid"),
        Column("lean", REAL, "its lean to the side shown first, as known before this debate; null "
               "where unused", "any.pos", unit="points"),
        Column("spread", REAL, "the spread of its margins, as known before; null where unused",
               "any.sd", unit="points"),
        Column("weight", REAL, "its weight, 1 on average, as known before; null where unused",
               "any.weight"),
        *part_of(
            "entry.record.verdict",
            Column("jury_winner", TEXT, "the panel's verdict, a side or `tie`; null without one",
                   "winner", "juror"),
            Column("p_a", REAL, "the panel's probability that A won; null without a verdict, or "
                   "with no A", lambda verdict: verdict.p.get("A"), unit="share"),
            Column("z", REAL, "the panel's signal, balanced over orders; null without a verdict"),
            Column("effective_votes", REAL, "independent votes that the panel is worth; null "
                   "while unmeasured", unit="independent votes"),
        ),
        *part_of(
            "entry.tally",
            Column("human_winner", TEXT, "a side or `tie`, by gold votes; null below the quorum",
                   "winner", "people"),
            Column("gold_a", WHOLE, "gold votes for A; null without a vote, or with no A",
                   lambda tally: tally.gold.get("A"), "people", "votes"),
            Column("gold_b", WHOLE, "gold votes for B; null without a vote, or with no B",
                   lambda tally: tally.gold.get("B"), "people", "votes"),
            Column("n_gold", WHOLE, "all gold votes, ties and “both weak” included; null without "
                   "a vote", lambda tally: sum(tally.gold.values()), "people", "votes"),
            Column("share_a", REAL, "gold A over gold A and B; null without either",
                   "share", unit="share"),
            Column("share_low", REAL, "lower Wilson 95 % bound of `share_a`; null if that is",
                   "low", unit="share"),
            Column("share_high", REAL, "upper Wilson 95 % bound of `share_a`; null if that is",
                   "high", unit="share"),
        ),
    ),
)  # fmt: skip
