"""Krippendorff's α for nominal choices, with missing voters allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.stats.bootstrap import Sums


def alpha_sums(unit: Mapping[str, int], categories: Sequence[str]) -> Sums:
    """Return a unit's terms of α: its disagreeing pairs, and its choices by category.

    A unit is the number of voters by choice. One with fewer than two choices has no effect.
    """
    counts = [unit.get(category, 0) for category in categories]
    choices = sum(counts)
    if choices < 2:
        return (0.0,) * (len(categories) + 1)
    pairs = choices * choices - sum(count * count for count in counts)
    return (pairs / (choices - 1), *map(float, counts))


def alpha_of(sums: Sums) -> float | None:
    """Return α from the sums of units, 1 − D_o/D_e: 1 is agreement, 0 is chance.

    None if nothing can be paired, or all choices are the same. Source: K. Krippendorff,
    Computing Krippendorff's Alpha-Reliability (2011), section D.
    """
    observed, *counts = sums
    choices = sum(counts)
    expected = choices * choices - sum(count * count for count in counts)
    if not expected:
        return None
    return 1 - (choices - 1) * observed / expected
