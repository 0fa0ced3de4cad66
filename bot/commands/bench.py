"""`rostrum bench`: the benchmarks in bench/wheel; the others run from a checkout."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

app = typer.Typer(name="bench", help="Run a benchmark; each prints JSON.", no_args_is_help=True)
DEBATES = typer.Option(min=1, metavar="NUMBER", help="Number of debates, or of those a seed.")
SECONDS = typer.Option(min=0.001, max=60, help="Seconds that each model call takes.")


@app.command()
def live(
    debates: Annotated[int, DEBATES] = 1000,
    over: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds over which they start.")
    ] = 18.0,
    seconds: Annotated[float, SECONDS] = 2.0,
) -> None:
    """Hold many debates at once, beside the same bare calls."""
    from bench.wheel.live import run_live
    from bot.exits import run

    run(lambda: run_live(debates, over, seconds))


@app.command()
def jury(
    debates: Annotated[int, DEBATES] = 600,
    seeds: Annotated[int, typer.Option(min=1, help="Installations per world.")] = 24,
    first_seed: Annotated[
        int, typer.Option(min=0, help="First seed; those below 5000 are for tuning.")
    ] = 5000,
    learning: Annotated[int, typer.Option(help="Past debates to learn from.")] = 600,
    worlds: Annotated[
        Literal["usual", "misspecified", "broken", "blind", "showing"],
        typer.Option(
            help="Jurors as expected; unlike what the model expects; some of whom see nothing; "
            "none of whom sees anything; reading in both orders, or as spoken."
        ),
    ] = "usual",
) -> None:
    """Compare the panel with other methods, on simulated jurors."""
    from bench.wheel.jury import run_jury
    from bot.exits import run

    run(lambda: run_jury(debates, seeds, first_seed, learning, worlds))


@app.command()
def trials(
    series: Annotated[int, typer.Option(min=1, help="How many series are simulated.")] = 200,
    topics: Annotated[int, typer.Option(min=15, help="Topics of a series.")] = 100,
) -> None:
    """Measure the gap between two protocols, on simulated series with known answers."""
    from bench.wheel.trials import run_trials
    from bot.exits import run

    run(lambda: run_trials(series, topics))
