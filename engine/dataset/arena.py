"""Votes and ballots one by one, in the columns of lmsys/mt_bench_human_judgments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import orjson

from engine.dataset.columns import DEBATE, MESSAGES, REPLACED, TEXT, WHOLE, Column, Maker
from engine.dataset.conversation import make_conversation
from engine.dataset.entry import Entry
from engine.judging import TIE, WEAK

_CONVERSATION = "chat: the task, its turns as `assistant`, the other side's turns as `user`"
_BITS = 63  # of a topic's id, which has 64: the column is a signed one


def _columns(winner: Maker, judge: str, order: str) -> tuple[Column, ...]:
    """Return the columns of mt_bench_human_judgments, in its order and types, and three more."""
    return (
        Column("question_id", WHOLE, "the topic: the first 63 bits of `topic_id`"),
        Column("model_a", TEXT, "`backend/model` of the first of two sides"),
        Column("model_b", TEXT, "`backend/model` of the second"),
        Column("winner", TEXT, "`model_a`, `model_b` or `tie`, also for “both weak”", winner),
        Column("judge", TEXT, judge),
        Column("conversation_a", MESSAGES, f"the first side's {_CONVERSATION}", "model"),
        Column("conversation_b", MESSAGES, f"the second side's {_CONVERSATION}", "model"),
        Column("turn", WHOLE, "after how many turns of the first side it was judged: all"),
        DEBATE,
        REPLACED,
        Column("order", TEXT, order),
    )


ARENA_HUMAN = _columns(
    "people",
    "the voter's pseudonym, as in `votes`",
    "the sides as people read them, e.g. `AB`: in the order in which they first spoke",
)
ARENA_JURY = _columns(
    "juror",
    "the juror, as in `verdicts`",
    "the sides as they were shown to the juror, e.g. `BA`",
)


class _Match(NamedTuple):
    """Two contenders, with what all judgments of them share, encoded once for all."""

    first: str
    second: str
    shared: dict[str, Any]


def human_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return a row for each gold vote and match that it decides, by pseudonym."""
    if entry.tally is None:
        return []
    matches = list(_matches(entry))
    order = "".join(dict.fromkeys(speech.turn.side for speech in entry.speeches))
    hidden = entry.record.opted_out
    rows = [
        _row(entry, match, winner, entry.voters.voter(vote.person), order)
        for vote in entry.votes
        if vote.gold and vote.person not in hidden
        for match in matches
        if (winner := _winner(match, vote.option, len(matches)))
    ]
    return sorted(rows, key=lambda row: str(row["judge"]))


def jury_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return a row for each valid ballot and match that it decides, audits included."""
    matches = list(_matches(entry))
    return [
        _row(entry, match, winner, ballot.juror, "".join(ballot.order))
        for ballot in entry.record.ballots
        if ballot.valid and ballot.verdict is not None
        for match in matches
        if (winner := _winner(match, ballot.verdict, len(matches)))
    ]


def _matches(entry: Entry) -> Iterator[_Match]:
    sides = entry.debate.request.sides
    for first, second in combinations(sides, 2):
        chats = [
            make_conversation(entry, side, entry.speeches, other)
            for side, other in ((first, second), (second, first))
        ]
        mine, theirs = (orjson.Fragment(orjson.dumps(chat)) for chat in chats)
        spoken = sum(speech.turn.side == first for speech in entry.speeches)
        shared = {"conversation_a": mine, "conversation_b": theirs, "turn": spoken}
        yield _Match(first, second, shared)


def _winner(match: _Match, choice: str, matches: int) -> str:
    """Return what a choice says of a match; empty for nothing.

    Between more than two contenders, a tie does not say who are equal.
    """
    if choice == match.first:
        return "model_a"
    if choice == match.second:
        return "model_b"
    return "tie" if choice in (TIE, WEAK) and matches == 1 else ""


def _row(entry: Entry, match: _Match, winner: str, judge: str, order: str) -> dict[str, Any]:
    sides = entry.debate.request.sides
    return {
        "question_id": int(entry.topic_id, 16) >> (64 - _BITS),
        "model_a": sides[match.first].ref,
        "model_b": sides[match.second].ref,
        "winner": winner,
        "judge": judge,
        **match.shared,
        "debate_id": entry.debate.id,
        "replaced": entry.replaced,
        "order": order,
    }
