"""The marks of sides and options, and the reactions that people vote with: the one place for them.

A reaction has the name of the option that it stands for. Votes opened before sides had colours
(`letters`) were seeded with letters: their reactions for A and B have names of their own, and stay
theirs until they close. Adapters turn a reaction into their platform's emoji.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Marks = Literal["letters", "colours"]
MARKS: Marks = "colours"
"""Which reactions the questions that are asked now have."""

SIDES: Mapping[str, str] = {"A": "🔵", "B": "🔴"}
_LETTERS = {"A": "letter-A", "B": "letter-B"}
REACTIONS: Mapping[str, str] = {
    **SIDES,
    **{str(number): f"{number}\ufe0f\u20e3" for number in range(1, 10)},
    "tie": "🤝",
    "weak": "🚫",
    "up": "👍",
    "down": "👎",
    "unsure": "🤷",
    "even": "⚖️",
    "close": "🔍",
    "clear": "✅",
    "onesided": "💥",
    "letter-A": "🅰️",
    "letter-B": "🅱️",
}
"""The emoji of each reaction."""


def reaction_to(option: str, marks: Marks) -> str:
    """Return the reaction that stands for an option."""
    return _LETTERS.get(option, option) if marks == "letters" else option


def option_of(reaction: str, marks: Marks, options: tuple[str, ...]) -> str | None:
    """Return the option that a reaction stands for, None if it is not one of these."""
    return next((one for one in options if reaction_to(one, marks) == reaction), None)


def unmarked(side: str) -> str:
    """Return a side without its mark."""
    return side.removeprefix(f"{SIDES['A']} ").removeprefix(f"{SIDES['B']} ")


def marked(side: str) -> str:
    """Return a side, or a seat of it, with its mark: `🔵 A`, `🔴 B2`; others stay as they are."""
    mark = SIDES.get(side[:1])
    return f"{mark} {side}" if mark and side[1:].isdigit() | (len(side) == 1) else side
