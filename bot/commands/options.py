"""Types and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import typer

FOR = typer.Option("--for", help="What A argues, if not for the topic; with --against.")
AGAINST = typer.Option("--against", help="What B argues, if not against the topic.")
LENGTH = typer.Option(help="short, normal or long; short is read in five minutes.")
OPTION = typer.Option(help="Option of the format, e.g. agents=5 or turns=6; repeatable.")
VOTES = typer.Option(
    help="Votes to cast, e.g. A=3,B=2,tie=1 (default: by keys, in a terminal). "
    "In a mirrored debate the same models get them."
)
STANCES = typer.Option(
    help="Stances before and after, e.g. against>for=2,for=1. Also asks people for theirs."
)
CONFIDENCE = typer.Option(
    help="on, off or percent: ask people with the vote how clear it was, or how sure they are."
)
SURE = typer.Option(
    help="How clear people find it, in the order of the votes, e.g. close=2,one-sided=1, or "
    "80=2,55=1 in percent. Also asks people."
)
SAY_WHY = typer.Option(
    "--say-why", help="Ask those who vote by keys why they chose so, and which models debated."
)
ROUND_VOTES = typer.Option(
    "--round-votes/--no-round-votes", help="Ask people after each round who is ahead."
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
