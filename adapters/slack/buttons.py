"""Buttons and menus (engine/words/buttons.py) in Slack's form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from engine.chat.answers.review_list import ReviewLine
from engine.values.text import REACTIONS
from engine.words.buttons import PREFIX, Button, Menu, Row, review_menu
from engine.words.phrases import review_hint

ANY = re.compile(rf"^{PREFIX}:")


def row(buttons: Sequence[Button]) -> dict[str, Any]:
    """Return buttons in a row."""
    return {"type": "actions", "elements": [_button(button) for button in buttons]}


def controls(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows of buttons and menus, below a private answer."""
    return [
        {"type": "actions", "elements": [_choices(one)]} if isinstance(one, Menu) else row(one)
        for one in rows
    ]


def _choices(menu: Menu) -> dict[str, Any]:
    options = [{"text": _plain(label), "value": str(at)} for at, label in enumerate(menu.labels)]
    shown = {
        "type": "static_select",
        "action_id": menu.id,
        "placeholder": _plain(menu.hint),
        "options": options,
    }
    return shown if menu.chosen is None else shown | {"initial_option": options[menu.chosen]}


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
    style = "danger" if button.danger else "primary" if button.chosen else ""
    return shown | ({"style": style} if style else {})


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}
