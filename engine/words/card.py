"""The card: everything a message shows, before a platform styles it.

A platform adds its own colours, marks and limits, and skips fields it cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from engine.values.debate import BallotKind
from engine.values.language import N_
from engine.values.messages import Before, File, Progress
from engine.values.text import SIDES
from engine.words.phrases import option_name
from engine.words.translation import say

BESIDE = "gap"  # in the references of what stands in place of a message
T = TypeVar("T")
WHOLE = "1/1"  # the piece of a message that was not split
PREFIX = "rostrum"  # of the ids of buttons and menus
DEBATE = N_("Debate")
WHY = N_("Why?")
DETAILS = N_("Details")
SURE = N_("Say how sure you are")
LABEL_LENGTH = 70  # characters; platforms take 75, a mark included
THIS_DEBATE = N_("this debate")
REMATCH = N_("Rematch of {debate}: the same models. Who has which side is drawn again, and secret.")
SWAPPED = N_(
    "Swapped sides: each model of {debate} now argues the other side. You can know who is who, so "
    "this vote names no winner for the record."
)


class Button(NamedTuple):
    """A button; `option` is the vote that it casts, if any; `chosen` is what its person holds."""

    id: str
    label: str
    option: str = ""
    danger: bool = False
    chosen: bool = False


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


CardDetails = tuple[str, tuple[str, ...]]
"""What stands behind a message: a heading and lines, opened by a button where there are any."""


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


def heading(topic: str) -> str:
    """Return a topic as a bold heading, unchanged where bold markup would break it."""
    return topic if "\n" in topic or "**" in topic else f"**{topic}**"


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


def on_the_web(page: str) -> tuple[str, ...]:
    """Return the link to where everyone can read a debate, if there is one."""
    return (say("[Read it on the web]({link})", link=page),) if page else ()


def held_before(before: Before | None) -> tuple[str, ...]:
    """Return what a rematch repeats, and who has which side."""
    if before is None:
        return ()
    linked = f"[{say(THIS_DEBATE)}]({before.link})" if before.link else f"`{before.code}`"
    return (say(SWAPPED if before.swapped else REMATCH, debate=linked), "")


def result_buttons(code: str) -> tuple[Button, ...]:
    """Return the buttons that open what stands behind a result."""
    return (
        Button(f"{PREFIX}:why:{code}", say(WHY)),
        Button(f"{PREFIX}:details:{code}", say(DETAILS)),
    )
