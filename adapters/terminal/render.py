"""How each message looks in a terminal: in colour with rich, or as plain lines.

Both are made from one card, and everything that models and people wrote is data in both:
it reaches rich as text, never as markup, and without a control character.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from adapters.terminal import texts
from engine.messages import (
    MESSAGE,
    AgainInvite,
    Announcement,
    Arc,
    Message,
    Notice,
    Report,
    Reveal,
    ScoreBoard,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.ports import Part
from engine.text import clean
from engine.words import cards as card_markdown
from engine.words.reports import markdown_of
from engine.words.reveal import reveal_lines

JURY_COLOUR = "yellow"
SIDE_COLOURS = {"A": "blue", "B": "red", "judge": JURY_COLOUR}
OTHER_COLOURS = ("blue", "red", "green", "magenta", "cyan", "bright_blue", "bright_red")
LEVEL_COLOURS = {"info": "cyan", "warning": "yellow", "error": "red"}


class Card(NamedTuple):
    """What a message shows; `markdown` comes before the lines."""

    title: str
    colour: str
    lines: tuple[Text, ...] = ()
    markdown: str = ""
    footer: str = ""


def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Freeze a message: one piece whose body is the message as JSON."""
    return (Part(reference=f"{stem}·1/1", body=MESSAGE.dump_json(message).decode()),)


def plain(message: Message, reference: str, folder: Path | None = None) -> str:
    """Return a message as plain lines, the reference in the first.

    Its files are in `folder`, where they are kept.
    """
    card = card_of(message, folder)
    head = f"[{card.title}] {card.footer}".rstrip()
    body = [card.markdown] if card.markdown else []
    rows = [f"{head} ({reference})", *body, *(line.plain for line in card.lines)]
    return clean("\n".join(rows)) + "\n"


def pretty(
    message: Message, reference: str, folder: Path | None = None, *, dim: bool = False
) -> RenderableType:
    """Return a message as a panel in the colour of its side; `dim` for one shown before."""
    card = card_of(message, folder)
    body = [_markdown(card.markdown)] if card.markdown else []
    return Panel(
        Group(*body, *card.lines),
        title=Text(clean(card.title), style=f"bold {card.colour}"),
        subtitle=Text(f"{card.footer}  {reference}".strip(), style="dim"),
        title_align="left",
        subtitle_align="right",
        border_style=card.colour,
        style="dim" if dim else "none",
    )


def card_of(message: Message, folder: Path | None = None) -> Card:  # noqa: C901 - one case a message
    """Return what a message shows, for either look."""
    match message:
        case Announcement():
            return _announcement(message)
        case TurnPost():
            return _turn(message)
        case VoteInvite():
            return _invite(message)
        case StanceInvite():
            return _stance(message)
        case AgainInvite():
            return _again(message)
        case VoteClosed():
            title = card_markdown.CLOSED_EARLY if message.early else card_markdown.CLOSED
            said = card_markdown.plural(card_markdown.CLOSED_WITH, message.votes)
            return Card(title, JURY_COLOUR, _lines(said))
        case Reveal():
            return _reveal(message)
        case Notice():
            title, colour = card_markdown.LEVELS[message.level], LEVEL_COLOURS[message.level]
            return Card(title, colour, _lines(message.text))
        case Report():
            return _report(message, folder)
        case ScoreBoard() | Arc():
            return Card(message.title, JURY_COLOUR, markdown=markdown_of(message))


def colour_of(side: str) -> str:
    """Return the colour of a contender: A blue, B red, 1 to 9 one each in turn; else none."""
    if side.isascii() and side.isdigit():
        return OTHER_COLOURS[(int(side) - 1) % len(OTHER_COLOURS)]
    return SIDE_COLOURS.get(side, "")


# html: shown as it is written, for rich would drop it, as it drops what an image or a link
# definition names. Deeper nesting than the parser reads is caught by _DEEP.
_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["strikethrough", "table"])
    .disable(["image", "reference"])
)
_DEEP = re.compile(r"^[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*){8}", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]{40}", re.MULTILINE)
_MARKED = re.compile(r"\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*|(?<!`)`(?P<code>[^`\n]+)`(?!`)")


def _line(markdown: str, style: str = "") -> Text:
    """Show the engine's Markdown without its marks: bold, and a side and its model in colour."""
    line, text, end, colour = Text(style=style), clean(markdown), 0, ""
    for marked in _MARKED.finditer(text):
        line.append(text[end : marked.start()])
        bold, code = marked.group("bold", "code")
        colour = colour_of(bold) if bold else colour
        line.append(bold or code, f"bold {colour}" if bold else colour)
        end = marked.end()
    return line.append(text[end:])


def _lines(*markdown: str) -> tuple[Text, ...]:
    return tuple(_line(line) for line in markdown)


def _markdown(text: str) -> RenderableType:
    text = clean(text)
    if _DEEP.search(text) or _INDENTED.search(text):
        return Text(text)
    shown = Markdown("", hyperlinks=False)
    shown.parsed = _PARSER.parse(text)
    return shown


def _topic(topic: str) -> Text:
    return Text(clean(texts.TOPIC.format(topic=topic)), "bold")


def _options(options: tuple[str, ...]) -> str:
    return " · ".join(card_markdown.option_name(option) for option in options)


def _announcement(debate: Announcement) -> Card:
    _, *terms = card_markdown.announced(debate)  # the topic has a line of its own here
    estimate = _line(card_markdown.estimated(debate), "dim")
    lines = (_topic(debate.topic), *_lines(*terms), estimate)
    return Card(card_markdown.DEBATE.format(code=debate.code), "cyan", lines)


def _turn(turn: TurnPost) -> Card:
    broken = tuple(_line(said, "bold yellow") for said in card_markdown.violations(turn))
    used = card_markdown.turn_used(turn)
    return Card(card_markdown.turn_title(turn), colour_of(turn.side), broken, turn.text, used)


def _report(report: Report, folder: Path | None) -> Card:
    paths = (folder / file.name if folder else file.name for file in report.files)
    lines = tuple(Text(clean(texts.FILE.format(name=path)), "dim") for path in paths)
    return Card(report.title, colour_of(report.side), lines, report.text)


def _invite(invite: VoteInvite) -> Card:
    asks = f"{card_markdown.INVITE_ASKS} {_options(invite.options)}"
    lines = _lines(asks, card_markdown.invite_terms(invite))
    return Card(card_markdown.INVITE, JURY_COLOUR, lines)


def _stance(invite: StanceInvite) -> Card:
    said = [card_markdown.STANCE_QUESTION.format(options=_options(invite.options))]
    if invite.seconds is not None:
        said.append(card_markdown.plural(card_markdown.STANCE_LASTS, invite.seconds))
    title = card_markdown.STANCE_AFTER if invite.after else card_markdown.STANCE_BEFORE
    return Card(title, JURY_COLOUR, (_topic(invite.topic), *_lines(*said)))


def _again(invite: AgainInvite) -> Card:
    lasts = card_markdown.again_lasts(invite)
    lines = _lines(card_markdown.AGAIN_ASKS, _options(invite.options), lasts)
    return Card(card_markdown.AGAIN, JURY_COLOUR, lines)


def _reveal(reveal: Reveal) -> Card:
    *said, spent = reveal_lines(reveal)
    lines = (_topic(reveal.topic), *_lines(*said), _line(spent, "dim"))
    return Card(card_markdown.REVEAL, JURY_COLOUR, lines)
