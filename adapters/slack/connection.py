"""Keeps events arriving from every workspace, until cancelled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Protocol

import structlog
from aiohttp import web
from slack_bolt.async_app import AsyncApp

from adapters.site import Site
from adapters.slack.client import SlackClient
from adapters.slack.install.oauth import Installer
from adapters.slack.install.workspaces import Managers, Workspaces
from adapters.slack.interactions import PLATFORM, SlackInteractionHandler
from adapters.slack.venue import SlackVenue
from engine.chat.commands import Commands
from engine.fleet.shares import PartitionLeases
from engine.values.errors import (
    SettingsError,
    StoreError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    why_of,
)
from engine.values.pace import Backoff
from engine.values.ports import ConnectionGap, Listener

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STEADY_SECONDS = 120.0  # one that lasted this long was healthy; its loss is noticed after 60 s
LOOK_SECONDS = 0.1
log = structlog.get_logger(__name__)

Missed = Callable[[], Awaitable[object]]


class Transport(Protocol):
    """How events arrive: over Socket Mode, or as requests to our own address."""

    signing_secret: str

    @property
    def connected(self) -> bool:
        """Whether events arrive now."""

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        """Return the routes that events need."""

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Pass events to Bolt until cancelled; `missed` is called if some may have been lost.

        Raises VenueAwayError while Slack is unreachable, SettingsError if it refuses for good.
        """


class SlackConnection:
    """The app's connection to Slack; `managers` are those besides workspace admins.

    `site` serves the routes of events, and the pages of the `installer`, if any.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        transport: Transport,
        site: Site,
        managers: tuple[str, ...] = (),
        *,
        installer: Installer | None = None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._workspaces, self._transport = workspaces, transport
        self._site, self._installer = site, installer
        self._managers = Managers(workspaces, managers)
        self._first_pause = first_pause
        self._slots: PartitionLeases | None = None

    @property
    def connected(self) -> bool:
        """Whether events arrive now."""
        return self._transport.connected

    @property
    def standing_by(self) -> bool:
        """Whether other processes have every connection that Slack allows."""
        return self._slots is not None and self._slots.count > 0 and not self._slots.held

    async def run(
        self,
        commands: Commands,
        listener: Listener,
        venue: SlackVenue,
        slots: PartitionLeases | None = None,
    ) -> None:
        """Serve until cancelled, through all temporary failures.

        `slots` are the connections that Slack allows, if it limits them: one is opened while one of
        them is held. Raises SettingsError when Slack refuses for good.
        """
        self._slots = slots
        handler = SlackInteractionHandler(commands, listener, self._workspaces, self._managers)
        backoff = Backoff(self._first_pause, LONGEST_PAUSE)
        while True:
            began, after = time.monotonic(), 0.0
            try:
                for team in await self._workspaces.teams():
                    await handler.commands.joined(PLATFORM, team)
                client = SlackClient(handler, venue)
                try:
                    app = client.app(self._transport.signing_secret)
                    routes = self._transport.routes(app)
                    routes += self._installer.routes() if self._installer else []
                    handler.standstill.begin()
                    async with self._site.serving(routes), self._watching(handler):
                        await self._serve(app, partial(self._note_arrival, handler.listener))
                finally:
                    await client.finish()
            except VenueGoneError as error:
                raise SettingsError(str(error)) from error
            except VenueAwayError as error:
                log.warning("slack unavailable", why=str(error))
                after = error.retry_after
            except (SettingsError, StoreError):
                raise
            except Exception as error:  # noqa: BLE001 - logged in one line, and retried
                log.error("connection failed", why=why_of(error))
            if time.monotonic() - began > STEADY_SECONDS:
                backoff.reset()
            await asyncio.sleep(backoff.next(after))

    async def _note_arrival(self, listener: Listener) -> None:
        """Tell that some events may have been missed; log that they arrive from now on, and where.

        A log line waits for nobody: where Slack does not say who the bot is, it goes without that.
        """
        await listener(ConnectionGap("missed"))
        via = self._site.where if self._transport.signing_secret else "Socket Mode"
        with suppress(VenueError):
            if self._installer is None:
                me = await self._workspaces.app.identity()
                log.info("slack connected", bot=me.name, workspace=me.team_name, via=via)
            else:
                teams = await self._workspaces.teams()
                log.info("slack connected", workspaces=len(teams), via=via)
            return
        log.info("slack connected", via=via)

    @asynccontextmanager
    async def _watching(self, handler: SlackInteractionHandler) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch(handler))
        try:
            yield
        finally:
            watch.cancel()

    async def _watch(self, handler: SlackInteractionHandler) -> None:
        """Report when events stop arriving; `serve` reports when they resume."""
        came = False
        while True:
            handler.standstill.beat()
            comes = self._transport.connected
            if came and not comes:
                await handler.listener(ConnectionGap("lost"))
            came = comes
            await asyncio.sleep(LOOK_SECONDS)

    async def _serve(self, app: AsyncApp, missed: Missed) -> None:
        """Pass events on, with a connection only while this process has a slot for it."""
        if self._slots is None:
            await self._transport.serve(app, missed)
            return
        while True:
            await self._slots.serving()
            serving = asyncio.create_task(self._transport.serve(app, missed))
            losing = asyncio.create_task(self._slots.lost())
            try:
                await asyncio.wait([serving, losing], return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    serving.result()
            finally:
                for task in (serving, losing):
                    task.cancel()
                await asyncio.wait([serving, losing])
