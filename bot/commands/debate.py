"""`rostrum debate` and `rostrum resume`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bot.commands.choice import DEBATE, complete_debates, complete_models
from bot.commands.options import (
    AHEAD,
    OPTION,
    SAY_WHY,
    STANCES,
    SURE,
    VOTES,
    Dollars,
    Names,
    Place,
    Text,
    takes,
)

app = typer.Typer()
SIDE_A = typer.Option(
    "--a", help="Model of side A, as backend/model, or me.", autocompletion=complete_models
)
SIDE_B = typer.Option(
    "--b", help="Model of side B, as backend/model, or me.", autocompletion=complete_models
)
JURORS = typer.Option(
    help="Jurors as backend/model, comma-separated.", autocompletion=complete_models
)
JUDGES = typer.Option(
    help="The format's own judges, comma-separated.", autocompletion=complete_models
)
REMATCH = typer.Option(
    help="Hold this debate once more with the same models, their sides drawn again.",
    autocompletion=complete_debates,
)
SWAP = typer.Option("--swap", help="With --rematch: swap the sides instead.")
SEAT = typer.Option(help="Model of one seat or contender, e.g. A2=online/x; repeatable.")
TOPIC = "The topic, or random for one of the list (default: ROSTRUM_TOPIC)."
SOURCES = typer.Option(
    help="Text or Markdown file that every side reads, or a folder of them; repeatable."
)
SHOW_OF_HANDS = typer.Option(
    "--show-of-hands",
    help="Each vote here is another person's and counts; else those of options, and several of one "
    "keyboard, are marked as scripted.",
)
ASK = typer.Option(help="A question to both sides instead of those by keyboard; repeatable.")
OUT = typer.Option(help="Export this debate to a folder.")
USD = typer.Option(
    min=0,
    help="What it may cost at most, in USD, its mirror included (default: the cap of the settings "
    "for each).",
)
REPLACE = typer.Option(help="Replace an unavailable model, e.g. online/x=online/y; repeatable.")


@app.command()
@takes(
    "given topic stance_a stance_b a b jurors conditions format language length rounds turn_order "
    "blind scores vote_minutes quorum panel seed mirror votes stances round_votes ahead confidence "
    "sure say_why show_of_hands why questions turn_minutes ask pace … out option sources seat "
    "judges rematch swap usd"
)
def debate(
    given: typer.Context,
    topic: Annotated[Text, typer.Argument(help=TOPIC)] = None,
    a: Annotated[Text, SIDE_A] = None,
    b: Annotated[Text, SIDE_B] = None,
    jurors: Annotated[Text, JURORS] = None,
    seed: Annotated[Text, typer.Option(help="Random seed of the debate, a whole number.")] = None,
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    sure: Annotated[Text, SURE] = None,
    say_why: Annotated[bool, SAY_WHY] = False,
    show_of_hands: Annotated[bool, SHOW_OF_HANDS] = False,
    ask: Annotated[Names, ASK] = None,
    out: Annotated[Place, OUT] = None,
    option: Annotated[Names, OPTION] = None,
    sources: Annotated[Names, SOURCES] = None,
    seat: Annotated[Names, SEAT] = None,
    judges: Annotated[Text, JUDGES] = None,
    rematch: Annotated[Text, REMATCH] = None,
    swap: Annotated[bool, SWAP] = False,
    usd: Annotated[Dollars, USD] = None,
    **_: Any,
) -> None:
    """Hold one debate in the terminal, on your backends."""
    from bot.exits import run
    from bot.local.single import run_debate

    run(lambda: run_debate(given.params))


@app.command()
def resume(
    given: typer.Context,
    debate_id: Annotated[str, DEBATE],
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    sure: Annotated[Text, SURE] = None,
    say_why: Annotated[bool, SAY_WHY] = False,
    show_of_hands: Annotated[bool, SHOW_OF_HANDS] = False,
    ask: Annotated[Names, ASK] = None,
    out: Annotated[Place, OUT] = None,
    usd: Annotated[Dollars, USD] = None,
    replace_model: Annotated[Names, REPLACE] = None,
) -> None:
    """Go on with a debate that was stopped or failed.

    A terminal's goes on here, another one in the process that runs debates.
    """
    from bot.exits import run
    from bot.local.single import run_resume

    run(lambda: run_resume(given.params))
