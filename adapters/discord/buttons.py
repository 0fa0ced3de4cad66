"""How Discord shows the buttons and menus of engine/answers/buttons.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord

from adapters.discord.votes import EMOJIS
from engine.answers.answers import ReviewLine
from engine.answers.buttons import PREFIX
from engine.words import cards as card_markdown

ROW = 5  # buttons that Discord puts side by side
_ROW_KIND, _BUTTON_KIND = 1, 2
GREY, RED = 2, 4


def debate_buttons(code: str, *, stoppable: bool = True) -> list[dict[str, Any]]:
    """Return the buttons of a debate's announcement."""
    stop = [_button(f"{PREFIX}:stop:{code}", card_markdown.STOP, style=RED)] if stoppable else []
    return _rows([*stop, _button(f"{PREFIX}:status:{code}", card_markdown.STATUS)])


def ballot_buttons(options: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the buttons of a private ballot; without options, the one that withdraws."""
    named = [
        _button(f"{PREFIX}:vote:{option}", card_markdown.option_name(option), emoji=EMOJIS[option])
        for option in options
    ]
    return _rows([*named, _button(f"{PREFIX}:withdraw", card_markdown.WITHDRAW)])


def review_menus(lines: Sequence[ReviewLine]) -> discord.ui.View:
    """Return a menu for each debate of a review."""
    # What is chosen is heard by its custom id, for as long as the answer is shown.
    view = discord.ui.View(timeout=1.0)
    for line in lines:
        code = line.debate.code
        menu: discord.ui.Select[discord.ui.View] = discord.ui.Select(
            custom_id=f"{PREFIX}:review:{code}",
            placeholder=card_markdown.REVIEW_HINT.format(code=code),
        )
        for option in line.options:
            name = card_markdown.option_name(option)
            menu.add_option(label=name, value=option, emoji=EMOJIS[option])
        view.add_item(menu)
    return view


def _button(
    custom_id: str, label: str, *, style: int = GREY, emoji: str | None = None
) -> dict[str, Any]:
    button = {"type": _BUTTON_KIND, "style": style, "label": label, "custom_id": custom_id}
    return button | ({"emoji": {"name": emoji}} if emoji else {})


def _rows(buttons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    starts = range(0, len(buttons), ROW)
    return [{"type": _ROW_KIND, "components": buttons[i : i + ROW]} for i in starts]
