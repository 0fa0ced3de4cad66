"""The options that choose debates, the same on every command that has them, and completion.

A shell completes debates, series and models; errors complete nothing. The database and the settings
are imported once it asks, as every command names these.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from bot.commands.options import Text

if TYPE_CHECKING:
    from engine.store import Store

Completions: TypeAlias = list[tuple[str, str]]

MOST = 50
SECONDS = 1.0  # a person waits
TOPIC_WIDTH = 50


def complete_debates(incomplete: str) -> Completions:
    """Return the codes of the newest debates, with their topics."""

    async def read(store: Store) -> Completions:
        from engine.values.text import clean, headline

        found = await store.listings.recent(limit=MOST)
        return [(one.code, headline(clean(one.request.topic), TOPIC_WIDTH)) for one in found]

    return _begun(incomplete, _read(read))


def complete_series(incomplete: str) -> Completions:
    """Return the names of series."""

    async def read(store: Store) -> Completions:
        return [(one.name, "") for one in await store.series.all()]

    return _begun(incomplete, _read(read))


def complete_both(incomplete: str) -> Completions:
    """Return names of series, and codes of debates."""
    return [*complete_series(incomplete), *complete_debates(incomplete)]


def complete_models(incomplete: str) -> Completions:
    """Return the configured models; of a list, the last one is completed."""
    from bot.settings.load import load_settings
    from engine.values.errors import RostrumError

    try:
        settings = load_settings()
    except RostrumError:
        return []
    refs = dict.fromkeys(model.ref for model in (*settings.models, *settings.jurors))
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{ref}", "") for ref in refs if ref.startswith(last)]


def complete_panels(incomplete: str) -> list[str]:
    """Return how a jury may read."""
    from engine.values.debate import PanelMode

    return [mode.value for mode in PanelMode if mode.startswith(incomplete)]


def _read(ask: Callable[[Store], Awaitable[Completions]]) -> Completions:
    import asyncio

    from bot.database import read_store
    from bot.settings.load import load_store_settings
    from engine.values.errors import RostrumError

    async def answer() -> Completions:
        async with read_store(load_store_settings()) as store:
            return await ask(store)

    try:
        return asyncio.run(asyncio.wait_for(answer(), SECONDS))
    except (RostrumError, OSError, TimeoutError):
        return []


def _begun(typed: str, found: Iterable[tuple[str, str]]) -> Completions:
    return [one for one in found if one[0].startswith(typed.lower())]


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
