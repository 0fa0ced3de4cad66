"""The likelihood of paired comparisons with ties and covariates, and its maximum; pure.

The lead of the first over the second is d = θ_i − θ_j + Σ β_k·x_k, in log odds. The chances that
the first wins, the second wins, and they tie are as e^(d/2) : e^(−d/2) : e^η. With d = θ_i − θ_j
this is R. R. Davidson's model (Journal of the American Statistical Association 65, 1970), and
without any tie R. A. Bradley and M. E. Terry's (Biometrika 39, 1952). β·x is how leaderboards
control for order and style (T. Li, A. Angelopoulos, W.-L. Chiang, "Does style matter?", LMSYS
2024); order in paired comparisons: R. R. Davidson, R. J. Beaver, Biometrics 33 (1977).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from typing import NamedTuple, TypeAlias

ITERATIONS = 200
CLOSE = 1e-11  # a step this small is the end
ROUNDING = 1e-11  # of a likelihood's logarithm
HUGE = 300.0  # whose exponential is still a number
FAR = 30.0  # a lead that no number of debates can show: the maximum is at infinity

Vector: TypeAlias = list[float]
Matrix: TypeAlias = list[list[float]]
Lead: TypeAlias = tuple[tuple[int, float], ...]
"""What a lead adds up: the places of parameters, and how often each counts."""


class Bouts(NamedTuple):
    """Comparisons that are alike: how their lead is made, and how often each result came."""

    lead: Lead
    won: float
    lost: float
    tied: float


class _PairChances(NamedTuple):
    """How likely the first wins, the second wins, and they tie."""

    first: float
    second: float
    tie: float

    @property
    def spread(self) -> float:
        """The Fisher information of one comparison about its lead."""
        share = self.first + self.tie / 2
        return self.first + self.tie / 4 - share * share


def chances(lead: float, tie: float | None) -> _PairChances:
    """Return the chances at a lead d and a readiness for ties η (None: there are no ties)."""
    first = exp(max(-HUGE, min(HUGE, lead / 2)))
    second = 1 / first
    room = exp(max(-HUGE, min(HUGE, tie))) if tie is not None else 0.0
    whole = first + second + room
    return _PairChances(first / whole, second / whole, room / whole)


@dataclass(frozen=True, slots=True)
class PairLikelihood:
    """The log-likelihood of parameters: `models` strengths, then `effects`, then η with `ties`.

    `prior` is the precision of a normal prior with mean 0 on every parameter; 0 for none.
    """

    bouts: Sequence[Bouts]
    models: int
    effects: int = 0
    ties: bool = False
    prior: float = 0.0

    @property
    def start(self) -> Vector:
        """All parameters at 0."""
        return [0.0] * (self.models + self.effects + self.ties)

    def chances_of(self, bouts: Bouts, theta: Vector) -> _PairChances:
        """Return the chances of comparisons at some parameters."""
        return chances(_lead(bouts, theta), theta[-1] if self.ties else None)

    def value(self, theta: Vector) -> float:
        """Return the log-likelihood, with the prior's."""
        terms = [-self.prior / 2 * one * one for one in theta]
        for bouts in self.bouts:
            for times, chance in zip(bouts[1:], self.chances_of(bouts, theta), strict=True):
                if times:
                    terms.append(times * log(max(chance, 1e-300)))
        return fsum(terms)

    def information(self, theta: Vector) -> Matrix:
        """Return the Fisher information (see `derive`)."""
        return self.derive(theta)[1]

    def derive(self, theta: Vector) -> tuple[Vector, Matrix]:
        """Return the gradient, and the Fisher information made invertible.

        Adding a constant to all strengths changes no chance, so the information is 0 in that
        direction; 1 is added there, which affects no step, and `variances` takes it out again.
        """
        slope = [-self.prior * one for one in theta]
        found = [[0.0] * len(theta) for _ in theta]
        for place, row in enumerate(found):
            if place < self.models:
                row[: self.models] = [1 / self.models] * self.models
            row[place] += self.prior
        for bouts in self.bouts:
            chance = self.chances_of(bouts, theta)
            met = bouts.won + bouts.lost + bouts.tied
            balance = chance.first - chance.second
            pull = (bouts.won - bouts.lost - met * balance) / 2
            for place, weight in bouts.lead:
                slope[place] += weight * pull
            add_outer(found, bouts.lead, met * chance.spread)
            if self.ties:
                slope[-1] += bouts.tied - met * chance.tie
                found[-1][-1] += met * chance.tie * (1 - chance.tie)
                for place, weight in bouts.lead:
                    lean = weight * met * chance.tie * balance / -2
                    found[place][-1] += lean
                    found[-1][place] += lean
        return slope, found

    def variances(self, inverse: Matrix) -> Vector:
        """Return the variances of strengths, as differences to their mean, and of effects.

        `inverse` is that of the information.
        """
        constant = 1 / self.models / (1 + self.prior)
        return [
            max(0.0, row[place] - (constant if place < self.models else 0))
            for place, row in enumerate(inverse)
        ]


def climb(likelihood: PairLikelihood, start: Vector | None = None) -> Vector | None:
    """Find the maximum of the concave likelihood by Newton's method; None if it is at infinity.

    A step that lowers the likelihood by more than rounding has overshot, and is halved.
    """
    theta = start or likelihood.start
    best = likelihood.value(theta)
    for _ in range(ITERATIONS):
        slope, information = likelihood.derive(theta)
        inverse = invert(information)
        if inverse is None:
            return None
        step = [fsum(a * b for a, b in zip(row, slope, strict=True)) for row in inverse]
        while True:
            moved = [value + change for value, change in zip(theta, step, strict=True)]
            value = likelihood.value(moved)
            if value >= best - ROUNDING * (1 - best) or max(map(abs, step)) < CLOSE:
                break
            step = [change / 2 for change in step]
        theta, best = moved, value
        if max(map(abs, step)) < CLOSE:
            break
        if any(abs(_lead(bouts, theta)) > FAR for bouts in likelihood.bouts):
            return None
    return theta


def invert(matrix: Matrix, least: float = 0.0) -> Matrix | None:
    """Invert a positive definite matrix; None for another.

    None also if a variable keeps no more than a share `least` of its own once those before it are
    known: the square of its place on the diagonal of the Cholesky factor.
    """
    import numpy as np  # not loaded before there is something to fit

    given = np.array(matrix)
    try:
        kept = np.linalg.cholesky(given).diagonal() ** 2
    except np.linalg.LinAlgError:
        return None
    if not (kept > least * given.diagonal()).all():
        return None
    inverse: Matrix = np.linalg.inv(given).tolist()
    return inverse


def add_outer(matrix: Matrix, lead: Lead, times: float) -> None:
    """Add a lead's outer product to a matrix."""
    for i, one in lead:
        for j, other in lead:
            matrix[i][j] += times * one * other


def _lead(bouts: Bouts, theta: Vector) -> float:
    return sum(weight * theta[place] for place, weight in bouts.lead)
