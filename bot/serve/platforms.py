"""The chat platforms, each with the parts that serve it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Protocol

from adapters.discord.connection import DiscordConnection
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.site import Site
from adapters.slack import texts
from adapters.slack.connection import HttpTransport, SlackConnection, SocketTransport, Transport
from adapters.slack.install import Credentials, Installations, Installer
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace, Workspaces
from adapters.wire import proxy_of
from bot.app import App
from bot.serve.health import PlatformPresence
from bot.settings.settings import DiscordSettings, Settings, SlackSettings
from engine.fleet.shares import PartitionLeases
from engine.store import Store
from engine.values.errors import SettingsError

if TYPE_CHECKING:
    from engine.values.protocols import Venue

SOCKETS = 10  # connections of Socket Mode that Slack allows an app
NOTHING_SET = (
    "No platform is configured: set ROSTRUM_DISCORD__TOKEN to a Discord bot's token "
    "(docs/discord.md says where to get one), or ROSTRUM_SLACK__BOT_TOKEN and "
    "ROSTRUM_SLACK__APP_TOKEN to those of a Slack app (docs/slack.md). Pages alone are served by "
    "rostrum serve."
)


class Platform(Protocol):
    """A chat platform."""

    @property
    def venue(self) -> Venue:
        """The platform as the engine sees it."""

    def is_connected(self) -> bool:
        """Whether events arrive now."""

    def presence(self, shares: PartitionLeases) -> PlatformPresence:
        """Return whether events arrive now, or this process stands by; `shares` are its own."""

    async def prepare(self, store: Store) -> None:
        """Load what it needs before anything runs. Raises SettingsError."""

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError if the platform refuses for good."""

    async def leave(self, app: App) -> None:
        """Let other processes take over what this one serves, if there are any."""

    async def close(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True)
class Discord:
    """Discord's parts."""

    rest: DiscordRest
    venue: DiscordVenue
    connection: DiscordConnection

    def is_connected(self) -> bool:
        """Whether every shard that this process holds is connected now."""
        return self.connection.connected

    def presence(self, shares: PartitionLeases) -> PlatformPresence:
        """Return whether every shard held is connected, or others hold them all."""
        stands_by = self.connection.reached and shares.count > 0 and not shares.held
        return PlatformPresence(self.connection.connected, stands_by, in_words(shares, "shard"))

    async def prepare(self, store: Store) -> None:
        """Do nothing: Discord needs only its token."""

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when Discord refuses for good."""
        hear = partial(app.service.hear, self.venue.platform)
        shares = app.deliveries[self.venue.platform].shares
        await self.connection.run(app.commands, hear, self.venue, shares)

    async def leave(self, app: App) -> None:
        """Give the shards up, and wait until other processes hear them, if there are any."""
        if await app.deliveries[self.venue.platform].shares.leave():
            await self.connection.handed_over()

    async def close(self) -> None:
        """Close every connection."""
        await self.rest.close()


@dataclass(frozen=True, slots=True)
class Slack:
    """Slack's parts: for one workspace by its token, or for all that installed Rostrum."""

    workspaces: Workspaces
    venue: SlackVenue
    connection: SlackConnection
    sockets: int | None = None  # how many connections Slack allows; None: as many as there are

    def is_connected(self) -> bool:
        """Whether events arrive now."""
        return self.connection.connected

    def presence(self, shares: PartitionLeases) -> PlatformPresence:
        """Return whether events arrive now."""
        stands_by = self.connection.standing_by
        return PlatformPresence(self.connection.connected, stands_by, in_words(shares, "bucket"))

    async def prepare(self, store: Store) -> None:
        """Load the workspaces' tokens. Raises SettingsError for one that no key decrypts."""
        await self.workspaces.open(store.installs, store.people)

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when Slack refuses for good."""
        hear = partial(app.service.hear, self.venue.platform)
        shares = app.deliveries[self.venue.platform].shares
        slots = shares.beside("slack-socket", most=1) if self.sockets else None
        async with asyncio.TaskGroup() as group:
            if slots is not None:
                group.create_task(slots.run(self._count_sockets))
            await self.connection.run(app.commands, hear, self.venue, slots)

    async def _count_sockets(self) -> int | None:
        return self.sockets

    async def leave(self, app: App) -> None:
        """Give the workspaces up to other processes, if there are any."""
        await app.deliveries[self.venue.platform].shares.leave()

    async def close(self) -> None:
        """Close every connection."""
        await self.workspaces.app.close()


def in_words(shares: PartitionLeases, kind: str) -> str:
    """Say which shares of a platform a process serves; nothing while they are unknown."""
    if not shares.count:
        return ""
    named = ", ".join(map(str, sorted(shares.held))) or "none"
    return f"{kind}{'' if len(shares.held) == 1 else 's'} {named} of {shares.count}"


def open_platforms(settings: Settings) -> tuple[Platform, ...]:
    """Return the configured platforms. Raises SettingsError if there are none."""
    platforms = tuple(_configured(settings))
    if not platforms:
        raise SettingsError(NOTHING_SET)
    return platforms


def _configured(settings: Settings) -> Iterator[Platform]:
    token = settings.discord.token
    if token is not None:
        url = settings.discord.api_url
        rest = DiscordRest(token, url, proxy=proxy_of(url))
        connection = DiscordConnection(
            token, settings.discord.guild_ids, rest, trial=trial_of(settings.discord)
        )
        yield Discord(rest, DiscordVenue(rest, shards=settings.discord.shards), connection)
    if settings.slack.bot_token is not None or settings.slack.client_id is not None:
        yield _open_slack(settings.slack)


def trial_of(discord: DiscordSettings) -> float | None:
    """Return the USD a day of debates in direct messages; None where there are none."""
    daily = discord.personal_daily_usd
    return (inf if daily is None else daily) if discord.personal else None


def credentials_of(slack: SlackSettings) -> Credentials | None:
    """Return the OAuth credentials; None if it serves one workspace by its token."""
    if slack.client_id is None or slack.client_secret is None:
        return None
    return Credentials(slack.client_id, slack.client_secret, slack.public_url)


def _open_slack(slack: SlackSettings) -> Slack:
    rest = SlackRest(slack.bot_token, slack.api_url, proxy=proxy_of(slack.api_url))
    site = Site(slack.host, slack.port, taken=texts.PORT_TAKEN)
    workspaces: Workspaces = OneWorkspace(rest)
    installer = None
    if (given := credentials_of(slack)) is not None:
        workspaces = installations = Installations(rest, frozenset(slack.allowed_teams))
        installer = Installer(given, installations)
    if slack.mode == "http" and slack.signing_secret is not None:
        transport: Transport = HttpTransport(slack.signing_secret, site)
    elif slack.app_token is not None:
        transport = SocketTransport(rest, slack.app_token)
    else:  # the settings are known to be complete
        raise SettingsError(NOTHING_SET)
    connection = SlackConnection(workspaces, transport, site, slack.managers, installer=installer)
    sockets = SOCKETS if slack.mode == "socket" else None
    return Slack(workspaces, SlackVenue(workspaces, managers=slack.managers), connection, sockets)
