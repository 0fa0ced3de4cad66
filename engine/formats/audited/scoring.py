"""How a turn of an audited debate is scored, and how debaters change under pressure; pure.

A turn has up to 100 points: logic 40 (a chain of four components of 10), rhetoric 30 (four of
7.5) and tactics 30.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.formats.audited.bands import Outcome
from engine.values.debate import Value

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


class Conduct(Value):
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
    conduct: dict[str, Conduct] = Field(default_factory=dict)

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
    before: Mapping[str, float], after: Mapping[str, float], conduct: Mapping[str, Conduct]
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
