"""What the stored debates give: exports, statistics and costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from bot.commands.options import JSON, REHEARSAL, Text, complete_series

app = typer.Typer()
FORMATS = typer.Option("--debate-format", help="Only these debate formats, e.g. classic,team.")
LANGUAGES = typer.Option("--language", help="Only these languages, e.g. en,tr.")
WINNERS = typer.Option(
    "--labels", help="Whose winner makes preference pairs: chat, web (labels) or both."
)
FLAWED = typer.Option(
    "--include-flawed",
    help="Pairs and single turns also from turns cut off, unreadable, declined or repeating.",
)
OF_SERIES = typer.Option(
    "--series", help="Only debates of this series.", autocompletion=complete_series
)


@app.command()
def export(
    given: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder to write; replaces an earlier export there.")],
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="File format: jsonl or parquet.")
    ] = "jsonl",
    layout: Annotated[
        Text,
        typer.Option(
            help="Write the files of another tool: argilla or label-studio (to label debates), "
            "rewardbench or inspect (to test models)."
        ),
    ] = None,
    tables: Annotated[Text, typer.Option(help="Only these tables, comma-separated.")] = None,
    formats: Annotated[Text, FORMATS] = None,
    languages: Annotated[Text, LANGUAGES] = None,
    since: Annotated[
        Text, typer.Option(help="Only debates revealed since this date or time.")
    ] = None,
    until: Annotated[
        Text, typer.Option(help="Only debates revealed until this date, inclusive, or time.")
    ] = None,
    quorum_met: Annotated[
        bool, typer.Option("--quorum-met", help="Only debates that reached their quorum.")
    ] = False,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Add the table prompts: each call's prompt and reply.")
    ] = False,
    html: Annotated[
        bool,
        typer.Option("--html", help="Write pages to read, which open from the disk, not tables."),
    ] = False,
    labels: Annotated[str, WINNERS] = "chat",
    include_flawed: Annotated[bool, FLAWED] = False,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    series: Annotated[Text, OF_SERIES] = None,
    license: Annotated[
        Text,
        typer.Option(
            help="Licence for the dataset card, as an SPDX id such as CC-BY-4.0 (default: with "
            "--community, its setting; else other)."
        ),
    ] = None,
) -> None:
    """Export ended debates as a dataset. It has every ballot and vote."""
    from bot.exits import run
    from bot.record.filters import ExportChoices, run_export

    chosen = ExportChoices(**{name: given.params[name] for name in ExportChoices._fields})
    if html:
        from bot.record.pages import export_pages

        run(lambda: export_pages(out, chosen))
    else:
        run(lambda: run_export(out, chosen))


@app.command()
def push(
    given: typer.Context,
    repo: Annotated[str, typer.Argument(help="Dataset repository on the hub, as owner/name.")],
    private: Annotated[bool, typer.Option("--private", help="Make it private.")] = False,
    revision: Annotated[Text, typer.Option(help="Branch to publish on (default: main).")] = None,
    folder: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="An export made before (default: a new one)."),
    ] = None,
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="File format: jsonl or parquet.")
    ] = "jsonl",
    layout: Annotated[Text, typer.Option(help="Layout of another tool, as for export.")] = None,
    series: Annotated[Text, OF_SERIES] = None,
    license: Annotated[
        Text, typer.Option(help="Licence for the dataset card, as for export.")
    ] = None,
    labels: Annotated[str, WINNERS] = "chat",
    include_flawed: Annotated[bool, FLAWED] = False,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before publishing.")] = False,
) -> None:
    """Publish an export on a dataset hub. The same command resumes one that was cut off."""
    from bot.exits import run
    from bot.record.exchange import run_push
    from bot.record.filters import ExportChoices

    chosen = ExportChoices(
        **{name: given.params[name] for name in ExportChoices._fields if name in given.params}
    )
    run(lambda: run_push(repo, folder, chosen, private=private, revision=revision, yes=yes))


@app.command("import-labels")
def import_labels(
    file: Annotated[Path, typer.Argument(help="Export of Argilla or Label Studio, JSON or CSV.")],
    blind: Annotated[
        bool, typer.Option("--blind", help="Their people knew neither models nor jury: gold.")
    ] = False,
    source: Annotated[
        Text, typer.Option(help="Name of where its people are (default: the tool).")
    ] = None,
) -> None:
    """Bring labels from other tools back as votes."""
    from bot.exits import run
    from bot.record.exchange import run_import

    run(lambda: run_import(file, blind=blind, source=source))


@app.command()
def stats(
    given: typer.Context,
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    formats: Annotated[Text, FORMATS] = None,
    languages: Annotated[Text, LANGUAGES] = None,
    series: Annotated[Text, OF_SERIES] = None,
    as_json: Annotated[bool, JSON] = False,
    out: Annotated[Optional[Path], typer.Option(help="Folder for pictures (SVG).")] = None,  # noqa: UP045
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
) -> None:
    """Compare jury and people, and rate the models."""
    from bot.exits import run
    from bot.research.stats import run_stats

    run(lambda: run_stats(**given.params))


@app.command()
def usage(
    given: typer.Context,
    by: Annotated[
        str, typer.Option(help="Count by model (and role), day, community, user or series.")
    ] = "model",
    since: Annotated[Text, typer.Option(help="Only calls since this date or time.")] = None,
    until: Annotated[
        Text, typer.Option(help="Only calls until this date, inclusive, or time.")
    ] = None,
    series: Annotated[Text, OF_SERIES] = None,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Add up calls, tokens and cost of everything that was held."""
    from bot.exits import run
    from bot.record.tables import show_usage

    run(lambda: show_usage(**given.params))
