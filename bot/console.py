"""The console of commands that print tables, and lines that fit it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console

PIPE_WIDTH = 200  # pipes need whole lines
BETWEEN = " · "


class TableConsole(Console):
    """A console as wide as the terminal, `narrowest` at least, or wide enough for a pipe.

    A closed pipe, as after `head`, is left to `bot.exits.run`.
    """

    def __init__(self, narrowest: int = 0) -> None:
        super().__init__(highlight=False, emoji=False)
        self.width = max(self.width, narrowest) if sys.stdout.isatty() else PIPE_WIDTH

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich's own would exit 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


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
