"""Setting Rostrum up, and serving the chat platforms."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.options import JSON, USD, Dollars, Text

app = typer.Typer()
PROBE = typer.Option(
    "--probe",
    help="Also call each model that has settings, five times with a setting and five without, and "
    "say what each changes. It costs money.",
)


@app.command("run")
def run_() -> None:
    """Serve the configured chat platforms until stopped."""
    from bot.exits import serve
    from bot.serve.run import run_rostrum

    serve(run_rostrum)


@app.command()
def gateway() -> None:
    """Serve the chat platforms, beside workers."""
    from bot.database import Role
    from bot.exits import serve
    from bot.serve.run import run_rostrum

    serve(lambda: run_rostrum(Role.GATEWAY))


@app.command()
def worker() -> None:
    """Hold debates, beside gateways."""
    from bot.database import Role
    from bot.exits import serve
    from bot.serve.run import run_rostrum

    serve(lambda: run_rostrum(Role.WORKER))


@app.command("serve")
def serve_() -> None:
    """Serve public pages and label pages alone, without a chat."""
    from bot.exits import serve
    from bot.serve.run import run_pages

    serve(run_pages)


@app.command()
def public(
    parts: Annotated[
        Text,
        typer.Argument(
            help="debates, leaderboard, agreement, leagues, dataset, comma-separated; all or none."
        ),
    ] = None,
    series: Annotated[
        Text, typer.Option(help="Of a series' debates (default: the terminal's).")
    ] = None,
) -> None:
    """Choose what everyone may see on pages, and say where."""
    from bot.exits import run
    from bot.operations.control import choose_public

    run(lambda: choose_public(parts, series))


@app.command()
def health(
    url: Annotated[
        Text, typer.Option(help="What to ask (default: /readyz at ROSTRUM_HEALTH__PORT).")
    ] = None,
) -> None:
    """Ask a running Rostrum whether it is ready; exits 0 or 1."""
    from bot.operations.probe import ask_health

    ask_health(url)


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
    from bot.operations.lookups import print_invite, print_manifest

    if slack:
        run(lambda: print_manifest(name, url))
    else:
        run(lambda: print_invite(secret_ballots=secret_ballots))


@app.command("init")
def init_(
    from_env: Annotated[
        bool,
        typer.Option("--from-env", help="Ask nothing: write the environment's ROSTRUM_ settings."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also write into a .env that exists.")] = False,
) -> None:
    """Set up tokens and a backend of models, and write .env. Tries each answer."""
    from bot.exits import run
    from bot.init import run_init

    run(lambda: run_init(from_env=from_env, yes=yes))


@app.command()
def check(
    probe: Annotated[bool, PROBE] = False,
    usd: Annotated[Dollars, USD] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Check your setup: settings, database, backends, platforms. Says what to fix."""
    from bot.doctor import run_check
    from bot.exits import serve

    serve(lambda: run_check(probing=probe, usd=usd, as_json=as_json))


@app.command()
def topics(
    language: Annotated[Text, typer.Option(help="Only topics in this language, e.g. de.")] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List the topics on offer. Says what is wrong in your file of them."""
    from bot.exits import run
    from bot.operations.lookups import list_topics

    run(lambda: list_topics(language, as_json=as_json))


@app.command()
def migrate() -> None:
    """Upgrade the database to this version."""
    from bot.exits import run
    from bot.operations.control import run_migrate

    run(run_migrate)


def say_status() -> None:
    """Say what is set in this folder, and what comes next."""
    from bot.settings.load import examine_settings, read_given

    settings, wrong = examine_settings()
    steps = {"rostrum check": "tries every setting and says what to fix"}
    if wrong or settings is None:
        more = f" ({len(wrong) - 1} more)" if len(wrong) > 1 else ""
        print(f"A setting cannot be used{more}: {wrong[0]}")
    elif not read_given():
        print("Nothing is set here yet.")
        steps = {
            "rostrum demo": "holds a whole debate offline, in half a minute",
            "rostrum init": "sets up models, and Discord or Slack, and tries them",
        }
    else:
        slack = settings.slack.bot_token or settings.slack.client_id
        tokens = (("Discord", settings.discord.token), ("Slack", slack))
        chats = [name for name, token in tokens if token]
        backends = ", ".join(settings.backends) or "only the built-in rehearsal model"
        print(f"Models: {backends}. Chat: {' and '.join(chats) or 'none'}.")
        if not settings.backends:
            steps |= {"rostrum init": "sets up a backend of models"}
        if chats:
            steps |= {"rostrum run": f"serves {' and '.join(chats)}"}
        else:
            steps |= {'rostrum debate "Tea beats coffee"': "holds a debate here"}
            if settings.web.port is not None:
                steps |= {"rostrum serve": "serves public pages and label pages"}
    print("\nNext:")
    widest = max(map(len, steps))
    for command, about in steps.items():
        print(f"  {command.ljust(widest)}  {about}")
    print("\nrostrum --help lists all commands.")
