"""How an audited debate is scored: components, calibration bands, the register; pure.

A turn has up to 100 points: logic 40 (a chain of four components of 10), rhetoric 30 (four of
7.5) and tactics 30.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from engine.debate import Value

Outcome = Literal["previous", "latest", "draw"]
SCALES: dict[str, float] = {"logic": 40.0, "rhetoric": 30.0, "tactics": 30.0}
COMPONENTS = {
    "logic": ("cause", "process", "consequence", "premise_addressed"),
    "rhetoric": ("framing", "clarity", "resonance", "delivery"),
}
BESIDE = ("frame_control", "credibility")  # scored 0–10 beside the total, and not added
WINNER_LEAST, LOSER_MOST, DRAW_MOST, LEAST_LEAD = 0.55, 0.85, 0.10, 2.0
WEAK_FRAMING, WEAK_DELIVERY = 3.0, 4.0
UNCALIBRATED = 2  # turns at the start that are marked as less calibrated
SUSPECT = {"hollow": -1.0, "fabricated": -2.0, "inverted_fact": -2.0, "reversed_causality": -2.0}
DROPPED = ("dropped", "contradicted")


class Entry(Value):
    """One line of the register: a suspect claim or a premise, whose, and where it came out.

    `turn` is the number of the turn that it stands in, `exposed_by` that of the turn that
    showed it: the same one for a claim that is suspect as it is said.
    """

    turn: int
    side: str
    kind: str
    text: str
    exposed_by: int

    @property
    def penalty(self) -> float:
        """Points taken from the logic of the turn it stands in; premises cost none."""
        return SUSPECT.get(self.kind, 0.0)


class Points(Value):
    """A turn's scores by criterion, as they stand, and as the judge gave those that moved."""

    values: dict[str, float]
    originals: dict[str, float]

    @property
    def total(self) -> float:
        """The turn's total of 100."""
        return sum(self.values[name] for name in SCALES)

    def moved(self, dimension: str, value: float) -> Points:
        """Return the points with a dimension moved; what the judge said first is kept."""
        said = {dimension: self.values[dimension]} | self.originals
        return Points(values=self.values | {dimension: value}, originals=said)


class Banded(NamedTuple):
    """What two neighbouring turns' scores in one dimension become."""

    previous: float
    latest: float


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


def band(dimension: str, previous: float, latest: float, outcome: Outcome) -> Banded:
    """Return both scores moved to the nearest edges of the bands that a comparison sets.

    A winner has at least 55 % of the scale and 2 points more than the loser, who has at most
    85 %; in a draw they differ by at most 10 %, and the latest one moves.
    """
    scale = SCALES[dimension]
    if outcome == "draw":
        room = DRAW_MOST * scale
        return Banded(previous, min(max(latest, previous - room), previous + room))
    winner, loser = (latest, previous) if outcome == "latest" else (previous, latest)
    winner = max(winner, WINNER_LEAST * scale)
    loser = min(loser, LOSER_MOST * scale, winner - LEAST_LEAD)
    return Banded(loser, winner) if outcome == "latest" else Banded(winner, loser)


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


class Archetypes(Value):
    """The data file of archetypes: twelve traits from 1 to 10 by name, and what moves them.

    `pressures` gives each pressure the traits that it moves, and which way.
    """

    archetypes: dict[str, dict[str, Trait]]
    pressures: dict[str, dict[str, Literal[-1, 1]]]

    @model_validator(mode="after")
    def _is_complete(self) -> Archetypes:
        every = [trait for group in TRAITS.values() for trait in group]
        for name, traits in self.archetypes.items():
            if set(traits) != set(every):
                raise ValueError(f"{name} has to have the traits {', '.join(every)}")
        if set(self.pressures) != set(PRESSURES):
            raise ValueError(f"pressures has to hold {', '.join(PRESSURES)}")
        strange = {trait for moved in self.pressures.values() for trait in moved} - set(every)
        if strange:
            raise ValueError(f"pressures names {', '.join(sorted(strange))}, which is no trait")
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


def direct(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Return the directive that tells a debater how it has changed; empty for no change."""
    lines = [
        f"- {trait.replace('_', ' ')}: {after[trait]:.1f} of 10, {after[trait] - was:+.1f}"
        for trait, was in before.items()
        if abs(after[trait] - was) >= 0.05
    ]
    return "\n".join(lines)


def mean_total(totals: Sequence[float]) -> float | None:
    """Return a side's score: the mean of its turns' totals; None without any."""
    return sum(totals) / len(totals) if totals else None
