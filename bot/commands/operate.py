"""The operator's commands, beside a running Rostrum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from bot.commands.choice import (
    DEBATE,
    DebateChoice,
    choosing,
    complete_both,
    complete_models,
    complete_panels,
)
from bot.commands.options import JSON, MOST, Dollars, Place, Text

app = typer.Typer()


@app.command("list")
@choosing(rehearsal=True)
def list_(
    chosen: DebateChoice,
    state: Annotated[Text, typer.Option(help="Only those in this state, e.g. interrupted.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Number of debates.")] = 20,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List debates, newest first."""
    from bot.exits import run
    from bot.record.tables import list_debates

    run(lambda: list_debates(state, limit, chosen, as_json=as_json))


DEBATE_OR_SERIES = typer.Argument(
    help="A debate's id or short code, or a series.", autocompletion=complete_both
)


@app.command()
def show(
    debate_id: Annotated[str, DEBATE],
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Print what was said; Markdown in a pipe.")
    ] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Show a debate: state, steps, costs, and what it waits for. Or what was said in it."""
    from bot.exits import run
    from bot.record.tables import show_debate

    run(lambda: show_debate(debate_id, as_json=as_json, transcript=transcript))


@app.command()
@choosing(rehearsal=True)
def report(
    chosen: DebateChoice,
    debate_id: Annotated[Text, DEBATE] = None,
    source: Annotated[
        Text,
        typer.Option(
            "--from", metavar="SOURCE", help="An export's folder (default: the database)."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path(),
) -> None:
    """Write a debate, or all that are chosen, as Markdown and HTML. Sealed results stay out."""
    from bot.exits import run
    from bot.record.pages import write_reports

    folder = Path(source) if source else None
    run(lambda: write_reports(debate_id, out, chosen, folder))


@app.command()
@choosing(rehearsal=True)
def view(
    chosen: DebateChoice,
    folder: Annotated[
        Place,
        typer.Argument(help="Folder of an export (default: the database)."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")
    ] = 8484,
) -> None:
    """Read debates in a browser, live and read-only. Prints a link that works once."""
    from bot.exits import run
    from bot.record.pages import view

    run(lambda: view(folder, port, chosen))


@app.command()
@choosing(rehearsal=True)
def judge(
    chosen: DebateChoice,
    debate_id: Annotated[Text, DEBATE_OR_SERIES] = None,
    judges: Annotated[
        Text,
        typer.Option(
            help="Other judges of its format, as backend/model, comma-separated.",
            autocompletion=complete_models,
        ),
    ] = None,
    jurors: Annotated[
        Text,
        typer.Option(
            help="Another jury, as backend/model, comma-separated.", autocompletion=complete_models
        ),
    ] = None,
    panel: Annotated[
        Text,
        typer.Option(
            help="How that jury reads: adaptive, strict, all (the default) or one; in all modes "
            "but adaptive, in both orders.",
            autocompletion=complete_panels,
        ),
    ] = None,
    usd: Annotated[
        Dollars,
        typer.Option(min=0, help="What that jury may cost in all, in USD."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before several debates are judged.")
    ] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Judge ended debates once more. With --jurors, also a whole series by its name."""
    from bot.exits import run
    from bot.research.judgments import run_judge, run_jury

    if (judges is None) == (jurors is None):
        raise typer.BadParameter("Name either --judges or --jurors.")
    if judges is not None and (panel is not None or usd is not None):
        raise typer.BadParameter("--panel and --usd are for --jurors; leave them out.")
    if jurors is not None:
        run(
            lambda: run_jury(
                debate_id, jurors, panel or "all", usd, chosen, yes=yes, as_json=as_json
            )
        )
    else:
        run(lambda: run_judge(debate_id, judges or "", chosen, yes=yes, as_json=as_json))


@app.command()
def calibrate(
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="An export's folder, a series held here, or a file of judgments with the columns "
            "of mt_bench_human_judgments.",
        ),
    ],
    readers: Annotated[
        int, typer.Option(min=1, max=60, help="How many jurors read each judgment.")
    ] = 6,
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=MOST, help="Only so many judgments."),
    ] = None,
    usd: Annotated[
        Dollars,
        typer.Option(min=0, help="What it may cost in all, in USD."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before jurors are asked.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Learn how the jurors judge from what was judged before. Asks them for what is missing."""
    from bot.exits import run
    from bot.research.calibrate import run_calibrate

    run(lambda: run_calibrate(source, readers, limit, usd, yes=yes, as_json=as_json))


@app.command()
def cancel(debate_id: Annotated[str, DEBATE]) -> None:
    """Cancel a debate, even if another process runs it."""
    from bot.exits import run
    from bot.operations.control import cancel_debate

    run(lambda: cancel_debate(debate_id))


@app.command()
def delete(
    debate_id: Annotated[str, DEBATE],
    mirror: Annotated[bool, typer.Option("--mirror", help="Delete its mirror too.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Skip the confirmation; required without a terminal.")
    ] = False,
) -> None:
    """Delete an ended debate, with everything stored about it."""
    from bot.exits import run
    from bot.operations.control import delete_debate

    run(lambda: delete_debate(debate_id, mirror=mirror, yes=yes))


@app.command()
def backup(
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to create.")],
) -> None:
    """Copy the database, even while Rostrum runs. Verifies the copy."""
    from bot.exits import run
    from bot.operations.control import back_up

    run(lambda: back_up(out))


@app.command()
def copy(
    out: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address of an empty PostgreSQL database, postgresql://… ."
        ),
    ],
) -> None:
    """Copy the SQLite file into an empty PostgreSQL database. Verifies the copy."""
    from bot.exits import run
    from bot.operations.copy import copy_database

    run(lambda: copy_database(out))


Platform = Annotated[
    Literal["discord", "slack", "terminal", "import", "web"],
    typer.Argument(help="Platform of the id."),
]
User = Annotated[str, typer.Argument(help="User id on the platform.")]
YES = typer.Option("--yes", help="Skip the confirmation; required without a terminal.")


@app.command()
def forget(platform: Platform, user: User, yes: Annotated[bool, YES] = False) -> None:
    """Forget a person; their votes still count. No record identifies them any more."""
    from bot.exits import run
    from bot.operations.control import forget_person

    run(lambda: forget_person(platform, user, yes=yes))


@app.command()
def mydata(
    platform: Platform,
    user: User,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write.")] = Path(
        "rostrum-my-data.json"
    ),
) -> None:
    """Write everything stored about a person into a JSON file."""
    from bot.exits import run
    from bot.operations.control import write_own_data

    run(lambda: write_own_data(platform, user, out))


@app.command()
def unforget(platform: Platform, user: User) -> None:
    """Let a forgotten person be stored again."""
    from bot.exits import run
    from bot.operations.control import unforget_person

    run(lambda: unforget_person(platform, user))


@app.command()
def purge(
    platform: Platform,
    community: Annotated[
        str, typer.Argument(help="Id of the server or workspace on the platform.")
    ],
    yes: Annotated[bool, YES] = False,
) -> None:
    """Delete every debate of a community, and all its other data."""
    from bot.exits import run
    from bot.operations.control import purge_community

    run(lambda: purge_community(platform, community, yes=yes))


@app.command()
def disconnect(
    platform: Platform,
    community: Annotated[
        str, typer.Argument(help="Id of the server or workspace on the platform.")
    ],
) -> None:
    """Delete the token of a workspace installed by OAuth. Its debates stay."""
    from bot.exits import run
    from bot.operations.control import disconnect_community

    run(lambda: disconnect_community(platform, community))
