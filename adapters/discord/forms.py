"""Forms (engine/words/forms.py) in Discord's form.

What is typed is handled by custom id, so a form that is sent after a restart is answered too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import discord

from engine.words.forms import Form

OPEN_SECONDS = 1.0  # for which discord.py itself would wait for it


def modal_of(form: Form) -> discord.ui.Modal:
    """Return a form as a modal."""
    modal = discord.ui.Modal(title=form.title, custom_id=form.id, timeout=OPEN_SECONDS)
    for one in form.fields:
        style = discord.TextStyle.paragraph if one.long else discord.TextStyle.short
        field: discord.ui.TextInput[discord.ui.Modal] = discord.ui.TextInput(
            custom_id=one.name,
            label=one.label,
            placeholder=one.hint,
            style=style,
            max_length=one.most,
            required=False,  # what is missing is answered in words
        )
        modal.add_item(field)
    return modal


def typed_in(data: dict[str, Any]) -> dict[str, str]:
    """Return what was typed into a submitted form, by field."""
    return dict(_values(data.get("components") or ()))


def _values(components: Any) -> Iterator[tuple[str, str]]:
    for one in components:
        if one.get("value") is not None:
            yield one.get("custom_id", ""), one["value"]
        yield from _values(one.get("components") or ())
        if isinstance(one.get("component"), dict):
            yield from _values((one["component"],))
