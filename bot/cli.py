"""The command line. Its commands are in bot/commands; a module of them is imported when called."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from inspect import getdoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bot import __version__
from bot.commands.options import give_options

# Each module's commands.
PLACES = {
    "demo": ("demo",),
    "debate": ("debate", "resume"),
    "data": ("export", "push", "import-labels", "stats", "usage"),
    "serve": (
        *("run", "gateway", "worker", "serve", "public", "health", "invite", "init", "check"),
        *("topics", "migrate"),
    ),
    "operate": (
        *("list", "show", "report", "view", "judge", "calibrate", "cancel", "delete"),
        *("backup", "copy", "forget", "mydata", "unforget", "purge", "disconnect"),
    ),
    "bench": ("bench",),
    "series": ("series",),
    "label": ("label",),
}


# The commands by what a reader wants, as `rostrum --help` shows them.
SECTIONS = {
    "Begin here": (
        *("demo", "init", "check", "debate", "run", "series", "export", "stats", "view", "topics"),
    ),
    "Debates": ("list", "show", "report", "cancel", "resume", "judge", "delete"),
    "Experiments and data": (
        *("calibrate", "label", "public", "serve", "import-labels", "push", "usage", "bench"),
    ),
    "Discord and Slack": ("invite", "gateway", "worker", "health", "disconnect"),
    "People's data": ("mydata", "forget", "unforget", "purge"),
    "The database": ("migrate", "backup", "copy"),
}
# What stands for a value whose option is not named like it.
METAVARS = {
    name: metavar
    for metavar, names in {
        "ANSWERS": "sure",
        "BRANCH": "revision",
        "CODE": "resume rematch",
        "CODE=SIDE": "known",
        "CODES": "debates",
        "DATE": "since until",
        "DIR": "out folder",
        "FILE": "about",
        "KIND": "kind",
        "LANGUAGE": "page_language",
        "MODE": "panel",
        "MODEL": "a b",
        "MODELS": "jurors judges",
        "NAME": "series source parameter",
        "NAME=MODEL": "seat replace_model",
        "NAME=VALUE": "option",
        "NUMBER": "seeds learning rounds limit readers per_debate each links people",
        "PATH": "sources",
        "PLATFORM": "sign_in",
        "QUESTION": "ask",
        "SHARE": "repeats",
        "USD": "pay",
        "VOTES": "ahead",
        "WHOSE": "labels",
        "WORD": "by",
    }.items()
    for name in names.split()
}


class _LazyCommands(TyperGroup):
    """The commands by name: a demo loads neither exports nor the operator's commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a name that none has, all are imported, to suggest one."""
        known = cmd_name in self.commands or cmd_name in self.list_commands(ctx)
        for module, names in PLACES.items():
            if (cmd_name in names or not known) and names[0] not in self.commands:
                part, commands = typer.Typer(rich_markup_mode=None), _commands_of(module)
                give_options(commands)
                part.add_typer(commands)
                self.commands.update(typer.main.get_group(part).commands)
        command = self.commands.get(cmd_name)
        if command is not None:
            _put_into_words(command)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a number out of its range is refused as chats refuse one."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            option = error.param
            low, high = getattr(option, "min", None), getattr(option, "max", None)
            found: list[Any] = getattr(error.__cause__, "errors", list)()
            if option is None or not found or low is high is None:
                raise
            from engine.values.configuration import between  # few commands fail so

            known = {"ge": low, "le": high}
            wanted = between({name: limit for name, limit in known.items() if limit is not None})
            spelled, given = max(option.opts, key=len), found[0]["input"]
            (error.ctx or ctx).fail(f"{spelled} is “{given}”; it must be {wanted}.")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, a section for each purpose; their options are not built for it."""
        told = dict(sentence for module in PLACES for sentence in _sentences(module))
        widest = max(map(len, self.list_commands(ctx)))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl((name.ljust(widest), told[name]) for name in names)


def _commands_of(module: str) -> typer.Typer:
    commands: typer.Typer = import_module(f"bot.commands.{module}").app
    return commands


def _sentences(module: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a module with the first sentence of its help."""
    commands = _commands_of(module)
    single = ((one.name, one.callback) for one in commands.registered_commands)
    grouped = isinstance(commands.info.name, str)
    for name, about in [(commands.info.name, commands.info.help)] if grouped else single:
        text = getdoc(about) if callable(about) else about
        spelled = name or str(getattr(about, "__name__", "")).replace("_", "-")
        yield spelled, TyperCommand(spelled, help=text).get_short_help_str(len(text or ""))


def _put_into_words(command: Any) -> None:
    """Have help name values by words, `MODEL` or `DIR`, and lists of commands cut no sentence."""
    command.short_help = command.get_short_help_str(len(command.help or ""))
    for inner in getattr(command, "commands", {}).values():
        _put_into_words(inner)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""  # its name says it
        elif parameter.metavar is None and not parameter.type_descriptor.is_choice:
            parameter.metavar = METAVARS.get(parameter.name, parameter.opts[0].strip("-").upper())


app = typer.Typer(
    name="rostrum",
    cls=_LazyCommands,
    help="Hold AI debates with a blind jury and human votes, and export every label.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"rostrum {__version__}")
        raise typer.Exit


@app.command("help", hidden=True)
def explain(
    ctx: typer.Context, command: Annotated[list[str] | None, typer.Argument()] = None
) -> None:
    """Explain a command, as its own --help does."""
    shown = ctx.parent or ctx
    for name in command or ():
        inner = getattr(shown.command, "get_command", lambda *_: None)(shown, name)
        if inner is None:
            ctx.fail(f"There is no command “{name}”; rostrum --help lists them.")
        shown = typer.Context(inner, info_name=name, parent=shown)
    print(shown.get_help())


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold AI debates with a blind jury and human votes, and export every label."""
    if ctx.invoked_subcommand is None:
        from bot.commands.serve import say_status

        say_status()


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
