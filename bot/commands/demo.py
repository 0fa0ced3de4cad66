"""`rostrum demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bot.commands.options import AHEAD, OPTION, SAY_WHY, STANCES, SURE, VOTES, Names, Text, takes

app = typer.Typer()
DEMO_PACE = typer.Option(
    help="Show turns no faster than this many words a minute; people read 238. 0 is no limit. "
    "Without it any key shows the next round, in a terminal.",
    metavar="WORDS",
)


@app.command()
@takes(
    "given out votes stances round_votes ahead confidence sure say_why format language topic "
    "stance_a stance_b length pace option resume"
)
def demo(
    given: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the export.")] = Path("demo-export"),
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    sure: Annotated[Text, SURE] = None,
    say_why: Annotated[bool, SAY_WHY] = False,
    format: Annotated[Text, typer.Option(help="Debate format (default: classic).")] = None,
    language: Annotated[
        Text, typer.Option(help="Language code, e.g. tr, zh (default: en).")
    ] = None,
    topic: Annotated[Text, typer.Option(help="The topic (default: a built-in one).")] = None,
    pace: Annotated[Text, DEMO_PACE] = None,
    option: Annotated[Names, OPTION] = None,
    resume: Annotated[Text, typer.Option(help="Code of an interrupted demo to resume.")] = None,
    **_: Any,
) -> None:
    """Hold a debate offline and export it. The speakers are the built-in rehearsal model."""
    from bot.exits import run
    from bot.local.demo import run_demo

    run(lambda: run_demo(given.params))
