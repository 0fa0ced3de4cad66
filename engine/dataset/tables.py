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
from typing import TypeAlias

import orjson

from engine.dataset.columns import DEBATES, SCHEMA_VERSION, TURNS, VERDICTS, VOTES, Column
from engine.dataset.entry import Entry
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
from engine.dataset.mentions import scrub
from engine.debate import TIE, WEAK, Ballot, Question, Turn, Usage, Vote
from engine.store import CallRecord

Cell: TypeAlias = "str | int | float | bool | list[dict[str, Cell]] | None"
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what one row is, its columns, and how a debate becomes rows of it."""

    name: str
    about: str
    columns: tuple[Column, ...]
    make: Callable[[Entry], Iterable[Mapping[str, Cell]]]

    def rows(self, entry: Entry) -> list[Row]:
        """Return a debate's rows, with the keys in the order of the columns."""
        shared: Row = {"debate_id": entry.debate.id, "split": entry.split}
        return [
            {column.name: cells[column.name] for column in self.columns}
            for cells in ({**shared, **made} for made in self.make(entry))
        ]


def debate_rows(entry: Entry) -> list[Row]:
    """Return the one row of a debate."""
    return [_asked(entry) | _spoken(entry) | _judged(entry) | _voted(entry) | _ended(entry)]


def turn_rows(entry: Entry) -> list[Row]:
    """Return a row for each turn, in the order of speaking."""
    calls = _answered_calls(entry)
    return [_turn(entry, turn, calls) for turn in entry.record.turns]


def verdict_rows(entry: Entry) -> list[Row]:
    """Return a row for each ballot: a juror's reading in one order."""
    return [_ballot(entry, ballot) for ballot in entry.record.ballots]


def vote_rows(entry: Entry) -> list[Row]:
    """Return a row for each answer, by pseudonym: any other order could be matched elsewhere."""
    answers = (*entry.record.votes, *entry.record.stances)
    rows = [_vote(entry, vote) for vote in answers]
    return sorted(rows, key=lambda row: (str(row["voter"]), str(row["phase"])))


PHASES = {
    Question.VOTE: "before_reveal",
    Question.STANCE_BEFORE: "stance_before",
    Question.STANCE_AFTER: "stance_after",
}
TABLES = (
    Table("debates", "a debate that has ended", DEBATES, debate_rows),
    Table("turns", "a turn of a debate", TURNS, turn_rows),
    Table("verdicts", "a juror's ballot, read in one order of the sides", VERDICTS, verdict_rows),
    Table("votes", "a person's standing vote on a debate", VOTES, vote_rows),
    Table("judgments", "a verdict of a format's own judge", JUDGMENTS, judgment_rows),
    Table("scores", "a score that a format's own judge gave", SCORES, score_rows),
    Table("adjustments", "points added to a score afterwards", ADJUSTMENTS, adjustment_rows),
    Table("artifacts", "what a format found out, as JSON", ARTIFACTS, artifact_rows),
)


def _asked(entry: Entry) -> Row:
    debate, request = entry.debate, entry.debate.request
    return {
        "status": debate.status.value,
        "platform": debate.platform,
        "topic": entry.topic,
        "topic_id": entry.topic_id,
        "conditions": scrub(request.conditions),
        "language": request.language,
        "format": request.format,
        "rounds": request.rounds,
        "turn_order": request.turn_order.value,
        "blind": request.blind,
        "scores": request.scores.value,
        "ballot": request.ballot.value,
        "vote_minutes": request.vote_minutes,
        "quorum": request.quorum,
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
        "n_ambiguous": sum(vote.ambiguous for vote in entry.record.votes) if tally else None,
        "share_a": tally.share if tally else None,
        "share_low": tally.low if tally else None,
        "share_high": tally.high if tally else None,
        "quorum_met": tally.quorum_met if tally else None,
        "opted_out": 0,
        "agree": entry.agree,
    }


def _ended(entry: Entry) -> Row:
    debate, calls = entry.debate, entry.record.calls
    return {
        "opened_at": _moment(debate.opened_at),
        "vote_opened_at": _moment(debate.vote_opened_at),
        "revealed_at": _moment(debate.revealed_at),
        "closed_early": debate.closed_early,
        "extended": debate.vote_extended,
        "n_calls": len(calls),
        "cost_usd": _total_cost(calls),
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


def _turn(entry: Entry, turn: Turn, calls: Mapping[str, CallRecord]) -> Row:
    shorter = calls.get(f"{turn.step}/shorten")
    call = shorter or calls.get(turn.step)
    reply = call.reply if call else None
    model = entry.debate.request.model_of(turn.seat)
    return {
        "number": turn.number,
        "round": turn.round,
        "place": turn.place,
        "side": turn.side,
        "seat": turn.seat,
        "text": scrub(turn.text),
        "words": turn.words,
        "word_limit": turn.limit or None,
        "shortened": shorter is not None,
        "violations": [
            {"kind": broken.kind, "measured": broken.measured, "limit": broken.limit}
            for broken in turn.violations
        ],
        "model_asked": model.ref,
        "model_answered": turn.model,
        "family": model.family,
        "stop_reason": reply.finish if reply else None,
        **_usage(reply.usage if reply else Usage()),
        "latency_s": reply.latency if reply else None,
        "cost_usd": reply.cost if reply else None,
        "prompt_hash": call.prompt_hash if call else None,
        **_thumbs(entry, turn),
    }


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


def _vote(entry: Entry, vote: Vote) -> Row:
    return {
        "voter": entry.voters.voter(vote.person),
        "phase": PHASES[vote.question],
        "option": vote.option,
        "ambiguous": vote.ambiguous,
        "gold": vote.gold,
        "starter": vote.starter,
        "judge_visible": vote.judge_visible,
        "late_seen": vote.late_seen,
        "tally_visible": vote.tally_visible,
        "votes_seen_before": vote.votes_seen_before,
        "changes": vote.changes,
        "first_at": _minute(vote.first_at),
        "last_at": _minute(vote.last_at),
        "ballot": entry.debate.request.ballot.value,
        "platform": entry.debate.platform,
    }


def _usage(usage: Usage) -> Row:
    return {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}


def _moment(moment: datetime | None) -> str | None:
    return f"{moment.isoformat()[:19]}Z" if moment else None


def _minute(moment: datetime) -> str:
    return f"{moment.isoformat()[:16]}:00Z"
