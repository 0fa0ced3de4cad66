"""The tables for preference trainers: pairs of cases, and single turns with a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log
from typing import NamedTuple

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    MESSAGES,
    REAL,
    REPLACED,
    SPLIT,
    STEP,
    TEXT,
    WHOLE,
    Column,
    Table,
)
from engine.dataset.conversation import (
    STANDS,
    Messages,
    describe_task,
    make_conversation,
    message,
    write_case,
)
from engine.dataset.entry import Entry
from engine.debate import Turn
from engine.judging import TIE


class _Case(NamedTuple):
    """A side's case in a debate."""

    entry: Entry
    side: str

    @property
    def messages(self) -> Messages:
        """The side's turns, as one message."""
        return [message("assistant", write_case(self.entry, self.side))]


class _Pair(NamedTuple):
    """Two cases for the same task, with the gold votes for each."""

    task: str
    chosen: _Case
    rejected: _Case
    more: int
    fewer: int

    @property
    def margin(self) -> float:
        """The log-odds of the votes, with half a vote added to each to avoid infinities."""
        return log((self.more + 0.5) / (self.fewer + 0.5))


class _Liked(NamedTuple):
    """A turn with more thumbs of one kind than of the other before the reveal."""

    prompt: Messages
    turn: Turn
    text: str
    thumbs_up: int
    thumbs_down: int


def _pairs(entry: Entry) -> Iterator[_Pair]:
    """Yield the human winner's case with that of each other contender, if both spoke."""
    tally = entry.tally
    if tally is None or tally.winner in (None, TIE):
        return
    winner, task = tally.winner, describe_task(entry)
    spoken = {speech.turn.side for speech in entry.speeches}
    for side in entry.debate.request.sides:
        if side != winner and {side, winner} <= spoken:
            chosen, rejected = _Case(entry, winner), _Case(entry, side)
            yield _Pair(task, chosen, rejected, tally.gold[winner], tally.gold[side])


def _same_side_pairs(entry: Entry) -> Iterator[_Pair]:
    """Yield, for each side of a mirrored pair, both models' cases for that side.

    The better model has more gold votes in both debates together: each argued both sides, so the
    sides' advantages cancel out.
    """
    other = entry.mirror
    if other is None or entry.tally is None or other.tally is None:
        return
    if entry.replaced is not None:
        return  # with a replaced model it is unclear which models are compared
    ahead = entry.tally.gold["A"] + other.tally.gold["B"]
    behind = entry.tally.gold["B"] + other.tally.gold["A"]
    if ahead == behind:
        return
    for side in STANDS:
        # The model that argued A here argued B there.
        chosen, rejected = (entry, other) if (side == "A") == (ahead > behind) else (other, entry)
        cases = _Case(chosen, side), _Case(rejected, side)
        yield _Pair(describe_task(entry, side), *cases, max(ahead, behind), min(ahead, behind))


def _liked(entry: Entry) -> Iterator[_Liked]:
    given = Counter((label.step, label.up) for label in entry.record.labels if label.blind)
    for number, (turn, text) in enumerate(entry.speeches):
        ups, downs = given[turn.step, True], given[turn.step, False]
        if ups != downs:
            yield _Liked(_ask_for(entry, number, turn), turn, text, ups, downs)


def _ask_for(entry: Entry, number: int, turn: Turn) -> Messages:
    """Return the debate before a turn, ending with a user message that requests it."""
    messages = make_conversation(entry, turn.side, entry.speeches[:number])
    cue = f"It is your turn: {turn.round}."
    if messages[-1]["role"] == "user":
        messages[-1]["content"] += f"\n\n{cue}"
    else:
        messages.append(message("user", cue))
    return messages


_MARGIN = "ln((n + ½)/(m + ½)), n and m being gold votes for the chosen and for the rejected"
_CASES: tuple[Column[_Pair], ...] = (
    Column("prompt", MESSAGES, "one message, the user's: topic, conditions, language, task",
           lambda pair: [message("user", pair.task)]),
    Column("chosen", MESSAGES, "one message: the better side's turns, headed by round",
           "chosen.messages", "model"),
    Column("rejected", MESSAGES, "one message: the other side's turns, likewise",
           "rejected.messages", "model"),
)  # fmt: skip
PREFERENCE = Table(
    "preference",
    "the human winner's case with another contender's",
    _pairs,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        *_CASES,
        Column("margin", REAL, f"{_MARGIN} side", maker="people", unit="log-odds"),
        Column("chosen_side", TEXT, "the side that won by gold votes", "chosen.side", "people"),
        Column("rejected_side", TEXT, "the other side", "rejected.side"),
    ),
)
SAME_SIDE = Table(
    "preference_same_side",
    "a side of two mirrored debates: both models' cases for it",
    _same_side_pairs,
    (
        Column("debate_id", TEXT, "the ULID of the debate with `chosen`",
               "chosen.entry.debate.id"),
        SPLIT,
        REPLACED,
        *_CASES,
        Column("margin", REAL, f"{_MARGIN} model in both debates",
               maker="people", unit="log-odds"),
        Column("side", TEXT, "the side that both texts argue: `A` for the topic, `B` against it",
               "chosen.side"),
        Column("rejected_debate_id", TEXT, "the ULID of the debate with `rejected`",
               "rejected.entry.debate.id"),
    ),
)  # fmt: skip
UNPAIRED = Table(
    "unpaired",
    "a turn that people gave thumbs before the reveal",
    _liked,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("prompt", MESSAGES, "the debate so far; the side's own turns as `assistant`"),
        Column("completion", MESSAGES, "one message: the turn",
               lambda liked: [message("assistant", liked.text)], "model"),
        Column("label", FLAG, "whether more thumbs were up than down before the reveal",
               lambda liked: liked.thumbs_up > liked.thumbs_down, "people"),
        STEP._replace(value="turn.step"),
        Column("thumbs_up", WHOLE, "thumbs up before the reveal", maker="people", unit="people"),
        Column("thumbs_down", WHOLE, "thumbs down before the reveal",
               maker="people", unit="people"),
    ),
)  # fmt: skip
