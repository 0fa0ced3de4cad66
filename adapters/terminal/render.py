"""Cards in a terminal: in colour with rich, or as plain lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.text import Text

from adapters.terminal import texts
from engine.values.language import ENGLISH, speaking
from engine.values.messages import MESSAGE, Message, VoteInvite
from engine.values.ports import Draft, Part
from engine.values.text import clean, unmarked
from engine.words.card import Card, Reference, by_side
from engine.words.cards import card_of, with_heading, words_used
from engine.words.translation import in_its_language, say

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Text for a terminal: texts by models and people are data; pure.
#
# They reach rich as text, never as markup, and without control characters.


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


def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Freeze a message: one piece whose body is the message as JSON."""
    if isinstance(message, VoteInvite):  # the people at the terminal end their vote themselves
        message = message.model_copy(update={"until": None})
    return (Part(reference=f"{stem}·1/1", body=MESSAGE.dump_json(message).decode()),)


@in_its_language
def plain(message: Message, reference: str, folder: Path | None = None) -> str:
    """Return a message as plain lines, with its number in the first.

    `folder` is the folder of its files, if they are stored.
    """
    card = card_of(message)
    head = f"[{card.heading}] {card.footer}".rstrip()
    text = [card.text] if card.text else []
    rows = [
        f"{head} ({_number(card, reference)})",
        *text,
        *(row.plain for row in _rows(card, folder)),
    ]
    return clean("\n".join(rows)) + "\n"


@in_its_language
def pretty(
    message: Message, reference: str, folder: Path | None = None, *, dim: bool = False
) -> RenderableType:
    """Return a message as a panel in its side's colour; `dim` for one shown before."""
    card = card_of(message)
    colour = colour_of(card.side)
    text = [markdown(card.text)] if card.text else []
    return Panel(
        Group(*text, *_rows(card, folder)),
        title=Text(clean(card.heading), style=f"bold {colour}"),
        subtitle=Text(f"{card.footer}  {_number(card, reference)}".strip(), style="dim"),
        title_align="left",
        subtitle_align="right",
        border_style=colour,
        style="dim" if dim else "none",
    )


def _number(card: Card, reference: str) -> str:
    """Return a message's number, with the debate's code where people should see it."""
    return " · ".join(filter(None, (Reference.read(reference).mark, card.code)))


def _rows(card: Card, folder: Path | None) -> Iterator[Text]:
    """Return the rows below a card's text."""
    if card.topic:
        yield Text(clean(say(texts.TOPIC, topic=card.topic)), "bold")
    yield from (line(said, "bold yellow") for said in card.warnings)
    yield from (line(said) for said in card.lines)
    for page in card.pages:
        yield from (line(said) for said in with_heading(page))
    if card.ballot:
        options = " · ".join(map(card.ballot.name, card.ballot.options))
        asks = card.ballot.asks
        asked = [f"{asks} {options}"] if card.ballot.inline else [asks, options]
        yield from map(line, asked)
    if card.small:
        yield line(card.small, "dim")
    for file in card.files:
        path = folder / file.name if folder else file.name
        yield Text(clean(say(texts.FILE, name=path)), "dim")


# The live part below the last message: turns being written, and who is thinking.


FRAMES_PER_SECOND = 10
FRAME_ROWS = 2  # a draft's border


class _Key(NamedTuple):
    debate: str
    seat: str
    round: str


class LiveView:
    """A live view at the end of a console; messages are printed above it.

    `language` is that of the debate that is shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.language = ENGLISH
        self._live: Live | None = None
        self._drafts: dict[_Key, Draft] = {}
        self._thinking: tuple[str, ...] = ()
        self._spinner = Spinner("dots", style="status.spinner")

    def write(self, draft: Draft) -> None:
        """Show a draft, in place of its earlier text."""
        # Replaced, never mutated: rich's thread may be reading it.
        self._drafts = {**self._drafts, _Key(draft.debate, draft.seat, draft.round): draft}
        self._refresh()

    def drop(self, debate: str, seat: str, round: str) -> None:
        """Remove a draft, if it is shown."""
        gone = _Key(debate, seat, round)
        self._drafts = {key: draft for key, draft in self._drafts.items() if key != gone}
        self._refresh()

    def think(self, seats: Sequence[str]) -> None:
        """Show who is thinking; empty for no one."""
        self._thinking = tuple(seats)
        self._refresh()

    def clear(self) -> None:
        """Remove everything."""
        self._drafts, self._thinking = {}, ()
        self._refresh()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Make room for a message, then continue below it."""
        self._stop()
        try:
            yield
        finally:
            self._refresh()

    def _refresh(self) -> None:
        if not self._drafts and not self._thinking:
            self._stop()
        elif self._live is None:
            self._live = Live(
                console=self._console,
                get_renderable=self._view,
                refresh_per_second=FRAMES_PER_SECOND,
                transient=True,
            )
            self._live.start(refresh=True)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _view(self) -> RenderableType:
        with speaking(self.language):  # Rich draws in a thread of its own.
            drafts = tuple(self._drafts.values())
            shares = max(1, len(drafts))
            rows = max(1, (self._console.height - 2) // shares - FRAME_ROWS)
            views: list[RenderableType] = [_panel(draft, rows) for draft in drafts]
            written = {draft.seat for draft in drafts}
            silent = [seat for seat in self._thinking if seat not in written]
            if silent:
                said = clean(texts.thinking(silent))
                self._spinner.update(text=Text(said, style="dim"))
                views.append(self._spinner)
            return Group(*views)


def _panel(draft: Draft, rows: int) -> Panel:
    colour = colour_of(draft.side)
    title = texts.draft_title(draft)
    return Panel(
        _Tail(clean(draft.text), rows),
        title=Text(clean(title), style=f"bold {colour}"),
        subtitle=Text(words_used(draft.words, draft.limit), style="dim"),
        title_align="left",
        subtitle_align="right",
        border_style=colour,
    )


@dataclass(frozen=True, slots=True)
class _Tail:
    """The last rows of a text, as it wraps."""

    text: str
    rows: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap the text and yield its end."""
        lines = Text(self.text).wrap(console, options.max_width)
        yield Text("\n").join(lines[-self.rows :])
