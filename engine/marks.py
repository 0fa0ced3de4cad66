"""The marks of sides and options, and the reactions that people vote with: the one place for them.

A reaction has the name of the option that it stands for; where people can hold several of one
option, the variant follows, as in `tie::skin-tone-4` or `A::super`. Adapters turn a reaction into
their platform's emoji.
"""

from __future__ import annotations

from collections.abc import Mapping

VARIANT = "::"
SIDES: Mapping[str, str] = {"A": "🔵", "B": "🔴"}
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
}
"""The emoji of each reaction."""


def split_variant(reaction: str) -> tuple[str, str]:
    """Return a reaction's option, and its variant, empty for the usual one."""
    option, _, variant = reaction.partition(VARIANT)
    return option, variant


def with_variant(option: str, variant: str) -> str:
    """Return the reaction for an option in one of its variants."""
    return f"{option}{VARIANT}{variant}" if variant else option


def unmarked(side: str) -> str:
    """Return a side without its mark."""
    return side.removeprefix(f"{SIDES['A']} ").removeprefix(f"{SIDES['B']} ")


def marked(side: str) -> str:
    """Return a side, or a seat of it, with its mark: `🔵 A`, `🔴 B2`; others stay as they are."""
    mark = SIDES.get(side[:1])
    return f"{mark} {side}" if mark and side[1:].isdigit() | (len(side) == 1) else side
