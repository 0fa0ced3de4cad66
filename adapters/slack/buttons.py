"""Buttons that work after any restart: what a button does is all in its action id."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from adapters.slack.votes import NAMES
from engine import card_markdown

PREFIX = "rostrum"
ANY = re.compile(rf"^{PREFIX}:")


class Pressed(NamedTuple):
    """What a button asks for: stop, status, vote or withdraw, `of` which debate or option."""

    what: str
    of: str


def read_button(action_id: str) -> Pressed | None:
    """Read an action id, None for one that no version of Rostrum knows."""
    match action_id.split(":"):
        case [prefix, ("stop" | "status" | "vote") as what, of] if prefix == PREFIX and of:
            return Pressed(what, of)
        case [prefix, "withdraw"] if prefix == PREFIX:
            return Pressed("withdraw", "")
    return None


def debate_buttons(code: str) -> dict[str, Any]:
    """Return the buttons of a debate's announcement."""
    stop = _button(f"{PREFIX}:stop:{code}", card_markdown.STOP) | {"style": "danger"}
    return _row([stop, _button(f"{PREFIX}:status:{code}", card_markdown.STATUS)])


def ballot_buttons(options: tuple[str, ...]) -> dict[str, Any]:
    """Return the buttons of a private ballot."""
    named = [
        _button(f"{PREFIX}:vote:{option}", f":{NAMES[option]}: {card_markdown.option_name(option)}")
        for option in options
    ]
    return _row([*named, _button(f"{PREFIX}:withdraw", card_markdown.WITHDRAW)])


def _button(action_id: str, label: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": label, "emoji": True}
    return {"type": "button", "action_id": action_id, "text": text}


def _row(buttons: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "actions", "elements": buttons}
