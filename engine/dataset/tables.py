"""The tables of an export: what each is, and a pure function from a debate to its rows.

A further table is one more function, its columns, and an entry in `TABLES`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from operator import itemgetter
from typing import Any, TypeAlias

import orjson

from engine.blinding.mentions import scrub
from engine.dataset.arena import ARENA_HUMAN, ARENA_JURY, human_rows, jury_rows
from engine.dataset.columns import (
    DEBATE,
    DEBATES,
    REPLACED,
    SCHEMA_VERSION,
    SPLIT,
    TURNS,
    VERDICTS,
    VOTES,
    Column,
)
from engine.dataset.entry import Entry, Speech
from engine.dataset.findings import (
    ADJUSTMENTS,
    ARTIFACTS,
    JUDGMENTS,
    SCORES,
    adjustment_rows,
    artifact_rows,
    judgment_rows,
    score_rows,
)
from engine.dataset.preferences import (
    PREFERENCE,
    PREFERENCE_SAME_SIDE,
    UNPAIRED,
    preference_rows,
    same_side_rows,
    unpaired_rows,
)
from engine.debate import Model, Turn, Usage
from engine.errors import UsageError
from engine.judging import TIE, WEAK, Ballot, Persuasion, Question
from engine.store import Answer, CallRecord
from engine.votes.labels import persuasion

Cell: TypeAlias = "str | int | float | bool | list[dict[str, Cell]] | None"
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what one row is, its columns, and how a debate becomes rows of it.

    `repeats`: each row has the debate's whole text, in chats that are never null. `make` gives
    the cells in the order of the columns; those that are in nearly every table are put before
    them here.
    """

    name: str
    about: str
    columns: tuple[Column, ...]
    make: Callable[[Entry], Iterable[Mapping[str, Any]]]
    repeats: bool = False

    def rows(self, entry: Entry) -> list[Row]:
        """Return a debate's rows, with the keys in the order of the columns.

        A cell may be JSON already, as an orjson.Fragment.
        """
        if self.columns[1] is not SPLIT:
            return [dict(made) for made in self.make(entry)]
        shared: Row = {
            DEBATE.name: entry.debate.id,
            SPLIT.name: entry.split,
            REPLACED.name: entry.replaced,
        }
        return [{**shared, **made} for made in self.make(entry)]


def debate_rows(entry: Entry) -> list[Row]:
    """Return the one row of a debate."""
    return [_asked(entry) | _spoken(entry) | _judged(entry) | _voted(entry) | _ended(entry)]


def turn_rows(entry: Entry) -> list[Row]:
    """Return a row for each turn, in the order of speaking."""
    calls = _answered_calls(entry)
    return [_turn(entry, speech, calls) for speech in entry.speeches]


def verdict_rows(entry: Entry) -> list[Row]:
    """Return a row for each ballot: a juror's reading in one order."""
    return [_ballot(entry, ballot) for ballot in entry.record.ballots]


def vote_rows(entry: Entry) -> list[Row]:
    """Return a row for each answer, by pseudonym: any other order could be matched elsewhere."""
    held = {"ballot": entry.debate.request.ballot.value, "platform": entry.debate.platform}
    hidden = entry.record.opted_out
    rows = [
        _vote(entry.voters.voter(answer.person), answer, held)
        for answer in entry.record.answers
        if answer.person not in hidden
    ]
    rows.sort(key=itemgetter("voter", "phase"))
    return rows


PHASES: dict[str, str] = {
    Question.VOTE: "before_reveal",
    Question.STANCE_BEFORE: "stance_before",
    Question.STANCE_AFTER: "stance_after",
    Question.AGAIN: "after_reveal",
}
SAME_SIDE = Table(
    "preference_same_side",
    "a side of two debates that mirror each other: both models' cases for it",
    PREFERENCE_SAME_SIDE,
    same_side_rows,
)
TABLES = (
    Table("debates", "a debate that has ended", DEBATES, debate_rows),
    Table("turns", "a turn of a debate", TURNS, turn_rows),
    Table("verdicts", "a juror's ballot, read in one order of the sides", VERDICTS, verdict_rows),
    Table("votes", "a person's standing vote on a debate", VOTES, vote_rows),
    Table(
        "preference",
        "the case of a debate's human winner beside another contender's",
        PREFERENCE,
        preference_rows,
    ),
    SAME_SIDE,
    Table("unpaired", "a turn that people gave thumbs before the reveal", UNPAIRED, unpaired_rows),
    Table(
        "arena_human",
        "a gold vote, in the columns of MT-bench",
        ARENA_HUMAN,
        human_rows,
        repeats=True,
    ),
    Table(
        "arena_jury",
        "a valid ballot, in the columns of MT-bench",
        ARENA_JURY,
        jury_rows,
        repeats=True,
    ),
    Table("judgments", "a verdict of a format's own judge", JUDGMENTS, judgment_rows),
    Table("scores", "a score that a format's own judge gave", SCORES, score_rows),
    Table("adjustments", "points added to a score afterwards", ADJUSTMENTS, adjustment_rows),
    Table("artifacts", "what a format found out, as JSON", ARTIFACTS, artifact_rows),
)


def choose_tables(names: Iterable[str]) -> tuple[Table, ...]:
    """Return the tables of these names, all without any. Raises UsageError for an unknown one."""
    wanted = set(names)
    if unknown := sorted(wanted - {table.name for table in TABLES}):
        known = ", ".join(table.name for table in TABLES)
        raise UsageError(f"There is no table “{unknown[0]}”; choose from {known}.")
    return tuple(table for table in TABLES if not wanted or table.name in wanted)


def _asked(entry: Entry) -> Row:
    debate, request = entry.debate, entry.debate.request
    return {
        "status": debate.status.value,
        "platform": debate.platform,
        "topic": entry.topic,
        "topic_id": entry.topic_id,
        "conditions": entry.conditions,
        "language": request.language,
        "format": request.format,
        "rounds": request.rounds,
        "turn_order": request.turn_order.value,
        "blind": request.blind,
        "scores": request.scores.value,
        "ballot": request.ballot.value,
        "vote_minutes": request.vote_minutes,
        "quorum": request.quorum,
        "rehearsal": bool(debate.setup.rehearsal),
        "mirror_of": debate.setup.mirror_of,
        "sides": [
            {
                "side": side,
                "backend": model.backend,
                "model": model.name,
                "family": model.family,
                "drawn": side in request.drawn,
            }
            for side, model in request.sides.items()
        ],
    }


def _spoken(entry: Entry) -> Row:
    turns = entry.record.turns
    return {
        "n_turns": len(turns),
        "spoke_first": turns[0].side if turns else None,
        "spoke_last": turns[-1].side if turns else None,
    }


def _judged(entry: Entry) -> Row:
    verdict, panel = entry.record.verdict, entry.debate.setup.panel
    p = verdict.p if verdict else {}
    audits = sum(ballot.audit for ballot in entry.record.ballots)
    return {
        "jury_winner": verdict.winner if verdict else None,
        "jury_problem": (verdict.problem or None) if verdict else None,
        "p_a": p.get("A"),
        "p": [{"side": side, "p": value} for side, value in p.items()] or None,
        "z": verdict.z if verdict else None,
        "n_valid": verdict.valid if verdict else None,
        "n_invalid": verdict.invalid if verdict else None,
        "n_audit": audits if verdict else None,
        "effective_votes": verdict.effective_votes if verdict else None,
        "order_alone": verdict.order_alone if verdict else None,
        "panel_mode": panel.mode.value,
        "rubric": panel.rubric,
        "recusal_failed": panel.recusal_failed,
    }


def _voted(entry: Entry) -> Row:
    tally = entry.tally
    counts, gold = (tally.counts, tally.gold) if tally else ({}, {})
    named = {"a": "A", "b": "B", "tie": TIE, "weak": WEAK}
    return {
        "human_winner": tally.winner if tally else None,
        **{f"n_{name}": counts.get(option) for name, option in named.items()},
        **{f"gold_{name}": gold.get(option) for name, option in named.items()},
        "tally": [
            {"option": option, "n": number, "gold": gold[option]}
            for option, number in counts.items()
        ]
        or None,
        "n_ambiguous": sum(vote.ambiguous for vote in entry.votes) if tally else None,
        "share_a": tally.share if tally else None,
        "share_low": tally.low if tally else None,
        "share_high": tally.high if tally else None,
        "quorum_met": tally.quorum_met if tally else None,
        "opted_out": len(entry.record.opted_out),
        **_persuaded(entry),
        "agree": entry.agree,
    }


def _persuaded(entry: Entry) -> Row:
    """Say whom the debate moved, where people were asked for their stance."""
    moved = _persuasion(entry)
    return {
        "persuaded": moved
        and [{"side": side, "moved": number} for side, number in moved.moved.items()],
        "n_persuaded": moved and moved.people,
        "persuasion_winner": moved and moved.winner,
    }


def _persuasion(entry: Entry) -> Persuasion | None:
    before, after = (
        entry.record.asked(question) for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
    )
    sides = tuple(entry.debate.request.sides)
    return persuasion(before, after, sides) if (before or after) and len(sides) == 2 else None


def _ended(entry: Entry) -> Row:
    debate, calls = entry.debate, entry.record.calls
    return {
        "opened_at": _moment(debate.opened_at),
        "vote_opened_at": _moment(debate.vote_opened_at),
        "revealed_at": _moment(debate.revealed_at),
        "closed_early": debate.closed_early,
        "extended": debate.vote_extended,
        "gaps": debate.gaps,
        "n_calls": len(calls),
        "cost_usd": _total_cost(calls),
        "cost_origin": "+".join(sorted({call.cost_origin for call in calls})) or None,
        "schema_version": SCHEMA_VERSION,
        "format_version": debate.setup.format_version,
        "templates": debate.setup.templates,
        "prompt_hash": _hash_prompts(calls),
    }


def _total_cost(calls: Iterable[CallRecord]) -> float | None:
    costs = [call.cost for call in calls]
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if len(known) == len(costs) else None


def _hash_prompts(calls: Iterable[CallRecord]) -> str | None:
    prompts = sorted({(call.step, call.prompt_hash) for call in calls})
    return hashlib.sha256(orjson.dumps(prompts)).hexdigest() if prompts else None


def _answered_calls(entry: Entry) -> dict[str, CallRecord]:
    return {call.step: call for call in entry.record.calls if call.reply is not None}


def _turn(entry: Entry, speech: Speech, calls: Mapping[str, CallRecord]) -> Row:
    turn = speech.turn
    shorter = calls.get(f"{turn.step}/shorten")
    call = shorter or calls.get(turn.step)
    reply = call.reply if call else None
    model = _asked_model(entry, turn, call)
    return {
        "number": turn.number,
        "round": turn.round,
        "place": turn.place,
        "side": turn.side,
        "seat": turn.seat,
        "step": turn.step,
        "text": speech.text,
        "words": turn.words,
        "word_limit": turn.limit or None,
        "shortened": shorter is not None,
        "violations": [
            {"kind": broken.kind, "measured": broken.measured, "limit": broken.limit}
            for broken in turn.violations
        ],
        "scores": [
            {"criterion": score.criterion, "score": score.value}
            for score in entry.record.scores
            if score.subject == turn.step
        ],
        "model_asked": model.ref,
        "model_answered": turn.model,
        "family": model.family,
        "stop_reason": reply.finish if reply else None,
        **_usage(reply.usage if reply else Usage()),
        "latency_s": reply.latency if reply else None,
        "cost_usd": reply.cost if reply else None,
        "cost_origin": call.cost_origin if call else None,
        "prompt_hash": call.prompt_hash if call else None,
        **_thumbs(entry, turn),
    }


def _asked_model(entry: Entry, turn: Turn, call: CallRecord | None) -> Model:
    """Return the model that was asked for a turn: the one that is gone, before its replacement."""
    gone = {change.was.ref: change.was for change in entry.debate.setup.replaced}
    now = entry.debate.request.model_of(turn.seat)
    return gone.get(call.model, now) if call and call.model != now.ref else now


def _thumbs(entry: Entry, turn: Turn) -> Row:
    """Count a turn's thumbs; null in a debate where nobody gave any."""
    given = Counter(
        (label.up, label.blind) for label in entry.record.labels if label.step == turn.step
    )
    named = {
        "thumbs_up": (True, True),
        "thumbs_down": (False, True),
        "thumbs_up_after": (True, False),
        "thumbs_down_after": (False, False),
    }
    return {name: given[key] if entry.record.labels else None for name, key in named.items()}


def _ballot(entry: Entry, ballot: Ballot) -> Row:
    panel = entry.debate.setup.panel
    return {
        "juror": ballot.juror,
        "family": ballot.family,
        "order": "".join(ballot.order),
        "audit": ballot.audit,
        "valid": ballot.valid,
        "problem": scrub(ballot.problem) or None,
        "repaired": ballot.repaired,
        "contradictory": ballot.contradictory,
        "names": [{"side": side, "name": name} for side, name in ballot.names.items()],
        "scores": _scores(ballot),
        "verdict": ballot.verdict,
        "confidence": ballot.confidence,
        "reasons": scrub(ballot.reasons) or None,
        "raw": scrub(ballot.raw) or None,
        "pos": ballot.pos,
        "sd": ballot.sd,
        "weight": ballot.weight,
        "slope": panel.slope,
        "x": [{"side": side, "x": x} for side, x in (ballot.signal or {}).items()] or None,
        "rubric": panel.rubric,
        "model_answered": ballot.model or None,
        **_usage(ballot.usage),
        "latency_s": ballot.latency,
        "cost_usd": ballot.cost,
        "cost_origin": ballot.cost_origin or None,
        "prompt_hash": ballot.prompt_hash or None,
    }


def _scores(ballot: Ballot) -> Cell:
    if ballot.scores is None:
        return None
    return [
        {"side": side, "criterion": criterion, "score": score}
        for side, sheet in ballot.scores.items()
        for criterion, score in sheet.items()
    ]


def _vote(voter: str, answer: Answer, held: Row) -> Row:
    return {
        "voter": voter,
        "phase": PHASES[answer.question],
        "option": answer.option,
        "ambiguous": answer.ambiguous,
        "gold": answer.gold,
        "reason": _reason(answer),
        "starter": answer.starter,
        "judge_visible": answer.judge_visible,
        "mirror_revealed": answer.mirror_revealed,
        "fast": answer.fast,
        "late_seen": answer.late_seen,
        "recovery": answer.recovery,
        "tally_visible": answer.tally_visible,
        "votes_seen_before": answer.votes_seen_before,
        "changes": answer.changes,
        "first_at": f"{answer.first_at[:16]}:00Z",
        "last_at": f"{answer.last_at[:16]}:00Z",
        **held,
    }


def _reason(answer: Answer) -> str | None:
    """Say why a vote is not gold, also of one that was stored before that was written down."""
    if answer.gold or answer.reason:
        return answer.reason or None
    reasons = {
        "judge": answer.judge_visible,
        "starter": answer.starter,
        "ambiguous": answer.ambiguous,
        "mirror": answer.mirror_revealed,
    }
    return next((why for why, holds in reasons.items() if holds), None)


def _usage(usage: Usage) -> Row:
    return {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}


def _moment(moment: datetime | None) -> str | None:
    return f"{moment.isoformat()[:19]}Z" if moment else None
