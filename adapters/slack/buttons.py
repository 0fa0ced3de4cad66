"""How Slack shows the buttons and menus of engine/answers/buttons.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from adapters.slack.votes import NAMES
from engine.answers.answers import ReviewLine
from engine.answers.buttons import PREFIX
from engine.words import cards as card_markdown

ANY = re.compile(rf"^{PREFIX}:")


def debate_buttons(code: str, *, stoppable: bool = True) -> dict[str, Any]:
    """Return the buttons of a debate's announcement."""
    stop = _button(f"{PREFIX}:stop:{code}", card_markdown.STOP) | {"style": "danger"}
    status = _button(f"{PREFIX}:status:{code}", card_markdown.STATUS)
    return _row([stop, status] if stoppable else [status])


def ballot_buttons(options: tuple[str, ...]) -> dict[str, Any]:
    """Return the buttons of a private ballot."""
    named = [
        _button(f"{PREFIX}:vote:{option}", f":{NAMES[option]}: {card_markdown.option_name(option)}")
        for option in options
    ]
    return _row([*named, _button(f"{PREFIX}:withdraw", card_markdown.WITHDRAW)])


def review_menus(lines: Sequence[ReviewLine]) -> dict[str, Any]:
    """Return a menu for each debate of a review."""
    return _row([_menu(line) for line in lines])


def _menu(line: ReviewLine) -> dict[str, Any]:
    code = line.debate.code
    names = {option: card_markdown.option_name(option) for option in line.options}
    return {
        "type": "static_select",
        "action_id": f"{PREFIX}:review:{code}",
        "placeholder": _plain(card_markdown.REVIEW_HINT.format(code=code)),
        "options": [
            {"text": _plain(f":{NAMES[option]}: {name}"), "value": option}
            for option, name in names.items()
        ],
    }


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}


def _button(action_id: str, label: str) -> dict[str, Any]:
    return {"type": "button", "action_id": action_id, "text": _plain(label)}


def _row(buttons: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "actions", "elements": buttons}
