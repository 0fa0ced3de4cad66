"""`rostrum label`."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.choice import DebateChoice, choosing
from bot.commands.options import JSON, Dollars, Names, Place

app = typer.Typer(
    name="label", help="Have people label debates blind, on pages.", no_args_is_help=True
)

NAME = typer.Argument(help="Name of the task.")
WHICH = typer.Option(
    help="all, disagreement (people and jury differ, or the jury is unsure), or codes of debates, "
    "comma-separated."
)
HOLD_CODE = typer.Option(
    "--hold-code", help="No code for those who answer too fast or fail known answers."
)
Code = Annotated[str, typer.Option("--code", help="Completion code, shown at the end.")]


@app.command("create")
@choosing()
def label_create(
    given: typer.Context,
    chosen: DebateChoice,
    name: Annotated[str, typer.Argument(help="Name of the task: small letters, digits, hyphens.")],
    debates: Annotated[str, WHICH] = "all",
    per_debate: Annotated[int, typer.Option(help="Labels wanted for each debate.")] = 3,
    each: Annotated[int, typer.Option(help="Debates for each person; 0: all that are left.")] = 0,
    repeats: Annotated[
        float, typer.Option(help="Share of debates that are shown to a person twice.")
    ] = 0.1,
    known: Annotated[
        Names, typer.Option(help="A debate with a known answer, e.g. k7f2qz=A; repeatable.")
    ] = None,
    page_language: Annotated[
        str, typer.Option(help="Language of the pages (default: each debate's).")
    ] = "",
    code: Code = "",
    hold_code: Annotated[bool, HOLD_CODE] = False,
    pay: Annotated[
        Dollars,
        typer.Option(help="What a label earns in USD; stands in the invitation."),
    ] = None,
    parameter: Annotated[
        str, typer.Option(help="URL parameter with a participant's id, e.g. PROLIFIC_PID.")
    ] = "",
    sign_in: Annotated[
        Names,
        typer.Option(help="Who may join without a link: discord or slack; repeatable."),
    ] = None,
    about: Annotated[
        Place,
        typer.Option(help="File with your own text for the first page."),
    ] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Make a labelling task of the debates that are closed now."""
    from bot.exits import run
    from bot.research.labels import create_task

    run(lambda: create_task(chosen, given.params))


@app.command("invite")
def label_invite(
    name: Annotated[str, NAME],
    links: Annotated[int, typer.Option("--links", "-n", help="How many links.")] = 1,
    people: Annotated[int, typer.Option(help="People for each link; 1: a personal link.")] = 1,
    days: Annotated[float, typer.Option(help="Days for which they hold.")] = 30,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Print links to a task. They are shown once; only digests are stored."""
    from bot.exits import run
    from bot.research.labels import invite

    run(lambda: invite(name, links, people, days, as_json=as_json))


@app.command("list")
def label_list(as_json: Annotated[bool, JSON] = False) -> None:
    """List the labelling tasks."""
    from bot.exits import run
    from bot.research.labels import list_tasks

    run(lambda: list_tasks(as_json=as_json))


@app.command("report")
def label_report(
    name: Annotated[str, NAME],
    pay: Annotated[
        Dollars,
        typer.Option(help="What people are paid for a label, in USD."),
    ] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Show progress, agreement, who is reliable, and hard debates. With --pay, also costs."""
    from bot.exits import run
    from bot.research.labels import report

    run(lambda: report(name, pay, as_json=as_json))


@app.command("exclude")
def label_exclude(
    name: Annotated[str, NAME],
    annotator: Annotated[str, typer.Argument(help="Name of the annotator in the report.")],
    undo: Annotated[bool, typer.Option("--undo", help="Count them again.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Leave an annotator out of figures, and say what changes."""
    from bot.exits import run
    from bot.research.labels import exclude

    run(lambda: exclude(name, annotator, undo=undo, as_json=as_json))


@app.command("close")
def label_close(name: Annotated[str, NAME]) -> None:
    """End a task: it takes no more answers. Its labels stay."""
    from bot.exits import run
    from bot.research.labels import close_task

    run(lambda: close_task(name))


@app.command("page")
def label_page() -> None:
    """Print a link to the manager's page of labelling, for one browser."""
    from bot.exits import run
    from bot.research.labels import print_page

    run(print_page)
