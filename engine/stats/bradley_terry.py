"""Bradley–Terry strengths with ties, by maximum likelihood; pure.

R. R. Davidson's model (Journal of the American Statistical Association 65, 1970): with strengths
θ and a readiness for ties η, the chances that i wins, j wins, or they tie are as e^θ_i : e^θ_j :
e^(η + (θ_i + θ_j)/2). Without any tie it is R. A. Bradley and M. E. Terry's (Biometrika 39, 1952).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log, sqrt
from typing import NamedTuple, TypeAlias

from engine.stats.contests import Contests, Matchup, comparable_groups, ties_leave_a_difference

ITERATIONS = 200
CLOSE = 1e-11  # a step this small, in units of θ, is the end
ROUNDING = 1e-11  # of a likelihood's logarithm

Vector: TypeAlias = list[float]
Matrix: TypeAlias = list[list[float]]
Seats: TypeAlias = Sequence[tuple[int, int, Matchup]]


class StrengthFit(NamedTuple):
    """Strengths on the scale of log odds, with mean 0, and their standard errors.

    `tie` is η, None without ties. The errors are of the difference to the mean strength, from the
    inverse of the Fisher information.
    """

    strengths: dict[str, float]
    errors: dict[str, float]
    tie: float | None


class _Chances(NamedTuple):
    """How likely the first wins, the second wins, and they tie."""

    first: float
    second: float
    tie: float


def fit_strengths(contests: Contests) -> StrengthFit | None:
    """Fit all models; None if the most likely strengths are not finite."""
    groups = comparable_groups(contests)
    if len(groups) != 1 or not contests.wins or not ties_leave_a_difference(contests):
        return None
    models, pairs = contests.models, list(contests.pairs())
    places = {model: place for place, model in enumerate(models)}
    seats = [(places[pair.first], places[pair.second], pair) for pair in pairs]
    theta = _climb(seats, len(models), with_ties=bool(contests.ties))
    inverse = _invert(_information(seats, theta, len(models)))
    variances = [row[place] - 1 / len(models) for place, row in enumerate(inverse[: len(models)])]
    mean = fsum(theta[: len(models)]) / len(models)
    return StrengthFit(
        strengths={model: theta[place] - mean for model, place in places.items()},
        errors={model: sqrt(max(0.0, variances[place])) for model, place in places.items()},
        tie=theta[-1] if contests.ties else None,
    )


def _climb(seats: Seats, models: int, *, with_ties: bool) -> Vector:
    """Find the maximum of the concave likelihood by Newton's method.

    A step that lowers the likelihood by more than rounding has overshot, and is halved.
    """
    theta = [0.0] * (models + with_ties)
    best = _likelihood(seats, theta, models)
    for _ in range(ITERATIONS):
        slope = _gradient(seats, theta, models)
        inverse = _invert(_information(seats, theta, models))
        step = [fsum(a * b for a, b in zip(row, slope, strict=True)) for row in inverse]
        while True:
            moved = [value + change for value, change in zip(theta, step, strict=True)]
            likelihood = _likelihood(seats, moved, models)
            if likelihood >= best - ROUNDING * (1 - best) or max(map(abs, step)) < CLOSE:
                break
            step = [change / 2 for change in step]
        theta, best = moved, likelihood
        if max(map(abs, step)) < CLOSE:
            break
    return theta


def _chances(theta: Vector, i: int, j: int, models: int) -> _Chances:
    levels = [theta[i], theta[j]]
    if len(theta) > models:
        levels.append(theta[-1] + (theta[i] + theta[j]) / 2)
    top = max(levels)
    raised = [exp(level - top) for level in levels]
    whole = fsum(raised)
    return _Chances(*(part / whole for part in raised), *([0.0] if len(raised) == 2 else []))


def _likelihood(seats: Seats, theta: Vector, models: int) -> float:
    """Return the log-likelihood."""
    terms = []
    for i, j, pair in seats:
        chances = _chances(theta, i, j, models)
        for times, chance in zip((pair.won, pair.lost, pair.tied), chances, strict=True):
            if times:
                terms.append(times * log(max(chance, 1e-300)))
    return fsum(terms)


def _gradient(seats: Seats, theta: Vector, models: int) -> Vector:
    slope = [0.0] * len(theta)
    for i, j, pair in seats:
        chances = _chances(theta, i, j, models)
        met = pair.won + pair.lost + pair.tied
        pull = pair.won + pair.tied / 2 - met * (chances.first + chances.tie / 2)
        slope[i] += pull
        slope[j] -= pull
        if len(theta) > models:
            slope[-1] += pair.tied - met * chances.tie
    return slope


def _information(seats: Seats, theta: Vector, models: int) -> Matrix:
    """Return the Fisher information, made invertible.

    Adding a constant to all strengths changes no chance, so the information is 0 in that direction;
    it is set to 1 there, which affects no step and is removed from the covariance again.
    """
    found = [[0.0] * len(theta) for _ in theta]
    for row in found[:models]:
        row[:models] = [1 / models] * models
    for i, j, pair in seats:
        chances = _chances(theta, i, j, models)
        met = pair.won + pair.lost + pair.tied
        share = chances.first + chances.tie / 2
        spread = met * (chances.first + chances.tie / 4 - share * share)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            found[a][b] += sign * spread
        if len(theta) > models:
            lean = met * chances.tie * (0.5 - share)
            for place, sign in ((i, 1), (j, -1)):
                found[place][-1] += sign * lean
                found[-1][place] += sign * lean
            found[-1][-1] += met * chances.tie * (1 - chances.tie)
    return found


def _invert(matrix: Matrix) -> Matrix:
    """Invert a positive definite matrix by Gauss–Jordan elimination."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda i: abs(rows[i][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        lead = rows[place][place]
        rows[place] = [value / lead for value in rows[place]]
        for i in range(size):
            if i != place and (factor := rows[i][place]):
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[place], strict=True)]
    return [row[size:] for row in rows]
