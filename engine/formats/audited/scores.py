"""How a turn of an audited debate is scored, and how debaters change under pressure; pure.

A turn has up to 100 points: logic 40 (a chain of four components of 10), rhetoric 30 (four of
7.5) and tactics 30.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from engine.values.debate import Value

# Calibration bands: what a comparison of two turns says about their scores; pure.
#
# A comparison binds neighbours alone, but a turn has two neighbours: moved into one band it may
# leave the other. So all turns are adjusted together, at the end, by the smallest total change.
# That is isotonic regression under the absolute error, with bounds on each value and on each step;
# it is solved by dynamic programming over the breakpoints of a convex piecewise linear function: G.
# Rote, “Isotonic Regression by Dynamic Programming”, SOSA 2019, doi:10.4230/OASIcs.SOSA.2019.1.


Outcome = Literal["previous", "latest", "draw"]
WINNER_LEAST, LOSER_MOST, DRAW_MOST, LEAST_LEAD = 0.55, 0.85, 0.10, 2.0
PLACES = 6  # decimals of an adjusted score


class _Bands(NamedTuple):
    """The bounds of each turn's score, and of each step from a turn to the next."""

    low: list[float]
    high: list[float]
    least: list[float]
    most: list[float]


def find_bands(scale: float, outcomes: Sequence[Outcome | None]) -> _Bands:
    """Return what comparisons of neighbours allow; None for two that were not compared.

    A winner has at least 55 % of the scale and 2 points more than the loser, who has at most
    85 %; in a draw they differ by at most 10 %.
    Between 55 % and 85 % there is no room for a long run of turns each of which beats the one
    before by 2 points: such a run shares the room there is in equal steps.
    """
    turns = len(outcomes) + 1
    low, high = [0.0] * turns, [scale] * turns
    for at, outcome in enumerate(outcomes):
        if outcome in ("latest", "previous"):
            winner, loser = (at + 1, at) if outcome == "latest" else (at, at + 1)
            low[winner] = max(low[winner], WINNER_LEAST * scale)
            high[loser] = min(high[loser], LOSER_MOST * scale)
    rising = _leads("latest", scale, outcomes, low, high)
    falling = _leads("previous", scale, outcomes[::-1], low[::-1], high[::-1])[::-1]
    least, most = [-inf] * len(outcomes), [inf] * len(outcomes)
    for at, outcome in enumerate(outcomes):
        match outcome:
            case "latest":
                least[at] = rising[at]
            case "previous":
                most[at] = -falling[at]
            case "draw":
                least[at], most[at] = -DRAW_MOST * scale, DRAW_MOST * scale
    return _Bands(low, high, least, most)


def _leads(
    wins: Outcome,
    scale: float,
    outcomes: Sequence[Outcome | None],
    low: Sequence[float],
    high: Sequence[float],
) -> list[float]:
    """Return by how much each turn has to lead the one before, where `wins` says that it does."""
    leads = [LEAST_LEAD] * len(outcomes)
    for first in range(len(outcomes)):
        won, drawn = 0, 0
        for at in range(first, len(outcomes)):
            if outcomes[at] not in (wins, "draw"):
                break
            won += outcomes[at] == wins
            drawn += outcomes[at] == "draw"
            room = high[at + 1] - low[first] + drawn * DRAW_MOST * scale
            if room < won * LEAST_LEAD:
                share = room / won
                leads[first : at + 1] = [min(lead, share) for lead in leads[first : at + 1]]
    return leads


def settle(scores: Sequence[float], bands: _Bands) -> list[float]:
    """Return scores within all bands whose distances from the given ones add up to the least.

    Of several answers it is the one that leaves later turns as they are, where it can. The lists
    `left` and `right` hold where the slope of the total change, as a function of the score of the
    turn at hand, rises by one: below and above its minimum.
    """
    left: list[float] = []
    right: list[float] = []
    bottom, top = bands.low[0], bands.high[0]
    course = []
    for at, score in enumerate(scores):
        if at:
            least, most = bands.least[at - 1], bands.most[at - 1]
            bottom, top = max(bands.low[at], bottom + least), min(bands.high[at], top + most)
            left = [min(max(point + least, bottom), top) for point in left]
            right = [min(max(point + most, bottom), top) for point in right]
        kept = min(max(score, bottom), top)
        insort(left, kept)
        insort(right, left.pop())
        insort(right, kept)
        insort(left, right.pop(0))
        course.append((bottom, top, left[-1], right[0]))
    return _trace_back(scores, course, bands)


def _trace_back(
    scores: Sequence[float], course: Sequence[tuple[float, float, float, float]], bands: _Bands
) -> list[float]:
    """Choose the last turn's score, then each earlier one's within a step of the next."""
    settled = [0.0] * len(scores)
    for at in range(len(scores) - 1, -1, -1):
        bottom, top, best, still_best = course[at]
        if at < len(scores) - 1:
            bottom = max(bottom, settled[at + 1] - bands.most[at])
            top = min(top, settled[at + 1] - bands.least[at])
        wanted = min(max(scores[at], best), still_best)
        settled[at] = min(max(wanted, bottom), top)
    return settled


SCALES: dict[str, float] = {"logic": 40.0, "rhetoric": 30.0, "tactics": 30.0}
COMPONENTS = {
    "logic": ("cause", "process", "consequence", "premise_addressed"),
    "rhetoric": ("framing", "clarity", "resonance", "delivery"),
}
BESIDE = ("frame_control", "credibility")  # scored 0–10 beside the total, and not added
WEAK_FRAMING, WEAK_DELIVERY = 3.0, 4.0
UNCALIBRATED = 2  # turns at the start that are marked as less calibrated
# Points that a logic failure takes from the turn it stands in, unless the operator set others.
SUSPECT = {"hollow": -1.0, "fabricated": -2.0, "inverted_fact": -2.0, "reversed_causality": -2.0}
BROKEN = {"dropped": -1.0, "contradicted": -2.0}
PENALTIES: Mapping[str, float] = SUSPECT | BROKEN


def penalties_of(limits: Mapping[str, float]) -> dict[str, float]:
    """Return what each kind of failure costs, by a debate's limits such as `penalty_hollow`."""
    return {kind: -limits.get(f"penalty_{kind}", -usual) for kind, usual in PENALTIES.items()}


class Points(Value):
    """A turn's scores by criterion, as they stand, and as the judge gave those that moved."""

    values: dict[str, float]
    originals: dict[str, float]

    @property
    def total(self) -> float:
        """The turn's total of 100."""
        return sum(self.values[name] for name in SCALES)

    def said(self, name: str) -> float:
        """Return the judge's own score of a criterion."""
        return self.originals.get(name, self.values[name])


def total_points(given: Mapping[str, float]) -> Points:
    """Add up the judge's components, by the rules that bind one to another."""
    values = dict(given)
    originals = {}
    if values["framing"] < WEAK_FRAMING and values["delivery"] > WEAK_DELIVERY:
        originals["delivery"] = values["delivery"]
        values["delivery"] = WEAK_DELIVERY
    for dimension, names in COMPONENTS.items():
        values[dimension] = sum(values[name] for name in names)
    return Points(values=values, originals=originals)


def loser_of(outcomes: Mapping[str, Outcome]) -> Outcome | None:
    """Return which of two turns lost most dimensions; None in a draw."""
    won = [outcome for outcome in outcomes.values() if outcome != "draw"]
    lead = won.count("latest") - won.count("previous")
    if lead == 0:
        return None
    return "previous" if lead > 0 else "latest"


# --- debaters that adapt ---------------------------------------------------------------


TRAITS = {
    "cognitive": ("analytical_depth", "abstraction", "evidence_appetite", "flexibility"),
    "emotional": ("composure", "intensity", "empathy", "confidence"),
    "rhetorical": ("directness", "aggression", "figurativeness", "concision"),
}
PRESSURES = ("cognitive", "emotional", "strategic", "credibility")
Trait = Annotated[float, Field(ge=1, le=10)]


class _TraitConduct(Value):
    """What a debater does with more of a trait, and with less of it."""

    more: str
    less: str


class Archetypes(Value):
    """The data file of archetypes: twelve traits from 1 to 10 by name, and what moves them.

    `pressures` gives each pressure the traits that it moves, and which way; `conduct` says in words
    what a move means. A trait may lack it.
    """

    archetypes: dict[str, dict[str, Trait]]
    pressures: dict[str, dict[str, Literal[-1, 1]]]
    conduct: dict[str, _TraitConduct] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_complete(self) -> Archetypes:
        every = [trait for group in TRAITS.values() for trait in group]
        for name, traits in self.archetypes.items():
            if set(traits) != set(every):
                raise ValueError(f"{name} has to have the traits {', '.join(every)}")
        if set(self.pressures) != set(PRESSURES):
            raise ValueError(f"pressures has to hold {', '.join(PRESSURES)}")
        moved = {trait for traits in self.pressures.values() for trait in traits}
        for name, said in (("pressures", moved), ("conduct", set(self.conduct))):
            if strange := said - set(every):
                raise ValueError(f"{name} names {', '.join(sorted(strange))}, which is no trait")
        return self


def move_traits(
    traits: Mapping[str, float],
    signals: Mapping[str, float],
    pressures: Mapping[str, Mapping[str, int]],
    elasticity: float,
) -> dict[str, float]:
    """Return the traits after pressure: each moves by pressure × elasticity, within 1–10.

    Several pressures on one trait add up before it is kept within.
    """
    moved = dict(traits)
    for pressure, signal in signals.items():
        for trait, way in pressures[pressure].items():
            moved[trait] += signal * way * elasticity
    return {trait: min(max(value, 1.0), 10.0) for trait, value in moved.items()}


def direct(
    before: Mapping[str, float], after: Mapping[str, float], conduct: Mapping[str, _TraitConduct]
) -> str:
    """Return the directive that tells a debater how it has changed; empty for no change."""
    lines = []
    for trait, was in before.items():
        by = after[trait] - was
        if abs(by) >= 0.05:
            known = conduct.get(trait)
            told = f". {known.more if by > 0 else known.less}" if known else ""
            lines.append(f"- {trait.replace('_', ' ')}: {after[trait]:.1f} of 10, {by:+.1f}{told}")
    return "\n".join(lines)


def mean_total(totals: Sequence[float]) -> float | None:
    """Return a side's score: the mean of its turns' totals; None without any."""
    return sum(totals) / len(totals) if totals else None
