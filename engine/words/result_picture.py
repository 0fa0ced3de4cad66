"""A debate's result as a picture to share: motion, sides, and people's choice beside the jury's.

It is dark and opaque, so it reads the same in light and dark themes, and in the debate's language.
Its bars are the votes that decide for each side, and what the jury gives it; grey is a tie, or any
other answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.drawing import EMPTY, GREY, OTHERS, bar, darken, disc, draw, fit, wrap, write
from engine.values.debate import SOMEBODY
from engine.values.messages import File, Reveal
from engine.values.text import SIDES, unmarked
from engine.words.phrases import option_name
from engine.words.progress import who_was_who
from engine.words.reveal import captions_of, jury_line, people_line
from engine.words.translation import say

WIDTH, MARGIN, GAP = 720, 40, 20  # pixels; drawn at twice that
MOTION, LETTERS, SMALL = 26.0, 20.0, 14.0  # pixels, as the classes motion, large and no class
MOTION_LINES, LINE, ROW = 3, 36, 36
OUTCOME_LINES, LEADING = 2, 26
NAME_ROOM = 400  # pixels for a side; the rest is its model's
BAR = 26
PLAIN = str.maketrans("", "", "*`" + "".join(SIDES.values()))


def result_picture(reveal: Reveal) -> File:
    """Return the picture of a result as an SVG file, which adapters draw."""
    people, jury = _plain(people_line(reveal)), _plain(jury_line(reveal))
    sides = _plain(say(", ").join(who_was_who(reveal)))
    alt = say(
        "The result of “{topic}”. {people}. {jury}. {sides}.",
        topic=reveal.topic,
        people=people,
        jury=jury,
        sides=sides,
    )
    motion = wrap(reveal.topic, WIDTH - 2 * MARGIN, MOTION, MOTION_LINES)
    parts, y = [], MARGIN + MOTION
    for text in motion:
        parts.append(write(WIDTH / 2, y, text, "ink motion", "middle"))
        y += LINE
    y += GAP
    for number, (side, model) in enumerate(reveal.models.items()):
        name, left = unmarked(option_name(side, captions_of(reveal))), MARGIN + 28
        parts.append(disc(MARGIN + 9, y - 7, 9, OTHERS[number % len(OTHERS)]))
        parts.append(write(left, y, fit(name, NAME_ROOM - 28, LETTERS), "ink large"))
        room = WIDTH - 2 * MARGIN - NAME_ROOM - GAP
        called = fit(model_called(model), room, SMALL)
        parts.append(write(WIDTH - MARGIN, y, called, "faint", "end"))
        y += ROW
    for said, shares in ((people, reveal.tally.deciding), (jury, reveal.verdict.p)):
        y += GAP - LEADING
        for line in wrap(said, WIDTH - 2 * MARGIN, LETTERS, OUTCOME_LINES):
            y += LEADING
            parts.append(write(MARGIN, y, line, "ink large"))
        parts += _bar(y + 12, tuple(reveal.models), shares)
        y += 12 + BAR + LETTERS
    svg = draw(reveal.topic, alt, WIDTH, round(y + GAP / 2), parts, headed=False)
    return File(name="result.png", media="image/svg+xml", content=darken(svg), alt=alt)


def _plain(text: str) -> str:
    """Return a text without Markdown and the marks of sides, which stand as dots beside them."""
    for mark in SIDES.values():
        text = text.replace(f"{mark} ", "")
    return " ".join(text.translate(PLAIN).split())


def _bar(y: float, sides: tuple[str, ...], shares: Mapping[str, float]) -> Iterator[str]:
    """Draw a bar that is divided as the shares are; what is for no side stands in its middle."""
    whole, x, room = sum(shares.values()), float(MARGIN), WIDTH - 2 * MARGIN
    if not whole:
        yield bar(x, y, room, BAR, EMPTY)
        return
    rest = whole - sum(shares.get(side, 0.0) for side in sides)
    coloured = [(shares.get(side, 0.0), OTHERS[n % len(OTHERS)]) for n, side in enumerate(sides)]
    for share, colour in (*coloured[:1], (rest, GREY), *coloured[1:]):
        width = room * share / whole
        if width > 0.5:
            yield bar(x, y, width, BAR, colour)
        x += width


def model_called(ref: str) -> str:
    """Return a model as people read it: “a person” for what stands in place of one."""
    return say("a person") if ref == SOMEBODY.ref else ref
