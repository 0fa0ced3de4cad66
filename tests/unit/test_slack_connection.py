"""Slack's connection, on a transport that a test takes away."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp

from adapters.site import Site
from adapters.slack import connection as slack_connection
from adapters.slack.connection import Connection, Missed
from adapters.slack.install.workspaces import Workspaces
from adapters.slack.rest import Rest
from adapters.slack.venue import SlackVenue
from engine.values.errors import VenueAwayError
from engine.values.ports import EventsLost, EventsMissed, Inbound
from tests.kit import HANG_SECONDS


class MovedTransport:
    """Events come as long as a test says so."""

    signing_secret = ""

    def __init__(self) -> None:
        self.connected = False
        self.says_hello = asyncio.Event()

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        return []

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        while True:
            await self.says_hello.wait()
            self.says_hello.clear()
            self.connected = True
            await missed()


class NoWorkspaces:
    """No workspace has installed the app."""

    app = Rest(SecretStr("xoxb-1"), "http://127.0.0.1:9/api/")

    async def teams(self) -> list[str]:
        return []


async def test_that_no_events_come_any_more_is_noticed_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slack_connection, "LOOK_SECONDS", 0.01)
    transport, heard = MovedTransport(), asyncio.Queue[Inbound]()
    nobody = cast(Workspaces, NoWorkspaces())
    connection = Connection(nobody, transport, Site("127.0.0.1", 0))
    running = asyncio.ensure_future(connection.run(cast(Any, None), heard.put, SlackVenue(nobody)))
    try:
        for _ in range(2):
            transport.says_hello.set()
            assert await asyncio.wait_for(heard.get(), HANG_SECONDS) == EventsMissed()
            await asyncio.sleep(0.05)  # it is looked several times
            transport.connected = False
            assert await asyncio.wait_for(heard.get(), HANG_SECONDS) == EventsLost()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class BriefTransport(MovedTransport):
    """Every connection ends after a while; `served` are those that there were."""

    served = 0

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        self.served += 1
        await asyncio.sleep(0.03)
        raise VenueAwayError("Slack closed it.", retry_after=0.0)


async def test_a_connection_that_lasted_is_followed_by_the_next_as_soon_as_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each loss in a process's life doubled the pause after the next, up to a minute."""
    monkeypatch.setattr(slack_connection, "STEADY_SECONDS", 0.02)
    transport, nobody = BriefTransport(), cast(Workspaces, NoWorkspaces())
    connection = Connection(nobody, transport, Site("127.0.0.1", 0), first_pause=0.02)
    running = asyncio.ensure_future(connection.run(cast(Any, None), _hear, SlackVenue(nobody)))
    try:
        async with asyncio.timeout(3):
            while transport.served < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _hear(_: Inbound) -> None:
    """Hear nothing of it."""
