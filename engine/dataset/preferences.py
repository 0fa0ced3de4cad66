"""The tables that preference trainers read: pairs of cases, and single turns with a label."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    MESSAGES,
    REAL,
    REPLACED,
    SIDE,
    SPLIT,
    TEXT,
    TURN_STEP,
    WHOLE,
    Column,
)
from engine.dataset.conversation import (
    STANDS,
    describe_task,
    make_conversation,
    message,
    write_case,
)
from engine.dataset.entry import Entry, Speech
from engine.judging import TIE

_PROMPT = Column("prompt", MESSAGES, "one message, the user's: topic, conditions, language, task")
_MARGIN = "ln((n + ½)/(m + ½)), n and m being gold votes for the chosen and for the rejected"
_PAIR = (
    Column("chosen", MESSAGES, "one message: the better side's turns, headed by round", "model"),
    Column("rejected", MESSAGES, "one message: the other side's turns, likewise", "model"),
)

PREFERENCE = (
    DEBATE,
    SPLIT,
    REPLACED,
    _PROMPT,
    *_PAIR,
    Column("margin", REAL, f"{_MARGIN} side", "people", "log-odds"),
    Column("chosen_side", TEXT, "the side that won by gold votes", "people"),
    Column("rejected_side", TEXT, "the side that it is compared with"),
)
PREFERENCE_SAME_SIDE = (
    DEBATE._replace(about="the debate that `chosen` was held in, by ULID"),
    SPLIT,
    REPLACED,
    _PROMPT,
    *_PAIR,
    Column("margin", REAL, f"{_MARGIN} model in both debates", "people", "log-odds"),
    SIDE._replace(about="the side that both texts argue: `A` for the topic, `B` against it"),
    Column("rejected_debate_id", TEXT, "the debate that `rejected` was held in, by ULID"),
)
UNPAIRED = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("prompt", MESSAGES, "the debate until then; the side's own turns as `assistant`"),
    Column("completion", MESSAGES, "one message: the turn", "model"),
    Column("label", FLAG, "whether more thumbs were up than down before the reveal", "people"),
    Column("step", TEXT, TURN_STEP),
    Column("thumbs_up", WHOLE, "thumbs up before the reveal", "people", "people"),
    Column("thumbs_down", WHOLE, "thumbs down before the reveal", "people", "people"),
)


def preference_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return the human winner's case beside that of each other contender, who must have spoken."""
    tally = entry.tally
    if tally is None or tally.winner in (None, TIE):
        return []
    winner = tally.winner
    cases = {side: write_case(entry, side) for side in entry.debate.request.sides}
    return [
        {
            **_pair(describe_task(entry), cases[winner], case),
            "margin": margin(tally.gold[winner], tally.gold[side]),
            "chosen_side": winner,
            "rejected_side": side,
        }
        for side, case in cases.items()
        if side != winner and case and cases[winner]
    ]


def same_side_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return, for each side of a mirrored pair, both models' cases for that side.

    The better model is the one that got more gold votes in both debates together: as each
    argued both sides, whatever a side is worth cancels out.
    """
    other = entry.mirror
    if other is None or entry.tally is None or other.tally is None:
        return []
    if entry.replaced is not None:
        return []  # of such a pair nobody can say which two models it compares
    ahead = entry.tally.gold["A"] + other.tally.gold["B"]
    behind = entry.tally.gold["B"] + other.tally.gold["A"]
    if ahead == behind:
        return []
    rows = []
    for side, stand in STANDS.items():
        # The model that argued A here argued B there.
        chosen, rejected = (entry, other) if (side == "A") == (ahead > behind) else (other, entry)
        row = _pair(
            describe_task(entry, stand), write_case(chosen, side), write_case(rejected, side)
        )
        row |= {
            "debate_id": chosen.debate.id,
            "margin": margin(max(ahead, behind), min(ahead, behind)),
            "side": side,
            "rejected_debate_id": rejected.debate.id,
        }
        rows.append(row)
    return rows


def unpaired_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return the turns that had more thumbs of one kind than of the other before the reveal."""
    given = Counter((label.step, label.up) for label in entry.record.labels if label.blind)
    rows = []
    for number, speech in enumerate(entry.speeches):
        ups, downs = given[speech.turn.step, True], given[speech.turn.step, False]
        if ups != downs:
            rows.append(
                {
                    "prompt": _until(entry, number, speech),
                    "completion": [message("assistant", speech.text)],
                    "label": ups > downs,
                    "step": speech.turn.step,
                    "thumbs_up": ups,
                    "thumbs_down": downs,
                }
            )
    return rows


def margin(more: int, fewer: int) -> float:
    """Return the log-odds of two counts of votes, half a vote added to each so that 0 is no end."""
    return log((more + 0.5) / (fewer + 0.5))


def _pair(task: str, chosen: str, rejected: str) -> dict[str, Any]:
    return {
        "prompt": [message("user", task)],
        "chosen": [message("assistant", chosen)],
        "rejected": [message("assistant", rejected)],
    }


def _until(entry: Entry, number: int, speech: Speech) -> list[dict[str, str]]:
    """Return the debate before a turn, ending with a user's message that asks for it."""
    turn = speech.turn
    messages = make_conversation(entry, turn.side, entry.speeches[:number])
    cue = f"It is your turn: {turn.round}."
    if messages[-1]["role"] == "user":
        messages[-1]["content"] += f"\n\n{cue}"
    else:
        messages.append(message("user", cue))
    return messages
