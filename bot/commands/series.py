"""`rostrum series`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.choice import complete_series
from bot.commands.options import JSON, JURY, USD, Dollars, Text

app = typer.Typer(
    name="series", help="Hold many debates as one experiment, from one file.", no_args_is_help=True
)

FILE = typer.Argument(help="The file of the series (TOML).")
SERIES = typer.Argument(help="Name of the series.", autocompletion=complete_series)
MANY = typer.Option("--yes", help="Skip the question about a very large series.")


@app.command("plan")
def series_plan(
    file: Annotated[Path, FILE],
    as_json: Annotated[bool, JSON] = False,
    yes: Annotated[bool, MANY] = False,
) -> None:
    """Say what a series will hold: calls, tokens, cost and time. Nothing is paid."""
    from bot.exits import run
    from bot.research.series_runs import plan_file

    run(lambda: plan_file(file, as_json=as_json, yes=yes))


@app.command("run")
def series_run(
    file: Annotated[Path, FILE],
    usd: Annotated[Dollars, USD] = None,
    yes: Annotated[bool, MANY] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Hold a series; run again, it goes on where it was ended. --usd replaces the file's limit."""
    from bot.exits import run
    from bot.research.series_runs import run_file

    run(lambda: run_file(file, usd, yes=yes, as_json=as_json))


@app.command("list")
def series_list(as_json: Annotated[bool, JSON] = False) -> None:
    """List the series that were begun, and how far each is."""
    from bot.exits import run
    from bot.research.series_runs import list_series

    run(lambda: list_series(as_json=as_json))


@app.command("status")
def series_status(name: Annotated[str, SERIES], as_json: Annotated[bool, JSON] = False) -> None:
    """Show how far a series is, and what it took."""
    from bot.exits import run
    from bot.research.series_runs import show_status

    run(lambda: show_status(name, as_json=as_json))


@app.command("report")
def series_report(
    name: Annotated[str, SERIES],
    out: Annotated[Path, typer.Option(help="Folder for the report and its pictures.")],
    jury: Annotated[Text, JURY] = None,
) -> None:
    """Write a report: totals, ratings, jurors and costs. Says what they cannot say."""
    from bot.exits import run
    from bot.research.series_runs import write_series_report

    run(lambda: write_series_report(name, out, jury))


@app.command("stop")
def series_stop(name: Annotated[str, SERIES]) -> None:
    """Let a series begin no more debates; those that run are finished."""
    from bot.exits import run
    from bot.research.series_runs import stop_series

    run(lambda: stop_series(name))
