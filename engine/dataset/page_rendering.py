"""A page as Markdown and as HTML; whatever models and people wrote stays data in both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined, Template

from engine.dataset.page import Page
from engine.values.language import speaking
from engine.values.text import clean
from engine.words.translation import say

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "ckb", "dv"})


def write_markdown(page: Page) -> str:
    """Return the page as Markdown."""
    with speaking(page.language):
        return _template("md").render(page=page).strip() + "\n"


def write_html(page: Page) -> str:
    """Return the page as one HTML file that loads nothing and runs nothing."""
    direction = "rtl" if page.language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
    with speaking(page.language):
        return _template("html").render(page=page, direction=direction).strip() + "\n"


def inline(text: str) -> str:
    """Return a text on one line of Markdown in which nothing has a meaning."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def quoted(text: str) -> str:
    """Return Markdown as a quotation, which no text can leave; its HTML tags are shown."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence:
            line = _TAG.sub("&lt;", line)
        lines.append(f"> {line}".rstrip())
    return "\n".join([*lines, f"> {fence}"] if fence else lines)


class Html(str):
    """Text that a template must not escape again."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def to_html(text: str, heading: int = 3) -> Html:
    """Return Markdown as HTML: tags and images in it are shown as text, links lead out safely.

    Its headings are all of one level, as those of a page's own order are not a text's to choose.
    """
    try:
        return Html(_parser().render(clean(text), {"heading": heading}))
    except RecursionError:
        return Html(f"<pre>{escape(clean(text))}</pre>")


def shown(value: object) -> object:
    """Return a value as a template shows it: texts without control characters."""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template(kind: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
        autoescape=kind == "html",  # noqa: S701 - Markdown is no HTML; `inline` and `quoted` escape
    )
    environment.globals["say"] = say
    environment.filters |= {"inline": inline, "quoted": quoted, "markdown": to_html}
    text = files(__package__).joinpath(f"page.{kind}.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only now: few processes write a page

    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["strikethrough", "table"]).disable(["image", "reference"])
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _heading(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].tag = f"h{env['heading']}"
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered


def _link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered
