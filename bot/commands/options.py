"""Types and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional, TypeVar

import typer

if TYPE_CHECKING:
    from engine.values.options import Param

F = TypeVar("F", bound=Callable[..., None])

OPTION = typer.Option(help="Option of the format, e.g. agents=5 or turns=6; repeatable.")
VOTES = typer.Option(
    help="Votes to cast, e.g. A=3,B=2,tie=1 (default: by keys, in a terminal). "
    "In a mirrored debate the same models get them."
)
STANCES = typer.Option(
    help="Stances before and after, e.g. against>for=2,for=1. Also asks people for theirs."
)
SURE = typer.Option(
    help="How clear people find it, in the order of the votes, e.g. close=2,one-sided=1, or "
    "80=2,55=1 in percent. Also asks people."
)
SAY_WHY = typer.Option(
    "--say-why", help="Ask those who vote by keys why they chose so, and which models debated."
)
AHEAD = typer.Option(
    help="Who is ahead after each round, e.g. 'A=3,even=1;B=4' round by round; the last of them "
    "also for the rounds that follow. Also asks people."
)

# typer reads annotations at run time, and every version of it knows Optional.
Text = Optional[str]  # noqa: UP045
Names = Optional[list[str]]  # noqa: UP045
Flag = Optional[bool]  # noqa: UP045
Dollars = Optional[float]  # noqa: UP045
Place = Optional[Path]  # noqa: UP045
USD = typer.Option(min=0, help="What it may cost at most in all, in USD.")
MOST = 1_000_000
JSON = typer.Option("--json", help="Print JSON.")
JURY = typer.Option(
    metavar="JURORS", help="The jury that the figures rest on, as in --jurors (default: first)."
)


def takes(order: str) -> Callable[[F], F]:
    """Say which options of a debate a command takes, in order, or all the others at a `…`."""

    def mark(command: F) -> F:
        command.takes = order  # type: ignore[attr-defined]
        return command

    return mark


def give_options(app: typer.Typer) -> None:
    """Give commands the options that they take, for which help on all commands need not wait.

    A command's own parameters come first where both have one of a name.
    """
    for command in (one.callback for one in app.registered_commands):
        order = vars(command).pop("takes", None)  # once
        if command is None or order is None:
            continue
        signature = inspect.signature(command, eval_str=True)
        own = {
            name: one for name, one in signature.parameters.items() if one.kind != one.VAR_KEYWORD
        }
        from engine.values.options import PARAMS, in_order  # with pydantic, which is slow

        others = [name for name, param in PARAMS.items() if param.help and "…" in order]
        names = in_order(order, [*own, *others])
        given = [own.get(name) or _declared(PARAMS[name]) for name in names]
        command.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined]


def _declared(param: Param) -> inspect.Parameter:
    """Return an option as typer reads it; a flag that can be on without being given is a pair."""
    from engine.values.options import BUILT_IN

    spelled, kind = f"--{param.said.replace('_', '-')}", Flag if param.kind is bool else Text
    if param.kind is bool and param.name in BUILT_IN.given():
        spelled += f"/--no-{spelled[2:]}"
    metavars: dict[object, str] = {float: "TIME", int: "NUMBER"}
    metavar = param.metavar or metavars.get(param.kind)
    option = typer.Option(spelled, help=param.help, metavar=None if kind is Flag else metavar)
    annotation, place = Annotated[kind, option], inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(param.name, place, default=None, annotation=annotation)
