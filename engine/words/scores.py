"""Scoreboards and arcs as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from engine.values.language import N_
from engine.values.messages import Arc, File, ScoreBoard
from engine.values.text import columns
from engine.words.card import Card
from engine.words.translation import in_its_language, say

_BARS = "▁▂▃▄▅▆▇█"
# Heads as they are shown, so that a table fits the 40 columns of a phone.
_HEADS = {"speeches": N_("said"), "penalties": N_("lost")}
_NARROWEST = 4  # characters of a column: its rule has three hyphens and a colon


def score_card(message: ScoreBoard | Arc) -> Card:
    """Return the card of a scoreboard, or of an arc."""
    if isinstance(message, ScoreBoard):
        return Card(say(message.title), text="\n".join(board_lines(message)))
    text = f"`{sparkline(message)}`\n\n{message.alt}"
    return Card(say(message.title), text=text, picture=partial(_draw, message))


@in_its_language
def _draw(arc: Arc) -> File:
    from engine.words.arc_picture import arc_picture  # not all platforms show pictures

    return arc_picture(arc)


def sparkline(arc: Arc) -> str:
    """Draw one bar a turn, as high as its score is of 100; a turn without a score is a dot."""
    bars = []
    for point in arc.points:
        if point.score is None:
            bars.append("·")
        else:
            share = max(0.0, min(point.score, 100.0)) / 100
            bars.append(_BARS[round(share * (len(_BARS) - 1))])
    return "".join(bars)


def board_lines(board: ScoreBoard) -> Iterator[str]:
    """Return a scoreboard as a table, its columns as wide as what they hold, with its notes below.

    Chats that draw no tables show it as it is written.
    """
    rows = [tuple(map(_safe, (row.name, *row.cells))) for row in board.rows]
    head = ("", *(_safe(say(_HEADS.get(column, column))) for column in board.columns))
    widths = [max(_NARROWEST, *map(columns, column)) for column in zip(head, *rows, strict=True)]
    yield _row(head, widths)
    yield _row(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], widths)
    yield from (_row(row, widths) for row in rows)
    if board.notes:
        yield ""
        yield from (f"- {note}" for note in board.notes)


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *scores = cells
    room = (" " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True))
    first, *others = room
    padded = (blank + cell for cell, blank in zip(scores, others, strict=True))
    return f"| {' | '.join([name + first, *padded])} |"
