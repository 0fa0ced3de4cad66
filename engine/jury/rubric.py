"""What a panel scores: criteria, their weights, and what 1 and 10 mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.errors import UsageError

LOWEST, HIGHEST = 1, 10


class Criterion(NamedTuple):
    """One thing that is scored, as an integer from 1 (`low`) to 10 (`high`)."""

    name: str
    weight: float
    low: str
    high: str


class Rubric(NamedTuple):
    """A named set of criteria whose weights add up to 1."""

    name: str
    criteria: tuple[Criterion, ...]

    def score(self, scores: Mapping[str, int]) -> float:
        """Return a contender's score on one ballot: the weighted mean of its criteria, 1–10."""
        return sum(criterion.weight * scores[criterion.name] for criterion in self.criteria)


PANEL = Rubric(
    "panel",
    (
        Criterion("logic", 0.30, "full of gaps", "flawless"),
        Criterion("evidence", 0.30, "all vague", "each piece independently verifiable"),
        Criterion("responsiveness", 0.25, "evaded everything", "answered point by point"),
        Criterion("honesty", 0.15, "sophistry and distortion", "honest and fair"),
    ),
)
EVIDENCE_FIRST = Rubric(
    "evidence_first",
    (
        Criterion("evidence", 0.40, "all vague", "each piece independently verifiable"),
        Criterion("logic", 0.30, "full of gaps", "flawless"),
        Criterion("rebuttal", 0.20, "evaded everything", "answered point by point"),
        Criterion("clarity", 0.10, "hard to follow", "clear to any reader"),
    ),
)
RUBRICS = {rubric.name: rubric for rubric in (PANEL, EVIDENCE_FIRST)}


def find_rubric(name: str) -> Rubric:
    """Return the rubric of that name. Raises UsageError naming the known ones."""
    if name not in RUBRICS:
        raise UsageError(f"There is no rubric “{name}”; choose one of {', '.join(RUBRICS)}.")
    return RUBRICS[name]
