"""The options that choose debates, the same on every command that has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Annotated, Any, NamedTuple

import typer

from bot.commands.options import Text
from bot.completion import complete_debates, complete_series


class DebateChoice(NamedTuple):
    """Which debates a command is about, as typed; lists are comma-separated."""

    community: str | None = None
    formats: str | None = None
    languages: str | None = None
    since: str | None = None
    until: str | None = None
    quorum_met: bool = False
    series: str | None = None
    include_rehearsal: bool = False


NO_REHEARSALS = DebateChoice()
EVERY_DEBATE = DebateChoice(include_rehearsal=True)
_CHOICE = {
    "community": (Text, typer.Option(help="Only debates of this community.")),
    "formats": (
        Text,
        typer.Option("--format", help="Only these debate formats, e.g. classic,team."),
    ),
    "languages": (Text, typer.Option("--language", help="Only these languages, e.g. en,tr.")),
    "since": (Text, typer.Option(help="Only {what}{revealed} since this date or time.")),
    "until": (
        Text,
        typer.Option(help="Only {what}{revealed} until this date, inclusive, or time."),
    ),
    "quorum_met": (
        bool,
        typer.Option("--quorum-met", help="Only debates that reached their quorum."),
    ),
    "series": (
        Text,
        typer.Option(
            "--series", help="Only debates of this series.", autocompletion=complete_series
        ),
    ),
    "include_rehearsal": (
        bool,
        typer.Option(
            "--include-rehearsal/--no-include-rehearsal",
            help="Whether debates with a rehearsal model are among them.",
        ),
    ),
}


def choosing(
    what: str = "debates", *, rehearsal: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that choose debates, in place of its parameter `chosen`.

    `rehearsal`: those with a rehearsal model are included by default. `what` the moments are of.
    """
    revealed = " revealed" if what == "debates" else ""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:
            chosen = DebateChoice(**{name: given.pop(name) for name in _CHOICE})
            command(**given, chosen=chosen)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [one for one in own if one.name != "chosen"]
        usual = DebateChoice(include_rehearsal=rehearsal)._asdict()
        for name, (kind, option) in _CHOICE.items():
            told = copy(option)
            told.help = str(option.help).format(what=what, revealed=revealed)
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    annotation=Annotated[kind, told],
                    default=usual[name],
                )
            )
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        return call

    return add


DEBATE = typer.Argument(
    metavar="CODE", help="A debate's id or short code.", autocompletion=complete_debates
)
