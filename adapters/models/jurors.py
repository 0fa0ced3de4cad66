"""Ballots of rehearsal models: from the contenders' names and the topic, or by a set bias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.models.options import RehearsalOptions
from adapters.models.scenes import strength
from engine.jury.rubric import RUBRICS
from engine.values.judging import TIE
from engine.values.ports import Call

LEVELS = 5
_DECIDED = 0.5


@dataclass(frozen=True, slots=True)
class Form:
    """The part of a ballot's schema that a juror fills in; `names` in the order shown.

    `criteria` are the lowest and the highest score of each.
    """

    names: tuple[str, ...]
    criteria: Mapping[str, tuple[int, int]]
    verdicts: tuple[str, ...]


def find_form(schema: Mapping[str, Any], call: Call) -> Form | None:
    """Recognise a ballot: scores keyed by contender and then criterion, and a verdict."""
    properties = schema["properties"]
    if "scores" not in properties or "verdict" not in properties:
        return None
    sheets = properties["scores"]["properties"]
    scores = next(iter(sheets.values()))["properties"]
    return Form(
        names=shown_order(tuple(sheets), call),
        criteria={name: (score["minimum"], score["maximum"]) for name, score in scores.items()},
        verdicts=tuple(properties["verdict"]["enum"]),
    )


def shown_order(names: tuple[str, ...], call: Call) -> tuple[str, ...]:
    """Return the contenders as the juror reads them.

    From the cue's `shown` (names joined by commas), else the order of first mention in the user
    messages, else the schema's.
    """
    shown = tuple(name.strip() for name in call.cue.get("shown", "").split(","))
    if set(shown) == set(names):
        return shown
    text = "\n".join(m.content for m in call.messages if m.role == "user")
    found = {name: text.find(name) for name in names}
    return tuple(sorted(names, key=lambda n: found[n] if found[n] >= 0 else len(text)))


def fill_in(form: Form, topic: str, options: RehearsalOptions) -> dict[str, Any]:
    """Return consistent scores, verdict and confidence."""
    preferred = _preferred(form, topic, options)
    if preferred is None:
        scores = {name: _own_sheet(form, topic, name, options.name) for name in form.names}
    else:
        scores = {n: _flat_sheet(form, n == preferred, options.margin) for n in form.names}
    totals = {name: _total(form, sheet) for name, sheet in scores.items()}
    verdict = preferred or _verdict(form, totals)
    gap = max(totals.values()) - min(totals.values())
    confidence = round(min(0.95, 0.5 + 0.1 * gap), 2)
    return {"scores": scores, "verdict": verdict, "confidence": confidence}


def _preferred(form: Form, topic: str, options: RehearsalOptions) -> str | None:
    if options.prefer == "first":
        return form.names[0]
    if options.prefer == "second":
        return form.names[1]
    if options.prefer == "stronger":
        return max(form.names, key=lambda name: (strength(topic, name), name))
    return None


def _own_sheet(form: Form, topic: str, name: str, juror: str) -> dict[str, int]:
    """Score a contender regardless of its identity and position.

    Strength has a few levels, so that contenders are equal on some topics; jurors map levels to
    scores differently, and so agree on ties.
    """
    level = int(strength(topic, name) * LEVELS)
    sheet = {}
    for criterion, (low, high) in form.criteria.items():
        lean = strength(juror, topic, criterion, level) - 0.5
        share = 0.3 + 0.5 * level / (LEVELS - 1) + 0.25 * lean
        sheet[criterion] = low + round((high - low) * share)
    return sheet


def _flat_sheet(form: Form, preferred: bool, margin: int) -> dict[str, int]:
    sheet = {}
    for criterion, (low, high) in form.criteria.items():
        base = (low + high + margin) // 2
        sheet[criterion] = min(high, base) if preferred else max(low, base - margin)
    return sheet


def _total(form: Form, sheet: Mapping[str, int]) -> float:
    for rubric in RUBRICS.values():
        if {c.name for c in rubric.criteria} == set(sheet):
            return rubric.score(sheet)
    ends = form.criteria.items()
    points = [1 + 9 * (sheet[name] - low) / max(1, high - low) for name, (low, high) in ends]
    return sum(points) / len(points)


def _verdict(form: Form, totals: Mapping[str, float]) -> str:
    first, second = sorted(totals.values(), reverse=True)[:2]
    if first - second < _DECIDED:
        return next((word for word in form.verdicts if word.casefold() == TIE), TIE)
    return max(totals, key=lambda name: totals[name])
