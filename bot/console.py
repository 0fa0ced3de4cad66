"""The console of commands that print tables."""

from __future__ import annotations

import errno
import os
import sys

from rich.console import Console

PIPE_WIDTH = 200  # pipes need whole lines


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
