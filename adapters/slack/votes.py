"""Maps Slack's names of emoji to the reactions of a vote; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.values.text import VARIANT, with_variant

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = {
    "A": "large_blue_circle",
    "B": "red_circle",
    **{str(number): name for number, name in enumerate(_NUMBERS, start=1)},
    "tie": "handshake",
    "weak": "no_entry_sign",
    "up": "+1",
    "down": "-1",
    "unsure": "shrug",
    "even": "scales",
    "close": "mag",
    "clear": "white_check_mark",
    "onesided": "boom",
}
"""What Slack calls the emoji of each reaction (engine/values/text.py)."""

SHOWN = {reaction: f":{name}:" for reaction, name in NAMES.items()}
_OTHER_NAMES = {"thumbsup": "up", "thumbsdown": "down"}
_REACTIONS = {name: reaction for reaction, name in NAMES.items()} | _OTHER_NAMES


def reaction_of(name: str) -> str | None:
    """Return the reaction of an emoji, in its skin tone; None for other emoji."""
    plain, _, tone = name.partition(VARIANT)
    reaction = _REACTIONS.get(plain)
    return None if reaction is None else with_variant(reaction, tone)


def held_by(reactions: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return who holds which reaction, bots included."""
    held: dict[str, frozenset[str]] = {}
    for each in reactions:
        reaction = reaction_of(each["name"])
        if reaction is not None:
            held[reaction] = held.get(reaction, frozenset()) | set(each["users"])
    return held


def is_whole(reactions: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every reaction names as many people as it counts."""
    return all(len(reaction["users"]) >= reaction["count"] for reaction in reactions)
