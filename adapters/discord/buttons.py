"""Buttons and menus (engine/words/buttons.py) in Discord's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord

from engine.chat.answers.review_list import ReviewLine
from engine.values.text import REACTIONS
from engine.words.buttons import Button, Menu, Row, review_menu
from engine.words.phrases import review_hint

ROW = 5  # buttons in a row on Discord
_ROW_KIND, _BUTTON_KIND = 1, 2
GREY, RED = 2, 4


def rows(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return buttons in rows."""
    starts = range(0, len(buttons), ROW)
    return [
        {"type": _ROW_KIND, "components": [_button(one) for one in buttons[i : i + ROW]]}
        for i in starts
    ]


def _button(button: Button) -> dict[str, Any]:
    shown = {"type": _BUTTON_KIND, "style": RED if button.danger else GREY, "label": button.label}
    emoji = {"emoji": {"name": REACTIONS[button.option]}} if button.option else {}
    return shown | {"custom_id": button.id} | emoji


def view_of(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Return buttons for an answer to an interaction; None for none."""
    if not buttons:
        return None
    view = discord.ui.View(timeout=1.0)  # a press is handled by its custom id, as a choice is
    for one in buttons:
        style = discord.ButtonStyle(RED if one.danger else GREY)
        view.add_item(discord.ui.Button(custom_id=one.id, label=one.label, style=style))
    return view


def controls(rows: Sequence[Row]) -> discord.ui.View:
    """Return rows of buttons and menus, below a private answer."""
    view = discord.ui.View(timeout=1.0)  # handled by custom id, too
    for number, row in enumerate(rows):
        if isinstance(row, Menu):
            menu: discord.ui.Select[discord.ui.View] = discord.ui.Select(
                custom_id=row.id, placeholder=row.hint, row=number
            )
            for at, label in enumerate(row.labels):
                menu.add_option(label=label, value=str(at), default=at == row.chosen)
            view.add_item(menu)
            continue
        for one in row:
            style = discord.ButtonStyle.success if one.chosen else discord.ButtonStyle.secondary
            view.add_item(
                discord.ui.Button(custom_id=one.id, label=one.label, style=style, row=number)
            )
    return view


def review_menus(lines: Sequence[ReviewLine]) -> discord.ui.View:
    """Return a menu for each debate of a review."""
    # Choices are handled by custom id, so the view itself may time out.
    view = discord.ui.View(timeout=1.0)
    for line in lines:
        code = line.debate.code
        menu: discord.ui.Select[discord.ui.View] = discord.ui.Select(
            custom_id=review_menu(code), placeholder=review_hint(code, line.names)
        )
        for option, name in line.choices:
            menu.add_option(label=name, value=option, emoji=REACTIONS[option])
        view.add_item(menu)
    return view
