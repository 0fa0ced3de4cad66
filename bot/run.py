"""`rostrum run`: serves every platform that is set, until it is told to end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from adapters.discord.board import LOOK_SECONDS, Board
from adapters.discord.connection import Connection
from adapters.discord.rest import Rest
from adapters.discord.venue import DiscordVenue
from bot import log
from bot.app import App, run_app
from bot.health import Health, serve_health
from bot.settings import Settings, load_settings
from engine.errors import SettingsError

RECONCILE_SECONDS = 5.0
NOTHING_SET = (
    "There is no platform to serve: set ROSTRUM_DISCORD__TOKEN to a Discord bot's token "
    "(docs/discord.md says where to get one)."
)
logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Discord:
    """Everything that serves Discord; states are shown anew every `board_seconds`."""

    rest: Rest
    venue: DiscordVenue
    connection: Connection
    board_seconds: float = LOOK_SECONDS

    async def run(self, app: App) -> None:
        """Serve until cancelled. Raises SettingsError when Discord refuses for good."""
        async with asyncio.TaskGroup() as group:
            hear = partial(app.service.hear, self.venue.platform)
            group.create_task(self.connection.run(app.commands, hear, self.venue))
            group.create_task(Board(self.venue, app.store, self.board_seconds).run())


async def run_rostrum() -> None:
    """Serve until SIGTERM or Ctrl-C, which end it in order; raises what must not be tried again."""
    settings = load_settings()
    log.configure(settings.log, settings.secrets())
    try:
        async with serving(settings, open_discord(settings)) as app:
            logger.info("rostrum runs", platforms=sorted(app.deliveries))
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        logger.info("rostrum has ended in order")


@asynccontextmanager
async def serving(settings: Settings, discord: Discord) -> AsyncIterator[App]:
    """Serve while the body runs. Raises SettingsError when Discord refuses for good."""
    try:
        async with run_app(settings, [discord.venue]) as app:
            await app.reconcile()
            health = Health(app.store, {"discord": lambda: discord.connection.connected})
            async with asyncio.TaskGroup() as group:
                works = [discord.run(app), _reconcile(app), serve_health(settings.health, health)]
                tasks = [group.create_task(work) for work in works]
                yield app
                for task in tasks:
                    task.cancel()
    finally:
        await discord.rest.close()


def open_discord(settings: Settings) -> Discord:
    """Make what serves Discord. Raises SettingsError without a token."""
    token = settings.discord.token
    if token is None:
        raise SettingsError(NOTHING_SET)
    rest = Rest(token, settings.discord.api_url)
    connection = Connection(token, settings.discord.guild_ids, rest)
    return Discord(rest, DiscordVenue(rest), connection)


async def _reconcile(app: App) -> None:
    """Look now and then for debates that were queued beside this process, until cancelled."""
    while True:
        await asyncio.sleep(RECONCILE_SECONDS)
        await app.reconcile()
