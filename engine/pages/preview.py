"""The picture by which a link shows a debate whose result is sealed: the motion, and no names."""

from __future__ import annotations

from engine.drawing.lettering import fit, wrap
from engine.drawing.svg import darken, draw, write
from engine.values.language import speaking
from engine.values.messages import File
from engine.words.result_picture import LETTERS, LINE, MARGIN, MOTION, WIDTH
from engine.words.translation import say

SEALED = "Results stay sealed until the vote closes."
LINES, HEIGHT = 5, 320  # of the motion; pixels


def sealed_picture(topic: str, language: str) -> File:
    """Return the picture of a sealed debate as an SVG file, in the debate's language."""
    with speaking(language):
        sealed = say(SEALED)
    y, parts = MARGIN + MOTION + 20, []
    for text in wrap(topic, WIDTH - 2 * MARGIN, MOTION, LINES):
        parts.append(write(WIDTH / 2, y, text, "ink motion", "middle"))
        y += LINE
    said = fit(sealed, WIDTH - 2 * MARGIN, LETTERS)
    parts.append(write(WIDTH / 2, HEIGHT - MARGIN, said, "faint large", "middle"))
    alt = f"{topic}. {sealed}"
    svg = draw(topic, alt, WIDTH, HEIGHT, parts, headed=False)
    return File(name="debate.png", media="image/svg+xml", content=darken(svg), alt=alt)
