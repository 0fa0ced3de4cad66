"""The command line. Its commands are in bot/commands."""

from __future__ import annotations

import gc
import logging
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from bot import __version__
from bot.commands import data, hold, operate, serve
from bot.commands.bench import bench
from bot.commands.label import label
from bot.commands.series import series

app = typer.Typer(
    name="rostrum",
    help="Hold AI debates with a blind jury and human votes, and export every label.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for group in (hold, data, serve, operate):
    app.add_typer(group.app)
app.add_typer(bench, name="bench")
app.add_typer(series, name="series")
app.add_typer(label, name="label")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"rostrum {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold AI debates with a blind jury and human votes, and export every label."""


def main() -> None:
    """Run the command line."""
    gc.disable()  # imports create many objects and drop none; `exits.run` enables it again
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from bot.exits import hold_streams  # asyncio comes with it, which help does not need

        hold_streams()
    try:
        app()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        gone = end.__context__  # typer exits 1 for it
        _leave(_unwritten(gone) if isinstance(gone, BrokenPipeError) else end.code or 0)
    except OSError as error:
        _leave(_unwritten(error))


def _leave(code: int) -> None:
    """Exit at once: everything is closed, and Python's own shutdown takes 0.1 s more."""
    logging.shutdown()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or _unwritten(error)
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _unwritten(error: OSError) -> int:
    from bot.exits import unwritten

    return unwritten(error)
