"""Discord and Slack in one process: the same request is the same debate but for the ids."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import SecretStr, TypeAdapter

from adapters.discord.client import IdentifyLimit
from adapters.discord.connection import DiscordConnection
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.site import Site
from adapters.slack.connection import SlackConnection, SocketTransport
from adapters.slack.render import NAMES
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace
from bot.serve.platforms import Discord, Slack
from bot.serve.run import serving
from engine.store import DebateRecord, ExportFilter, Store
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.kit import until_asked
from tests.scenario.discord_stage import OPTIONS, DiscordStage, settings_of, until
from tests.scenario.slack_stage import SlackStage

VOTES = (("ada", "B"), ("ben", "A"), ("cleo", "tie"))
OWN = frozenset(
    (
        "id",
        "number",
        "ordinal",
        "platform",
        "community",
        "place",
        "thread",
        "vote_message",
        "person",
        "latency",
        "created_at",
        "opened_at",
        "vote_opened_at",
        "vote_deadline",
        "close_asked_at",
        "account_days",
        "member_days",
        "revealed_at",
        "first_at",
        "last_at",
    )
)


def joined_discord(discord: DiscordServer) -> Discord:
    token = SecretStr(discord.token)
    rest = DiscordRest(token, discord.api_url)
    connection = DiscordConnection(token, (), rest, identify_limit=IdentifyLimit(gap=0.0))
    return Discord(rest, DiscordVenue(rest, gap=0.0), connection)


def joined_slack(slack: SlackServer) -> Slack:
    rest = SlackRest(SecretStr(slack.bot_token), slack.api_url)
    transport = SocketTransport(rest, SecretStr(slack.app_token))
    workspaces = OneWorkspace(rest)
    venue = SlackVenue(workspaces, gap=0.0)
    connection = SlackConnection(workspaces, transport, Site("127.0.0.1", 0))
    return Slack(workspaces, venue, connection)


async def test_the_same_request_is_the_same_record(database_url: str) -> None:
    sides = {"model_a": "rehearsal/maple", "model_b": "rehearsal/willow"}
    async with (
        DiscordServer(rates=Rates.generous()) as discord,
        SlackServer(rules=Rules.generous()) as slack,
    ):
        on_discord, on_slack = (
            DiscordStage(database_url, discord),
            SlackStage(database_url, slack),
        )
        platforms = (joined_discord(discord), joined_slack(slack))
        async with serving(settings_of(database_url), *platforms) as app:
            app.service.new_seed = lambda: 7
            await until(lambda: all(platform.is_connected() for platform in platforms))
            await until(lambda: any(discord.world.commands.values()))
            await on_discord.start(topic="Tea & <coffee>", **sides)
            # Every other debate is read in the other order, and jurors who are not known yet take
            # turns: the first debate is compared to the next one that is read alike.
            (first,) = await app.store.listings.recent(limit=1)
            for _ in range(math.lcm(2, len(first.setup.panel.roster)) - 1):
                await app.store.debates.next_number()
            await on_slack.start('"Tea & <coffee>" a=rehearsal/maple b=rehearsal/willow')
            ballot, beside = await on_discord.ballot(), await on_slack.ballot()
            for number, (user, option) in enumerate(VOTES, start=1):
                discord.react(user, ballot.id, OPTIONS[option])
                await slack.react(user, beside.ts, NAMES[option])
                await heard_on_both(app.store, number)
            await on_discord.close()
            await on_slack.close()
            with app.store.archive.reading(ExportFilter()) as records:
                held = {record.debate.platform: comparable(record) for record in records}
    assert held["discord"] == held["slack"]
    assert len(held["slack"]["turns"]) == 8
    assert sorted(answer["option"] for answer in held["slack"]["answers"]) == ["A", "B", "tie"]


async def heard_on_both(store: Store, votes: int) -> None:
    """Wait until each vote has so many entries: what was seen before a vote depends on it."""
    for debate in await store.listings.recent():
        events = partial(store.votes.events, debate.id)
        await until_asked(events, lambda seen: len(seen) >= votes)


def comparable(record: DebateRecord) -> dict[str, Any]:
    """Return everything of a record but the platform's ids, counters and moments."""
    answers = [answer._asdict() for answer in record.answers]
    debate = record.debate.model_copy(update={"starter": None})
    record = replace(record, debate=debate, answers=())
    shown = TypeAdapter(DebateRecord).dump_python(record, mode="json")
    whole: dict[str, Any] = without(shown | {"answers": answers}, OWN)
    return whole


def without(value: Any, names: frozenset[str]) -> Any:
    """Return a JSON value without the fields of these names, and lists in a fixed order."""
    match value:
        case dict():
            return {k: without(v, names) for k, v in value.items() if k not in names}
        case list() | tuple():
            return sorted((without(one, names) for one in value), key=repr)
        case _:
            return value
