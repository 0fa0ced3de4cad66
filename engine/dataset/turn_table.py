"""The table of turns: what was said, by which model, at what cost, and how people took it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.blinding.mentions import scrub
from engine.dataset.columns import (
    CALL,
    DEBATE,
    FLAG,
    REAL,
    REPLACED,
    SIDE,
    SPENT,
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
from engine.debate import Model, Turn
from engine.findings import DECISION, Score
from engine.ports import Reply
from engine.store import CallRecord


class _Spoken(NamedTuple):
    """A turn as it was said, with the call that it came of and what was thought of it.

    `model` was asked for it. `thumbs` counts those that are up or down, and blind or not; it is
    None in a debate where nobody gave any.
    """

    turn: Turn
    text: str
    shortened: bool
    model: Model
    call: CallRecord | None
    reply: Reply | None
    scores: list[Score]
    thumbs: Mapping[tuple[bool, bool], int] | None
    decision: Mapping[str, Any] | None


def _spoken(entry: Entry) -> Iterator[_Spoken]:
    """Yield the turns in the order of speaking."""
    calls = {call.step: call for call in entry.record.calls if call.reply is not None}
    labels = entry.record.labels
    decisions = {one.name: one.body for one in entry.record.artifacts if one.kind == DECISION}
    for turn, text in entry.speeches:
        shorter = calls.get(f"{turn.step}/shorten")
        call = shorter or calls.get(turn.step)
        yield _Spoken(
            turn=turn,
            text=text,
            shortened=shorter is not None,
            model=_asked_model(entry, turn, call),
            call=call,
            reply=call.reply if call else None,
            scores=[score for score in entry.record.scores if score.subject == turn.step],
            thumbs=Counter((one.up, one.blind) for one in labels if one.step == turn.step)
            if labels
            else None,
            decision=decisions.get(f"{DECISION}/{turn.step}"),
        )


def _asked_model(entry: Entry, turn: Turn, call: CallRecord | None) -> Model:
    """Return the model that was asked for a turn: the one that is gone, before its replacement."""
    gone = {change.was.ref: change.was for change in entry.debate.setup.replaced}
    now = entry.debate.request.model_of(turn.seat)
    return gone.get(call.model, now) if call and call.model != now.ref else now


TURNS = Table(
    "turns",
    "a turn of a debate",
    _spoken,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "place in the debate, from 1", "turn.number"),
        Column("round", TEXT, "the round's name", "turn.round"),
        Column("place", WHOLE, "place within the round, from 1, in the order of posting",
               "turn.place"),
        SIDE._replace(value="turn.side"),
        Column("seat", TEXT, "who spoke; on a team several seats share a side", "turn.seat"),
        STEP._replace(value="turn.step"),
        Column("text", TEXT, "what was said, in Markdown; mentions removed", maker="model"),
        Column("words", WHOLE, "its length by Unicode segmentation (UAX 29)",
               "turn.words", unit="words"),
        Column("word_limit", WHOLE, "what was allowed; null without a limit on the whole turn",
               lambda spoken: spoken.turn.limit or None, unit="words"),
        Column("shortened", FLAG, "whether a first text, over a limit, was sent back once"),
        list_of(
            "violations",
            (
                Column("kind", TEXT, "the rule that was broken"),
                Column("measured", REAL, "what was measured"),
                Column("limit", REAL, "what was allowed"),
            ),
            "rules that the text still breaks; often empty",
            lambda spoken: spoken.turn.violations,
        ),
        list_of(
            "scores",
            (
                Column("criterion", TEXT, "what was scored"),
                Column("score", REAL, "the score that stands", "value", "judge", "points"),
            ),
            "what the format's own judge gave the turn; often empty",
            lambda spoken: spoken.scores,
        ),
        *part_of(
            "decision",
            Column("decision", TEXT,
                   "what its side decides at the end: `maintains`, `qualifies` or `gives_up` its "
                   "position, or `unknown`; null for a turn that decides nothing",
                   lambda body: body["decision"], "model"),
            Column("decision_why", TEXT, "why, in its own words; null likewise",
                   lambda body: scrub(body["why"]) or None, "model"),
        ),
        Column("model_asked", TEXT, "`backend/model` as it was asked for", "model.ref"),
        Column("model_answered", TEXT,
               "the model that really answered, as its backend names it", "turn.model", "backend"),
        Column("family", TEXT, "the family of the model asked", "model.family"),
        *part_of(
            "reply",
            Column("stop_reason", TEXT,
                   "why the model stopped, in the backend's word; null without a call",
                   "finish", "backend"),
            *SPENT,
        ),
        *part_of("call", *CALL),
        *part_of(
            "thumbs",
            Column("thumbs_up", WHOLE,
                   "thumbs up before the reveal; null where the debate has no thumbs",
                   lambda thumbs: thumbs[True, True], "people", "people"),
            Column("thumbs_down", WHOLE, "thumbs down before the reveal; null likewise",
                   lambda thumbs: thumbs[False, True], "people", "people"),
            Column("thumbs_up_after", WHOLE,
                   "thumbs up after the reveal, or first seen after it; null likewise",
                   lambda thumbs: thumbs[True, False], "people", "people"),
            Column("thumbs_down_after", WHOLE,
                   "thumbs down after the reveal, or first seen after it; null likewise",
                   lambda thumbs: thumbs[False, False], "people", "people"),
        ),
    ),
)  # fmt: skip
