"""Ratings against cost as numbered points, whose numbers do not cover one another; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, hypot, pi, sin
from typing import NamedTuple

from engine.drawing.lettering import SIZE, width_of
from engine.drawing.svg import line, square, write
from engine.series.report.scales import Scale, points_scale, round_scale
from engine.stats.ratings import Rating

PLOT = 230  # pixels high
DIRECTIONS = 16
REACHES = (13, 22, 32, 44, 58, 74)  # pixels from a point to its number


class Point(NamedTuple):
    """A model's number, cost in USD and rating."""

    number: int
    usd: float
    rating: Rating


class Box(NamedTuple):
    """A rectangle that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def draw_points(
    points: Sequence[Point], left: float, right: float, top: float
) -> tuple[list[str], float]:
    """Draw points with axes; return the parts and where the picture goes on below."""
    bottom = top + 12 + PLOT
    up = points_scale([one.rating for one in points], bottom, top + 12, parts=6)
    across = round_scale(0.0, max(one.usd for one in points) or 0.01, left, right - 10, parts=5)
    places = [(across.at(one.usd), up.at(one.rating.value or 0.0)) for one in points]
    parts, taken = list(_axes(across, up)), []
    for one, (x, _) in zip(points, places, strict=True):
        low, high = up.at(one.rating.low or 0.0), up.at(one.rating.high or 0.0)
        parts.append(line(x, low, x, high, "line"))
        taken.append(Box(x - 1, high, x + 1, low))
    parts += [square(x, y, 4, "jury") for x, y in places]
    taken += [Box(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    frame = Box(left, top, right, bottom)
    for one, (x, y) in zip(points, places, strict=True):
        free = _free(x, y, str(one.number), taken, frame)
        taken.append(free)
        parts += _number(one.number, x, y, free)
    return parts, bottom + 48


def _number(number: int, x: float, y: float, free: Box) -> Iterator[str]:
    """Yield a point's number, with a line to it from afar."""
    across, along = (free.left + free.right) / 2, (free.top + free.bottom) / 2
    far = hypot(across - x, along - y)
    if far > REACHES[1]:
        share = 1 - 10 / far
        yield line(x, y, x + share * (across - x), y + share * (along - y), "line", "1 2")
    yield write(across, free.bottom - 3, str(number), "ink small", "middle")


def _free(x: float, y: float, word: str, taken: Sequence[Box], frame: Box) -> Box:
    """Return a place for a number near its point, where nothing else is."""
    half = width_of(word) / 2
    around = [_around(x, y, half, place) for place in range(DIRECTIONS * len(REACHES))]
    inside = [
        one
        for one in around
        if one.left >= frame.left
        and one.right <= frame.right
        and one.top >= frame.top
        and one.bottom <= frame.bottom
    ]
    clear = (one for one in inside if not any(one.meets(other) for other in taken))
    return next(clear, (inside or around)[0])


def _around(x: float, y: float, half: float, place: int) -> Box:
    reach, angle = REACHES[place // DIRECTIONS], 2 * pi * (place % DIRECTIONS) / DIRECTIONS
    to_x, to_y = x + (reach + half - 4) * cos(angle), y + reach * sin(angle)
    return Box(to_x - half, to_y - SIZE / 2 - 1, to_x + half, to_y + SIZE / 2 + 1)


def _axes(across: Scale, up: Scale) -> Iterator[str]:
    for value in up.ticks:
        yield line(across.start, up.at(value), across.end, up.at(value), dash="1 5")
        yield write(across.start - 6, up.at(value) + 4, up.word(value), "faint small", "end")
    yield line(across.start, up.start, across.end, up.start)
    for value in across.ticks:
        yield line(across.at(value), up.start, across.at(value), up.start + 4)
        yield write(across.at(value), up.start + 18, across.word(value), "faint small", "middle")
    middle = (across.start + across.end) / 2
    yield write(middle, up.start + 36, "USD of its own calls in a debate", "faint small", "middle")
