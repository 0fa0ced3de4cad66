"""What a format found beside its turns: trace table, register, scores, and everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from pydantic import ValidationError

from engine.formats.audited.judge import tell_entry
from engine.formats.audited.ledger import RegisterEntry
from engine.formats.structured.trace import Trace, describe, table
from engine.jury.explain import STEP as WHY
from engine.pages.debate import SPOKEN, Grid, Rows, Section
from engine.values.judging import DECISION, POSITION, QUESTIONS, RETRIEVED
from engine.values.text import marked
from engine.words.phrases import option_name
from engine.words.translation import number, say

Row: TypeAlias = Mapping[str, Any]
TRACE, REGISTER = "The trace table", "The register"
SCORES, CHANGES, OTHERS = (
    "Scores by the format's own judge",
    "Scores changed afterwards",
    "Findings",
)
JUDGMENT = "The format's own judge"
SHOWN_ELSEWHERE = (DECISION, POSITION, QUESTIONS, RETRIEVED, WHY)
MOST_ROWS = 150
LONGEST_BODY = 4_000  # characters
MORE = "{n} more in the export"


def found_sections(rows: Rows, names: Mapping[str, str]) -> Iterator[Section | None]:
    """Yield a section for each kind of finding that a debate has."""
    artifacts = [one for one in rows.get("artifacts", ()) if one["kind"] not in SHOWN_ELSEWHERE]
    yield _judgment(rows.get("judgments", ()), names)
    yield from _traces(artifacts)
    yield _register(artifacts)
    yield _scores(rows)
    yield _changes(rows.get("adjustments", ()))
    yield from _others([one for one in artifacts if one["kind"] not in ("structured", "register")])


def _judgment(judgments: Sequence[Row], names: Mapping[str, str]) -> Section | None:
    facts = []
    for one in judgments:
        won = option_name(one["winner"], names) if one["winner"] else say("no verdict")
        facts.append((one["judge"], f"{won}: {one['problem']}" if one["problem"] else won))
    return Section("own-judge", say(JUDGMENT), tuple(facts)) if facts else None


def _traces(artifacts: Sequence[Row]) -> Iterator[Section]:
    """Yield the trace table of a structured debate, in the words of its thread."""
    for one in artifacts:
        if one["kind"] == "structured" and one["valid"]:
            try:
                found = orjson.loads(one["body"]).get("traces", ())
                traces = [Trace.model_validate(each) for each in found]
            except (ValidationError, orjson.JSONDecodeError, AttributeError):
                continue
            if traces:
                text = "\n\n".join((table(traces), *describe(traces)))
                yield Section("trace", say(TRACE), text=text)


def _register(artifacts: Sequence[Row]) -> Section | None:
    for one in artifacts:
        if one["kind"] == "register" and one["valid"]:
            try:
                found = orjson.loads(one["body"])["entries"]
                told = [tell_entry(RegisterEntry.model_validate(each)) for each in found]
            except (ValidationError, orjson.JSONDecodeError, KeyError):
                return None
            return Section("register", say(REGISTER), text="\n".join(told)) if told else None
    return None


def _scores(rows: Rows) -> Section | None:
    """Return every score: a row a subject, a column a criterion; those that moved have both."""
    found = rows.get("scores", ())
    criteria = list(dict.fromkeys(one["criterion"] for one in found))
    numbers = {one["step"]: f"{one['seat']} · {one['number']}" for one in rows.get(SPOKEN, ())}
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for one in found:
        cells.setdefault((one["subject"], one["side"]), {})[one["criterion"]] = _score(one)
    lines = tuple(
        (numbers.get(subject, subject), marked(side), *(given.get(c, "") for c in criteria))
        for (subject, side), given in cells.items()
    )
    if not lines:
        return None
    head = (say("subject"), say("side"), *(say(one) for one in criteria))
    return Section("scores", say(SCORES), grids=(_fit(Grid(head, lines)),))


def _score(one: Row) -> str:
    given, stands = number(one["value"], "g"), number(one["adjusted"], ".4g")
    return given if one["adjusted"] == one["value"] else f"{stands} ({given})"


def _changes(adjustments: Sequence[Row]) -> Section | None:
    lines = tuple(
        (
            one["subject"],
            marked(one["side"]),
            one["criterion"] or "total",
            number(one["amount"], "+g"),
            one["reason"],
        )
        for one in adjustments
    )
    if not lines:
        return None
    head = (say("subject"), say("side"), say("criterion"), say("points"), say("reason"))
    return Section("adjustments", say(CHANGES), grids=(_fit(Grid(head, lines)),))


def _others(artifacts: Sequence[Row]) -> Iterator[Section]:
    """Yield what has no form of its own, as JSON."""
    if not artifacts:
        return
    bodies = [f"{one['name']} ({one['kind']})\n{_pretty(one['body'])}" for one in artifacts]
    yield Section("findings", say(OTHERS), raw="\n\n".join(bodies))


def _pretty(body: str) -> str:
    told = orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()
    return told if len(told) <= LONGEST_BODY else f"{told[:LONGEST_BODY]} …"


def _fit(grid: Grid) -> Grid:
    """Return a table whose rows fit on a page; the export has them all."""
    if len(grid.rows) <= MOST_ROWS:
        return grid
    more = say(MORE, n=len(grid.rows) - MOST_ROWS)
    last = (more, *("" for _ in grid.head[1:]))
    return Grid(grid.head, (*grid.rows[:MOST_ROWS], last))
