"""The console of commands: tables and lines that fit it, and questions."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from textwrap import fill
from typing import Any, TextIO

import orjson
from rich.console import Console
from rich.text import Text

from engine.values.errors import RostrumError, UsageError
from engine.values.text import clean

PIPE_WIDTH = 200  # pipes need whole lines
NARROWEST = 40  # columns that a line takes at least
BETWEEN = " · "
# What JSON leaves as it is, and a terminal may obey.
_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class TableConsole(Console):
    """A console as wide as the terminal, or wide enough for a pipe.

    A closed pipe, as after `head`, is left to `bot.exits.run`.
    """

    def __init__(self) -> None:
        super().__init__(highlight=False, emoji=False, markup=False)
        self.width = self.width if sys.stdout.isatty() else PIPE_WIDTH

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a text to print; nothing in it is obeyed by the terminal."""
        return super().render_str(clean(text), **how)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich's own would exit 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def escaped(json: str) -> str:
    """Return JSON of the same value in which nothing is obeyed by a terminal."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json)


def print_json(found: Any) -> None:
    """Print a value as JSON, in which nothing is obeyed by a terminal."""
    print(escaped(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()))


def print_lines(lines: Iterable[str]) -> None:
    """Print each text as `fitted` has it; nothing in it is obeyed by a terminal."""
    for line in lines:
        print(fitted(clean(line).replace("\n", " "), sys.stdout))


def fitted(text: str, stream: TextIO, hanging: int = 0) -> str:
    """Return a text whose lines end between words on a terminal, and are whole in a pipe.

    `hanging` is how many columns are taken by what stands before it.
    """
    if not stream.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, NARROWEST) - hanging
    lines = "\n".join(
        fill(line, width, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return lines.replace("\n", f"\n{' ' * hanging}")


def pack(parts: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines of as many parts as fit, none of which is broken."""
    line = ""
    for part in parts:
        longer = f"{line}{BETWEEN}{part}" if line else part
        if line and len(longer) > width:
            yield line
            longer = part
        line = longer
    if line:
        yield line


# Questions in a terminal. Ctrl-C and SIGTERM end them, as the loop goes on meanwhile.


def has_terminal() -> bool:
    """Return whether there is anyone to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def ask(question: str, *, hidden: bool = False) -> str:
    """Return a line without the space around it; `hidden`: it is not shown while typed.

    Raises RostrumError at the end of the input.
    """
    line = await _answer(question, hidden=hidden)
    if not line:
        raise RostrumError("Nothing was done: the input was closed.")
    return line.strip()


async def confirm(what: str, yes: bool) -> None:
    """Ask the operator to type yes, unless `yes` is set.

    Raises UsageError without a terminal, RostrumError for any other answer.
    """
    if yes:
        return
    if not has_terminal():
        raise UsageError(f"{what} Nothing was done: add --yes to skip the question.")
    print(clean(what), file=sys.stderr)
    if (await _answer("Type yes to continue")).strip().lower() != "yes":
        raise RostrumError("Nothing was done: the answer was not yes.")


async def _answer(question: str, *, hidden: bool = False) -> str:
    """Return a line as typed; empty at the end of the input."""
    with _hidden() if hidden else nullcontext():
        print(f"{clean(question)}: ", end="", file=sys.stderr, flush=True)
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(sys.stdin.fileno())
        line = sys.stdin.readline()
    if hidden or not line:
        print(file=sys.stderr, flush=True)
    return line


@contextmanager
def _hidden() -> Iterator[None]:
    """Show nothing of what is typed."""
    import termios  # which Windows lacks

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)
    silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(stream, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
