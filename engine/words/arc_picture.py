"""The arc of an audited debate as a picture: one bar a turn, in the colour of its side.

The label below a bar names the turn, the one above gives its score. A gold top shows points that
were docked later; a short grey bar is a turn without a score. Lines mark 50 and 100 points. It is
dark and opaque, so it reads the same in light and dark themes. It contains only side letters and
numbers; the words are in the alt text.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.drawing.svg import BLUE, GOLD, GREY, RED, bar, box, darken, draw, line, width_of, write
from engine.values.messages import Arc, ArcPoint, File

WIDTH, HEIGHT, MARGIN = 720, 240, 28  # pixels; drawn at twice that
FULL = 100.0
NO_SCORE_HEIGHT = 4  # pixels
LETTERS = 14.0  # pixels; smaller where bars are narrow
FREE = 2.0  # pixels of a slot that no letter covers


def arc_picture(arc: Arc) -> File:
    """Return the picture of an arc as an SVG file, which adapters draw."""
    slot = (WIDTH - 2 * MARGIN) / max(1, len(arc.points))
    size = _size(slot, f"B{len(arc.points)}", f"{FULL:g}")
    parts: list[str] = []
    for points in (FULL, FULL / 2):
        y = _y(points)
        parts.append(line(MARGIN, y, WIDTH - MARGIN, y))
        parts.append(write(MARGIN - 4, y + LETTERS / 3, f"{points:g}", "faint", "end", 12))
    for place, point in enumerate(arc.points):
        parts += _bar(MARGIN + slot * (place + 0.15), slot * 0.7, point, size)
    svg = darken(draw(arc.title, arc.alt, WIDTH, HEIGHT, parts, headed=False))
    return File(name="arc.png", media="image/svg+xml", content=svg, alt=arc.alt)


def _bar(left: float, width: float, point: ArcPoint, size: float) -> Iterator[str]:
    floor, middle = _y(0), left + width / 2
    yield write(middle, floor + 5 + size, f"{point.side}{point.number}", "ink", "middle", size)
    if point.score is None:
        yield bar(left, floor - NO_SCORE_HEIGHT, width, NO_SCORE_HEIGHT, GREY)
        return
    # `docked` is negative or 0; the bar's full height is the score before it.
    top, kept = _y(point.score - point.docked), _y(point.score)
    if top < kept:
        yield bar(left, top, width, kept - top, GOLD)
    if kept < floor:
        yield bar(left, kept, width, floor - kept, RED if point.side == "B" else BLUE)
    yield from _over_lines(middle, top - 4, f"{point.score:.0f}", size)


def _over_lines(x: float, y: float, text: str, size: float) -> Iterator[str]:
    """Write on a cleared ground, as a line may pass there."""
    room = width_of(text, size)
    yield box(x - room / 2, y - size * 0.8, room, size, "back")
    yield write(x, y, text, "ink", "middle", size)


def _y(points: float) -> float:
    share = min(max(points, 0.0), FULL) / FULL
    return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)


def _size(room: float, *texts: str) -> float:
    """Return a size of letters at which each text leaves a little free."""
    return min(LETTERS, *((room - FREE) / width_of(text, 1.0) for text in texts))
