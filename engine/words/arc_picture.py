"""The arc of an audited debate as a picture: one bar a turn, in the colour of its side.

The label below a bar names the turn, the one above gives its score. A yellow top shows points that
were docked later; a short grey bar is a turn without a score. Lines mark 50 and 100 points. The
background is opaque, so the picture reads the same in dark and light themes. It contains only side
letters and numbers, because Pillow's font covers ASCII only; the words are in the alt text.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import NamedTuple, TypeAlias

from PIL import Image, ImageDraw, ImageFont

from engine.messages import Arc, ArcPoint, File

Colour: TypeAlias = tuple[int, int, int]
Font: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont

WIDTH, HEIGHT, MARGIN = 720, 240, 24
FULL = 100.0
GROUND, LINE, TEXT = (43, 45, 49), (90, 94, 102), (200, 203, 208)
SIDES = {"A": (74, 134, 232), "B": (226, 82, 76)}
DOCKED, UNSCORED = (242, 196, 64), (130, 130, 130)
SHADES = 8  # from ground to text; with them all colours fit into four bits
NO_SCORE_HEIGHT = 4  # pixels
LETTERS = 14  # pixels; smaller where bars are narrow


class Pen(NamedTuple):
    """A canvas and a font."""

    draw: ImageDraw.ImageDraw
    font: Font

    def fill(self, left: int, right: int, top: int, bottom: int, colour: Colour) -> None:
        """Fill a rectangle, right and bottom not included."""
        if left < right and top < bottom:
            self.draw.rectangle((left, top, right - 1, bottom - 1), colour)

    def write(self, x: float, y: float, text: str, anchor: str) -> None:
        """Write on a cleared background; `anchor` is Pillow's, such as `ms` (middle, baseline)."""
        self.draw.rectangle(self.draw.textbbox((x, y), text, self.font, anchor), GROUND)
        self.draw.text((x, y), text, TEXT, self.font, anchor)


def picture_of(arc: Arc) -> File:
    """Return an arc's picture as a file."""
    content = b64encode(draw_arc(arc)).decode()
    return File(name="arc.png", media="image/png", content=content, encoded=True, alt=arc.alt)


def draw_arc(arc: Arc) -> bytes:
    """Return the picture as an indexed PNG, 720 × 240; about 10 ms for 40 turns."""
    image = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
    slot = (WIDTH - 2 * MARGIN) / max(1, len(arc.points))
    pen = Pen(ImageDraw.Draw(image), _font(slot, f"B{len(arc.points)}"))
    scale = pen._replace(font=_font(MARGIN, f"{FULL:g}"))
    for points in (FULL, FULL / 2):
        pen.fill(MARGIN, WIDTH - MARGIN, _y(points), _y(points) + 1, LINE)
        scale.write(MARGIN / 2, _y(points), f"{points:g}", "mm")
    for place, point in enumerate(arc.points):
        left = MARGIN + round(place * slot + slot * 0.15)
        _bar(pen, left, max(left + 1, left + round(slot * 0.7)), point)
    written = BytesIO()
    image.quantize(palette=_palette(), dither=Image.Dither.NONE).save(written, "PNG")
    return written.getvalue()


def _bar(pen: Pen, left: int, right: int, point: ArcPoint) -> None:
    floor, middle = _y(0), (left + right) / 2
    pen.write(middle, floor + 5, f"{point.side}{point.number}", "mt")
    if point.score is None:
        pen.fill(left, right, floor - NO_SCORE_HEIGHT, floor, UNSCORED)
        return
    # `docked` is negative or 0; the bar's full height is the score before it.
    top, kept = _y(point.score - point.docked), _y(point.score)
    pen.fill(left, right, top, kept, DOCKED)
    pen.fill(left, right, kept, floor, SIDES["B" if point.side == "B" else "A"])
    pen.write(middle, top - 4, f"{point.score:.0f}", "ms")


def _y(points: float) -> int:
    share = min(max(points, 0.0), FULL) / FULL
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN))


def _font(room: float, longest: str) -> Font:
    """Return Pillow's built-in font, sized so that `longest` leaves two pixels free."""
    largest = ImageFont.load_default(LETTERS)
    size = min(LETTERS, LETTERS * (room - 2) / largest.getlength(longest))
    return ImageFont.load_default(size)


def _palette() -> Image.Image:
    """Return the palette: the colours above plus shades for anti-aliased letters."""
    edges = (
        tuple(round(a + (b - a) * step / SHADES) for a, b in zip(GROUND, TEXT, strict=True))
        for step in range(1, SHADES)
    )
    colours = (GROUND, LINE, SIDES["A"], SIDES["B"], DOCKED, UNSCORED, TEXT, *edges)
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for colour in colours for value in colour])
    return palette
