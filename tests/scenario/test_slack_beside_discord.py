"""Discord and Slack in one process: the same request is the same debate but for the ids."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from adapters.discord.connection import Connection as DiscordConnection
from adapters.discord.identify import Identifies
from adapters.discord.rest import Rest as DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.slack.connection import Connection as SlackConnection
from adapters.slack.rest import Rest as SlackRest
from adapters.slack.socket import SocketTransport
from adapters.slack.venue import SlackVenue
from bot.app import App
from bot.platforms import Discord, Slack
from bot.run import serving
from engine.debate import Debate
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.scenario.discord_stage import DiscordStage, settings_of, until
from tests.scenario.slack_stage import SlackStage


def joined_discord(discord: DiscordServer) -> Discord:
    token = SecretStr(discord.token)
    rest = DiscordRest(token, discord.api_url)
    connection = DiscordConnection(token, (), rest, identifies=Identifies(gap=0.0))
    return Discord(rest, DiscordVenue(rest, gap=0.0), connection)


def joined_slack(slack: SlackServer) -> Slack:
    rest = SlackRest(SecretStr(slack.bot_token), slack.api_url)
    transport = SocketTransport(rest, SecretStr(slack.app_token))
    return Slack(rest, SlackVenue(rest, gap=0.0), SlackConnection(rest, transport))


async def test_the_same_request_is_the_same_debate(database_url: str) -> None:
    sides = {"model_a": "rehearsal/maple", "model_b": "rehearsal/willow"}
    async with (
        DiscordServer(rates=Rates.generous()) as discord,
        SlackServer(rules=Rules(tiered=False, spaced=False)) as slack,
    ):
        on_discord, on_slack = (
            DiscordStage(database_url, discord),
            SlackStage(database_url, slack),
        )
        platforms = (joined_discord(discord), joined_slack(slack))
        async with serving(settings_of(database_url), *platforms) as app:
            await until(lambda: all(platform.is_connected() for platform in platforms))
            await on_discord.start(topic="Tea & <coffee>", **sides)
            await on_slack.start('"Tea & <coffee>" a=rehearsal/maple b=rehearsal/willow')
            await on_discord.ballot()
            await on_slack.ballot()
            found = {debate.platform: debate for debate in await app.store.debates.recent(limit=2)}
            first = await recorded(app, found["discord"])
            second = await recorded(app, found["slack"])
    assert first == second


async def recorded(app: App, debate: Debate) -> dict[str, Any]:
    """Return what was asked and how far it came, without ids, draws and moments."""
    turns = await app.store.journal.turns_held(debate.id)
    request = debate.request.model_dump(mode="json")
    return {"request": request, "status": debate.status, "turns": turns}
