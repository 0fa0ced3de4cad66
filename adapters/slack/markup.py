"""Text for Slack: nothing that people or models wrote has an effect; pure.

Slack parses `<…>` as mentions and links everywhere, and requires `& < >` to be escaped (its
documentation, "Formatting message text").
"""

from __future__ import annotations

import html
import re
from typing import Any

from engine.values.text import chop, clean, split_markdown
from engine.words.tables import fence_tables

# Slack accepts 12,000 characters of Markdown, but about 13,200 in the whole message.
MARKDOWN = 10_000
FALLBACK, TOGETHER = 3_000, 11_500  # the second with the Markdown; the rest is for other blocks
_MENTION = re.compile(r"(?:<|lt;)(?=[!@#])")  # `&lt;` is a `<` to a client that decodes twice
# No `<` inside, as Slack escapes it: the search stays linear.
_REFERENCE = re.compile(r"<([#@]|https?:|mailto:)([^|<>]*)(?:\|([^<>]*))?>")
_JOINER = "\u2060"  # invisible, and no part of any mention
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^()\s]+\)")
_MARKUP = re.compile(r"^(?:[ \t]*(?:```|~~~).*\n?|#{1,6}[ \t]+|\|[ :|-]+\|[ \t]*\n?)", re.MULTILINE)
_QUOTE = re.compile(r"^((?:[ \t]*&gt;)+)", re.MULTILINE)


def escape(text: str) -> str:
    """Return text that is shown literally and notifies no one, however often it is decoded."""
    return html.escape(_MENTION.sub(rf"\g<0>{_JOINER}", clean(text)), quote=False)


def typed(text: str, *, ids: bool = False) -> str:
    """Return a command's text as typed; with `ids`, channels and people are their ids.

    A person who is the value of an option stays a mention, as `b=<@U1>`.

    Slack sends `#hall` as `<#C1|hall>`, an address as `<https://…>`, and `& < >` escaped.
    """

    def plain(found: re.Match[str]) -> str:
        mark, target, label = found.groups()
        if mark == "@" and text[max(0, found.start() - 1) : found.start()] == "=":
            return f"<@{target}>"
        if mark in ("#", "@"):
            return str(target) if ids else f"{mark}{label or target}"
        return str(label or target) if mark == "mailto:" else f"{mark}{target}"

    shown = _REFERENCE.sub(plain, text)
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def markdown(text: str) -> str:
    """Escape Markdown for a `markdown` block, except for quotation marks at line starts."""
    return _QUOTE.sub(lambda marks: marks[1].replace("&gt;", ">"), escape(text))


def in_plain_words(text: str) -> str:
    """Return Markdown as it reads aloud: without bold, code, headings, rules and addresses."""
    return _CODE.sub(r"\1", _BOLD.sub(r"\1", _LINK.sub(r"\1", _MARKUP.sub("", text))))


def fallback(text: str, *tokens: str) -> str:
    """Return the text that screen readers and notifications have instead of blocks.

    It is the whole of a message's Markdown in plain words, up to 3,000 characters, and below it
    lines in Slack's own markup, which may name times.
    """
    below = "".join(f"\n{token}" for token in tokens)
    room = min(FALLBACK, TOGETHER - len(markdown(text))) - len(below) - 1
    first, *more = chop(in_plain_words(clean(text)), room, lambda piece: len(escape(piece)))
    return f"{escape(first)}{'…' if more else ''}{below}"


def pieces_of(text: str) -> tuple[str, ...]:
    """Cut Markdown into pieces that fit a block after escaping; tables become code."""
    return split_markdown(fence_tables(clean(text)), MARKDOWN, lambda piece: len(markdown(piece)))


def markdown_block(text: str) -> dict[str, Any]:
    """Return a block of Markdown; escapes the text."""
    return {"type": "markdown", "text": markdown(text)}
