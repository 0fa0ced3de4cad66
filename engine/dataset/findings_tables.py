"""The tables of what formats found, of sources, and of what turns quoted from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    REAL,
    REPLACED,
    SIDE,
    SPLIT,
    STEP,
    TEXT,
    WHOLE,
    Column,
    Table,
    list_of,
    part_of,
)
from engine.dataset.entry import Entry
from engine.store import Judging
from engine.values.debate import Quotation, Turn
from engine.values.language import N_
from engine.values.sources import outcome_of
from engine.values.text import redact, redact_json
from engine.values.verdicts import RETRIEVED, Artifact, Verdict

# The tables of sources, and of what turns quoted from them.


class _Given(NamedTuple):
    number: int
    title: str
    text: str
    url: str | None = None
    side: str | None = None
    query: str | None = None


class _Quoted(NamedTuple):
    turn: Turn
    number: int
    quotation: Quotation


def _given(entry: Entry) -> Iterator[_Given]:
    for number, source in enumerate(entry.debate.request.sources, 1):
        yield _Given(number, redact(source.title), redact(source.text))
    for one in retrieved(entry.record.artifacts):
        yield _Given(
            one["number"],
            redact(one["title"]),
            redact(one["text"]),
            redact(one["url"]) or None,
            one["side"],
            redact(one["query"]),
        )


def _quoted(entry: Entry) -> Iterator[_Quoted]:
    for speech in entry.speeches:
        for number, quotation in enumerate(speech.turn.quotations, 1):
            yield _Quoted(speech.turn, number, quotation)


def retrieved(artifacts: Iterable[Artifact]) -> list[dict[str, Any]]:
    """Return the sources that sides looked up, in the order of their numbers."""
    bodies: list[Any] = [one.body for one in artifacts if one.kind == RETRIEVED]
    return [source for body in bodies for source in body["sources"]]


SOURCES = Table(
    "sources",
    "a source that every side read",
    _given,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "its number in the debate, from 1, as in “Source 1”"),
        Column("title", TEXT, "its title, from the name of its file or by the search endpoint; "
               "mentions removed", maker="asker"),
        Column("text", TEXT, "its text; mentions removed", maker="asker"),
        Column("url", TEXT, "the address of one that was looked up; null without one, or if it was "
               "given", maker="backend"),
        Column("side", TEXT, "the side that looked it up; null for one that was given"),
        Column("query", TEXT, "what it searched for, mentions removed; null likewise",
               maker="model"),
        Column("characters", WHOLE, "its length", lambda given: len(given.text),
               unit="characters"),
        Column("sha256", TEXT, "SHA-256 of the text in UTF-8: the same source in other debates",
               lambda given: sha256(given.text.encode()).hexdigest()),
    ),
)  # fmt: skip
QUOTATIONS = Table(
    "quotations",
    "a quotation that a turn marked as from a source",
    _quoted,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        STEP._replace(value="turn.step"),
        SIDE._replace(value="turn.side"),
        Column("number", WHOLE, "its number in the turn, from 1"),
        Column("text", TEXT, "the quoted words; mentions removed",
               lambda quoted: redact(quoted.quotation.text), "model"),
        Column("source", WHOLE, "the number of the source that the turn named",
               "quotation.source", "model"),
        Column("found_in", WHOLE, "the number of the source that has the words, by near-match; "
               "null if none has", "quotation.found_in"),
        Column("outcome", TEXT, "`found` in the source named, `elsewhere` in another one, or "
               "`missing`", lambda quoted: outcome_of(quoted.quotation)),
        Column("share", REAL, "how much of the words stands there in this order, or in the source "
               "named if none has them", "quotation.share", unit="share"),
    ),
)  # fmt: skip


# The tables of formats' findings beside their turns.


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
            Column("problem", TEXT, "why there is no verdict; null with one",
                   lambda verdict: redact(verdict.problem) or None),
            Column("n_valid", WHOLE, "readable answers, or people whose stances decided",
                   "valid"),
            Column("n_invalid", WHOLE, N_("unreadable answers"), "invalid"),
            Column("rubric", TEXT, "the rubric"),
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


def _verdict(judging: Judging) -> Verdict | None:
    return next(iter(judging.found.verdicts.values()), None) if judging.found else None


JUDGINGS = Table(
    "judgings",
    "a debate judged again after it ended, by other judges of its format or by another jury",
    lambda entry: entry.record.judgings,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "which later judging of the debate, from 1"),
        Column("mode", TEXT, "how another jury read it, as `debates.panel_mode`; null for "
               "judges of the format", lambda judging: judging.mode and judging.mode.value),
        list_of(
            "judges",
            (Column("judge", TEXT, "`backend/model`", "ref", "asker"),),
            "who judged, each independently; the ballots of a jury are in `verdicts`",
            lambda judging: judging.judges,
        ),
        Column("winner", TEXT, "a side or `tie`; null without a verdict",
               lambda judging: (verdict := _verdict(judging)) and verdict.winner, "judge"),
        list_of(
            "by_judge",
            (Column("winner", TEXT, "a side or `tie`; null without a score", 0, "judge"),),
            "who wins by each of several judges alone, in their order; null with one judge",
            lambda judging: [(winner,) for winner in verdict.by_judge] or None
            if (verdict := _verdict(judging)) else None,
        ),
        list_of(
            "scores",
            (
                Column("subject", TEXT, _SUBJECT),
                SIDE,
                Column("criterion", TEXT, "what was scored"),
                Column("value", REAL, "the score, on the format's own scale", maker="judge",
                       unit="points"),
                Column("spread", REAL, "of several judges: the highest score less the lowest; "
                       "null with one judge", maker="judge", unit="points"),
            ),
            "every score",
            lambda judging: list(judging.found.scores) if judging.found else [],
        ),
        Column("found", TEXT, "everything that was found, as JSON; mentions removed",
               lambda judging: redact_json(judging.found.model_dump_json())
               if judging.found else "{}"),
    ),
)  # fmt: skip
SCORES = Table(
    "scores",
    "a score that a format's own judge gave",
    lambda entry: entry.standing_scores(),
    (
        DEBATE,
        SPLIT,
        REPLACED,
        *part_of(
            0,
            Column("subject", TEXT, _SUBJECT),
            SIDE,
            Column("criterion", TEXT, "what was scored"),
            Column("value", REAL, "the score as given, on the format's own scale",
                   maker="judge", unit="points"),
            Column("original", REAL,
                   "the judge's own score, if a rule changed it as it was given; null otherwise",
                   maker="judge", unit="points"),
            Column("spread", REAL, "with several judges (`value` is their median), the highest "
                   "score less the lowest; null with one judge", maker="judge", unit="points"),
        ),
        Column("adjusted", REAL, "the final score: `value` plus all its `adjustments`",
               1, unit="points"),
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
        Column("criterion", TEXT, "the criterion that is changed; null for the total",
               "criterion or None"),
        Column("amount", REAL, "points added; negative for a deduction", unit="points"),
        Column("reason", TEXT, "why", lambda adjustment: redact(adjustment.reason)),
        Column("by", TEXT,
               "the cause, such as the turn that exposed a claim; null without one",
               "by or None"),
    ),
)  # fmt: skip
ARTIFACTS = Table(
    "artifacts",
    "a format's finding, or a juror's account of the verdict, as JSON",
    lambda entry: entry.record.artifacts,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("name", TEXT, "unique in its debate"),
        Column("kind", TEXT, "the type of the JSON. `why`, in any format: why the panel decided "
               "so (`text`, `best` by side, `differed`), as people read it with the reveal; "
               "written by the model `juror` after the verdict, and in no statistics"),
        Column("valid", FLAG, "false for a judge's or juror's answer that could not be used"),
        Column("body", TEXT, "JSON; mentions removed",
               lambda one: redact_json(
                   orjson.dumps(one.body, option=orjson.OPT_SORT_KEYS).decode())),
    ),
)  # fmt: skip
