"""Text for Discord: Markdown with nothing hidden, or escaped; pure."""

from __future__ import annotations

import re

from engine.values.text import clean
from engine.words.tables import fence_tables

LINE = "─" * 12
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")  # a backslash escapes any of these
_BREAK = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)


def escape(text: str) -> str:
    """Escape text so that it is shown literally."""
    return _MARKUP.sub(r"\\\g<0>", text)


def shown(text: str) -> str:
    """Return Markdown that Discord shows in full: tables as code, no spoilers, no controls."""
    return _draw_breaks(fence_tables(clean(text))).replace("||", "\\|\\|")


def _draw_breaks(text: str) -> str:
    """Draw rules outside code as lines; Discord shows `---` literally."""
    pieces = text.split("```")
    pieces[::2] = (_BREAK.sub(LINE, piece) for piece in pieces[::2])
    return "```".join(pieces)


def units(text: str) -> int:
    """Count UTF-16 code units, the strictest of Discord's ways to count characters."""
    return len(text) + sum(char > "\uffff" for char in text)
