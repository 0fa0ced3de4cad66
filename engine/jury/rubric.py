"""Rubrics: criteria, their weights and ranges, and the meaning of a range's ends.

A few rubrics are built in, by name; an operator's own is a TOML file (bot/settings/files.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.values.debate import Criterion, Value
from engine.values.errors import UsageError
from engine.values.language import N_

LOWEST, HIGHEST = 1, 10


class Rubric(Value):
    """A named set of criteria whose weights add up to 1."""

    name: str
    criteria: tuple[Criterion, ...]

    def score(self, scores: Mapping[str, float]) -> float:
        """Return a contender's score on one ballot: the weighted mean of its criteria, 1–10."""
        whole = 0.0
        for one in self.criteria:
            whole += one.weight * one.points(scores[one.name])
        return whole

    def weighed(self, weights: Mapping[str, float]) -> Rubric:
        """Return the rubric with other weights by criterion, in shares of one another."""
        total = math.fsum(weights.values())
        criteria = (
            one.model_copy(update={"weight": weights[one.name] / total}) for one in self.criteria
        )
        return self.model_copy(update={"criteria": tuple(criteria)})


def _rubric(name: str, *criteria: tuple[str, float, str, str]) -> Rubric:
    made = [Criterion(name=n, weight=w, low=low, high=high) for n, w, low, high in criteria]
    return Rubric(name=name, criteria=tuple(made))


DEBATE = _rubric(
    "debate",
    (N_("logic"), 0.30, "full of gaps", "flawless"),
    (N_("evidence"), 0.30, "all vague", "each piece independently verifiable"),
    (N_("responsiveness"), 0.25, "evaded everything", "answered point by point"),
    (N_("honesty"), 0.15, "sophistry and distortion", "honest and fair"),
)
EVIDENCE_FIRST = _rubric(
    "evidence_first",
    (N_("evidence"), 0.40, "all vague", "each piece independently verifiable"),
    (N_("logic"), 0.30, "full of gaps", "flawless"),
    (N_("rebuttal"), 0.20, "evaded everything", "answered point by point"),
    (N_("clarity"), 0.10, "hard to follow", "clear to any reader"),
)
ANSWERS = _rubric(
    "answers",
    (N_("correctness"), 0.35, "wrong where it can be checked", "right wherever it can be checked"),
    (N_("reasoning"), 0.25, "asserts", "every step shown"),
    (N_("usefulness"), 0.25, "misses the question", "answers it so that one can act on it"),
    (N_("candour"), 0.15, "sure of everything", "says how sure it is and where it does not hold"),
)
TRUTH = _rubric("truth", (N_("truth"), 1.0, "certainly wrong", "certainly right"))
CLASSIC_SIX = Rubric(
    name="classic-six",
    criteria=tuple(
        Criterion(name=name, weight=1 / 6, low=low, high=high, lowest=0, highest=20)
        for name, low, high in (
            (N_("clarity"), "hard to follow", "clear to any reader"),
            (N_("consistency"), "contradicts itself", "one case from first to last"),
            (N_("strength"), "no argument holds", "every argument holds"),
            (N_("counter-arguments"), "ignores the other side", "answers its strongest points"),
            (N_("realism"), "could not happen", "holds in the world as it is"),
            (N_("synthesis"), "repeats itself", "draws out what the debate has shown"),
        )
    ),
)
RUBRICS = {rubric.name: rubric for rubric in (DEBATE, ANSWERS, CLASSIC_SIX, EVIDENCE_FIRST, TRUTH)}


def find_rubric(name: str, criteria: tuple[Criterion, ...] = ()) -> Rubric:
    """Return a rubric by name, or a debate's frozen one. Raises UsageError if unknown."""
    if criteria:
        return Rubric(name=name, criteria=criteria)
    if rubric := RUBRICS.get(name):
        return rubric
    raise UsageError(
        "There is no rubric “{name}”; choose one of {rubrics}.",
        name=name,
        rubrics=tuple(RUBRICS),
    )


def own_criteria(rubric: Rubric) -> tuple[Criterion, ...]:
    """Return the criteria that a debate must freeze: none for a built-in rubric."""
    return () if rubric == RUBRICS.get(rubric.name) else rubric.criteria


# --- from a file -------------------------------------------------------------------------
