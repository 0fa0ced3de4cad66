"""What the stored debates give: exports, statistics and costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.choice import DebateChoice, choosing
from bot.commands.options import JSON, JURY, Place, Text

app = typer.Typer()


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
