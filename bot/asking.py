"""Asking the operator before something is deleted for good."""

from __future__ import annotations

import asyncio
import sys

from engine.errors import RostrumError, UsageError
from engine.text import clean


async def confirm(what: str, yes: bool) -> None:
    """Ask at the terminal to type yes, unless that was said with the command.

    Raises UsageError without a terminal, and RostrumError for any other answer.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what} Nothing was done: add --yes to skip the question.")
    print(f"{clean(what)}\nType yes to continue: ", end="", file=sys.stderr, flush=True)
    if (await _read_line()).strip().lower() != "yes":
        raise RostrumError("Nothing was done: the answer was not yes.")


async def _read_line() -> str:
    """Wait for a line without holding the loop up, so that Ctrl-C and SIGTERM end it."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
