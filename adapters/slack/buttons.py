"""Buttons and menus (engine/words/buttons.py) in Slack's form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from engine.chat.answers.review_list import ReviewLine
from engine.marks import REACTIONS
from engine.words.buttons import PREFIX, Button, review_menu
from engine.words.phrases import review_hint

ANY = re.compile(rf"^{PREFIX}:")


def row(buttons: Sequence[Button]) -> dict[str, Any]:
    """Return buttons in a row."""
    return {"type": "actions", "elements": [_button(button) for button in buttons]}


def review_menus(lines: Sequence[ReviewLine]) -> dict[str, Any]:
    """Return a menu for each debate of a review."""
    return {"type": "actions", "elements": [_menu(line) for line in lines]}


def _menu(line: ReviewLine) -> dict[str, Any]:
    code = line.debate.code
    return {
        "type": "static_select",
        "action_id": review_menu(code),
        "placeholder": _plain(review_hint(code, line.names)),
        "options": [
            {"text": _plain(f"{REACTIONS[option]} {name}"), "value": option}
            for option, name in line.choices
        ],
    }


def _button(button: Button) -> dict[str, Any]:
    label = f"{REACTIONS[button.option]} {button.label}" if button.option else button.label
    shown = {"type": "button", "action_id": button.id, "text": _plain(label)}
    return shown | ({"style": "danger"} if button.danger else {})


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}
