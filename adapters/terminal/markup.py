"""Text as a terminal shows it: everything that models and people wrote is data; pure.

It reaches rich as text, never as markup, and without a control character.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from engine.text import clean
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
    """Show the engine's Markdown without its marks: bold, and a side and its model in colour."""
    line, text, end, colour = Text(style=style), clean(markdown), 0, ""
    for marked in _MARKED.finditer(text):
        line.append(text[end : marked.start()])
        bold, code = marked.group("bold", "code")
        colour = colour_of(bold) if bold else colour
        line.append(bold or code, f"bold {colour}" if bold else colour)
        end = marked.end()
    return line.append(text[end:])


def markdown(text: str) -> RenderableType:
    """Show any Markdown formatted, or as it is written where that is nested too deep."""
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

    # html: shown as it is written, for rich would drop it, as it drops what an image or a link
    # definition names. Deeper nesting than the parser reads is caught by _DEEP.
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["strikethrough", "table"]).disable(["image", "reference"])
