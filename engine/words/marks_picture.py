"""The jury's marks as a picture: for each criterion a bar a contender, with a dot for each juror.

It is dark and opaque, so it reads the same in light and dark themes. A bar is as long as the mean
of all jurors' marks, a dot stands at the mean of one's; they begin at the lowest mark, or at 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.drawing import EMPTY, INK, OTHERS, Scale, bar, darken, disc, draw, fit, write
from engine.values.language import N_
from engine.values.messages import File, Reveal
from engine.values.text import unmarked
from engine.words.details import criteria_of, juror_sheets
from engine.words.phrases import option_name
from engine.words.reveal import captions_of
from engine.words.translation import number, say

WIDTH, MARGIN = 720, 32  # pixels; drawn at twice that
LEFT, NUMBER = MARGIN + 32, 64  # pixels: where bars begin, and the room behind them
NAME, ROW, BAR, GAP, DOT = 34, 34, 24, 14, 5
LETTERS, SMALL = 20.0, 16.0  # pixels, as the class large, and of a note
LOWEST, HIGHEST = 1, 10  # of the usual rubric

TITLE = N_("The jury's mean marks")


def marks_picture(reveal: Reveal) -> File | None:
    """Return the picture of a jury's marks as an SVG file; None where there are none."""
    if not reveal.marks:
        return None
    parts = [write(MARGIN, 44, fit(say(TITLE), WIDTH - 2 * MARGIN, LETTERS), "ink large")]
    names, y = captions_of(reveal), 44.0 + ROW
    for place, side in enumerate(reveal.marks):
        parts.append(disc(MARGIN + 9, y - 7, 9, OTHERS[place % len(OTHERS)]))
        name = unmarked(option_name(side, names))
        name = f"{side} · {name}" if side.isdigit() else name
        parts.append(write(LEFT, y, fit(name, WIDTH - LEFT - MARGIN, LETTERS), "ink large"))
        y += ROW
    if len(juror_sheets(reveal)) > 1:
        parts.append(write(MARGIN, y, say("One dot is one juror."), "faint", size=SMALL))
        y += GAP
    for criterion in criteria_of(reveal.marks):
        y += GAP + NAME
        parts.append(
            write(MARGIN, y - 10, fit(say(criterion), WIDTH - 2 * MARGIN, LETTERS), "ink large")
        )
        for place, side in enumerate(reveal.marks):
            parts += _marked(reveal, criterion, side, place, y)
            y += ROW
    alt = _alt(reveal)
    svg = darken(draw(say(TITLE), alt, WIDTH, round(y + MARGIN / 2), parts, headed=False))
    return File(name="marks.png", media="image/svg+xml", content=svg, alt=alt)


def _marked(reveal: Reveal, criterion: str, side: str, place: int, y: float) -> Iterator[str]:
    own = next((one for one in reveal.criteria if one.name == criterion), None)
    low, high = own.range if own else (LOWEST, HIGHEST)
    low = min(low, 0)
    room, mark = WIDTH - LEFT - MARGIN - NUMBER, reveal.marks[side][criterion]
    across = Scale(LEFT, LEFT + room, low, high)

    yield write(MARGIN, y + 19, side, "faint large")
    yield bar(LEFT, y, room, BAR, EMPTY)
    yield bar(LEFT, y, max(across.at(mark) - LEFT, 2.0), BAR, OTHERS[place % len(OTHERS)])
    for sheet in juror_sheets(reveal):
        if criterion in sheet.get(side, {}):
            yield disc(across.at(sheet[side][criterion]), y + BAR / 2, DOT, INK)
    yield write(WIDTH - MARGIN, y + 19, number(mark, ".1f"), "ink large", "end")


def _alt(reveal: Reveal) -> str:
    """Return the means in words."""
    said = []
    for criterion in criteria_of(reveal.marks):
        marks = (
            f"{unmarked(option_name(side, reveal.names))} {number(sheet[criterion], '.1f')}"
            for side, sheet in reveal.marks.items()
        )
        said.append(
            say("{criterion}: {marks}", criterion=say(criterion), marks=say(", ").join(marks))
        )
    return say("{title}. {marks}.", title=say(TITLE), marks="; ".join(said))
