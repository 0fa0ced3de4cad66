"""Text for a terminal: texts by models and people are data; pure.

They reach rich as text, never as markup, and without control characters.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from engine.values.text import clean, unmarked
from engine.words.card import by_side

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SIDE_COLOURS = {
    **{"A": "blue", "B": "red", "judge": "yellow", "vote": "yellow"},
    **{"info": "cyan", "warning": "yellow", "error": "red"},
}
OTHER_COLOURS = ("blue", "red", "green", "magenta", "cyan", "bright_blue", "bright_red")


def colour_of(side: str) -> str:
    """Return the colour of a side: A blue, B red, 1 to 9 one each in turn; else none."""
    return by_side(side, SIDE_COLOURS, OTHER_COLOURS, "")


_DEEP = re.compile(r"^[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*){8}", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]{40}", re.MULTILINE)
_MARKED = re.compile(r"\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*|(?<!`)`(?P<code>[^`\n]+)`(?!`)")


def line(markdown: str, style: str = "") -> Text:
    """Style the engine's Markdown: bold, and a side and its model in colour."""
    line, text, end, colour = Text(style=style), clean(markdown), 0, ""
    for marked in _MARKED.finditer(text):
        line.append(text[end : marked.start()])
        bold, code = marked.group("bold", "code")
        colour = colour_of(unmarked(bold)) if bold else colour
        line.append(bold or code, f"bold {colour}" if bold else colour)
        end = marked.end()
    return line.append(text[end:])


def markdown(text: str) -> RenderableType:
    """Format any Markdown, or show it unformatted if it is nested too deep."""
    from rich.markdown import Markdown  # only now: nothing is Markdown before the first turn

    text = clean(text)
    if _DEEP.search(text) or _INDENTED.search(text):
        return Text(text)
    shown = Markdown("", hyperlinks=False)
    shown.parsed = _parser().parse(text)
    return shown


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML, images and link definitions are off, because rich would drop them; they are shown as
    # text. Deeper nesting than the parser supports is caught by _DEEP.
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["strikethrough", "table"]).disable(["image", "reference"])
