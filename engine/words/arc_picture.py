"""The arc of an audited debate as a picture: one bar a turn, in the colour of its side.

A PNG (W3C, Portable Network Graphics, third edition) of indexed colours, written here: a bar
chart needs no library. Below a bar stands whose turn it is, above it its score; what later turns
docked is its yellow top, a turn without a score a short grey one. The lines are at 50 and 100
points. The ground is the picture's own, so that it reads alike in dark and in light.
"""

from __future__ import annotations

import struct
import zlib

from engine.messages import Arc, ArcPoint

WIDTH, HEIGHT, MARGIN = 720, 240, 24
FULL = 100.0
_GROUND, _LINE, _A, _B, _DOCKED, _UNSCORED, _TEXT = range(7)
_COLOURS = (
    *((43, 45, 49), (90, 94, 102), (74, 134, 232), (226, 82, 76)),
    *((242, 196, 64), (130, 130, 130), (200, 203, 208)),
)
_NO_SCORE_HEIGHT = 4  # pixels
# Each glyph is five rows of three dots, from the top; a row is a number of three bits.
_GLYPHS = {
    **{"0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711"},
    **{"5": "74717", "6": "74757", "7": "71122", "8": "75757", "9": "75717"},
    **{"A": "25755", "B": "65656", "-": "00700"},
}
_GLYPH_HEIGHT, _GLYPH_STEP = 5, 4  # dots


def draw_arc(arc: Arc) -> bytes:
    """Return the picture as PNG, 720 × 240; in some 5 ms for 40 turns."""
    rows = [bytearray(WIDTH) for _ in range(HEIGHT)]
    for points in (FULL, FULL / 2):
        _fill(rows, MARGIN, WIDTH - MARGIN, _y(points), _y(points) + 1, _LINE)
        _write(rows, MARGIN // 2, _y(points) - 2, f"{points:g}", 1)
    slot = (WIDTH - 2 * MARGIN) / max(1, len(arc.points))
    size = min(3, max(1, int(slot / (3 * _GLYPH_STEP))))  # so that three glyphs fit
    for place, point in enumerate(arc.points):
        left = MARGIN + round(place * slot + slot * 0.15)
        right = max(left + 1, left + round(slot * 0.7))
        top = _bar(rows, left, right, point)
        middle = (left + right) // 2
        _write(rows, middle, _y(0) + 4, f"{point.side}{point.number}", size)
        if point.score is not None:
            above = top - size * _GLYPH_HEIGHT - 3
            _write(rows, middle, max(1, above), f"{point.score:.0f}", size)
    return _png(rows)


def _bar(rows: list[bytearray], left: int, right: int, point: ArcPoint) -> int:
    """Draw a turn's bar, and return the row at which it begins."""
    floor = _y(0)
    if point.score is None:
        _fill(rows, left, right, floor - _NO_SCORE_HEIGHT, floor, _UNSCORED)
        return floor - _NO_SCORE_HEIGHT
    colour = _B if point.side == "B" else _A
    # Docking is stored as points added, below 0; before it the bar was that much higher.
    top = _y(point.score - point.docked)
    _fill(rows, left, right, top, _y(point.score), _DOCKED)
    _fill(rows, left, right, _y(point.score), floor, colour)
    return top


def _y(points: float) -> int:
    share = min(max(points, 0.0), FULL) / FULL
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN))


def _write(rows: list[bytearray], middle: int, top: int, text: str, size: int) -> None:
    """Write a text around a column, on plain ground, its dots `size` pixels wide and high."""
    wide = (len(text) * _GLYPH_STEP - 1) * size
    left = middle - wide // 2
    _fill(rows, max(0, left - 1), left + wide + 1, top - 1, top + size * _GLYPH_HEIGHT + 1, _GROUND)
    for place, sign in enumerate(text):
        for down, dots in enumerate(_GLYPHS.get(sign, "00000")):
            for across in range(3):
                if int(dots) & 4 >> across:
                    x, y = left + (place * _GLYPH_STEP + across) * size, top + down * size
                    _fill(rows, max(0, x), x + size, y, y + size, _TEXT)


def _fill(rows: list[bytearray], left: int, right: int, top: int, bottom: int, colour: int) -> None:
    stripe = bytes([colour]) * (right - left)
    for row in rows[top:bottom]:
        row[left:right] = stripe


def _png(rows: list[bytearray]) -> bytes:
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    palette = bytes(value for colour in _COLOURS for value in colour)
    # Each row begins with its filter: 0, none.
    body = zlib.compress(b"".join(b"\x00" + row for row in rows), 6)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
