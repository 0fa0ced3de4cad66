"""The card: everything a message shows, before a platform styles it.

A platform adds its own colours, marks and limits, and skips fields it cannot show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from engine.values.debate import BallotKind
from engine.values.messages import File, Progress
from engine.values.text import SIDES
from engine.words.buttons import Button
from engine.words.phrases import HOW_TO_VOTE, option_name
from engine.words.translation import say

# Tables in Markdown, for platforms that show none; pure.


_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$")


def fence_tables(text: str) -> str:
    """Put tables into code blocks, where their columns stay."""
    if "|" not in text:
        return text
    return "\n".join(_with_fences(text.split("\n")))


def closing_fence(text: str) -> str:
    """Return the line that closes a code block which a text leaves open, else nothing."""
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    return f"\n{fence}" if fence else ""


def _fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, empty for none."""
    opened = _FENCE.match(line)
    if opened is None:
        return fence
    return "" if fence and opened[1].startswith(fence) else fence or opened[1]


def _with_fences(lines: list[str]) -> Iterator[str]:
    fence, table = "", False
    for i, line in enumerate(lines):
        if table and "|" not in line:
            yield "```"
            table = False
        if not table:
            fence = _fence_after(line, fence)
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if not fence and not table and "|" in line and "|" in below and _RULE.match(below):
            yield "```"
            table = True
        yield line
    if table:
        yield "```"


WARNING = "⚠️ {said}"
WHOLE = "1/1"  # the piece of a message that was not split
BESIDE = "gap"  # in the references of what stands in place of a message
T = TypeVar("T")


class BallotPaper(NamedTuple):
    """A question and its options; `inline` puts the options on the question's line."""

    asks: str
    options: tuple[str, ...]
    kind: BallotKind
    inline: bool = False
    stances: Mapping[str, str] = {}

    def name(self, option: str) -> str:
        """Return an option's display name."""
        return option_name(option, self.stances)

    def beside(self, emojis: Mapping[str, str], option: str) -> str:
        """Return an option's display name beside the emoji of its reaction."""
        name = option_name(option, self.stances, bare=True)
        return f"{emojis[option]} {name}"


class CardSpeaker(NamedTuple):
    """The name under which a message is posted, and the contender whose face it has."""

    name: str
    side: str


class CardDetails(NamedTuple):
    """What stands behind a message: a heading and lines, opened by a button where there are any."""

    heading: str
    lines: tuple[str, ...]


class Card(NamedTuple):
    """The contents of a message, from top to bottom.

    `side` picks the colour: a contender, "judge", "vote", the level of a notice, or empty for
    neutral. `text` is arbitrary Markdown, including a model's; `lines` and `warnings` use only
    bold and code. `small` ends the text in small print; `footer` stands beside the number.
    `code` is the debate's, which commands take: for small print that does not show it yet.
    `picture` makes one for platforms that show pictures: an SVG file, which they draw.
    `speaker` posts it, where a bot may speak under other names than its own.
    `pages` are what `buttons` open; a platform without buttons shows them below. `closes` is when
    people can no longer answer; a platform writes it beside the small print, in its own form.
    """

    title: str
    side: str = ""
    topic: str = ""
    text: str = ""
    warnings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    ballot: BallotPaper | None = None
    small: str = ""
    footer: str = ""
    code: str = ""
    state: Progress | None = None
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    picture: Callable[[], File] | None = None
    broadcast: bool = False
    pages: tuple[CardDetails, ...] = ()
    speaker: CardSpeaker | None = None
    closes: datetime | None = None

    @property
    def heading(self) -> str:
        """The title, behind the mark of its side where that is A or B."""
        return f"{SIDES[self.side]} {self.title}" if self.side in SIDES else self.title

    def attached(self) -> tuple[File, ...]:
        """Return the files to post with it."""
        return self.files if self.picture is None else (*self.files, self.picture())


def markdown_of(card: Card, emojis: Mapping[str, str]) -> str:
    """Return everything between title and small print; `emojis` are those of reactions."""
    text = card.text
    if card.warnings:
        # A turn may leave a code fence open, which would swallow the warnings.
        warned = "".join(f"\n\n{WARNING.format(said=said)}" for said in card.warnings)
        text += closing_fence(text) + warned
    elif text and card.lines:
        text += closing_fence(text)
    asked = _asked(card.ballot, emojis) if card.ballot else ()
    topic = [heading(card.topic)] if card.topic else []
    return "\n".join((*topic, *([text] if text else ()), *card.lines, *asked))


def heading(topic: str) -> str:
    """Return a topic as a bold heading, unchanged where bold markup would break it."""
    return topic if "\n" in topic or "**" in topic else f"**{topic}**"


def _asked(paper: BallotPaper, emojis: Mapping[str, str]) -> Iterator[str]:
    names = [paper.beside(emojis, one) for one in paper.options]
    if paper.inline:
        yield f"{paper.asks} {' · '.join(names)}"
    else:
        yield paper.asks
        yield from names
    yield say(HOW_TO_VOTE[paper.kind])


def by_side(side: str, named: Mapping[str, T], numbered: Sequence[T], other: T) -> T:
    """Return a side's colour or mark: by name, or by number for sides 1 to 9."""
    if side.isascii() and side.isdigit():
        return numbered[(int(side) - 1) % len(numbered)]
    return named.get(side, other)


class Reference(NamedTuple):
    """A reference in its parts, as people see it: number 3, piece 1/2 and debate `k7f2qz`."""

    code: str
    number: str
    piece: str

    @classmethod
    def read(cls, reference: str) -> Reference:
        """Read `k7f2qz·3·1/2`. The notice that replaces message 3 is 3b."""
        code, number, piece = (*reference.split("·"), "", "")[:3]
        if code.endswith(BESIDE):
            code, number = code.removesuffix(BESIDE), f"{number}b"
        return cls(code, number, piece)

    @property
    def mark(self) -> str:
        """Return the number by which people find a message: `#3`."""
        return f"#{self.number}"

    @property
    def small_print(self) -> str:
        """Return all of it, as short as can be read back: `#3 · k7f2qz`, `#3 · 1/2 · k7f2qz`."""
        piece = () if self.piece in ("", WHOLE) else (self.piece,)
        return " · ".join((self.mark, *piece, self.code))


class Piece(NamedTuple):
    """One part of a message that was split for length, with its reference."""

    text: str
    reference: str
    number: int
    of: int

    @property
    def last(self) -> bool:
        """Return whether this is the last piece, which carries buttons and files."""
        return self.number == self.of


def in_pieces(texts: Sequence[str], stem: str) -> tuple[Piece, ...]:
    """Number the pieces of a text: `k7·3·1/2`, `k7·3·2/2`; an empty text is one piece."""
    of = max(1, len(texts))
    return tuple(
        Piece(text, f"{stem}·{i}/{of}", i, of) for i, text in enumerate(texts or ("",), start=1)
    )
