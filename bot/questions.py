"""Questions in a terminal. Ctrl-C and SIGTERM end them, as the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from engine.values.errors import RostrumError, UsageError
from engine.values.text import clean


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
        line = await _read_line()
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


async def _read_line() -> str:
    """Read a line without blocking the loop."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
