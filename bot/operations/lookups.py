"""What an operator looks up: `rostrum invite` and `rostrum topics`."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.discord.errors import application_id_of, invite_link
from adapters.slack.install import NAME, NO_ADDRESS, manifest, to_json
from bot.console import print_json
from bot.settings.load import load_settings, load_topics
from engine.chat.answers.catalogue import topic_line
from engine.prompts import check_language
from engine.values.errors import RostrumError, SettingsError, UsageError
from engine.values.text import clean, headline
from engine.values.topics import Topic

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


async def list_topics(language: str | None = None, *, as_json: bool = False) -> None:
    """Print the topics by language.

    Raises RostrumError after listing what is wrong in the file, and UsageError for a language.
    """
    only = check_language(language) if language else None
    file, listed = load_topics()
    shown = [topic for topic in listed.topics if only is None or topic.speaks(only)]
    if as_json:
        topics = [topic.model_dump() for topic in shown]
        print_json({"file": file and str(file), "topics": topics, "faults": listed.faults})
    else:
        print(
            f"Topics of {file}"
            if file
            else "Built-in topics; ROSTRUM_TOPICS_FILE names a file of your own."
        )
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
