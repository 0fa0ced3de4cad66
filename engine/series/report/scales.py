"""Scales of pictures: where a value stands in pixels; pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import NamedTuple

from engine.stats.adjusted import Effect
from engine.stats.ratings import Rating


class Scale(NamedTuple):
    """Maps values from `low` to `high` to pixels from `start` to `end`; outside it stops there."""

    start: float
    end: float
    low: float
    high: float
    ticks: tuple[float, ...]
    unit: str = ""

    def at(self, value: float) -> float:
        """Return where a value stands."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * share

    def word(self, value: float) -> str:
        """Write a value of a tick."""
        thousands = abs(value) >= 10_000
        number = f"{value / 1000:.6g}k" if thousands else f"{value:.6g}"
        return f"{number}{self.unit}".replace("-", "−")


def points_scale(
    found: Iterable[Rating | Effect | None],
    start: float,
    end: float,
    middle: float = 1000.0,
    parts: int = 3,
) -> Scale:
    """Return a scale around every interval, with round ticks (see `round_scale`)."""
    known = [one for one in found if one is not None and one.value is not None]
    low = min((one.low for one in known if one.low is not None), default=middle - 100)
    high = max((one.high for one in known if one.high is not None), default=middle + 100)
    return round_scale(min(low, middle), max(high, middle), start, end, parts)


def round_scale(low: float, high: float, start: float, end: float, parts: int) -> Scale:
    """Return a scale from `low` to `high` at least, with at most two ticks more than `parts`."""
    step = round_step((high - low) / parts or 1.0)
    first, last = floor(low / step), ceil(high / step)
    ticks = tuple(step * place for place in range(first, max(last, first + 1) + 1))
    return Scale(start, end, ticks[0], ticks[-1], ticks)


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, … times a power of ten that is at least this."""
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= 0.999 * least)
