"""The command line. Every command imports what it needs itself, so that help is instant."""

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
bench = typer.Typer(help="Measure Rostrum; each benchmark prints JSON.", no_args_is_help=True)
app.add_typer(bench, name="bench")

# typer reads annotations at run time, where Optional is what it knows in every version.
Text = Optional[str]  # noqa: UP045
Names = Optional[list[str]]  # noqa: UP045
SEAT = typer.Option(help="A seat's or contender's own model, e.g. A2=online/x; repeatable.")
MIRROR = typer.Option("--mirror", help="Hold it a second time, with sides exchanged.")
OPTION = typer.Option(help="An option of the format, e.g. agents=5 or turns=6; repeatable.")
FORMATS = typer.Option(help="Only these formats of debate, e.g. classic,team.")
LANGUAGES = typer.Option(help="Only these languages, e.g. en,tr.")
REHEARSAL = typer.Option(
    "--include-rehearsal", help="Include rehearsal debates, which are left out otherwise."
)
REPLACE = typer.Option(
    help="Put a model in the place of one that is gone, e.g. online/x=online/y; repeatable."
)
MOST = 1_000_000
SECONDS = typer.Option(min=0.001, max=60, help="How long each model call takes.")
VOTES = typer.Option(
    help="Votes to cast, e.g. A=3,B=2,tie=1; in a mirror they go to the same models "
    "(default: keys, in a terminal)."
)
STANCES = typer.Option(
    help="Where people stand before and after, e.g. against>for=2,for=1; asks them to say."
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
    out: Annotated[Path, typer.Option(help="Folder of the export.")] = Path("demo-export"),
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    format: Annotated[str, typer.Option(help="Format of the debate.")] = "classic",
    language: Annotated[str, typer.Option(help="Language code, e.g. en, tr, zh.")] = "en",
    topic: Annotated[Text, typer.Option(help="The motion (default: one that is built in).")] = None,
    option: Annotated[Names, OPTION] = None,
) -> None:
    """Hold a whole debate offline, on the built-in rehearsal model, and export it."""
    from bot.demo import run_demo
    from bot.exits import run

    run(lambda: run_demo(out, given.params, votes=votes, stances=stances))


@app.command()
def debate(
    given: typer.Context,
    topic: Annotated[Text, typer.Argument(help="The motion (default: ROSTRUM_TOPIC).")] = None,
    a: Annotated[Text, typer.Option("--a", help="Side A's model, backend/model.")] = None,
    b: Annotated[Text, typer.Option("--b", help="Side B's model, backend/model.")] = None,
    jurors: Annotated[Text, typer.Option(help="Jurors, comma-separated backend/model.")] = None,
    conditions: Annotated[Text, typer.Option(help="Conditions both sides accept.")] = None,
    format: Annotated[Text, typer.Option(help="Format of the debate.")] = None,
    language: Annotated[Text, typer.Option(help="Language code, e.g. en, tr, zh.")] = None,
    rounds: Annotated[Optional[int], typer.Option(help="Rebuttal rounds.")] = None,  # noqa: UP045
    turn_order: Annotated[Text, typer.Option(help="sequential or simultaneous.")] = None,
    blind: Annotated[Text, typer.Option(help="on or off: may jurors see models' names?")] = None,
    scores: Annotated[Text, typer.Option(help="after_vote or live.")] = None,
    vote_minutes: Annotated[Optional[float], typer.Option(help="Length of the vote.")] = None,  # noqa: UP045
    quorum: Annotated[Optional[int], typer.Option(help="Votes that make it count.")] = None,  # noqa: UP045
    seed: Annotated[Optional[int], typer.Option(help="Seed of the debate's draws.")] = None,  # noqa: UP045
    mirror: Annotated[bool, MIRROR] = False,
    votes: Annotated[Text, VOTES] = None,
    stances: Annotated[Text, STANCES] = None,
    out: Annotated[Optional[Path], typer.Option(help="Export all debates here after.")] = None,  # noqa: UP045
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
    option: Annotated[Names, OPTION] = None,
    seat: Annotated[Names, SEAT] = None,
    judges: Annotated[Text, typer.Option(help="The format's own judges, comma-separated.")] = None,
    resume: Annotated[Text, typer.Option(help="Go on with this debate.")] = None,
    replace_model: Annotated[Names, REPLACE] = None,
) -> None:
    """Hold one debate in the terminal, on the backends that are set."""
    from bot.debate import run_debate
    from bot.exits import run

    run(
        lambda: run_debate(
            given.params,
            votes=votes,
            stances=stances,
            out=out,
            resume=resume,
            replaced=replace_model or (),
            include_rehearsal=include_rehearsal,
        )
    )


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="Folder to write; an earlier export is replaced.")],
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    format: Annotated[str, typer.Option(help="File format: jsonl or parquet.")] = "jsonl",
    tables: Annotated[Text, typer.Option(help="Only these, comma-separated.")] = None,
    debate_format: Annotated[Text, FORMATS] = None,
    language: Annotated[Text, LANGUAGES] = None,
    since: Annotated[Text, typer.Option(help="Only revealed later: a date, or an instant.")] = None,
    until: Annotated[Text, typer.Option(help="Only revealed until then, all of a date.")] = None,
    quorum_met: Annotated[
        bool, typer.Option("--quorum-met", help="Only debates that people decided.")
    ] = False,
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
) -> None:
    """Export ended debates with every ballot and vote, as a dataset."""
    from bot.exits import run
    from bot.exporting import Chosen, run_export

    chosen = Chosen(
        community=community,
        file_format=format,
        tables=tables,
        formats=debate_format,
        languages=language,
        since=since,
        until=until,
        quorum_met=quorum_met,
        include_rehearsal=include_rehearsal,
    )
    run(lambda: run_export(out, chosen))


@app.command()
def stats(
    community: Annotated[Text, typer.Option(help="Only debates of this community.")] = None,
    debate_format: Annotated[Text, FORMATS] = None,
    language: Annotated[Text, LANGUAGES] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Optional[Path], typer.Option(help="Draw pictures (SVG) into here.")] = None,  # noqa: UP045
    include_rehearsal: Annotated[bool, REHEARSAL] = False,
) -> None:
    """Tell how far jury and people agree, and how they rate the models."""
    from bot.exits import run
    from bot.stats import run_stats

    run(
        lambda: run_stats(
            community=community,
            formats=debate_format,
            languages=language,
            as_json=as_json,
            out=out,
            include_rehearsal=include_rehearsal,
        )
    )


@app.command("run")
def run_() -> None:
    """Serve the chat platforms that are set, until stopped."""
    from bot.exits import run
    from bot.run import run_rostrum

    run(run_rostrum)


@app.command()
def invite(
    secret_ballots: Annotated[
        bool, typer.Option("--secret-ballots", help="Also ask for what secret ballots need.")
    ] = False,
    slack: Annotated[bool, typer.Option("--slack", help="Print a Slack app's manifest.")] = False,
    name: Annotated[Text, typer.Option(help="With --slack: what the app is called.")] = None,
    url: Annotated[Text, typer.Option(help="With --slack: the https address from outside.")] = None,
) -> None:
    """Print the link that adds Rostrum to a Discord server, or the manifest of a Slack app."""
    from bot.exits import run
    from bot.invite import print_invite, print_manifest

    if slack:
        run(lambda: print_manifest(name, url))
    else:
        run(lambda: print_invite(secret_ballots=secret_ballots))


@app.command()
def check() -> None:
    """Check settings, database, backends and platforms, and say what to do about each failure."""
    from bot.doctor.doctor import run_check
    from bot.exits import run

    run(run_check)


@app.command()
def migrate() -> None:
    """Bring the database to this version's tables."""
    from bot.exits import run
    from bot.exporting import run_migrate

    run(run_migrate)


@app.command("list")
def list_(
    state: Annotated[Text, typer.Option(help="Only debates in this state, e.g. failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="How many, the newest first.")] = 20,
) -> None:
    """List debates, the newest first."""
    from bot.exits import run
    from bot.operate import list_debates

    run(lambda: list_debates(state, limit))


DEBATE = typer.Argument(help="A debate's id, or its short one.")


@app.command()
def show(debate_id: Annotated[str, DEBATE]) -> None:
    """Show a debate: its state, steps and money, and what it waits for."""
    from bot.exits import run
    from bot.operate import show_debate

    run(lambda: show_debate(debate_id))


@app.command()
def cancel(debate_id: Annotated[str, DEBATE]) -> None:
    """Ask a running debate to stop, from beside its process."""
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
    file: Annotated[Path, typer.Argument(help="The new file.")],
) -> None:
    """Copy the database, consistent also while Rostrum runs on it."""
    from bot.exits import run
    from bot.operate import back_up

    run(lambda: back_up(file))


Platform = Annotated[
    Literal["discord", "slack", "terminal"], typer.Argument(help="Which platform.")
]


User = Annotated[str, typer.Argument(help="The platform's id of the user.")]
YES = typer.Option("--yes", help="Do not ask first; required without a terminal.")


@app.command()
def forget(platform: Platform, user: User, yes: Annotated[bool, YES] = False) -> None:
    """Forget a person: no record identifies them any more; their votes still count."""
    from bot.exits import run
    from bot.operate import forget_person

    run(lambda: forget_person(platform, user, yes=yes))


@app.command()
def unforget(platform: Platform, user: User) -> None:
    """Let a person who was forgotten be stored again, from now on."""
    from bot.exits import run
    from bot.operate import unforget_person

    run(lambda: unforget_person(platform, user))


@app.command()
def purge(
    platform: Platform,
    community: Annotated[str, typer.Argument(help="The platform's id of the community.")],
    yes: Annotated[bool, YES] = False,
) -> None:
    """Delete every debate of a community, and all else that is stored for it."""
    from bot.exits import run
    from bot.operate import purge_community

    run(lambda: purge_community(platform, community, yes=yes))


@app.command()
def disconnect(
    platform: Platform,
    community: Annotated[str, typer.Argument(help="The platform's id of the community.")],
) -> None:
    """Delete the token of a community that installed Rostrum by OAuth; its debates stay."""
    from bot.exits import run
    from bot.operate import disconnect_community

    run(lambda: disconnect_community(platform, community))


@bench.command()
def overhead(
    format: Annotated[str, typer.Option(help="Format of the debates.")] = "classic",
    seconds: Annotated[float, SECONDS] = 0.25,
    crowd: Annotated[
        int,
        typer.Option(min=0, max=MOST, help="Debates at once in the second part; 0 leaves it out."),
    ] = 200,
) -> None:
    """Compare a debate's wall time with the critical path of its model calls."""
    from bot.bench.overhead import run_overhead
    from bot.exits import run

    run(lambda: run_overhead(format, seconds, crowd))


@bench.command()
def live(
    debates: Annotated[int, typer.Option(min=1, help="How many debates are held.")] = 1000,
    over: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds in which they are started.")
    ] = 18.0,
    seconds: Annotated[float, SECONDS] = 2.0,
) -> None:
    """Hold many debates at once over HTTP, beside the same calls without Rostrum."""
    from bot.bench.live import run_live
    from bot.exits import run

    run(lambda: run_live(debates, over, seconds))


@bench.command("start")
def bench_start(
    runs: Annotated[
        int, typer.Option(min=1, max=1000, help="How many debates, a process each.")
    ] = 5,
    seconds: Annotated[float, SECONDS] = 0.2,
) -> None:
    """Hold debates as whole processes, and time them from the command to the exit."""
    from bot.bench.start import run_start
    from bot.exits import run

    run(lambda: run_start(runs, seconds))


@bench.command()
def jury(
    debates: Annotated[int, typer.Option(min=1, help="Debates that count, a seed.")] = 600,
    seeds: Annotated[int, typer.Option(min=1, help="Installations, in each world.")] = 48,
    first_seed: Annotated[int, typer.Option(min=0, help="Below 5000 are those to tune on.")] = 5000,
    learning: Annotated[int, typer.Option(help="Debates that the jury held before.")] = 600,
) -> None:
    """Compare the panel with other ways to ask jurors, where the truth is known: simulated."""
    from bot.bench.jury import run_jury
    from bot.exits import run

    run(lambda: run_jury(debates, seeds, first_seed, learning))


@bench.command("export")
def bench_export(
    debates: Annotated[int, typer.Option(help="How many debates, of 14 calls each.")] = 10_000,
    votes: Annotated[int, typer.Option(help="How many votes, in all debates.")] = 1_000_000,
    tables: Annotated[
        Text, typer.Option(help="Only these, comma-separated (default: all but arena_human).")
    ] = None,
) -> None:
    """Export made-up debates as JSON lines and as Parquet, beside pyarrow alone."""
    from bot.bench.export import run_bench_export
    from bot.exits import run

    run(lambda: run_bench_export(debates, votes, tables))


@bench.command("votes")
def bench_votes(
    platform: Annotated[
        Literal["discord", "slack", "both"], typer.Option(help="Whose double people vote on.")
    ] = "both",
    debates: Annotated[int, typer.Option(min=1, max=200, help="How many debates.")] = 30,
    voters: Annotated[
        int, typer.Option(min=1, max=2000, help="How many people vote on each.")
    ] = 200,
    kills: Annotated[int, typer.Option(min=0, max=100, help="How often it is killed.")] = 10,
    minutes: Annotated[
        float, typer.Option(min=0.1, max=60, help="How long each vote is open.")
    ] = 1.25,
    seed: Annotated[int, typer.Option(min=0, max=MOST, help="Seed of the first run.")] = 1,
    runs: Annotated[int, typer.Option(min=1, max=100, help="How many runs, a seed each.")] = 3,
    keep: Annotated[Optional[Path], typer.Option(help="Leave databases and logs here.")] = None,  # noqa: UP045
) -> None:
    """Let crowds vote while Rostrum is killed, cut off and refused, and compare every vote."""
    from bot.bench.votes import run_bench_votes
    from bot.exits import run

    run(
        lambda: run_bench_votes(
            platform,
            debates=debates,
            voters=voters,
            kills=kills,
            minutes=minutes,
            seed=seed,
            runs=runs,
            keep=keep,
        )
    )


def main() -> None:
    """Run the command line."""
    gc.disable()  # imports make much and drop nothing; `exits.run` switches it on again
    try:
        app()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        _leave(end.code or 0)


def _leave(code: int) -> None:
    """End the process at once: everything is closed, and taking Python apart takes 0.1 s more."""
    logging.shutdown()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python's own end says what could not be written
    os._exit(code)
