"""Strengths of models by maximum likelihood, with ties and covariates; pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

from engine.stats.contests import Contests, Matchup, comparable_groups, ties_leave_a_difference
from engine.stats.likelihood import Bouts, PairLikelihood, climb, invert

APART = 1e-9  # the least share of a covariate that the others must leave unexplained


class StrengthFit(NamedTuple):
    """Strengths on the scale of log odds, with mean 0, and their standard errors.

    `tie` is η, None without ties; `effects` are those of the matchups' edges, each with its
    standard error. The errors of strengths are of the difference to the mean strength, all from
    the inverse of the Fisher information.
    """

    strengths: dict[str, float]
    errors: dict[str, float]
    tie: float | None
    effects: tuple[tuple[float, float], ...] = ()


def fit_strengths(contests: Contests) -> StrengthFit | None:
    """Fit all models; None if the most likely strengths are not finite."""
    return fit_matchups(list(contests.pairs())) if can_be_rated(contests) else None


def can_be_rated(contests: Contests) -> bool:
    """Return whether the most likely strengths of all models are finite."""
    groups = comparable_groups(contests)
    return len(groups) == 1 and bool(contests.wins) and ties_leave_a_difference(contests)


def fit_matchups(matchups: Sequence[Matchup]) -> StrengthFit | None:
    """Fit all models and the effects of their edges.

    The strengths alone must have a finite maximum (see `can_be_rated`). None if the
    effects have none, or cannot be told apart.
    """
    if not told_apart(matchups):
        return None
    likelihood, places = _arrange(matchups)
    theta = climb(likelihood)
    inverse = invert(likelihood.information(theta)) if theta is not None else None
    if theta is None or inverse is None:
        return None
    errors = [sqrt(variance) for variance in likelihood.variances(inverse)]
    models = likelihood.models
    mean = fsum(theta[:models]) / models
    effects = range(models, models + likelihood.effects)
    return StrengthFit(
        strengths={model: theta[place] - mean for model, place in places.items()},
        errors={model: errors[place] for model, place in places.items()},
        tie=theta[-1] if likelihood.ties else None,
        effects=tuple((theta[place], errors[place]) for place in effects),
    )


def _arrange(matchups: Sequence[Matchup]) -> tuple[PairLikelihood, dict[str, int]]:
    """Return the likelihood of matchups, and the place of each model's strength."""
    names = sorted({name for one in matchups for name in (one.first, one.second)})
    places = {name: place for place, name in enumerate(names)}
    bouts = []
    for one in matchups:
        edges = enumerate(one.edges, start=len(names))
        lead = ((places[one.first], 1.0), (places[one.second], -1.0), *edges)
        bouts.append(Bouts(lead, one.won, one.lost, one.tied))
    likelihood = PairLikelihood(
        bouts=bouts,
        models=len(names),
        effects=len(matchups[0].edges),
        ties=any(one.tied for one in matchups),
    )
    return likelihood, places


def told_apart(matchups: Sequence[Matchup]) -> bool:
    """Return whether no covariate follows from the others and from who met whom."""
    likelihood, _ = _arrange(matchups)
    if not likelihood.effects:
        return True
    return invert(likelihood.information(likelihood.start), APART) is not None
