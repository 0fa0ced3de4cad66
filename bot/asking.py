"""Confirmation before something is deleted for good."""

from __future__ import annotations

import asyncio
import sys

from engine.errors import RostrumError, UsageError
from engine.text import clean


async def confirm(what: str, yes: bool) -> None:
    """Ask the operator to type yes, unless `yes` is set.

    Raises UsageError without a terminal, RostrumError for any other answer.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what} Nothing was done: add --yes to skip the question.")
    print(f"{clean(what)}\nType yes to continue: ", end="", file=sys.stderr, flush=True)
    if (await _read_line()).strip().lower() != "yes":
        raise RostrumError("Nothing was done: the answer was not yes.")


async def _read_line() -> str:
    """Read a line without blocking the loop, so that Ctrl-C and SIGTERM end it."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
