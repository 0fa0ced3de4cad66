"""What the stored debates give: exports, statistics and costs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bot.commands.options import JSON, JURY, Place, Text
from bot.completion import complete_debates, complete_series

app = typer.Typer()


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
AS = typer.Option(
    "--as",
    help="Kind of files: jsonl or parquet (tables), html (pages to read, which open from the "
    "disk), argilla or label-studio (to label debates), rewardbench or inspect (to test models).",
)
WINNERS = typer.Option(
    "--labels", help="Whose winner makes preference pairs: chat, web (labels) or both."
)
FLAWED = typer.Option(
    "--include-flawed",
    help="Pairs and single turns also from turns cut off, unreadable, declined or repeating.",
)


@app.command()
@choosing()
def export(
    chosen: DebateChoice,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder (with --archive, .zip file) to write; replaces an earlier export there."
        ),
    ],
    kind: Annotated[str, AS] = "jsonl",
    tables: Annotated[Text, typer.Option(help="Only these tables, comma-separated.")] = None,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Add the table prompts: each call's prompt and reply.")
    ] = False,
    labels: Annotated[str, WINNERS] = "chat",
    include_flawed: Annotated[bool, FLAWED] = False,
    license: Annotated[
        Text,
        typer.Option(
            help="Licence for the dataset card, as an SPDX id such as CC-BY-4.0 (default: with "
            "--community, its setting; else other)."
        ),
    ] = None,
    archive: Annotated[
        bool,
        typer.Option(
            "--archive",
            help="Write one .zip for a repository of record: also settings, citation, checksums.",
        ),
    ] = False,
    authors: Annotated[
        Text, typer.Option(help="Whom the archive's citation names, comma-separated.")
    ] = None,
) -> None:
    """Export ended debates as a dataset. It has every ballot and vote."""
    from bot.exits import run
    from bot.record.filters import ExportChoices, run_export

    asked = ExportChoices(
        chosen, kind, tables, license, prompts, labels, include_flawed, archive, authors
    )
    if kind == "html":
        from bot.record.pages import export_pages

        run(lambda: export_pages(out, asked))
    else:
        run(lambda: run_export(out, asked))


@app.command()
@choosing()
def push(
    chosen: DebateChoice,
    repo: Annotated[str, typer.Argument(help="Dataset repository on the hub, as owner/name.")],
    private: Annotated[bool, typer.Option("--private", help="Make it private.")] = False,
    revision: Annotated[Text, typer.Option(help="Branch to publish on (default: main).")] = None,
    folder: Annotated[
        Place,
        typer.Option(help="An export made before (default: a new one)."),
    ] = None,
    kind: Annotated[
        str, typer.Option("--as", help="Kind of files, as for export; not html.")
    ] = "jsonl",
    license: Annotated[
        Text, typer.Option(help="Licence for the dataset card, as for export.")
    ] = None,
    labels: Annotated[str, WINNERS] = "chat",
    include_flawed: Annotated[bool, FLAWED] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before publishing.")] = False,
) -> None:
    """Publish an export on a dataset hub. The same command resumes one that was cut off."""
    from bot.exits import run
    from bot.record.exchange import run_push
    from bot.record.filters import ExportChoices

    asked = ExportChoices(
        chosen, kind, license=license, labels=labels, include_flawed=include_flawed
    )
    run(lambda: run_push(repo, folder, asked, private=private, revision=revision, yes=yes))


@app.command("import-labels")
def import_labels(
    file: Annotated[Path, typer.Argument(help="Export of Argilla or Label Studio, JSON or CSV.")],
    gold: Annotated[
        bool, typer.Option("--gold", help="Their people knew neither models nor jury.")
    ] = False,
    source: Annotated[
        Text, typer.Option(help="Name of where its people are (default: the tool).")
    ] = None,
) -> None:
    """Bring labels from other tools back as votes."""
    from bot.exits import run
    from bot.record.exchange import run_import

    run(lambda: run_import(file, gold=gold, source=source))


@app.command()
@choosing()
def stats(
    chosen: DebateChoice,
    as_json: Annotated[bool, JSON] = False,
    out: Annotated[Place, typer.Option(help="Folder for pictures (SVG).")] = None,
    alt_test: Annotated[
        bool, typer.Option("--alt-test", help="Test whether the jury may replace people.")
    ] = False,
    jury: Annotated[Text, JURY] = None,
) -> None:
    """Compare jury and people, and rate the models."""
    from bot.exits import run
    from bot.research.stats import run_stats

    run(lambda: run_stats(chosen, as_json=as_json, out=out, alt_test=alt_test, jury=jury))


@app.command()
@choosing("calls")
def usage(
    chosen: DebateChoice,
    by: Annotated[
        str, typer.Option(help="Count by model (and role), day, community, user, series or arm.")
    ] = "model",
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Add up calls, tokens and cost of everything that was held."""
    from bot.exits import run
    from bot.record.tables import show_usage

    run(lambda: show_usage(by, chosen, as_json=as_json))
