"""Cohen's κ: agreement of two judges beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from engine.stats.bootstrap import Sums


def kappa_sums(first: str, second: str, categories: Sequence[str]) -> Sums:
    """Return a pair's terms of κ: 1, whether they agree, and each judge's choice by category."""
    return (
        1.0,
        float(first == second),
        *(float(first == category) for category in categories),
        *(float(second == category) for category in categories),
    )


def kappa_of(sums: Sums) -> float | None:
    """Return κ from the sums of pairs, from −1 to 1; None if chance alone would always agree.

    κ = (p_o − p_e)/(1 − p_e). Source: J. Cohen, Educational and Psychological Measurement 20
    (1960).
    """
    n, agreed, *choices = sums
    half = len(choices) // 2
    by_chance = sum(a * b for a, b in zip(choices[:half], choices[half:], strict=True)) / n
    if isclose(by_chance, n):
        return None
    return (agreed - by_chance) / (n - by_chance)
