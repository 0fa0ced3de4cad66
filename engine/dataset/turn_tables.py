"""The tables of turns, and of the model calls behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from engine.store import CallRecord
from engine.tally.questions import DOWN, UP
from engine.values.debate import Model, Turn, not_given
from engine.values.ports import Reply
from engine.values.text import redact
from engine.values.verdicts import DECISION, POSITION, Question, Score

# The table of model calls: what each try read, found in a cache, wrote and cost.


WRITTEN = Column[Reply](
    "tokens_written",
    WHOLE,
    "tokens of the prompt that were written to the backend's cache; null if it does not say",
    "usage.tokens_written",
    "backend",
    "tokens",
)
COST = Column[CallRecord](
    "cost_usd", REAL, "cost of this try; null if the price is unknown", "cost", "backend", "USD"
)

CALLS = Table(
    "calls",
    "a try of a model call, of a debater, captain, judge or juror",
    lambda entry: entry.record.calls,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("step", TEXT, "the call's name in its debate; a turn's is the turn's step"),
        Column("attempt", WHOLE, "the try's number, from 1"),
        Column("model_asked", TEXT, "the requested `backend/model`", "model"),
        Column("answered", FLAG, "whether there was an answer",
               lambda call: call.reply is not None),
        Column("lost", FLAG, "whether Rostrum itself cut it off, by ending or by stopping the "
               "debate; without an answer it is no failure of the model then"),
        *part_of("reply", *SPENT[:2], WRITTEN, *SPENT[2:-1]),
        COST,
        Column("cost_origin", TEXT, "source of that cost: `reply`, `settings`, `backend`, "
               "`bundled`, `local`, or `unknown`"),
        Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages"),
    ),
)  # fmt: skip


# The table of turns: text, model, cost, scores and thumbs.


class _Spoken(NamedTuple):
    """A turn with its call, scores and thumbs.

    `model` is the requested one. `thumbs` counts by (up, blind); it is None in a debate without
    thumbs.
    """

    turn: Turn
    text: str
    shortened: bool
    model: Model
    call: CallRecord | None
    reply: Reply | None
    scores: list[tuple[Score, float]]
    thumbs: Mapping[tuple[bool, bool], int] | None
    web: Mapping[str, int] | None
    decision: Mapping[str, Any] | None
    position: Mapping[str, Any] | None

    @property
    def by(self) -> str:
        """Who gave the turn."""
        if not self.model.person:
            return "model"
        return "none" if not_given(self.turn.violations) else "person"


def _spoken(entry: Entry) -> Iterator[_Spoken]:
    """Yield the turns in the order of speaking."""
    calls = {call.step: call for call in entry.record.calls if call.reply is not None}
    labels, web = entry.record.labels, entry.record.asked(Question.LABEL_TURN)
    said = {
        one.name: one.body for one in entry.record.artifacts if one.kind in (DECISION, POSITION)
    }
    scores = tuple(entry.standing_scores())
    for turn, text in entry.speeches:
        shorter = calls.get(f"{turn.step}/shorten")
        call = shorter or calls.get(turn.step)
        # The model requested for a turn, which may have been replaced since.
        gone = {change.was.ref: change.was for change in entry.debate.setup.replaced}
        now = entry.debate.request.model_of(turn.seat)
        yield _Spoken(
            turn=turn,
            text=text,
            shortened=shorter is not None,
            model=gone.get(call.model, now) if call and call.model != now.ref else now,
            call=call,
            reply=call.reply if call else None,
            scores=[one for one in scores if one[0].subject == turn.step],
            thumbs=Counter((one.up, one.blind) for one in labels if one.step == turn.step)
            if labels
            else None,
            web=Counter(one.option for one in web if one.step == turn.step) if web else None,
            decision=said.get(f"{DECISION}/{turn.step}"),
            position=said.get(f"{POSITION}/{turn.step}"),
        )


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
        Column("by", TEXT,
               "`model`, `person` where a person argued the side, or `none` for a turn that a "
               "person missed", lambda spoken: spoken.by),
        Column("seat", TEXT, "the speaker; in a team several seats share a side", "turn.seat"),
        STEP._replace(value="turn.step"),
        Column("text", TEXT, "the text, in Markdown; mentions removed; empty for a missed turn",
               lambda spoken: "" if spoken.by == "none" else spoken.text, "model"),
        Column("questions_answered", WHOLE,
               "how many questions of the audience it answers; 0 in any other round",
               lambda spoken: len(spoken.turn.asked), unit="questions"),
        Column("words", WHOLE, "words by Unicode segmentation (UAX 29)",
               "turn.words", unit="words"),
        Column("word_limit", WHOLE, "the limit; null without one on the whole turn",
               "turn.limit or None", unit="words"),
        Column("shortened", FLAG, "whether a first text over a limit was sent back"),
        list_of(
            "violations",
            (
                Column("kind", TEXT, "the rule that was broken"),
                Column("measured", REAL, "the measured value"),
                Column("limit", REAL, "the limit"),
            ),
            "rules that the final text breaks; often empty",
            lambda spoken: spoken.turn.violations,
        ),
        list_of(
            "scores",
            (
                *part_of(0, Column("criterion", TEXT, "what was scored")),
                Column("score", REAL, "the score that stands, after every adjustment", 1,
                       "judge", "points"),
            ),
            "scores by the format's own judge; often empty",
            lambda spoken: spoken.scores,
        ),
        *part_of(
            "decision",
            Column("decision", TEXT,
                   "the side's final decision: `maintains`, `qualifies` or `gives_up` its "
                   "position, or `unknown`; null for a turn that decides nothing",
                   lambda body: body["decision"], "model"),
            Column("decision_why", TEXT, "the model's reason for it; null likewise",
                   lambda body: redact(body["why"]) or None, "model"),
        ),
        *part_of(
            "position",
            Column("position", TEXT,
                   "what the debate made of the side's position, as it says in `structured`: "
                   "`strengthened`, `weakened`, `partly_changed`, `unchanged`, or `unknown`; null "
                   "for any other turn",
                   lambda body: body["change"], "model"),
            Column("position_why", TEXT, "the model's reason for it; null likewise",
                   lambda body: redact(body["why"]) or None, "model"),
        ),
        Column("model_asked", TEXT, "the requested `backend/model`", "model.ref"),
        Column("model_answered", TEXT,
               "the model that answered, by the backend's name", "turn.model", "backend"),
        Column("family", TEXT, "the family of the requested model", "model.family"),
        *part_of(
            "reply",
            Column("stop_reason", TEXT,
                   "why it stopped: stop, length or content_filter; null without a call",
                   "finish", "backend"),
            *SPENT,
        ),
        *part_of("call", *CALL),
        *part_of(
            "thumbs",
            Column("thumbs_up", WHOLE,
                   "thumbs up before the reveal; null in a debate without thumbs",
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
        *part_of(
            "web",
            Column("web_thumbs_up", WHOLE,
                   "thumbs up by people who labelled on pages; null in a debate without any",
                   lambda web: web[UP], "people", "people"),
            Column("web_thumbs_down", WHOLE, "their thumbs down; null likewise",
                   lambda web: web[DOWN], "people", "people"),
        ),
    ),
)  # fmt: skip
