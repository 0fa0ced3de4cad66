"""Strengths of models by maximum likelihood, with ties and covariates; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, log, sqrt
from typing import NamedTuple, TypeAlias, TypeVar

# Who won against whom, and which models can be compared; pure.


T = TypeVar("T")


class Matchup(NamedTuple):
    """The results between two models: wins of each, and ties.

    `edges` are covariates of the first one's lead, such as +1 if it spoke for side A, −1 if against
    (see engine/stats/ratings.py).
    """

    first: str
    second: str
    won: int
    lost: int
    tied: int
    edges: tuple[float, ...] = ()


@dataclass(slots=True)
class Contests:
    """Wins by (winner, loser), ties by the two names in order."""

    wins: Counter[tuple[str, str]] = field(default_factory=Counter)
    ties: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add_win(self, winner: str, loser: str) -> None:
        """Count a win."""
        self.wins[winner, loser] += 1

    def add_tie(self, one: str, other: str) -> None:
        """Count a tie."""
        self.ties[min(one, other), max(one, other)] += 1

    @property
    def models(self) -> tuple[str, ...]:
        """All models, by name."""
        return tuple(sorted({model for pair in (*self.wins, *self.ties) for model in pair}))

    def pairs(self) -> Iterator[Matchup]:
        """Yield every pair that met, once."""
        met = {(min(pair), max(pair)) for pair in (*self.wins, *self.ties)}
        for first, second in sorted(met):
            won, lost = self.wins[first, second], self.wins[second, first]
            yield Matchup(first, second, won, lost, self.ties[first, second])

    def among(self, models: Iterable[str]) -> Contests:
        """Return the contests between some models only."""
        kept = set(models)
        return Contests(
            Counter({pair: n for pair, n in self.wins.items() if kept.issuperset(pair)}),
            Counter({pair: n for pair, n in self.ties.items() if kept.issuperset(pair)}),
        )

    def beaten(self) -> dict[str, set[str]]:
        """Return the models that each one won or tied against."""
        found: dict[str, set[str]] = {model: set() for model in self.models}
        for winner, loser in self.wins:
            found[winner].add(loser)
        for one, other in self.ties:
            found[one].add(other)
            found[other].add(one)
        return found


def reach(links: Mapping[T, set[T]], start: T) -> set[T]:
    """Return the models reachable along links, including the start."""
    found, todo = {start}, [start]
    while todo:
        for model in links[todo.pop()] - found:
            found.add(model)
            todo.append(model)
    return found


def comparable_groups(contests: Contests) -> list[tuple[str, ...]]:
    """Return the models that can be rated together, the largest group first.

    Within a group, chains of wins and ties lead from each model to each other one; without them
    the most likely difference in strength is infinite. Source: L. R. Ford, American Mathematical
    Monthly 64 (1957).
    """
    reached = {model: reach(contests.beaten(), model) for model in contests.models}
    groups = {
        tuple(sorted(other for other in there if model in reached[other]))
        for model, there in reached.items()
    }
    return sorted(groups, key=lambda group: (-len(group), group))


def ties_leave_a_difference(contests: Contests) -> bool:
    """Return whether differences within a group can be measured despite its ties.

    With ties, the likelihood has a finite maximum only if some cycle of models has more wins than
    ties; otherwise scaling up all differences, and η with them, never lowers it. Found as a cycle
    of negative length, where a win is −1 and a tie +1 (Bellman and Ford).
    """
    if not contests.ties:
        return True
    steps = [(winner, loser, -1) for winner, loser in contests.wins]
    for one, other in contests.ties:
        steps += [(one, other, 1), (other, one, 1)]
    far = dict.fromkeys(contests.models, 0)
    # Without a negative cycle no shortest path has more steps than models.
    for _ in range(len(far) + 1):
        shortened = False
        for start, end, length in steps:
            if far[start] + length < far[end]:
                far[end] = far[start] + length
                shortened = True
        if not shortened:
            return False
    return True


# The likelihood of paired comparisons with ties and covariates, and its maximum; pure.
#
# The lead of the first over the second is d = θ_i − θ_j + Σ β_k·x_k, in log odds. The chances that
# the first wins, the second wins, and they tie are as e^(d/2) : e^(−d/2) : e^η. With d = θ_i − θ_j
# this is R. R. Davidson's model (Journal of the American Statistical Association 65, 1970), and
# without any tie R. A. Bradley and M. E. Terry's (Biometrika 39, 1952). β·x is how leaderboards
# control for order and style (T. Li, A. Angelopoulos, W.-L. Chiang, "Does style matter?", LMSYS
# 2024); order in paired comparisons: R. R. Davidson, R. J. Beaver, Biometrics 33 (1977).


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
