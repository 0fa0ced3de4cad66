"""A person's own record as a picture: a bar for each thing that could have been so every time.

It is dark and opaque, and in that person's language. A line across a bar is what chance would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.drawing.svg import BLUE, EMPTY, GOLD, bar, darken, draw, fit, write
from engine.values.messages import File
from engine.words.translation import say

ENOUGH = 10  # times; with fewer, chance decides
WIDTH, MARGIN, BAR, ROW = 720, 32, 24, 88  # pixels; drawn at twice that
LETTERS = 20.0  # pixels, as the class large

SHARE = "{k} of {n} ({percent} %)"
TOO_FEW = "{k} of {n}, too few to say much"
NEVER = "nothing to compare yet"
CAPTION = "{what}: {share}"
BY_CHANCE = "by chance about {chance:.1f}"


class Share(NamedTuple):
    """How often something was so: `k` of `n` times."""

    k: int
    n: int

    def say(self) -> str:
        """Return it in words; few times are called few."""
        if not self.n:
            return say(NEVER)
        if self.n < ENOUGH:
            return say(TOO_FEW, k=self.k, n=self.n)
        return say(SHARE, k=self.k, n=self.n, percent=round(100 * self.k / self.n))


class Shown(NamedTuple):
    """A bar: what it counts, how often that was so, and how often it would be by chance."""

    what: str
    share: Share
    chance: float | None

    @property
    def caption(self) -> str:
        """What stands above the bar."""
        said = say(CAPTION, what=self.what, share=self.share.say())
        if self.chance is None:
            return said
        return f"{said} · {say(BY_CHANCE, chance=self.chance)}"


def record_picture(title: str, shares: Sequence[Shown]) -> File:
    """Return the picture of a record as an SVG file; its alt text says the same in words."""
    heading = title.replace("*", "")
    room = WIDTH - 2 * MARGIN
    alt = ". ".join((heading, *(one.caption for one in shares)))
    parts = [write(MARGIN, 44, fit(heading, room, LETTERS), "ink large")]
    for number, one in enumerate(shares):
        y = 96 + ROW * number
        parts.append(write(MARGIN, y, fit(one.caption, room, LETTERS), "ink large"))
        parts += _bar(y + 12, one)
    height = 96 + ROW * len(shares) - 24
    svg = darken(draw(heading, alt, WIDTH, height, parts, headed=False))
    return File(name="record.png", media="image/svg+xml", content=svg, alt=alt)


def _bar(y: float, one: Shown) -> Iterator[str]:
    room, n = WIDTH - 2 * MARGIN, one.share.n
    yield bar(MARGIN, y, room, BAR, EMPTY)
    if one.share.k:
        yield bar(MARGIN, y, room * one.share.k / n, BAR, BLUE)
    if n and one.chance is not None:
        yield bar(MARGIN + room * min(one.chance / n, 1.0) - 2, y - 4, 4, BAR + 8, GOLD)
