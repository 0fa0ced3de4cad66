"""Minimises a smooth function by the limited-memory method of Broyden, Fletcher, Goldfarb, Shanno.

The two-loop recursion of Nocedal and Wright, Numerical Optimization, algorithm 7.4, with steps
halved until the function falls enough (Armijo).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
