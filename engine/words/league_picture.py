"""The standing of a league as a picture: one bar a model, as long as its points."""

from __future__ import annotations

from engine.drawing.svg import BLUE, GOLD, bar, darken, draw, fit, write
from engine.values.messages import BoardRow, File, LeagueTable
from engine.words.league import league_alt, league_title

WIDTH, ROW, MARGIN, BAR = 720, 44, 24, 22  # pixels; drawn at twice that
NAMES, POINTS = 360, 80  # pixels for names, and for the number after a bar
LETTERS = 20.0  # pixels, as the class large


def league_picture(table: LeagueTable) -> File:
    """Return the picture of a standing as an SVG file; its alt text says the same in words."""
    alt, parts = league_alt(table), []
    most = max((points_of(row) for row in table.rows), default=0.0) or 1.0
    room = WIDTH - NAMES - 2 * MARGIN - POINTS
    for number, row in enumerate(table.rows):
        middle, points = MARGIN + ROW * number + ROW / 2, points_of(row)
        length = room * points / most
        colour = GOLD if points == most else BLUE
        parts += [
            write(MARGIN, middle + 7, fit(row.name, NAMES - MARGIN, LETTERS), "ink large"),
            bar(MARGIN + NAMES, middle - BAR / 2, max(length, 1.0), BAR, colour),
            write(MARGIN + NAMES + length + 12, middle + 7, row.cells[-1], "ink large"),
        ]
    height = 2 * MARGIN + ROW * len(table.rows)
    svg = darken(draw(league_title(table), alt, WIDTH, height, parts, headed=False))
    return File(name="standing.png", media="image/svg+xml", content=svg, alt=alt)


def points_of(row: BoardRow) -> float:
    """Return the points in a row of a standing."""
    return float(row.cells[-1])
