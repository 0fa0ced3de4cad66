"""Text as Discord takes it: Markdown shown whole, or every mark as it is; pure."""

from __future__ import annotations

import re

from engine.text import clean
from engine.words.tables import fence_tables

LINE = "─" * 12
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")  # a backslash before any of these shows it as it is
_BREAK = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)


def escape(text: str) -> str:
    """Return text that is shown as it is."""
    return _MARKUP.sub(r"\\\g<0>", text)


def shown(text: str) -> str:
    """Return Markdown as Discord shows it whole: tables as code, no spoilers, no controls."""
    return _draw_breaks(fence_tables(clean(text))).replace("||", "\\|\\|")


def _draw_breaks(text: str) -> str:
    """Draw the lines between parts outside of code; Discord shows `---` as it is written."""
    pieces = text.split("```")
    pieces[::2] = (_BREAK.sub(LINE, piece) for piece in pieces[::2])
    return "```".join(pieces)


def units(text: str) -> int:
    """Count UTF-16 code units, the strictest of the ways in which Discord counts characters."""
    return len(text) + sum(char > "\uffff" for char in text)
