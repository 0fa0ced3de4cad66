"""The card: all that a message shows, before a chat gives it its looks.

A chat has colours, marks and room of its own; what it has no use for, it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from engine.debate import BallotKind
from engine.messages import Arc, File, Progress
from engine.words.buttons import Button
from engine.words.phrases import HOW_TO_VOTE, option_name
from engine.words.tables import closing_fence

WARNING = "⚠️ {said}"
OPTION = "{mark} {name}"
T = TypeVar("T")


class BallotPaper(NamedTuple):
    """What people are asked, and the options; `inline` where they end the question's own line."""

    asks: str
    options: tuple[str, ...]
    kind: BallotKind
    inline: bool = False


class Card(NamedTuple):
    """What a message shows, from top to bottom.

    `side` colours it: a contender, "judge", "vote" for what is about people's votes, the level of
    a notice, or empty for nobody's. `text` is any Markdown, a model's too; `lines` and `warnings`
    are sentences with nothing but bold and code. `small` ends the text in small print, `footer`
    stands beside the reference. `picture` is drawn where there are pictures.
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
    state: Progress | None = None
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    picture: Arc | None = None
    broadcast: bool = False

    def attached(self) -> tuple[File, ...]:
        """Return the files to post with it; a picture is drawn now, which takes a while."""
        if self.picture is None:
            return self.files
        # Pillow takes a while to be imported; few processes draw.
        from engine.words.arc_picture import picture_of

        return (*self.files, picture_of(self.picture))


def markdown_of(card: Card, marks: Mapping[str, str]) -> str:
    """Return what stands between title and small print; `marks` has an emoji for each option."""
    text = card.text
    if card.warnings:
        # A fence that a turn leaves open would swallow what follows it.
        warned = "".join(f"\n\n{WARNING.format(said=said)}" for said in card.warnings)
        text += closing_fence(text) + warned
    asked = _asked(card.ballot, marks) if card.ballot else ()
    topic = [heading(card.topic)] if card.topic else []
    return "\n".join((*topic, *([text] if text else ()), *card.lines, *asked))


def heading(topic: str) -> str:
    """Return a topic as a heading, as it is where bold would change it."""
    return topic if "\n" in topic or "**" in topic else f"**{topic}**"


def _asked(paper: BallotPaper, marks: Mapping[str, str]) -> Iterator[str]:
    names = [OPTION.format(mark=marks[one], name=option_name(one)) for one in paper.options]
    if paper.inline:
        yield f"{paper.asks} {' · '.join(names)}"
    else:
        yield paper.asks
        yield from names
    yield HOW_TO_VOTE[paper.kind]


def by_side(side: str, named: Mapping[str, T], numbered: Sequence[T], other: T) -> T:
    """Return a side's colour or mark: by its name, or of 1 to 9 in turn."""
    if side.isascii() and side.isdigit():
        return numbered[(int(side) - 1) % len(numbered)]
    return named.get(side, other)


class Piece(NamedTuple):
    """A part of a message whose text is too long for one, with the reference that it carries."""

    text: str
    reference: str
    number: int
    of: int

    @property
    def last(self) -> bool:
        """Tell whether what belongs to the whole message goes with it."""
        return self.number == self.of


def in_pieces(texts: Sequence[str], stem: str) -> tuple[Piece, ...]:
    """Number what a text was cut into: `k7·3·1/2`, `k7·3·2/2`; no text is one piece."""
    of = max(1, len(texts))
    return tuple(
        Piece(text, f"{stem}·{i}/{of}", i, of) for i, text in enumerate(texts or ("",), start=1)
    )
