"""The chat platforms that can be served, each with everything that serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from adapters.discord.board import LOOK_SECONDS, Board
from adapters.discord.connection import Connection as DiscordConnection
from adapters.discord.rest import Rest as DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.slack.connection import Connection as SlackConnection
from adapters.slack.connection import Transport
from adapters.slack.http import HttpTransport
from adapters.slack.rest import Rest as SlackRest
from adapters.slack.socket import SocketTransport
from adapters.slack.venue import SlackVenue
from bot.app import App
from bot.settings import Settings
from bot.settings_sections import SlackSettings
from engine.errors import SettingsError
from engine.ports import Venue

NOTHING_SET = (
    "There is no platform to serve: set ROSTRUM_DISCORD__TOKEN to a Discord bot's token "
    "(docs/discord.md says where to get one), or ROSTRUM_SLACK__BOT_TOKEN and "
    "ROSTRUM_SLACK__APP_TOKEN to those of a Slack app (docs/slack.md)."
)
ONE_WORKSPACE = (
    "Slack is served for one workspace, by its token; set ROSTRUM_SLACK__BOT_TOKEN "
    "(docs/slack.md says where to get one)."
)


class Platform(Protocol):
    """A chat platform that is served."""

    @property
    def venue(self) -> Venue:
        """The platform as the engine sees it."""
        ...

    def is_connected(self) -> bool:
        """Whether events come now."""
        ...

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when the platform refuses for good."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


@dataclass(frozen=True, slots=True)
class Discord:
    """Everything that serves Discord; states are shown anew every `board_seconds`."""

    rest: DiscordRest
    venue: DiscordVenue
    connection: DiscordConnection
    board_seconds: float = LOOK_SECONDS

    def is_connected(self) -> bool:
        """Whether every shard is connected now."""
        return self.connection.connected

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when Discord refuses for good."""
        async with asyncio.TaskGroup() as group:
            hear = partial(app.service.hear, self.venue.platform)
            group.create_task(self.connection.run(app.commands, hear, self.venue))
            group.create_task(Board(self.venue, app.store, self.board_seconds).run())

    async def close(self) -> None:
        """Close every connection."""
        await self.rest.close()


@dataclass(frozen=True, slots=True)
class Slack:
    """Everything that serves one workspace on Slack."""

    rest: SlackRest
    venue: SlackVenue
    connection: SlackConnection

    def is_connected(self) -> bool:
        """Whether events come now."""
        return self.connection.connected

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when Slack refuses for good."""
        hear = partial(app.service.hear, self.venue.platform)
        await self.connection.run(app.commands, hear, self.venue)

    async def close(self) -> None:
        """Close every connection."""
        await self.rest.close()


def open_platforms(settings: Settings) -> tuple[Platform, ...]:
    """Make what serves each platform that is set. Raises SettingsError when none is."""
    platforms = tuple(_configured(settings))
    if not platforms:
        raise SettingsError(NOTHING_SET)
    return platforms


def _configured(settings: Settings) -> Iterator[Platform]:
    token = settings.discord.token
    if token is not None:
        rest = DiscordRest(token, settings.discord.api_url)
        connection = DiscordConnection(token, settings.discord.guild_ids, rest)
        yield Discord(rest, DiscordVenue(rest), connection)
    if settings.slack.bot_token is not None or settings.slack.client_id is not None:
        yield _open_slack(settings.slack)


def _open_slack(slack: SlackSettings) -> Slack:
    if slack.bot_token is None:
        raise SettingsError(ONE_WORKSPACE)
    rest = SlackRest(slack.bot_token, slack.api_url)
    connection = SlackConnection(rest, _transport(rest, slack), slack.managers)
    return Slack(rest, SlackVenue(rest), connection)


def _transport(rest: SlackRest, slack: SlackSettings) -> Transport:
    """Return how events come; the settings have been checked to hold what that needs."""
    if slack.mode == "http" and slack.signing_secret is not None:
        return HttpTransport(slack.signing_secret, slack.host, slack.port)
    if slack.app_token is not None:
        return SocketTransport(rest, slack.app_token)
    raise SettingsError(NOTHING_SET)
