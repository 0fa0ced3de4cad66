"""Markdown of a chat as HTML, as far as Rostrum's messages use it, Discord's marks too; pure."""

import argparse
import asyncio
import html
import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

FENCE = "```"
TOPICS = {
    "en": "Remote work is more productive than working from an office",
    "de": "Im Homeoffice arbeitet man produktiver als im Büro",
    "es": "Se trabaja mejor desde casa que en una oficina",
    "tr": "Uzaktan çalışmak ofiste çalışmaktan daha verimlidir",
    "zh": "远程办公比在办公室工作更有效率",
}
INLINE: tuple[tuple[str, str], ...] = (
    (r"\*\*(.+?)\*\*", r"<b>\1</b>"),
    (r"(?<![*\w])\*(?![\s*])(.+?)\*(?!\w)", r"<i>\1</i>"),
    (r"\[([^]]+)\]\(http[^)\s]+\)", r"<a>\1</a>"),
    (r"`([^`]+)`", r"<code>\1</code>"),
    (r"&lt;t:(\d+):t&gt;", "\\1\x00"),
)
LINES: tuple[tuple[str, str], ...] = (
    ("-# ", "<small>{}</small>"),
    ("### ", "<h3>{}</h3>"),
    ("## ", "<h2>{}</h2>"),
    ("# ", "<h1>{}</h1>"),
    ("- ", "<div class=item>{}</div>"),
    ("&gt; ", "<blockquote>{}</blockquote>"),
)


def to_html(text: str, name_of: Callable[[str], str] = str) -> str:
    """Return Markdown as HTML; `name_of` names the channel or thread of an id."""
    return "\n".join(_blocks(html.escape(text, quote=False), name_of))


def _blocks(text: str, name_of: Callable[[str], str]) -> Iterator[str]:
    for number, block in enumerate(text.split(FENCE)):
        if number % 2:
            yield f"<pre>{block.partition(chr(10))[2] or block}</pre>"
        else:
            yield from (_line(line, name_of) for line in block.strip("\n").split("\n"))


def _line(line: str, name_of: Callable[[str], str]) -> str:
    for mark, shown in LINES:
        if line.startswith(mark):
            return shown.format(_inline(line.removeprefix(mark), name_of))
    return f"<div>{_inline(line, name_of) or '&nbsp;'}</div>"


def _inline(text: str, name_of: Callable[[str], str]) -> str:
    for pattern, shown in INLINE:
        text = re.sub(pattern, shown, text)
    text = re.sub(r"(\d+)\x00", lambda found: _clock(int(found[1])), text)
    return re.sub(r"&lt;#(\d+)&gt;", lambda found: _place(name_of(found[1])), text)


def _clock(moment: int) -> str:
    return f"<time>{datetime.fromtimestamp(moment, UTC):%H:%M}</time>"


def _place(name: str) -> str:
    return f"<a># {html.escape(name)}</a>"


def picture(content: bytes, alt: str) -> str:
    """Return an attached PNG as a part of the page."""
    shown = b64encode(content).decode()
    return f"<img class=picture alt='{html.escape(alt)}' src='data:image/png;base64,{shown}'>"


def columns(title: str, style: Path, *shown: tuple[str, Iterable[str], str]) -> str:
    """Return a page whose columns each have a title, messages and a kind, all in HTML."""
    sections = [
        f"<section class={kind}><header>{name}</header>" + "\n".join(messages) + "</section>"
        for name, messages, kind in shown
    ]
    head = "<!doctype html><html lang=en><meta charset=utf-8>"
    styled = (f"<title>{title}</title>", f"<style>{style.read_text()}</style>")
    return "\n".join((head, *styled, *sections))


def write_page(
    platform: str, hold: Callable[[Path, str], Coroutine[Any, Any, T]], draw: Callable[[T], str]
) -> None:
    parser = argparse.ArgumentParser(description=f"A debate as {platform} shows it")
    parser.add_argument("page", type=Path)
    parser.add_argument("--language", default="en", choices=list(TOPICS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        held = asyncio.run(hold(Path(folder), asked.language))
    asked.page.write_text(draw(held), encoding="utf-8")
