"""What an operator looks up: `rostrum health`, `rostrum invite`, `rostrum topics`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NoReturn
from urllib.parse import urlsplit

import typer

from adapters.discord.permissions import application_id_of, invite_link
from adapters.slack.install.manifest import NAME, NO_ADDRESS, manifest, to_json
from bot.settings.load import load_settings, load_topics
from engine.chat.answers.catalogue import topic_line
from engine.prompts.library import check_language
from engine.values.errors import RostrumError, SettingsError, UsageError
from engine.values.text import clean, headline
from engine.values.topics import Topic

# `rostrum health`: asks a running Rostrum whether it is ready.
#
# A container's health check runs it all the time, so it imports next to nothing, and reads files of
# settings only if the port is not in the environment.


SECONDS = 8.0  # a database may take three for its answer
MOST_BYTES = 100_000
ANYWHERE = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104 - as one may set it


def ask_health(url: str | None) -> None:
    """Print in one sentence how the Rostrum at `url` is, or that of the settings; exits 0 or 1."""
    address = url or _configured()
    if address is None:
        _fail(
            "Health is not served, so it cannot be asked for; set ROSTRUM_HEALTH__PORT to a port, "
            "such as 8080, and start Rostrum again."
        )
    if not _is_web(address):
        _fail(
            f"“{address}” is not an http or https address; write it as "
            "http://127.0.0.1:8080/readyz."
        )
    try:
        status, body = _ask(address)
        answer = json.loads(body)
        well, problems = answer["ok"], answer.get("problems", ())
    except (OSError, HTTPException) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _fail(f"Rostrum did not answer at {address}: {why or type(error).__name__}. Is it running?")
    except (ValueError, TypeError, KeyError):
        _fail(f"What answers at {address} is not Rostrum; check the port.")
    if not well or status != 200:
        _fail(" ".join(map(str, problems)) or "Rostrum is not well.")
    print("Rostrum is well.")


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _ask(url: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
    try:
        connection.request("GET", parts._replace(scheme="", netloc="").geturl() or "/readyz")
        response: HTTPResponse = connection.getresponse()
        return response.status, response.read(MOST_BYTES)
    finally:
        connection.close()


def _configured() -> str | None:
    """Return the address by the settings; None if health is not served."""
    given = {name.upper(): value for name, value in os.environ.items()}
    host, port = (given.get(f"ROSTRUM_HEALTH__{name}") for name in ("HOST", "PORT"))
    if port is None:
        host, port = _in_files()
    if not port or port == "0":
        return None
    at = ANYWHERE.get(host or "", host or "")
    return f"http://{f'[{at}]' if ':' in at else at}:{port}/readyz"


def _in_files() -> tuple[str | None, str | None]:
    from bot.settings.load import read_given
    from engine.values.errors import SettingsError

    try:
        found = {one.path: str(one.value) for one in read_given()}
    except SettingsError as error:
        _fail(str(error))
    return found.get(("health", "host")), found.get(("health", "port"))


def _fail(sentence: str) -> NoReturn:
    print(f"rostrum: {sentence}", file=sys.stderr)
    raise typer.Exit(1)


# `rostrum invite`: how an admin adds Rostrum to a Discord server or a Slack workspace.


LONGEST_NAME = 35  # characters, by Slack's manifest reference
NO_TOKEN = "The link needs the bot's id: set ROSTRUM_DISCORD__TOKEN (see docs/discord.md)."  # noqa: S105


async def print_invite(*, secret_ballots: bool) -> None:
    """Print the link. Raises SettingsError without a bot's token."""
    token = load_settings().discord.token
    if token is None:
        raise SettingsError(NO_TOKEN)
    application = application_id_of(token.get_secret_value())
    print(invite_link(application, secret_ballots=secret_ballots))


async def print_manifest(name: str | None, address: str | None) -> None:
    """Print the manifest of a Slack app, for the configured address and installation.

    Raises UsageError for an address or a name that Slack would refuse.
    """
    called = clean(name or "").strip() or NAME
    if len(called) > LONGEST_NAME:
        raise UsageError(
            f"--name is “{headline(called, 60)}”; Slack takes at most {LONGEST_NAME} characters."
        )
    if address is not None and not address.startswith("https://"):
        said = headline(clean(address), 60)
        raise UsageError(f"--url is “{said}”; write the https address that Slack should call.")
    slack = load_settings().slack
    where = address or slack.public_url or NO_ADDRESS
    print(to_json(manifest(slack.mode, called, where, oauth=slack.client_id is not None)))


# `rostrum topics`: the topics on offer, the file they are from, and what is wrong in it.


async def list_topics(language: str | None = None) -> None:
    """Print the topics by language.

    Raises RostrumError after listing what is wrong in the file, and UsageError for a language.
    """
    only = check_language(language) if language else None
    file, listed = load_topics()
    print(
        f"Topics of {file}"
        if file
        else "Built-in topics; ROSTRUM_TOPICS_FILE names a file of your own."
    )
    shown = [topic for topic in listed.topics if only is None or topic.speaks(only)]
    for line in _lines(shown) if shown or not listed.topics else ["none in this language"]:
        print(clean(line))
    for fault in listed.faults:
        print(f"FAIL  {clean(fault)}")
    if listed.faults:
        # A fault of the file as a whole, such as that it holds no topic, is of no line.
        count = sum(fault.startswith(f"{file}, line ") for fault in listed.faults)
        lines = f"{count} {'line' if count == 1 else 'lines'} of " if count else ""
        raise RostrumError(f"{lines}{file} must be fixed.")


def _lines(topics: Sequence[Topic]) -> list[str]:
    lines = []
    for language in dict.fromkeys(topic.language for topic in topics):
        mine = [topic for topic in topics if topic.language == language]
        lines += ["", f"{language} ({len(mine)})", *(f"  {topic_line(topic)}" for topic in mine)]
    return lines
