"""Single votes and ballots, in the columns of lmsys/mt_bench_human_judgments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

import orjson

from engine.dataset.columns import (
    DEBATE,
    MESSAGES,
    REPLACED,
    TEXT,
    WHOLE,
    Column,
    Maker,
    OfDebate,
    Table,
)
from engine.dataset.entry import Entry
from engine.dataset.preferences import make_conversation
from engine.values.verdicts import TIE, WEAK

_CONVERSATION = "chat: the task, its turns as `assistant`, the other side's turns as `user`"
_BITS = 63  # of a topic's 64-bit id, as the column is signed


class _Match(NamedTuple):
    """Two contenders with their models and chats, encoded once for all judgments."""

    first: str
    second: str
    model_a: str
    model_b: str
    conversation_a: orjson.Fragment
    conversation_b: orjson.Fragment
    turn: int


class _Judgment(NamedTuple):
    """A vote's or ballot's judgment of a match; `order` is the sides' order for its reader."""

    match: _Match
    winner: str
    judge: str
    order: str


def _human_judgments(entry: Entry) -> list[_Judgment]:
    """Return a judgment per gold vote and match that it decides, by pseudonym."""
    if entry.tally is None:
        return []
    matches = list(_matches(entry))
    order = "".join(dict.fromkeys(speech.turn.side for speech in entry.speeches))
    hidden = entry.record.opted_out
    judgments = [
        _Judgment(match, winner, entry.voters.voter(vote.person), order)
        for vote in entry.votes
        if vote.gold and vote.person not in hidden
        for match in matches
        if (winner := _winner(match, vote.option, len(matches)))
    ]
    return sorted(judgments, key=attrgetter("judge"))


def _jury_judgments(entry: Entry) -> list[_Judgment]:
    """Return a judgment per valid ballot and match that it decides, audits included.

    A recused juror's ballot gives none.
    """
    matches = list(_matches(entry))
    return [
        _Judgment(match, winner, ballot.juror, "".join(ballot.order))
        for ballot in entry.record.ballots
        if ballot.valid and ballot.verdict is not None and not ballot.recused
        for match in matches
        if (winner := _winner(match, ballot.verdict, len(matches)))
    ]


def _matches(entry: Entry) -> Iterator[_Match]:
    if entry.person:
        return
    models = entry.debate.request.sides
    for first, second in combinations(models, 2):
        ours, theirs = (
            orjson.Fragment(orjson.dumps(make_conversation(entry, side, entry.speeches, other)))
            for side, other in ((first, second), (second, first))
        )
        spoken = sum(speech.turn.side == first for speech in entry.speeches)
        yield _Match(first, second, models[first].ref, models[second].ref, ours, theirs, spoken)


def _winner(match: _Match, choice: str, matches: int) -> str:
    """Return a choice's judgment of a match; empty for none.

    With more than two contenders, a tie does not say which of them are equal.
    """
    if choice == match.first:
        return "model_a"
    if choice == match.second:
        return "model_b"
    return "tie" if choice in (TIE, WEAK) and matches == 1 else ""


def _columns(winner: Maker, judge: str, order: str) -> tuple[Column[_Judgment] | OfDebate, ...]:
    """Return the columns of mt_bench_human_judgments, in its order and types, and three more."""
    return (
        OfDebate("question_id", WHOLE, "the topic: the first 63 bits of `topic_id`",
                 lambda entry: int(entry.topic_id, 16) >> (64 - _BITS)),
        Column("model_a", TEXT, "`backend/model` of the first of two sides", "match.model_a"),
        Column("model_b", TEXT, "`backend/model` of the second", "match.model_b"),
        Column("winner", TEXT, "`model_a`, `model_b` or `tie`, also for “neither”", maker=winner),
        Column("judge", TEXT, judge),
        Column("conversation_a", MESSAGES, f"the first side's {_CONVERSATION}",
               "match.conversation_a", "model"),
        Column("conversation_b", MESSAGES, f"the second side's {_CONVERSATION}",
               "match.conversation_b", "model"),
        Column("turn", WHOLE, "turns of the first side before the judgment: all",
               "match.turn"),
        DEBATE,
        REPLACED,
        Column("order", TEXT, order),
    )  # fmt: skip


ARENA_HUMAN = Table(
    "arena_human",
    "a gold vote, in the columns of MT-bench",
    _human_judgments,
    _columns(
        "people",
        "the voter's pseudonym, as in `votes`",
        "the sides in the order in which they first spoke, e.g. `AB`",
    ),
    repeats=True,
)
ARENA_JURY = Table(
    "arena_jury",
    "a valid ballot, in the columns of MT-bench",
    _jury_judgments,
    _columns(
        "juror",
        "the juror, as in `verdicts`",
        "the sides in the order shown to the juror, e.g. `BA`",
    ),
    repeats=True,
)
