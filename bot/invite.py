"""`rostrum invite`: how an admin adds Rostrum to a Discord server or a Slack workspace."""

from __future__ import annotations

from adapters.discord.permissions import application_id_of, invite_link
from adapters.slack.install.manifest import NAME, NO_ADDRESS, manifest, to_json
from bot.settings.load import load_settings
from engine.values.errors import SettingsError, UsageError
from engine.values.text import clean, headline

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
