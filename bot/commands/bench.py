"""`rostrum bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from bot.commands.options import MOST, Text

bench = typer.Typer(help="Run a benchmark; each prints JSON.", no_args_is_help=True)
SECONDS = typer.Option(min=0.001, max=60, help="Seconds that each model call takes.")


@bench.command()
def overhead(
    format: Annotated[str, typer.Option(help="Format of the debates.")] = "classic",
    seconds: Annotated[float, SECONDS] = 0.25,
    crowd: Annotated[
        int,
        typer.Option(min=0, max=MOST, help="Concurrent debates in the second part; 0 skips it."),
    ] = 200,
) -> None:
    """Compare a debate's time with that of its model calls."""
    from bench.overhead import run_overhead
    from bot.exits import run

    run(lambda: run_overhead(format, seconds, crowd))


@bench.command()
def live(
    debates: Annotated[int, typer.Option(min=1, help="Number of debates.")] = 1000,
    over: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds over which they start.")
    ] = 18.0,
    seconds: Annotated[float, SECONDS] = 2.0,
) -> None:
    """Hold many debates at once, beside the same bare calls."""
    from bench.wheel.live import run_live
    from bot.exits import run

    run(lambda: run_live(debates, over, seconds))


@bench.command("start")
def bench_start(
    runs: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of debates, one process each.")
    ] = 5,
    seconds: Annotated[float, SECONDS] = 0.2,
) -> None:
    """Time whole debate processes, from command to exit."""
    from bench.start import run_start
    from bot.exits import run

    run(lambda: run_start(runs, seconds))


@bench.command()
def prompts(
    words: Annotated[int, typer.Option(min=1, max=5000, help="Words per turn.")] = 400,
) -> None:
    """Show what share of a debate's input is billed, by each provider's caching rule."""
    from bench.prompts import run_prompts
    from bot.exits import run

    run(lambda: run_prompts(words))


@bench.command()
def jury(
    debates: Annotated[int, typer.Option(min=1, help="Debates that count, per seed.")] = 600,
    seeds: Annotated[int, typer.Option(min=1, help="Installations per world.")] = 24,
    first_seed: Annotated[
        int, typer.Option(min=0, help="First seed; those below 5000 are for tuning.")
    ] = 5000,
    learning: Annotated[int, typer.Option(help="Past debates to learn from.")] = 600,
    misspecified: Annotated[
        bool, typer.Option("--misspecified", help="Jurors that the panel's model does not expect.")
    ] = False,
) -> None:
    """Compare the panel with other methods, on simulated jurors."""
    from bench.wheel.jury import run_jury
    from bot.exits import run

    run(lambda: run_jury(debates, seeds, first_seed, learning, misspecified=misspecified))


@bench.command()
def pairing(
    seeds: Annotated[int, typer.Option(min=1, help="Simulated series per field of models.")] = 200,
    topics: Annotated[
        int, typer.Option(min=1, max=100, help="Topics; each pair meets on each, on both sides.")
    ] = 10,
    repeats: Annotated[
        int, typer.Option(min=1, max=20, help="Repeats that informative pairing may hold.")
    ] = 4,
    first_seed: Annotated[int, typer.Option(min=0, help="First seed.")] = 1,
) -> None:
    """Show how many debates informative pairing saves, on simulated models."""
    from bench.pairing import run_pairing
    from bot.exits import run

    run(lambda: run_pairing(seeds, topics, repeats, first_seed))


@bench.command("export")
def bench_export(
    debates: Annotated[int, typer.Option(help="Number of debates, 14 calls each.")] = 10_000,
    votes: Annotated[int, typer.Option(help="Number of votes in all debates.")] = 1_000_000,
    tables: Annotated[
        Text,
        typer.Option(help="Only these tables, comma-separated (default: all but arena_human)."),
    ] = None,
) -> None:
    """Time exports, beside pyarrow alone. Debates are synthetic."""
    from bench.export import run_bench_export
    from bot.exits import run

    run(lambda: run_bench_export(debates, votes, tables))


@bench.command("series")
def bench_series(
    given: typer.Context,
    debates: Annotated[
        int, typer.Option(min=10, max=MOST, help="Number of debates, in tens: pairs of 5 models.")
    ] = 1000,
    at_once: Annotated[int, typer.Option(min=1, max=4000, help="Debates at once.")] = 100,
    seconds: Annotated[float, SECONDS] = 0.5,
    kills: Annotated[int, typer.Option(min=0, max=100, help="Number of kills.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=MOST, help="Seed of the kills.")] = 1,
) -> None:
    """Hold a series twice, once with kills, and compare it with the server's own log."""
    from bench.series import run_bench_series
    from bot.exits import run

    run(lambda: run_bench_series(**given.params))


@bench.command("votes")
def bench_votes(
    given: typer.Context,
    platform: Annotated[
        Literal["discord", "slack", "both"],
        typer.Option(help="Platform whose double people vote on."),
    ] = "both",
    debates: Annotated[int, typer.Option(min=1, max=200, help="Number of debates.")] = 30,
    voters: Annotated[int, typer.Option(min=1, max=2000, help="Voters per debate.")] = 200,
    kills: Annotated[int, typer.Option(min=0, max=100, help="Number of kills.")] = 10,
    minutes: Annotated[
        float, typer.Option(min=0.1, max=60, help="Minutes that each vote is open.")
    ] = 1.25,
    seed: Annotated[int, typer.Option(min=0, max=MOST, help="Seed of the first run.")] = 1,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Number of runs, one seed each.")] = 3,
    keep: Annotated[Optional[Path], typer.Option(help="Keep databases and logs here.")] = None,  # noqa: UP045
) -> None:
    """Check every vote through kills, outages and refusals."""
    from bench.votes_command import run_bench_votes
    from bot.exits import run

    run(lambda: run_bench_votes(**given.params))


@bench.command("scale")
def bench_scale(
    given: typer.Context,
    part: Annotated[
        Literal["throughput", "latency", "both"], typer.Option(help="What is measured.")
    ] = "both",
    workers: Annotated[
        str, typer.Option(help="Numbers of workers, comma-separated, for throughput.")
    ] = "1,2,4",
    debates: Annotated[int, typer.Option(min=2, max=10_000, help="Debates each time.")] = 40,
    slots: Annotated[
        int, typer.Option(min=1, max=10_000, help="Debates at once per worker, for throughput.")
    ] = 10,
    seconds: Annotated[float, SECONDS] = 1.0,
    pause: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds between two starts, for latency.")
    ] = 0.2,
    to: Annotated[
        Text, typer.Option(help="Address of a PostgreSQL whose user may create databases.")
    ] = None,
) -> None:
    """Measure gateways and workers on PostgreSQL, beside one process."""
    from bench.scale_command import run_bench_scale
    from bot.exits import run

    run(lambda: run_bench_scale(**given.params))
