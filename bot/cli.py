"""The command line. Each command does its own imports, so that help is instant."""

from __future__ import annotations

import gc
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

app = typer.Typer(
    name="rostrum",
    help="Hold AI debates with a blind jury and human votes, and export every label.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
bench = typer.Typer(help="Run a benchmark; each prints JSON.", no_args_is_help=True)
app.add_typer(bench, name="bench")
series = typer.Typer(
    help="Hold many debates as one experiment, from one file.", no_args_is_help=True
)
app.add_typer(series, name="series")

# typer reads annotations at run time, and every version of it knows Optional.
Text = Optional[str]  # noqa: UP045
Names = Optional[list[str]]  # noqa: UP045
SEAT = typer.Option(help="Model of one seat or contender, e.g. A2=online/x; repeatable.")
MIRROR = typer.Option("--mirror", help="Hold it a second time with sides swapped.")
TOPIC = "The topic, or random for one of the list (default: ROSTRUM_TOPIC)."
FOR = typer.Option("--for", help="What A argues, if not for the topic; with --against.")
AGAINST = typer.Option("--against", help="What B argues, if not against the topic.")
LENGTH = typer.Option(help="short, normal or long; short is read in five minutes.")
OPTION = typer.Option(help="Option of the format, e.g. agents=5 or turns=6; repeatable.")
SOURCES = typer.Option(
    help="Text or Markdown file that every side reads, or a folder of them; repeatable."
)
FORMATS = typer.Option("--debate-format", help="Only these debate formats, e.g. classic,team.")
LANGUAGES = typer.Option("--language", help="Only these languages, e.g. en,tr.")
OF_SERIES = typer.Option("--series", help="Only debates of this series.")
REHEARSAL = typer.Option(
    "--include-rehearsal", help="Include rehearsal debates, which are excluded by default."
)
REPLACE = typer.Option(help="Replace an unavailable model, e.g. online/x=online/y; repeatable.")
MOST = 1_000_000
SECONDS = typer.Option(min=0.001, max=60, help="Seconds that each model call takes.")
VOTES = typer.Option(
    help="Votes to cast, e.g. A=3,B=2,tie=1 (default: by keys, in a terminal). "
    "In a mirrored debate the same models get them."
)
STANCES = typer.Option(
    help="Stances before and after, e.g. against>for=2,for=1. Also asks people for theirs."
)

CONFIDENCE = typer.Option(help="on or off: ask people with the vote how clear it was.")
SURE = typer.Option(
    help="How clear people find it, in the order of the votes, e.g. close=2,one-sided=1. Also "
    "asks people."
)
ROUND_VOTES = typer.Option(help="on or off: ask people after each round who is ahead.")
AHEAD = typer.Option(
    help="Who is ahead after each round, e.g. 'A=3,even=1;B=4' round by round; the last of them "
    "also for the rounds that follow. Also asks people."
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"rostrum {version('rostrum')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold AI debates with a blind jury and human votes, and export every label."""


@app.command()
def demo(
    given: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the export.")] = Path("demo-export"),
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    round_votes: Annotated[Text, ROUND_VOTES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    confidence: Annotated[Text, CONFIDENCE] = None,
    sure: Annotated[Text, SURE] = None,
    format: Annotated[str, typer.Option(help="Debate format.")] = "classic",
    language: Annotated[str, typer.Option(help="Language code, e.g. en, tr, zh.")] = "en",
    topic: Annotated[Text, typer.Option(help="The topic (default: a built-in one).")] = None,
    stance_a: Annotated[Text, FOR] = None,
    stance_b: Annotated[Text, AGAINST] = None,
    length: Annotated[Text, LENGTH] = None,
    option: Annotated[Names, OPTION] = None,
) -> None:
    """Hold a debate offline and export it. The speakers are the built-in rehearsal model."""
    from bot.demo import run_demo
    from bot.exits import run

    run(lambda: run_demo(given.params))


@app.command()
def debate(
    given: typer.Context,
    topic: Annotated[Text, typer.Argument(help=TOPIC)] = None,
    stance_a: Annotated[Text, FOR] = None,
    stance_b: Annotated[Text, AGAINST] = None,
    a: Annotated[Text, typer.Option("--a", help="Model of side A, as backend/model.")] = None,
    b: Annotated[Text, typer.Option("--b", help="Model of side B, as backend/model.")] = None,
    jurors: Annotated[Text, typer.Option(help="Jurors as backend/model, comma-separated.")] = None,
    conditions: Annotated[Text, typer.Option(help="Conditions that both sides accept.")] = None,
    format: Annotated[Text, typer.Option(help="Debate format.")] = None,
    language: Annotated[Text, typer.Option(help="Language code, e.g. en, tr, zh.")] = None,
    length: Annotated[Text, LENGTH] = None,
    rounds: Annotated[Optional[int], typer.Option(help="Number of rebuttals.")] = None,  # noqa: UP045
    turn_order: Annotated[Text, typer.Option(help="sequential or simultaneous turns.")] = None,
    blind: Annotated[Text, typer.Option(help="on or off: hide model names from jurors.")] = None,
    scores: Annotated[
        Text, typer.Option(help="When a format's own scores show: after_vote or live.")
    ] = None,
    vote_minutes: Annotated[Optional[float], typer.Option(help="Minutes of the vote.")] = None,  # noqa: UP045
    quorum: Annotated[Optional[int], typer.Option(help="Votes needed for a human winner.")] = None,  # noqa: UP045
    panel: Annotated[
        Text, typer.Option(help="How many jurors read: adaptive, all, one or strict.")
    ] = None,
    seed: Annotated[Optional[int], typer.Option(help="Random seed of the debate.")] = None,  # noqa: UP045
    mirror: Annotated[bool, MIRROR] = False,
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    round_votes: Annotated[Text, ROUND_VOTES] = None,
    ahead: Annotated[Text, AHEAD] = None,
    confidence: Annotated[Text, CONFIDENCE] = None,
    sure: Annotated[Text, SURE] = None,
    out: Annotated[Optional[Path], typer.Option(help="Export to this folder afterwards.")] = None,  # noqa: UP045
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    option: Annotated[Names, OPTION] = None,
    sources: Annotated[Names, SOURCES] = None,
    seat: Annotated[Names, SEAT] = None,
    judges: Annotated[Text, typer.Option(help="The format's own judges, comma-separated.")] = None,
    resume: Annotated[Text, typer.Option(help="Resume this debate.")] = None,
    replace_model: Annotated[Names, REPLACE] = None,
) -> None:
    """Hold one debate in the terminal, on your backends."""
    from bot.debate import run_debate
    from bot.exits import run

    run(lambda: run_debate(given.params))


@app.command()
def export(
    given: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder to write; replaces an earlier export there.")],
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="File format: jsonl or parquet.")
    ] = "jsonl",
    tables: Annotated[Text, typer.Option(help="Only these tables, comma-separated.")] = None,
    formats: Annotated[Text, FORMATS] = None,
    languages: Annotated[Text, LANGUAGES] = None,
    since: Annotated[
        Text, typer.Option(help="Only debates revealed since this date or time.")
    ] = None,
    until: Annotated[
        Text, typer.Option(help="Only debates revealed until this date, inclusive, or time.")
    ] = None,
    quorum_met: Annotated[
        bool, typer.Option("--quorum-met", help="Only debates that reached their quorum.")
    ] = False,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    series: Annotated[Text, OF_SERIES] = None,
) -> None:
    """Export ended debates as a dataset, with every ballot and vote."""
    from bot.exits import run
    from bot.exporting import Chosen, run_export

    chosen = Chosen(**{name: given.params[name] for name in Chosen._fields})
    run(lambda: run_export(out, chosen))


@app.command()
def stats(
    given: typer.Context,
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    formats: Annotated[Text, FORMATS] = None,
    languages: Annotated[Text, LANGUAGES] = None,
    series: Annotated[Text, OF_SERIES] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Optional[Path], typer.Option(help="Folder for pictures (SVG).")] = None,  # noqa: UP045
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
) -> None:
    """Compare jury and people, and rate the models."""
    from bot.exits import run
    from bot.stats import run_stats

    run(lambda: run_stats(**given.params))


@app.command()
def usage(
    given: typer.Context,
    by: Annotated[
        str, typer.Option(help="Count by model (and role), day, community, user or series.")
    ] = "model",
    since: Annotated[Text, typer.Option(help="Only calls since this date or time.")] = None,
    until: Annotated[
        Text, typer.Option(help="Only calls until this date, inclusive, or time.")
    ] = None,
    series: Annotated[Text, OF_SERIES] = None,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Add up calls, tokens and cost of everything that was held."""
    from bot.exits import run
    from bot.usage import show_usage

    run(lambda: show_usage(**given.params))


@app.command("run")
def run_() -> None:
    """Serve the configured chat platforms until stopped."""
    from bot.exits import run
    from bot.run import run_rostrum

    run(run_rostrum)


@app.command()
def invite(
    secret_ballots: Annotated[
        bool,
        typer.Option("--secret-ballots", help="Also request the permission for secret ballots."),
    ] = False,
    slack: Annotated[bool, typer.Option("--slack", help="Print a Slack app manifest.")] = False,
    name: Annotated[Text, typer.Option(help="With --slack: name of the app.")] = None,
    url: Annotated[Text, typer.Option(help="With --slack: public https address.")] = None,
) -> None:
    """Print a Discord invite link, or a Slack app manifest."""
    from bot.exits import run
    from bot.invite import print_invite, print_manifest

    if slack:
        run(lambda: print_manifest(name, url))
    else:
        run(lambda: print_invite(secret_ballots=secret_ballots))


@app.command()
def check() -> None:
    """Check your setup: settings, database, backends, platforms. Says what to fix."""
    from bot.doctor.doctor import run_check
    from bot.exits import run

    run(run_check)


@app.command()
def topics(
    language: Annotated[Text, typer.Option(help="Only topics in this language, e.g. de.")] = None,
) -> None:
    """List the topics on offer, and say what is wrong in your file of them."""
    from bot.exits import run
    from bot.topics import list_topics

    run(lambda: list_topics(language))


@app.command()
def migrate() -> None:
    """Upgrade the database to this version."""
    from bot.exits import run
    from bot.exporting import run_migrate

    run(run_migrate)


@app.command("list")
def list_(
    state: Annotated[Text, typer.Option(help="Only debates in this state, e.g. failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Number of debates.")] = 20,
) -> None:
    """List debates, newest first."""
    from bot.exits import run
    from bot.operate import list_debates

    run(lambda: list_debates(state, limit))


DEBATE = typer.Argument(help="A debate's id or short code.")


@app.command()
def show(debate_id: Annotated[str, DEBATE]) -> None:
    """Show a debate: state, steps, costs, and what it waits for."""
    from bot.exits import run
    from bot.operate import show_debate

    run(lambda: show_debate(debate_id))


@app.command()
def report(
    debate_id: Annotated[str, DEBATE],
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path(),
) -> None:
    """Write a debate as Markdown and as one HTML file; sealed results stay out."""
    from bot.exits import run
    from bot.reporting import write_report

    run(lambda: write_report(debate_id, out))


@app.command()
def judge(
    debate_id: Annotated[str, DEBATE],
    judges: Annotated[
        Text, typer.Option(help="Other judges of its format, as backend/model, comma-separated.")
    ] = None,
    jurors: Annotated[
        Text, typer.Option(help="Another jury, as backend/model, comma-separated.")
    ] = None,
    panel: Annotated[
        Literal["adaptive", "strict", "all", "one"],
        typer.Option(help="How that jury reads; in all modes but adaptive, in both orders."),
    ] = "all",
    usd: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0, help="What that jury may cost in all, in USD."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge a debate that has ended once more, or with --jurors all of a series by its name."""
    from bot.exits import run
    from bot.judging import run_judge
    from bot.juries import run_jury

    if (judges is None) == (jurors is None):
        raise typer.BadParameter("Name either --judges or --jurors.")
    if jurors is not None:
        run(lambda: run_jury(debate_id, jurors, panel, usd, as_json=as_json))
    else:
        run(lambda: run_judge(debate_id, judges or "", as_json=as_json))


@app.command()
def cancel(debate_id: Annotated[str, DEBATE]) -> None:
    """Cancel a debate, even if another process runs it."""
    from bot.exits import run
    from bot.operate import cancel_debate

    run(lambda: cancel_debate(debate_id))


@app.command()
def resume(
    debate_id: Annotated[str, DEBATE], replace_model: Annotated[Names, REPLACE] = None
) -> None:
    """Queue a failed or partial debate again."""
    from bot.exits import run
    from bot.operate import resume_debate

    run(lambda: resume_debate(debate_id, tuple(replace_model or ())))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="File to create.")],
) -> None:
    """Copy the database, even while Rostrum runs; verifies the copy."""
    from bot.exits import run
    from bot.operate import back_up

    run(lambda: back_up(file))


Platform = Annotated[
    Literal["discord", "slack", "terminal"], typer.Argument(help="Platform of the id.")
]


User = Annotated[str, typer.Argument(help="User id on the platform.")]
YES = typer.Option("--yes", help="Skip the confirmation; required without a terminal.")


@app.command()
def forget(platform: Platform, user: User, yes: Annotated[bool, YES] = False) -> None:
    """Forget a person; their votes still count. No record identifies them any more."""
    from bot.exits import run
    from bot.operate import forget_person

    run(lambda: forget_person(platform, user, yes=yes))


@app.command()
def unforget(platform: Platform, user: User) -> None:
    """Let a forgotten person be stored again."""
    from bot.exits import run
    from bot.operate import unforget_person

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
    from bot.operate import purge_community

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
    from bot.operate import disconnect_community

    run(lambda: disconnect_community(platform, community))


FILE = typer.Argument(help="The file of the series (TOML).")
SERIES = typer.Argument(help="Name of the series.")
MANY = typer.Option("--yes", help="Skip the question about a very large series.")
JSON = typer.Option("--json", help="Print JSON.")


@series.command("plan")
def series_plan(
    file: Annotated[Path, FILE],
    as_json: Annotated[bool, JSON] = False,
    yes: Annotated[bool, MANY] = False,
) -> None:
    """Say what a series will hold, and its calls, tokens, cost and time; nothing is paid."""
    from bot.exits import run
    from bot.series import plan_file

    run(lambda: plan_file(file, as_json=as_json, yes=yes))


@series.command("run")
def series_run(file: Annotated[Path, FILE], yes: Annotated[bool, MANY] = False) -> None:
    """Hold a series; run again, it goes on where it was ended."""
    from bot.exits import run
    from bot.series import run_file

    run(lambda: run_file(file, yes=yes))


@series.command("status")
def series_status(name: Annotated[str, SERIES], as_json: Annotated[bool, JSON] = False) -> None:
    """Show how far a series is, and what it took."""
    from bot.exits import run
    from bot.series import show_status

    run(lambda: show_status(name, as_json=as_json))


@series.command("report")
def series_report(
    name: Annotated[str, SERIES],
    out: Annotated[Path, typer.Option(help="Folder for the report and its pictures.")],
) -> None:
    """Write a report: totals, ratings, jurors, costs and what they cannot say."""
    from bot.exits import run
    from bot.series_report import write_series_report

    run(lambda: write_series_report(name, out))


@series.command("stop")
def series_stop(name: Annotated[str, SERIES]) -> None:
    """Let a series begin no more debates; those that run are finished."""
    from bot.exits import run
    from bot.series import stop_series

    run(lambda: stop_series(name))


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
    from bot.bench.overhead import run_overhead
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
    from bot.bench.live import run_live
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
    from bot.bench.start import run_start
    from bot.exits import run

    run(lambda: run_start(runs, seconds))


@bench.command()
def prompts(
    words: Annotated[int, typer.Option(min=1, max=5000, help="Words per turn.")] = 400,
) -> None:
    """Show what share of a debate's input is billed, by each provider's caching rule."""
    from bot.bench.prompts import run_prompts
    from bot.exits import run

    run(lambda: run_prompts(words))


@bench.command()
def jury(
    debates: Annotated[int, typer.Option(min=1, help="Debates that count, per seed.")] = 600,
    seeds: Annotated[int, typer.Option(min=1, help="Installations per world.")] = 48,
    first_seed: Annotated[
        int, typer.Option(min=0, help="First seed; those below 5000 are for tuning.")
    ] = 5000,
    learning: Annotated[int, typer.Option(help="Past debates to learn from.")] = 600,
) -> None:
    """Compare the panel with other methods, on simulated jurors."""
    from bot.bench.jury import run_jury
    from bot.exits import run

    run(lambda: run_jury(debates, seeds, first_seed, learning))


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
    from bot.bench.pairing import run_pairing
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
    from bot.bench.export import run_bench_export
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
    from bot.bench.series import run_bench_series
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
    from bot.bench.votes import run_bench_votes
    from bot.exits import run

    run(lambda: run_bench_votes(**given.params))


def main() -> None:
    """Run the command line."""
    gc.disable()  # imports create many objects and drop none; `exits.run` enables it again
    try:
        app()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        _leave(end.code or 0)


def _leave(code: int) -> None:
    """Exit at once: everything is closed, and Python's own shutdown takes 0.1 s more."""
    logging.shutdown()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python's own exit reports what could not be written
    os._exit(code)
