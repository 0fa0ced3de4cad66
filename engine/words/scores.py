"""Scoreboards and arcs as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from engine.messages import Arc, ScoreBoard

_BARS = "▁▂▃▄▅▆▇█"


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
    """Return a scoreboard as a table, with its notes below."""
    yield _row("", *board.columns)
    yield _row("---", *("---:" for _ in board.columns))
    for row in board.rows:
        yield _row(row.name, *row.cells)
    if board.notes:
        yield ""
        yield from (f"- {note}" for note in board.notes)


def _row(*cells: str) -> str:
    safe = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(safe)} |"
