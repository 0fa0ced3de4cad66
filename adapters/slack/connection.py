"""Keeps Slack's events coming: introduces the bot, then serves until it is told to end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog
from slack_bolt.async_app import AsyncApp

from adapters.slack.answering import PLATFORM, Desk
from adapters.slack.client import Client
from adapters.slack.rest import Rest
from adapters.slack.venue import SlackVenue
from engine.commands import Commands
from engine.errors import SettingsError, VenueAwayError, VenueGoneError
from engine.ports import EventsMissed, Listener

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
log = structlog.get_logger(__name__)

Missed = Callable[[], Awaitable[object]]


class Transport(Protocol):
    """How events come: over Socket Mode, or to an address of our own."""

    signing_secret: str

    @property
    def connected(self) -> bool:
        """Whether events come now."""
        ...

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Hand events to Bolt until cancelled; `missed` is called where some may have been lost.

        Raises VenueAwayError while Slack is away, SettingsError when it refuses for good.
        """
        ...


class Connection:
    """The bot's connection to one workspace; `managers` are ids of users beside its admins."""

    def __init__(
        self,
        rest: Rest,
        transport: Transport,
        managers: tuple[str, ...] = (),
        *,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._rest, self._transport = rest, transport
        self._managers = frozenset(managers)
        self._first_pause = first_pause

    @property
    def connected(self) -> bool:
        """Whether events come now."""
        return self._transport.connected

    async def run(self, commands: Commands, listener: Listener, venue: SlackVenue) -> None:
        """Serve until cancelled. Raises SettingsError when Slack refuses for good."""
        desk = Desk(commands, listener, venue, self._rest, self._managers)
        pause = self._first_pause
        while True:
            try:
                await self._live(desk)
            except VenueGoneError as error:
                raise SettingsError(str(error)) from error
            except VenueAwayError as error:
                log.warning("slack is away", why=str(error))
                await asyncio.sleep(max(pause, error.retry_after))
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _live(self, desk: Desk) -> None:
        identity = await self._rest.identity()
        await desk.commands.joined(PLATFORM, identity.team)
        client = Client(desk, identity)
        try:
            app = client.app(self._transport.signing_secret)
            await self._transport.serve(app, lambda: desk.listener(EventsMissed()))
        finally:
            await client.finish()
