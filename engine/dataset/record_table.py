"""The table of records: each debate as pages and calibrations read it, in one cell."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter

from engine.dataset.columns import DEBATE, REPLACED, SPLIT, TEXT, Column, Table
from engine.dataset.entry import Entry
from engine.store import DebateRecord
from engine.values.debate import Setup
from engine.values.text import redact_json
from engine.values.verdicts import Ballot
from engine.votes.close import people_of

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
