"""The command line. Its commands are in bot/commands; a module of them is imported when called."""

from __future__ import annotations

import gc
import logging
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot import __version__

# Each module's commands, in the order of `rostrum --help`.
PLACES = {
    "demo": ("demo",),
    "debate": ("debate",),
    "data": ("export", "push", "import-labels", "stats", "usage"),
    "serve": ("run", "gateway", "worker", "health", "invite", "init", "check", "topics", "migrate"),
    "operate": (
        *("list", "show", "report", "view", "judge", "calibrate", "cancel", "resume", "delete"),
        *("backup", "copy", "forget", "mydata", "unforget", "purge", "disconnect"),
    ),
    "bench": ("bench",),
    "series": ("series",),
    "label": ("label",),
}


class LazyCommands(TyperGroup):
    """The commands by name: a demo loads neither exports nor the operator's commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name."""
        return [name for names in PLACES.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a name that none has, all are imported, to suggest one."""
        known = cmd_name in self.list_commands(ctx)
        for module, names in PLACES.items():
            if (cmd_name in names or not known) and names[0] not in self.commands:
                part = typer.Typer(rich_markup_mode=None)
                part.add_typer(import_module(f"bot.commands.{module}").app)
                self.commands.update(typer.main.get_group(part).commands)
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="rostrum",
    cls=LazyCommands,
    help="Hold AI debates with a blind jury and human votes, and export every label.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
