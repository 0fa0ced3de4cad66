"""The table of debates: request, both judgments, and end."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from math import fsum
from typing import Any, NamedTuple, TypeAlias

import orjson
from pydantic import TypeAdapter

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    MOMENT,
    PLATFORM,
    REAL,
    REPLACED,
    RUBRIC,
    SCHEMA_VERSION,
    SIDE,
    SIDE_FIRST,
    SPLIT,
    TEXT,
    WHOLE,
    Column,
    OfDebate,
    Scalar,
    Table,
    by,
    list_of,
    moment,
    part_of,
)
from engine.dataset.entry import Entry
from engine.jury.rubric import find_rubric
from engine.store import DebateRecord
from engine.values.debate import ConfidenceScale, Model, PanelMode, Setup
from engine.values.options import PARAMS, in_order
from engine.values.text import redact, redact_json
from engine.values.verdicts import TIE, WEAK, Ballot
from engine.votes.close import QUORUM, people_of

Columns: TypeAlias = tuple[Column[Entry] | OfDebate, ...]


class _Contender(NamedTuple):
    side: str
    model: Model
    drawn: bool
    stance: str | None


def _contenders(entry: Entry) -> list[_Contender]:
    request = entry.debate.request
    return [
        _Contender(side, model, side in request.drawn, entry.stances.get(side))
        for side, model in request.sides.items()
    ]


def _settings_of(model: Model) -> str | None:
    own = model.configuration
    return redact(orjson.dumps(own.settings).decode()) if own else None


def _configured(entry: Entry) -> list[Model]:
    """Return every model with a configuration that was called, in a later judging too."""
    setup, record = entry.debate.setup, entry.record
    later = (model for judging in record.judgings for model in judging.judges)
    models = (*setup.models, *(change.was for change in setup.replaced), *later)
    called = {call.model for call in record.calls}
    found = {one.ref: one for one in models if one.configuration and one.ref in called}
    return [*found.values()]


def _total_cost(entry: Entry) -> float | None:
    costs = [call.cost for call in entry.record.calls]
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if len(known) == len(costs) else None


def _hash_prompts(entry: Entry) -> str | None:
    prompts = sorted({(call.step, call.prompt_hash) for call in entry.record.calls})
    return hashlib.sha256(orjson.dumps(prompts)).hexdigest() if prompts else None


_SCALES = {ConfidenceScale.ON: "words", ConfidenceScale.PERCENT: "percent"}
_TYPES: dict[object, Scalar] = {bool: FLAG, int: WHOLE, float: REAL}
_OF_REQUEST: dict[str, Column[Any]] = {
    name: Column(name, _TYPES.get(param.kind, TEXT), param.column, unit=param.unit)
    for name, param in PARAMS.items()
    if param.column
} | {
    "confidence": Column(
        "confidence", FLAG, "whether people were asked with the vote how clear it was",
        lambda request: bool(request.confidence)),
    "confidence_in": Column(
        "confidence_in", TEXT, "`words` or `percent`; null if they were not asked",
        lambda request: _SCALES.get(request.confidence)),
}  # fmt: skip
_ASKED: Columns = (
    Column("status", TEXT, "`closed`, or `partial`, `cancelled` or `failed` without a vote",
           "debate.status"),
    PLATFORM,
    Column("topic", TEXT, "the topic; mentions removed", maker="asker"),
    Column("topic_id", TEXT, "the same for rewordings in case, spacing or punctuation"),
    *by(
        "asker",
        Column("conditions", TEXT, "what both sides must accept; may be empty"),
        *part_of(
            "debate.request",
            *(
                _OF_REQUEST[name]
                for name in in_order(
                    "language format length rounds turn_order blind scores ballot round_votes "
                    "confidence confidence_in … vote_minutes quorum",
                    _OF_REQUEST,
                )
            ),
        ),
    ),
    Column("answer", TEXT, "the right answer, which nobody was told; null where none is known",
           lambda entry: redact(entry.record.answer.get("answer") or "") or None, "asker"),
    Column("answer_side", TEXT, "the side that argues it; null at a round table",
           lambda entry: entry.record.answer.get("side")),
    Column("advocate", TEXT,
           "the side that spoke alone, or that the first model chose; null otherwise",
           "debate.setup.advocate or None"),
    Column("rehearsal", FLAG, "whether a speaker, juror or judge is not a language model",
           lambda entry: bool(entry.debate.setup.rehearsal)),
    Column("series", TEXT, "the series that it is part of; null for none", "debate.series"),
    Column("series_key", TEXT, "which debate of the series it is; null for none",
           "debate.series_key"),
    Column("arm", TEXT, "the arm of the series that it fell to by lot; null without arms",
           "debate.arm"),
    Column("mirror_of", TEXT, "the debate that this one repeats with sides swapped; null for none",
           "debate.setup.mirror_of"),
    Column("rematch_of", TEXT, "the revealed debate that this one holds once more, with the same "
           "models; null for none", "debate.setup.rematch_of"),
    Column("person", TEXT, "the side that a person argued; null for none. Such a debate compares "
           "no models, so it is in no table of pairs, judgments by model or calibration",
           "debate.request.guest or None"),
    Column("swapped", FLAG, "whether a rematch gave each model the other side, so that people "
           "could know who is who and no vote is gold; else it drew the sides again",
           "debate.setup.swapped"),
    list_of(
        "sides",
        (
            SIDE,
            Column("by", TEXT, "`model`, or `person`: `backend`, `model` and `family` are then "
                   "fixed words that say no more",
                   lambda one: "person" if one.model.person else "model"),
            Column("backend", TEXT, "the backend's name in the installation",
                   "model.backend", "asker"),
            Column("model", TEXT, "the model's name there", "model.name", "asker"),
            Column("family", TEXT, "the model's family; jurors of it are recused",
                   "model.family"),
            Column("variant", TEXT, "how it was configured: a variant's name, or its settings as "
                   "`effort=high,temperature=0`, as stands behind `@` wherever a table names a "
                   "`backend/model`; null without a configuration of its own",
                   lambda one: one.model.label or None, "asker"),
            Column("settings", TEXT, "that configuration as a JSON object, keys and mentions "
                   "removed; null without one", lambda one: _settings_of(one.model), "asker"),
            Column("drawn", FLAG, "whether the model was drawn at random"),
            Column("stance", TEXT, "what it argued, in the asker's words, mentions removed; "
                   "null if for or against the topic", maker="asker"),
        ),
        "who argued each side",
        _contenders,
    ),
    list_of(
        "configurations",
        (
            Column("model", TEXT, "the `backend/model@variant` that the tables name", "ref",
                   "asker"),
            Column("settings", TEXT, "its configuration as a JSON object, keys and mentions "
                   "removed", _settings_of, "asker"),
        ),
        "every debater, seat, juror and judge that was called with settings of its own",
        _configured,
    ),
)  # fmt: skip

_SPOKEN: Columns = (
    Column("n_turns", WHOLE, "number of turns", lambda entry: len(entry.speeches), unit="turns"),
    Column("spoke_first", TEXT, "the side whose turn was posted first; null without turns",
           lambda entry: entry.speeches[0].turn.side if entry.speeches else None),
    Column("spoke_last", TEXT, "the side whose turn was posted last; null without turns",
           lambda entry: entry.speeches[-1].turn.side if entry.speeches else None),
)  # fmt: skip
_JUDGED: Columns = (
    *part_of(
        "record.verdict",
        Column("jury_winner", TEXT, "a side or `tie`; null without a verdict", "winner", "juror"),
        Column("jury_problem", TEXT, "why there is no verdict; null with one, or without a panel",
               "problem or None"),
        list_of(
            "jury_readings",
            (
                Column("option", TEXT, "a side or `tie`", 0),
                Column("n", WHOLE, "readings that prefer it", 1, unit="readings"),
            ),
            "where there is no verdict yet, as the jurors have not shown that they see more than "
            "order or chance: how many readings prefer what; null otherwise",
            lambda verdict: sorted(verdict.readings.items()) or None,
        ),
        Column("p_a", REAL, "the panel's probability that A won; null without a verdict, or with "
               "no A", lambda verdict: verdict.p.get("A"), unit="share"),
        list_of(
            "p",
            (
                SIDE_FIRST,
                Column("p", REAL, "the panel's probability that it won",
                       1, unit="share"),
            ),
            "the probability of every side; null without a verdict",
            lambda verdict: verdict.p.items() or None,
        ),
        Column("z", REAL, "the panel's signal, balanced over orders; null without a verdict"),
        Column("n_valid", WHOLE, "valid ballots that could decide; null without a panel",
               "valid", unit="ballots"),
        Column("n_invalid", WHOLE, "unreadable ballots; null without a panel",
               "invalid", unit="ballots"),
    ),
    Column("n_audit", WHOLE, "ballots of the audit or of recused jurors, which decide nothing; "
           "null without a panel",
           lambda entry: entry.record.verdict and sum(one.audit for one in entry.record.ballots),
           unit="ballots"),
    *part_of(
        "record.verdict",
        Column("effective_votes", REAL,
               "independent votes that the panel is worth; null while unmeasured",
               unit="independent votes"),
        Column("order_alone", FLAG, "whether the verdict is a tie because the order of reading "
               "alone could explain the lead; null without a panel"),
        Column("jury_rule", TEXT, "`model`, where the model of jurors found the verdict, or "
               "`balanced` by the order of reading; null without a panel",
               lambda verdict: verdict.rule or "balanced"),
        Column("fit", WHOLE, "the number of the installation's fit of the jurors that it rests on; "
               "null where it is balanced", lambda verdict: verdict.fit),
        Column("jury_variance", REAL,
               "the variance of which side is better, 1 before any ballot, that the ballots left; "
               "null where it is balanced", lambda verdict: verdict.variance),
        Column("jury_gain", REAL, "by how much the best further calls would each have raised the "
               "chance of a right verdict when no more were made; null where it is balanced",
               lambda verdict: verdict.gain, unit="share"),
    ),
    *part_of(
        "summary",
        Column("summary", TEXT, "a juror's neutral summary, with the sides as letters; "
               "null without one", lambda summary: redact(summary.text) or None, "juror"),
        Column("summary_fit", TEXT, "`as_written`, in 400 to 600 characters; `trimmed` at a "
               "sentence, `cut` at a word, or left `too_short`; null without one",
               lambda summary: summary.fit if summary.text else None),
        Column("summary_problem", TEXT,
               "why there is none; null with one, or if the format has none",
               "problem or None"),
    ),
    Column("summary_by", TEXT, "the juror asked for it; null if the format has none",
           lambda entry: next((one.model for one in entry.record.calls if one.step == "summary"),
                              None)),
    Column("panel_mode", TEXT, "`adaptive`, `strict`, `all` (every juror in both orders) or `one`",
           "debate.setup.panel.mode"),
    Column("single", FLAG, "whether a single juror decided",
           lambda entry: entry.debate.setup.panel.mode is PanelMode.ONE),
    RUBRIC,
    list_of(
        "criteria",
        (
            Column("criterion", TEXT, "the criterion, as in `verdicts`", "name"),
            Column("weight", REAL, "its share of a side's score", unit="share"),
            Column("lowest", WHOLE, "the lowest score", unit="points"),
            Column("highest", WHOLE, "the highest score", unit="points"),
            Column("description", TEXT, "its description for jurors; may be empty"),
            Column("low", TEXT, "what the lowest score means, for jurors"),
            Column("high", TEXT, "what the highest score means, for jurors"),
        ),
        "the criteria that jurors scored",
        lambda entry: find_rubric(
            entry.debate.setup.panel.rubric, entry.debate.setup.panel.criteria
        ).criteria,
    ),
    Column("recusal_failed", FLAG, "whether jurors of a debater's family had to sit",
           "debate.setup.panel.recusal_failed"),
)  # fmt: skip
_VOTED: Columns = (
    *part_of(
        "tally",
        Column("human_winner", TEXT, "a side or `tie`, by gold votes; null below the quorum",
               "winner", "people"),
        Column("n_a", WHOLE, "standing votes for A; null without a vote, or with no A",
               lambda tally: tally.counts.get("A"), "people", "votes"),
        Column("n_b", WHOLE, "standing votes for B; null without a vote, or with no B",
               lambda tally: tally.counts.get("B"), "people", "votes"),
        Column("n_tie", WHOLE, "standing votes for a tie; null without a vote",
               lambda tally: tally.counts.get(TIE), "people", "votes"),
        Column("n_weak", WHOLE, "standing votes for “neither”; null without a vote",
               lambda tally: tally.counts.get(WEAK), "people", "votes"),
        Column("gold_a", WHOLE, "gold votes for A; null without a vote, or with no A",
               lambda tally: tally.gold.get("A"), "people", "votes"),
        Column("gold_b", WHOLE, "gold votes for B; null without a vote, or with no B",
               lambda tally: tally.gold.get("B"), "people", "votes"),
        Column("gold_tie", WHOLE, "gold votes for a tie; null without a vote",
               lambda tally: tally.gold.get(TIE), "people", "votes"),
        Column("gold_weak", WHOLE, "gold votes for “neither”; null without a vote",
               lambda tally: tally.gold.get(WEAK), "people", "votes"),
        list_of(
            "tally",
            (
                Column("option", TEXT, "a side, `tie` or `weak`", 0),
                Column("n", WHOLE, "standing votes", 1, "people", "votes"),
                Column("gold", WHOLE, "gold votes", 2, "people", "votes"),
            ),
            "the count of every option; null without a vote",
            lambda tally: [(option, n, tally.gold[option]) for option, n in tally.counts.items()]
            or None,
        ),
    ),
    Column("n_ambiguous", WHOLE,
           "votes in no count, because the last of several choices is unknown; null without a vote",
           lambda entry: sum(vote.ambiguous for vote in entry.votes) if entry.tally else None),
    *part_of(
        "tally",
        Column("share_a", REAL, "gold A over gold A and B; null without either",
               "share", unit="share"),
        Column("share_low", REAL, "lower Wilson 95 % bound of `share_a`; null if that is",
               "low", unit="share"),
        Column("share_high", REAL, "upper Wilson 95 % bound of `share_a`; null if that is",
               "high", unit="share"),
        Column("quorum_met", FLAG, "whether the gold votes reached the quorum; null without a "
               "vote"),
    ),
    *part_of(
        "labels",
        Column("web_winner", TEXT, "a side or `tie`, by gold labels given on pages; null below "
               f"{QUORUM} of them", "winner", "people"),
        Column("web_n", WHOLE, "labels given on pages; null without one",
               lambda labels: sum(labels.counts.values()), "people", "votes"),
        Column("web_gold_a", WHOLE, "gold labels for A; null without labels, or with no A",
               lambda labels: labels.gold.get("A"), "people", "votes"),
        Column("web_gold_b", WHOLE, "gold labels for B; null without labels, or with no B",
               lambda labels: labels.gold.get("B"), "people", "votes"),
        Column("web_gold_tie", WHOLE, "gold labels for a tie; null without labels",
               lambda labels: labels.gold.get(TIE), "people", "votes"),
        Column("web_gold_weak", WHOLE, "gold labels for “neither”; null without labels",
               lambda labels: labels.gold.get(WEAK), "people", "votes"),
        Column("web_share_a", REAL, "gold labels for A over those for A and B; null without either",
               "share", unit="share"),
    ),
    Column("opted_out", WHOLE, "people who answered but have no row in `votes`",
           lambda entry: len(entry.record.opted_out), unit="people"),
    *part_of(
        "persuasion",
        list_of(
            "persuaded",
            (
                SIDE_FIRST,
                Column("moved", WHOLE, "people who moved towards it",
                       1, "people", "people"),
            ),
            "people who moved towards each side, of those with two stances; "
            "null without stances",
            lambda persuasion: persuasion.moved.items(),
        ),
        Column("n_persuaded", WHOLE, "people with two stances; null without stances",
               "people", "people", "people"),
        Column("persuasion_winner", TEXT, "the side that more people moved towards, or `tie`; "
               "null if no one has two stances", "winner", "people"),
    ),
    Column("agree", FLAG, "whether people and panel agree on the winner or a tie; "
           "null unless both decided and the panel was blind"),
)  # fmt: skip
_ENDED: Columns = (
    Column("opened_at", MOMENT, "when the thread was opened; null if never",
           lambda entry: moment(entry.debate.opened_at), unit="UTC"),
    Column("vote_opened_at", MOMENT, "when the vote opened; null without one",
           lambda entry: moment(entry.debate.vote_opened_at), unit="UTC"),
    Column("revealed_at", MOMENT, "when the vote closed and the models were named; null without "
           "a vote", lambda entry: moment(entry.debate.revealed_at), unit="UTC"),
    Column("cause", TEXT, "the kind of reason for an early end: `refused` (a model or its filter "
           "declined), `model`, `budget`, `stopped`, `thread`, `person` (who was to argue a side "
           "declined or left), `bug` or `other`; null without one",
           lambda entry: entry.debate.cause),
    Column("cause_model", TEXT, "the model that caused an early end; null without one",
           "debate.cause_model", "asker"),
    Column("closed_early", FLAG, "whether a manager closed the vote early",
           "debate.closed_early"),
    Column("extended", FLAG, "whether the vote was extended for lack of a quorum",
           "debate.vote_extended"),
    Column("gaps", WHOLE, "messages that are, or may be, missing in the thread",
           "debate.gaps", unit="messages"),
    Column("n_calls", WHOLE, "model calls, including jurors' and failed ones",
           lambda entry: len(entry.record.calls), unit="tries"),
    Column("cost_usd", REAL, "cost of all calls; null if one price is unknown",
           _total_cost, "backend", "USD"),
    Column("cost_origin", TEXT, "sources of the calls' costs, joined by +; null without a call",
           lambda entry: "+".join(sorted({one.cost_origin for one in entry.record.calls})) or None),
    Column("schema_version", WHOLE, "the version of these columns", lambda _: SCHEMA_VERSION),
    Column("format_version", WHOLE, "the version of the format's script",
           "debate.setup.format_version"),
    Column("templates", TEXT, "SHA-256 of the prompt templates", "debate.setup.templates"),
    Column("prompt_hash", TEXT, "SHA-256 over the prompts of every step; null without a call",
           _hash_prompts),
)  # fmt: skip
DEBATES = Table(
    "debates",
    "a debate that has ended",
    lambda entry: (entry,),
    (DEBATE, SPLIT, REPLACED, *_ASKED, *_SPOKEN, *_JUDGED, *_VOTED, *_ENDED),
)


# The table of records: each debate as pages and calibrations read it, in one cell.


# What of a record is published: nothing else leaves the installation. `verdicts` has what the call
# behind a ballot took.
_TIMES = ("created_at", "opened_at", "vote_opened_at", "revealed_at")
_OF_DEBATE = (
    "id", "platform", "status", "vote_extended", "closed_early", "gaps", "series", "series_key",
    "arm", "cause", "cause_model", *_TIMES,
)  # fmt: skip
_OF_SETUP = (
    "request", "format_version", "templates", "mirror_of", "replaced", "called", "menu",
    "rematch_of", "swapped",
)  # fmt: skip
_OF_PANEL = ("roster", "recusal_failed", "mode", "rubric", "blind", "criteria")
_OF_BALLOT = set(Ballot.model_fields) - {
    "raw", "prompt_hash", "usage", "cost", "cost_origin", "latency"
}  # fmt: skip
_PUBLISHED: Any = {
    "debate": dict.fromkeys(_OF_DEBATE, True)
    | {"setup": dict.fromkeys(_OF_SETUP, True) | {"panel": set(_OF_PANEL)}},
    "ballots": {"__all__": _OF_BALLOT},
} | dict.fromkeys(
    ("turns", "verdict", "verdicts", "artifacts", "scores", "adjustments", "judgings", "people"),
    True,
)
# What a debate has that was not published.
_BLANK = {"number": 0, "community": "", "place": "", "starter": None}
_BLANK_SETUP = {"names": {}, "sampling": {}, "limits": {}, "seed": 0, "ordinal": 0}


def read_record(text: str) -> DebateRecord:
    """Return a debate's record as it was exported. Raises one of MISFITS for anything else."""
    found = orjson.loads(text)
    debate = found["debate"]
    debate |= _BLANK | {"setup": debate["setup"] | _BLANK_SETUP}
    return _adapter().validate_json(orjson.dumps(found))


def published_setup(record: DebateRecord) -> Setup:
    """Return a debate's setup without the models of its community that took no part in it."""
    setup = record.debate.setup
    jurors = {ballot.juror for ballot in record.ballots}
    roster = tuple(one for one in setup.panel.readers if one.ref in jurors)
    menu = ("",) * len(setup.menu)  # of a community's models only the number is told
    panel = setup.panel.model_copy(update={"roster": roster})
    return setup.model_copy(update={"panel": panel, "menu": menu})


def _write(entry: Entry) -> str:
    record, debate = entry.record, entry.record.debate
    times = ((name, getattr(debate, name)) for name in _TIMES)
    changed = {name: at and at.replace(microsecond=0) for name, at in times}
    changed["setup"] = published_setup(record)
    published = replace(
        record,
        debate=debate.model_copy(update=changed),
        people=people_of(record, entry.tally) if debate.revealed_at else None,
    )
    return redact_json(_adapter().dump_json(published, include=_PUBLISHED).decode())


@cache
def _adapter() -> TypeAdapter[DebateRecord]:
    return TypeAdapter(DebateRecord)


RECORDS = Table(
    "records",
    "a debate as `rostrum view` and `rostrum calibrate` read it from an export",
    lambda entry: (entry,),
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("record", TEXT, "the request, turns, ballots, verdicts and findings, with counts of "
               "what people said, as JSON; mentions removed", _write),
    ),
)  # fmt: skip
