"""The standing of a league as a picture: one bar a model, as long as its points.

The background is opaque, so it reads the same in dark and light themes. Names and numbers alone are
in it, because Pillow's font covers ASCII only; the words are in the alt text.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from engine.messages import BoardRow, File, LeagueTable

WIDTH, ROW, MARGIN, BAR = 720, 44, 24, 22  # pixels; letters are read at 400 px too
NAMES = 300  # pixels for names
LETTERS = 26
GROUND, TEXT, FIRST, OTHERS = (43, 45, 49), (222, 224, 228), (242, 196, 64), (74, 134, 232)


def league_picture(table: LeagueTable, alt: str) -> File:
    """Return the picture of a standing as a file; `alt` says the same in words."""
    content = b64encode(draw_standing(table)).decode()
    return File(name="standing.png", media="image/png", content=content, encoded=True, alt=alt)


def draw_standing(table: LeagueTable) -> bytes:
    """Return the picture as an indexed PNG, 720 pixels wide."""
    image = Image.new("RGB", (WIDTH, 2 * MARGIN + ROW * len(table.rows)), GROUND)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(LETTERS)
    most = max((points_of(row) for row in table.rows), default=0.0) or 1.0
    room = WIDTH - NAMES - 2 * MARGIN - 3 * LETTERS
    for number, row in enumerate(table.rows):
        middle, points = MARGIN + ROW * number + ROW // 2, points_of(row)
        pen.text((MARGIN, middle), row.name, TEXT, font, "lm")
        end = MARGIN + NAMES + round(room * points / most)
        colour = FIRST if points == most else OTHERS
        pen.rectangle((MARGIN + NAMES, middle - BAR // 2, end, middle + BAR // 2), colour)
        pen.text((end + LETTERS // 2, middle), row.cells[-1], TEXT, font, "lm")
    stored = BytesIO()
    image.quantize(16).save(stored, "PNG", optimize=True)
    return stored.getvalue()


def points_of(row: BoardRow) -> float:
    """Return the points in a row of a standing."""
    return float(row.cells[-1])
