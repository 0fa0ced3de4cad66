"""What a format's own messages say as plain Markdown, for any venue that has no better way."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from engine.messages import Arc, File, Message, Notice, Report, Reveal, ScoreBoard, TurnPost
from engine.words.cards import REVEAL, turn_title
from engine.words.reveal import reveal_lines

FormatMessage = Report | ScoreBoard | Arc
_BARS = "▁▂▃▄▅▆▇█"


def markdown_of(message: FormatMessage) -> str:
    """Return all that a message says below its title."""
    match message:
        case Report():
            return message.text
        case ScoreBoard():
            return "\n".join(_board(message))
        case Arc():
            return f"`{sparkline(message)}`\n\n{message.alt}"


def plain_text(message: Message) -> str:
    """Return what a message says in as few steps as that takes, for when rendering it failed."""
    match message:
        case TurnPost():
            return f"{turn_title(message)}\n{message.text}"
        case Report() | ScoreBoard() | Arc():
            return f"{message.title}\n{markdown_of(message)}"
        case Reveal():
            return "\n".join((REVEAL, *reveal_lines(message)))
        case Notice():
            return message.text
        case _:
            raise ValueError(f"A message of kind {message.kind} is more than its text.")


def files_of(message: FormatMessage) -> tuple[File, ...]:
    """Return the files that belong to a message; an arc's is its picture, drawn in a while."""
    match message:
        case Report():
            return message.files
        case ScoreBoard():
            return ()
        case Arc():
            # Pillow takes a while to be imported; few processes draw.
            from engine.words.arc_picture import draw_arc

            content = b64encode(draw_arc(message)).decode()
            picture = File(
                name="arc.png", media="image/png", content=content, encoded=True, alt=message.alt
            )
            return (picture,)


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


def _board(board: ScoreBoard) -> Iterator[str]:
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
