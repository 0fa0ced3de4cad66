"""A terminal debate as a picture that moves: `python -m tests.pages.terminal_cast PICTURE CAST`.

A debate of rehearsal models is held in a real terminal, voted on by keys and kept in asciinema's
format; its frames become one SVG, a film that CSS moves on. It asks for nothing from elsewhere.
"""

import html
import json
import os
import re
import select
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

from tests.scenario.terminal_stage import Shell, seated

COMMAND = ("debate", "Tea is better than coffee", "--length", "short")
SPEAKERS = [f"rehearsal/{name}?latency=1.9" for name in ("maple", "willow")]
JURORS = ("rehearsal/aspen", "rehearsal/elm", "rehearsal/rowan")
PROMPTED, KEYS = "The vote counts with", "aabab\n"
COLUMNS, ROWS = 88, 30
FRAME, PAGE, STAY = 0.4, 1.4, 5.0  # seconds: of the shortest frame, of a long one, of the last one
LONG = 14  # lines that come at once
MARKS = {"🔵": "34", "🔴": "31"}  # drawn in their colours, as not every font has them
WIDE, HIGH, SIZE, MARGIN = 8.43, 17, 14, 12  # pixels: of a cell, of its letters, around all
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
COLOURS = dict(
    zip(
        range(30, 38),
        ["#6e7681", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"],
        strict=True,
    )
)
SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(\r|\n)|([^\x1b\r\n]+)")


class Event(NamedTuple):
    """What a terminal was sent, and when, in seconds since the start."""

    at: float
    text: str


class Style(NamedTuple):
    """How a letter looks."""

    colour: int = 0
    bold: bool = False
    dim: bool = False


PLAIN = Style()
Line = tuple[tuple[str, Style], ...]  # letters, each with the empty cells of wide ones behind it


def record(folder: Path) -> Iterator[Event]:
    """Hold a debate in a terminal and yield what it shows."""
    models = f"ROSTRUM_MODELS={','.join(SPEAKERS)}\nROSTRUM_JURORS={','.join(JURORS)}\n"
    (folder / ".env").write_text(models)
    shown, keys, due = "", list(KEYS), 0.0
    with seated(Shell(folder, columns=COLUMNS), *COMMAND) as seat:
        began, terminal = time.monotonic(), seat.screen.keyboard
        while True:
            now = time.monotonic() - began
            if PROMPTED in shown and not due:
                due = now + 1.5
            elif due and keys and now > due:
                seat.screen.press(keys.pop(0))
                due = now + 0.8
            if not select.select([terminal], [], [], 0.05)[0]:
                continue
            try:
                piece = seat.screen.decoder.decode(os.read(terminal, 65536))
            except OSError:  # a terminal that nobody holds any more
                return
            shown += piece
            yield Event(time.monotonic() - began, piece)


def write_cast(events: Sequence[Event], path: Path) -> None:
    """Write a recording in version 2 of asciinema's format."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "env": {"TERM": "xterm-256color"}}
    rows = [head, *([round(at, 3), "o", text] for at, text in events)]
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")


def read_cast(path: Path) -> list[Event]:
    """Read a recording."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
    return [Event(at, text) for at, kind, text in rows if kind == "o"]


@dataclass(slots=True)
class Screen:
    """A terminal's lines, as far as Rostrum's output needs one."""

    lines: list[list[tuple[str, Style]]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    style: Style = PLAIN

    def show(self, text: str) -> None:
        """Obey what is sent."""
        for found in SEQUENCE.finditer(text):
            numbers, kind, end, letters = found.groups()
            if letters:
                self._write(letters)
            elif end == "\n":
                self.row += 1
                self.lines += [[]] if self.row == len(self.lines) else []
            elif end == "\r":
                self.column = 0
            elif kind == "m":
                self._dress([int(one or 0) for one in numbers.split(";")])
            elif kind == "A":
                self.row -= int(numbers or 1)
            elif kind == "K":
                del self.lines[self.row][0 if numbers == "2" else self.column :]

    def _write(self, letters: str) -> None:
        line = self.lines[self.row]
        for letter in letters:
            cells = [(letter, self.style), *[("", self.style)] * (cell_len(letter) - 1)]
            line += [(" ", PLAIN)] * (self.column - len(line))
            line[self.column : self.column + len(cells)] = cells
            self.column += len(cells)

    def _dress(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number == 0:
                self.style = PLAIN
            elif number == 1:
                self.style = self.style._replace(bold=True)
            elif number == 2:
                self.style = self.style._replace(dim=True)
            elif number in COLOURS:
                self.style = self.style._replace(colour=number)

    def frame(self) -> tuple[Line, ...]:
        """Return the lines that are in sight."""
        seen = self.lines[:-1] if not self.lines[-1] else self.lines
        return tuple(map(tuple, seen[-ROWS:]))


class Frame(NamedTuple):
    """Lines, and from when they stand there, in seconds."""

    at: float
    lines: tuple[Line, ...]


def frames(events: Sequence[Event]) -> list[Frame]:
    """Return what is seen, as often as an eye follows."""
    screen, made, before, delay = Screen(), list[Frame](), 0, 0.0
    screen.show(f"$ {shlex.join(('rostrum', *COMMAND))}\r\n")
    made.append(Frame(0, screen.frame()))
    for at, text in events:
        screen.show(text)
        seen = screen.frame()
        if seen == made[-1].lines:
            continue
        after, new = at + delay - made[-1].at, len(screen.lines) - before
        if after < FRAME and new < LONG:
            made[-1] = made[-1]._replace(lines=seen)
            continue
        delay += max(0, (PAGE if new >= LONG else FRAME) - after)
        made.append(Frame(at + delay, seen))
        before = len(screen.lines)
    return made


def draw(made: Sequence[Frame]) -> str:
    """Return the frames as an SVG: one below the other, in a window that moves on by steps."""
    lines = dict.fromkeys(line for frame in made for line in frame.lines if line)
    known = {line: f"l{number}" for number, line in enumerate(lines)}
    whole = made[-1].at + STAY
    width, height = COLUMNS * WIDE + 2 * MARGIN, ROWS * HIGH + 2 * MARGIN
    steps = "".join(
        f"{100 * frame.at / whole:.2f}%{{transform:translateY({-number * height}px)}}"
        for number, frame in enumerate(made)
    )
    last = f"translateY({-(len(made) - 1) * height}px)"
    style = (
        f"text{{font:{SIZE}px {FONTS};fill:#e6edf3;white-space:pre}}.b{{font-weight:bold}}"
        f".d{{opacity:.6}}"
        + "".join(f".c{number}{{fill:{colour}}}" for number, colour in COLOURS.items())
        + f"#film{{animation:film {whole:.1f}s step-end infinite}}@keyframes film{{{steps}}}"
        f"@media(prefers-reduced-motion:reduce){{#film{{animation:none;transform:{last}}}}}"
    )
    defined = "".join(f'<text id="{name}">{_spans(line)}</text>' for line, name in known.items())
    film = "".join(
        f'<use href="#{known[line]}" y="{number * height + MARGIN + (row + 1) * HIGH - 5}"/>'
        for number, frame in enumerate(made)
        for row, line in enumerate(frame.lines)
        if line in known
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'width="{width:g}" height="{height}" role="img">'
        f"<title>A debate in a terminal</title><style>{style}</style><defs>{defined}</defs>"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/><g id="film">{film}</g></svg>\n'
    )


def _spans(line: Line) -> str:
    """Return the runs of a line that look alike, each as wide as its cells."""
    spans, column = [], 0
    for (style, wide), run in groupby(line, lambda one: (one[1], cell_len(one[0]) != 1)):
        letters = [letter for letter, _ in run]
        text, width = "".join(letters), len(letters) * WIDE
        kinds = [f"c{style.colour}"] * bool(style.colour) + ["b"] * style.bold + ["d"] * style.dim
        if wide and text in MARKS:
            text, kinds = "●", [f"c{MARKS[text]}"]
            width = WIDE
        if text.strip():
            looks = " ".join(kinds)
            named = f' class="{looks}"' if kinds else ""
            spans.append(
                f'<tspan x="{MARGIN + column * WIDE:.1f}" textLength="{width:.1f}"'
                f' lengthAdjust="spacingAndGlyphs"{named}>{html.escape(text)}</tspan>'
            )
        column += len(letters)
    return "".join(spans)


def make(picture: Path, cast: Path) -> None:
    """Record a debate, and draw what was recorded."""
    cast.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_cast(list(record(Path(folder))), cast)
    picture.write_text(draw(frames(read_cast(cast))), encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
