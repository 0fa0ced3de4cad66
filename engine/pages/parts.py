"""Parts of a long debate: so many turns that a page stays small, and links find each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.values.debate import Turn

MOST_WEIGHT = 70_000  # of a page's turns; bytes of HTML, about
MOST_TURNS = 60
LONGEST = 60_000  # of a turn that is shown whole
_MARKUP = b"<>&\"'*_`#|[]-=~\n"
MARKUP_WEIGHT = 9  # bytes that a character which means something in Markdown becomes, about
_FRAME_WEIGHT = 700  # of a turn's title, link and marks


class Part(NamedTuple):
    """Which part of a debate's turns a page has: `number` from 1 of `parts`."""

    number: int
    parts: int
    turns: tuple[Turn, ...]

    @property
    def last(self) -> bool:
        """Whether the debate's last turn is on it, and so its result."""
        return self.number == self.parts


def weigh(text: str) -> int:
    """Return about how many bytes a text takes as HTML."""
    written = text.encode()
    return len(written) + MARKUP_WEIGHT * (len(written) - len(written.translate(None, _MARKUP)))


def cut(text: str, most: int = LONGEST) -> str:
    """Return a text, or its beginning where it is too heavy for a page."""
    weight = weigh(text)
    if weight <= most:
        return text
    return text[: max(1, len(text) * most // weight)].rstrip() + " …"


def divide(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], ...]:
    """Return the turns of each part; a debate without turns has one part."""
    parts: list[tuple[Turn, ...]] = []
    begun: list[Turn] = []
    weight = 0
    for turn in turns:
        adds = min(weigh(turn.text), LONGEST) + sum(map(weigh, turn.asked)) + _FRAME_WEIGHT
        if begun and (weight + adds > MOST_WEIGHT or len(begun) == MOST_TURNS):
            parts.append(tuple(begun))
            begun, weight = [], 0
        begun.append(turn)
        weight += adds
    return (*parts, tuple(begun))


class Outline(NamedTuple):
    """What a debate's parts are: the first and last turn's number of each, and who spoke when.

    `spoken` names every turn, by its step.
    """

    bounds: tuple[tuple[int, int], ...]
    spoken: tuple[Mapping[str, Any], ...]

    def choose(self, part: int, turn: int) -> int:
        """Return the number of the part that is asked for, or that has a turn; else the nearest."""
        if turn and not part:
            return next((n for n, (_, last) in enumerate(self.bounds, 1) if turn <= last), 1)
        return min(max(part, 1), len(self.bounds))


def outline(turns: Sequence[Turn]) -> Outline:
    """Return what the parts of a debate's turns are."""
    bounds = tuple((part[0].number, part[-1].number) if part else (0, 0) for part in divide(turns))
    spoken = ({"step": one.step, "number": one.number, "seat": one.seat} for one in turns)
    return Outline(bounds, tuple(spoken))
