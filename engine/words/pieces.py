"""Cards in Markdown, whole or in pieces, for platforms that write it; their tables as code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.values.language import N_
from engine.values.messages import Message, Notice, Reveal, TurnPost
from engine.words.card import BallotPaper, Card, heading
from engine.words.cards import card_of, turn_title
from engine.words.phrases import HOW_TO_VOTE
from engine.words.translation import in_its_language, say

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$")
FILE_LEFT_OUT = N_("(File not shown: {name})")
WARNING = "⚠️ {said}"


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


def _asked(paper: BallotPaper, emojis: Mapping[str, str]) -> Iterator[str]:
    names = [paper.beside(emojis, one) for one in paper.options]
    if paper.inline:
        yield f"{paper.asks} {' · '.join(names)}"
    else:
        yield paper.asks
        yield from names
    yield say(HOW_TO_VOTE[paper.kind])


@in_its_language
def plain_text(message: Message) -> str:
    """Return a message as plain text, the fallback for a failed rendering.

    Raises ValueError for a message with a ballot or buttons.
    """
    match message:
        case TurnPost():  # in as few steps as that takes
            return f"{turn_title(message)}\n{message.text}"
        case Notice():
            return message.text
        case Reveal():
            message = message.model_copy(update={"code": ""})
    card = card_of(message)
    if card.ballot or card.buttons:
        raise ValueError(f"A message of kind {message.kind} is more than its text.")
    return "\n".join(filter(None, (card.title, markdown_of(card, {}), card.small)))


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


def review_hint(code: str, names: Mapping[str, str], *, trial: bool) -> str:
    """Return what a menu asks of a revealed debate; `names` are those of agents who answered.

    With `trial` one of two answers is right.
    """
    return say(
        N_("{code}: which answer is right?")
        if trial
        else N_("{code}: which final answer is best?")
        if names
        else N_("{code}: who debated better?"),
        code=code,
    )
