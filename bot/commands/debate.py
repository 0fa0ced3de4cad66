"""`rostrum debate` and `rostrum resume`."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.data import DEBATE
from bot.commands.options import (
    AGAINST,
    AHEAD,
    CONFIDENCE,
    FOR,
    LENGTH,
    OPTION,
    ROUND_VOTES,
    SAY_WHY,
    STANCES,
    SURE,
    VOTES,
    Dollars,
    Flag,
    Names,
    Place,
    Text,
)
from bot.completion import complete_debates, complete_models

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
MIRROR = typer.Option("--mirror", help="Hold it a second time with sides swapped.")
TOPIC = "The topic, or random for one of the list (default: ROSTRUM_TOPIC)."
SOURCES = typer.Option(
    help="Text or Markdown file that every side reads, or a folder of them; repeatable."
)
PANEL = typer.Option(help="How many jurors read: adaptive, all, one or strict.")
SCORES = typer.Option(help="When a format's own scores show: after_vote or live.")
BLIND = typer.Option("--blind/--no-blind", help="Hide model names from jurors.")
WHY = typer.Option(
    "--why/--no-why", help="Have a juror say for the reveal why the jury decided so."
)
SHOW_OF_HANDS = typer.Option(
    "--show-of-hands",
    help="Each vote here is another person's and counts; else those of options, and several of one "
    "keyboard, are marked as scripted.",
)
QUESTIONS = typer.Option(
    help="Let people ask both sides something before they close, for a time such as 2m."
)
TURN_MINUTES = typer.Option(
    help="The time for each turn that you write with --a me or --b me, e.g. 30m (default: a day)."
)
ASK = typer.Option(help="A question to both sides instead of those by keyboard; repeatable.")
PACE = typer.Option(
    help="Show turns no faster than this many words a minute; people read 238. 0 is no limit.",
)
OUT = typer.Option(help="Export this debate to a folder.")
USD = typer.Option(
    min=0,
    help="What it may cost at most, in USD, its mirror included (default: the cap of the settings "
    "for each).",
)
REPLACE = typer.Option(help="Replace an unavailable model, e.g. online/x=online/y; repeatable.")


@app.command()
def debate(
    given: typer.Context,
    topic: Annotated[Text, typer.Argument(help=TOPIC)] = None,
    stance_a: Annotated[Text, FOR] = None,
    stance_b: Annotated[Text, AGAINST] = None,
    a: Annotated[Text, SIDE_A] = None,
    b: Annotated[Text, SIDE_B] = None,
    jurors: Annotated[Text, JURORS] = None,
    conditions: Annotated[Text, typer.Option(help="Conditions that both sides accept.")] = None,
    format: Annotated[Text, typer.Option(help="Debate format.")] = None,
    language: Annotated[Text, typer.Option(help="Language code, e.g. en, tr, zh.")] = None,
    length: Annotated[Text, LENGTH] = None,
    rounds: Annotated[Text, typer.Option(help="Number of rebuttals.")] = None,
    turn_order: Annotated[Text, typer.Option(help="sequential or simultaneous turns.")] = None,
    blind: Annotated[Flag, BLIND] = None,
    scores: Annotated[Text, SCORES] = None,
    vote_minutes: Annotated[Text, typer.Option(help="Minutes of the vote, or e.g. 1h.")] = None,
    quorum: Annotated[Text, typer.Option(help="Votes needed for a human winner.")] = None,
    panel: Annotated[Text, PANEL] = None,
    seed: Annotated[Text, typer.Option(help="Random seed of the debate, a whole number.")] = None,
    mirror: Annotated[Flag, MIRROR] = None,
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    round_votes: Annotated[Flag, ROUND_VOTES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    confidence: Annotated[Text, CONFIDENCE] = None,
    sure: Annotated[Text, SURE] = None,
    say_why: Annotated[bool, SAY_WHY] = False,
    show_of_hands: Annotated[bool, SHOW_OF_HANDS] = False,
    why: Annotated[Flag, WHY] = None,
    questions: Annotated[Text, QUESTIONS] = None,
    turn_minutes: Annotated[Text, TURN_MINUTES] = None,
    ask: Annotated[Names, ASK] = None,
    pace: Annotated[Text, PACE] = None,
    out: Annotated[Place, OUT] = None,
    option: Annotated[Names, OPTION] = None,
    sources: Annotated[Names, SOURCES] = None,
    seat: Annotated[Names, SEAT] = None,
    judges: Annotated[Text, JUDGES] = None,
    rematch: Annotated[Text, REMATCH] = None,
    swap: Annotated[bool, SWAP] = False,
    usd: Annotated[Dollars, USD] = None,
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
