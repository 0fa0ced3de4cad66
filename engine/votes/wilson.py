"""The Wilson score interval of a share."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

Z95 = NormalDist().inv_cdf(0.975)


class Interval(NamedTuple):
    """Both bounds of a share, each from 0 to 1."""

    low: float
    high: float


def wilson(k: int, n: int) -> Interval:
    """Return the 95 % interval of the share k/n.

    With n = 0 nothing is known, and the interval is 0 to 1. Raises ValueError unless
    0 <= k <= n. Formula: E. B. Wilson, JASA 22 (1927), without continuity correction.
    """
    if not 0 <= k <= n:
        raise ValueError(f"A share needs 0 <= k <= n, not k = {k} and n = {n}.")
    if n == 0:
        return Interval(0.0, 1.0)
    share, spread = k / n, Z95 * Z95 / n
    scale = 1 + spread
    middle = (share + spread / 2) / scale
    reach = Z95 * sqrt(share * (1 - share) / n + spread / (4 * n)) / scale
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))
