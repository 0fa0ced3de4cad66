"""Text as Slack takes it: nothing that people or models wrote acts on anything; pure.

Slack reads `<…>` as mentions and links wherever it stands, and asks for `& < >` to be escaped
(its documentation, "Formatting message text").
"""

from __future__ import annotations

import html
import re
from typing import Any

from engine.text import clean, split_markdown
from engine.words.tables import fence_tables

# Slack takes 12,000 characters of Markdown, but refuses about 13,200 of everything together.
MARKDOWN = 10_000
_MENTION = re.compile(r"(?:<|lt;)(?=[!@#])")  # `&lt;` is a `<` to whoever decodes twice
# No `<` within, which Slack escapes: each would be searched through to the end.
_REFERENCE = re.compile(r"<([#@]|https?:|mailto:)([^|<>]*)(?:\|([^<>]*))?>")
_JOINER = "\u2060"  # invisible, and no part of any mention
_QUOTE = re.compile(r"^((?:[ \t]*&gt;)+)", re.MULTILINE)


def escape(text: str) -> str:
    """Return text that is shown literally and notifies no one, however often it is decoded."""
    return html.escape(_MENTION.sub(rf"\g<0>{_JOINER}", clean(text)), quote=False)


def typed(text: str, *, ids: bool = False) -> str:
    """Return what a person typed after a command, or with `ids` the ids of channels and people.

    Slack hands `#hall` out as `<#C1|hall>`, an address as `<https://…>`, and `& < >` escaped.
    """

    def plain(found: re.Match[str]) -> str:
        mark, target, label = found.groups()
        if mark in ("#", "@"):
            return str(target) if ids else f"{mark}{label or target}"
        return str(label or target) if mark == "mailto:" else f"{mark}{target}"

    shown = _REFERENCE.sub(plain, text)
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def markdown(text: str) -> str:
    """Return Markdown for a block of that kind: escaped, but for the marks of quotations."""
    return _QUOTE.sub(lambda marks: marks[1].replace("&gt;", ">"), escape(text))


def pieces_of(text: str) -> tuple[str, ...]:
    """Cut Markdown into pieces that fit a block once they are escaped; tables are shown as code."""
    return split_markdown(fence_tables(clean(text)), MARKDOWN, lambda piece: len(markdown(piece)))


def markdown_block(text: str) -> dict[str, Any]:
    """Return a block that shows Markdown; the text is escaped here."""
    return {"type": "markdown", "text": markdown(text)}
