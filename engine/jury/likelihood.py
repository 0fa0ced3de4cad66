"""How likely jurors' signals are under the model of jurors, with its gradient; needs NumPy.

The signals of one debate are normal with mean 0 and the covariance C·R·C of the jurors who were
asked: those who were not are simply not in it. The plan asks further jurors because of ballots
that are in it, so leaving the missing ones out is exact (Rubin 1976). Debates with the same jurors
share a covariance, and so need only their number n and S = Σ x·x′.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# Minimises a smooth function by the limited-memory method of Broyden, Fletcher, Goldfarb, Shanno.
#
# The two-loop recursion of Nocedal and Wright, Numerical Optimization, algorithm 7.4, with steps
# halved until the function falls enough (Armijo).


Vector: TypeAlias = NDArray[np.float64]
Objective: TypeAlias = Callable[[Vector], tuple[float, Vector]]

MEMORY = 12
ENOUGH = 1e-4  # of the fall that the gradient promises
LONGEST = 1.0  # step of any parameter: the first directions are badly scaled
HALVINGS = 30


class _Point(NamedTuple):
    x: Vector
    value: float
    slope: Vector


def minimise(
    objective: Objective, start: Vector, rounds: int, tolerance: float = 1e-3
) -> tuple[Vector, float]:
    """Return a local minimum of a function that gives its value and gradient, and its value there.

    Ends when no part of the gradient is larger than `tolerance`, or a step gains less than a
    ten-thousandth of it, as a share of the value.
    """
    point = _Point(start, *objective(start))
    steps: deque[tuple[Vector, Vector]] = deque(maxlen=MEMORY)
    for _ in range(rounds):
        if np.abs(point.slope).max() < tolerance:
            break
        following = _descend(objective, point, _direct(point.slope, steps))
        if following is None:
            break
        step, bend = following.x - point.x, following.slope - point.slope
        if step @ bend > 1e-12:
            steps.append((step, bend))
        fell, point = point.value - following.value, following
        if fell < 1e-4 * tolerance * max(1.0, abs(point.value)):
            break
    return point.x, point.value


def _direct(slope: Vector, steps: deque[tuple[Vector, Vector]]) -> Vector:
    """Return the direction in which a quadratic through the last steps is lowest."""
    q = slope.copy()
    pulls = []
    for step, bend in reversed(steps):
        pulls.append(step @ q / (step @ bend))
        q -= pulls[-1] * bend
    if steps:
        step, bend = steps[-1]
        q *= step @ bend / (bend @ bend)
    for (step, bend), pull in zip(steps, reversed(pulls), strict=True):
        q += (pull - bend @ q / (step @ bend)) * step
    longest: float = np.abs(q).max()
    return -q * min(1.0, LONGEST / longest)


def _descend(objective: Objective, point: _Point, direction: Vector) -> _Point | None:
    fall = float(direction @ point.slope)
    size = 1.0
    for _ in range(HALVINGS):
        x = point.x + size * direction
        value, slope = objective(x)
        if value <= point.value + ENOUGH * size * fall:
            return _Point(x, value, slope)
        size /= 2
    return None


Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]

SKILL_SD = 0.3  # of the logarithm, over jurors
MEAN_SKILL, MEAN_SKILL_SD = 0.0, 0.4
# Ballots hardly tell shared errors from skill, and fits end a fifth above this centre; at 0.25, p
# is neither too sure nor too careful (docs/statistics.md).
SHARED, KIN, VARIANCE_SD = 0.25, 0.05, 0.7
GROUP_COST, GROUP_ROUND = 3.0, 0.01
SCALE_SD = 0.3
PEOPLE, PEOPLE_SD = 1.1, 0.3  # people's skill: a correlation of 0.74 with the truth


class _Same(NamedTuple):
    """Debates by their k jurors: shapes (panels, k), (panels,) and (k, k, panels)."""

    jurors: Numbers
    n: Vector
    products: Matrix


@dataclass(frozen=True, slots=True)
class JurorLikelihood:
    """The model's objective: −log of likelihood times prior.

    Parameters are log skill, group and log scale of every reader, then the logarithms of `shared`
    and `kin`, and the mean log skill. `kinship` is 1 for two readers of one family; the last reader
    is people's majority if `people`. `scale` is where the prior of log scales lies. `cost` is that
    of a part in the group; those who are not `grouped`, where that is given, have none.
    """

    sums: Sequence[_Same]
    kinship: Matrix
    scale: Vector
    people: bool = False
    cost: float = GROUP_COST
    grouped: Vector | None = None

    @property
    def readers(self) -> int:
        """How many read: jurors, and people where they count."""
        return len(self.scale)

    def start(self) -> Vector:
        """Return the parameters before anything was read."""
        x = np.concatenate([
            np.full(self.readers, MEAN_SKILL), np.full(self.readers, 0.01), self.scale,
            [math.log(SHARED), math.log(KIN), MEAN_SKILL],
        ])  # fmt: skip
        if self.people:
            x[self.readers - 1] = math.log(PEOPLE)
        return x

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """Return the objective and its gradient."""
        model = SignalCovariance.of(x, self)
        value, pull = self.read(model.covariance)
        prior, slope = self._prior(x)
        return value + prior, self._chain(model, pull) + slope

    def read(self, covariance: Matrix) -> tuple[float, Matrix]:
        """Return −log likelihood without constants, and its derivative by the covariance."""
        whole, value = self.readers, 0.0
        pull = np.zeros(whole * whole)
        for jurors, n, products in self.sums:
            cells = jurors[:, :, None] * whole + jurors[:, None, :]
            inverse, size = invert(covariance.ravel()[cells].transpose(1, 2, 0))
            explained = multiply(inverse, products)
            value += 0.5 * (n @ size + np.einsum("iig->", explained))
            slope = 0.5 * (n * inverse - multiply(explained, inverse))
            pull += np.bincount(cells.ravel(), slope.transpose(2, 0, 1).ravel(), whole * whole)
        return float(value), pull.reshape(whole, whole)

    def _chain(self, model: SignalCovariance, pull: Matrix) -> Vector:
        """Return the derivative by the parameters, from that by the covariance."""
        by_scale = (pull * model.covariance).sum(1)
        inner = pull * np.outer(model.unit, model.unit)
        inner[np.diag_indices(self.readers)] -= by_scale / np.diag(model.raw)
        kin = inner * self.kinship
        shared = model.shared * inner @ model.erring + model.kin * kin @ model.erring
        return np.concatenate([
            2 * (inner @ model.skill * model.skill + shared * model.erring),
            2 * inner @ model.group * (self.jurors if self.grouped is None else self.grouped),
            2 * by_scale,
            [
                model.shared * (model.erring @ inner @ model.erring),
                model.kin * (model.erring @ kin @ model.erring),
                0.0,
            ],
        ])  # fmt: skip

    @property
    def jurors(self) -> Vector:
        """1 for a juror, 0 for people."""
        found = np.ones(self.readers)
        if self.people:
            found[-1] = 0.0
        return found

    def _prior(self, x: Vector) -> tuple[float, Vector]:
        skill, group, scale, (shared, kin, mean) = _split(x, self.readers)
        jurors = self.jurors
        centre = np.where(jurors, mean, math.log(PEOPLE))
        width = np.where(jurors, SKILL_SD, PEOPLE_SD)
        round_group = np.sqrt(group**2 + GROUP_ROUND)
        off_skill = (skill - centre) / width
        off = np.array([
            (shared - math.log(SHARED)) / VARIANCE_SD,
            (kin - math.log(KIN)) / VARIANCE_SD,
            (mean - MEAN_SKILL) / MEAN_SKILL_SD,
        ])  # fmt: skip
        off_scale = (scale - self.scale) / SCALE_SD
        value = 0.5 * (off_skill @ off_skill + off_scale @ off_scale + off @ off)
        last = off / np.array([VARIANCE_SD, VARIANCE_SD, MEAN_SKILL_SD])
        last[2] -= (off_skill / width * jurors).sum()
        slope = np.concatenate([
            off_skill / width, self.cost * jurors * group / round_group,
            off_scale / SCALE_SD, last,
        ])  # fmt: skip
        return float(value + self.cost * (jurors * round_group).sum()), slope


@dataclass(frozen=True, slots=True)
class SignalCovariance:
    """The covariance of all readers' signals at some parameters, and what it is made of.

    `erring` is the skill with which a reader takes part in shared errors: people in none. `raw` is
    the covariance in units of own errors; `unit` turns these into signals.
    """

    skill: Vector
    erring: Vector
    group: Vector
    shared: float
    kin: float
    raw: Matrix
    unit: Vector
    covariance: Matrix

    @staticmethod
    def of(x: Vector, said: JurorLikelihood) -> SignalCovariance:
        """Return the model at these parameters."""
        skill, group, scale, (shared, kin, _) = _split(x, said.readers)
        skill, shared, kin = np.exp(skill), math.exp(shared), math.exp(kin)
        erring, group = skill * said.jurors, group * said.jurors
        errors = np.outer(erring, erring) * (shared + kin * said.kinship)
        raw = np.outer(skill, skill) + errors + np.outer(group, group) + np.eye(said.readers)
        unit = np.exp(scale) / np.sqrt(np.diag(raw))
        return SignalCovariance(
            skill, erring, group, shared, kin, raw, unit, raw * np.outer(unit, unit)
        )


def _split(x: Vector, readers: int) -> tuple[Vector, Vector, Vector, Vector]:
    # Bounds that no fit reaches: they only keep the first steps of a search finite.
    skill, group, scale, last = np.split(x, [readers, 2 * readers, 3 * readers])
    return np.clip(skill, -6, 6), group, np.clip(scale, -6, 6), np.clip(last, -9, 9)


def multiply(one: Matrix, other: Matrix) -> Matrix:
    """Multiply matrices that lie along the last axis."""
    found: Matrix = np.einsum("ijg,jkg->ikg", one, other)
    return found


def invert(matrices: Matrix) -> tuple[Matrix, Vector]:
    """Return the inverses and log determinants of positive matrices along the last axis.

    Gauss and Jordan's elimination, on all of them at once: faster than LAPACK one by one, and
    without pivots as they are definite.
    """
    found = np.array(matrices, order="C")
    size: Vector = np.zeros(found.shape[2])
    for at in range(len(found)):
        pivot = found[at, at].copy()
        size += np.log(pivot)
        row, column = found[at] / pivot, found[:, at].copy()
        found -= column[:, None] * row[None]
        found[at], found[:, at] = row, -column / pivot
        found[at, at] = 1 / pivot
    return found, size


def gather(signals: Matrix) -> list[_Same]:
    """Sum up debates by who was heard; `signals` has a row for each and NaN for who was not."""
    heard = ~np.isnan(signals)
    counts = heard.sum(1)
    found = []
    for k in np.unique(counts[counts > 0]):
        rows = counts == k
        jurors = np.nonzero(heard[rows])[1].reshape(-1, k)
        x = signals[rows][heard[rows]].reshape(-1, k)
        panels, group = np.unique(jurors, axis=0, return_inverse=True)
        products = np.empty((k, k, len(panels)))
        for i in range(k):
            for j in range(k):
                products[i, j] = np.bincount(group, x[:, i] * x[:, j], len(panels))
        found.append(_Same(panels, np.bincount(group).astype(float), products))
    return found
