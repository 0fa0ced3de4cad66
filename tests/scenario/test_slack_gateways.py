"""Several gateways serve one Slack app in Socket Mode: who has a connection, who posts."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from adapters.site import Site
from adapters.slack.connection import SlackConnection, SocketTransport
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace
from bot.app import App
from bot.serve.platforms import Slack
from bot.serve.run import serving
from tests.doubles.slack import SlackServer
from tests.scenario.discord_stage import SWIFT, settings_of, until
from tests.scenario.slack_stage import SlackStage, counted


@dataclass
class Gateway:
    """A process that runs."""

    app: App
    platform: Slack

    @property
    def state(self) -> dict[str, str]:
        return self.platform.presence(self.app.deliveries["slack"].shares).report()


@asynccontextmanager
async def gateway(url: str, slack: SlackServer, sockets: int = 10) -> AsyncIterator[Gateway]:
    rest = SlackRest(SecretStr(slack.bot_token), slack.api_url, minute=0.0)
    workspaces = OneWorkspace(rest)
    venue = SlackVenue(workspaces, limits=SWIFT, gap=0.0)
    transport = SocketTransport(rest, SecretStr(slack.app_token), ping=0.5)
    connection = SlackConnection(workspaces, transport, Site("127.0.0.1", 0), first_pause=0.05)
    platform = Slack(workspaces, venue, connection, sockets)
    async with serving(settings_of(url), platform) as app:
        yield Gateway(app, platform)


async def test_one_that_finds_no_free_connection_stands_by_until_there_is_one(
    url: str, slack: SlackServer
) -> None:
    async with AsyncExitStack() as second_stays:
        async with gateway(url, slack, sockets=1) as first:
            await until(lambda: first.state["state"] == "connected")
            second = await second_stays.enter_async_context(gateway(url, slack, sockets=1))
            stands_by = {"state": "standing by", "shares": "buckets none of 1"}
            await until(lambda: second.state == stands_by)
            assert first.state == {"state": "connected", "shares": "bucket 0 of 1"}
            assert len(slack.socket.connections) == 1
        await until(lambda: second.state == {"state": "connected", "shares": "bucket 0 of 1"})


@pytest.mark.slow
async def test_two_gateways_hear_and_one_of_them_posts_and_each_message_once(
    url: str, slack: SlackServer
) -> None:
    stage = SlackStage(url, slack)
    async with AsyncExitStack() as second_stays:
        async with gateway(url, slack) as first:
            await until(lambda: first.state["state"] == "connected")
            second = await second_stays.enter_async_context(gateway(url, slack))
            await until(lambda: len(slack.socket.connections) == 2)
            hears = {"state": "connected", "shares": "buckets none of 1"}
            await until(lambda: second.state == hears)
            await stage.start()
            await until(lambda: len(stage.references()) > 3)
        ballot = await stage.ballot()
        for name, option in (("ada", "large_blue_circle"), ("ben", "red_circle")):
            await slack.react(name, ballot.ts, option)
        await slack.deliveries.heard()
        assert {"A": 1, "B": 1}.items() <= counted(await stage.close()).items()
        assert second.state["shares"] == "bucket 0 of 1"
    assert not {ref: times for ref, times in Counter(stage.references()).items() if times > 1}


async def test_no_command_goes_unanswered_while_a_gateway_leaves(
    url: str, slack: SlackServer
) -> None:
    answered = list[str]()

    async def ask() -> None:
        while True:
            said = await slack.slash("ada", "/debate help")  # raises after 3 s
            answered.append(await said.said())
            await asyncio.sleep(0.02)

    async with AsyncExitStack() as second_stays:
        async with gateway(url, slack) as first:
            await until(lambda: first.state["state"] == "connected")
            await second_stays.enter_async_context(gateway(url, slack))
            await until(lambda: len(slack.socket.connections) == 2)
            asking = asyncio.create_task(ask())
            await until(lambda: len(answered) > 5)
        known = len(answered)
        await until(lambda: asking.done() or len(answered) > known + 5)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    assert all(answered)
