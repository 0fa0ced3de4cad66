"""Maps Slack's reactions to a vote's options; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = {
    "A": "a",
    "B": "b",
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
SHOWN = {option: f":{name}:" for option, name in NAMES.items()}
_OTHER_NAMES = {"thumbsup": "up", "thumbsdown": "down"}
_OPTIONS = {name: option for option, name in NAMES.items()} | _OTHER_NAMES


def option_of(name: str) -> str | None:
    """Return a reaction's option, in any skin tone; None for other emoji."""
    return _OPTIONS.get(name.split("::")[0])


def by_option(reactions: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return who holds which option, bots included; skin tones count as one emoji."""
    held: dict[str, frozenset[str]] = {}
    for reaction in reactions:
        option = option_of(reaction["name"])
        if option is not None:
            held[option] = held.get(option, frozenset()) | set(reaction["users"])
    return held


def is_whole(reactions: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every reaction names as many people as it counts."""
    return all(len(reaction["users"]) >= reaction["count"] for reaction in reactions)
