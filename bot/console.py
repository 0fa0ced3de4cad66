"""Where commands that read print their tables."""

from __future__ import annotations

import errno
import os

from rich.console import Console


class TableConsole(Console):
    """A console that leaves a reader who has enough, as `head` does, to `bot.exits.run`."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich's own would exit 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
