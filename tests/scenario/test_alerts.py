"""Managers are warned once a day when a community has nearly used up its money of the day."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters.models.rehearsal import RehearsalModels
from engine.values.debate import Model, Price
from tests.doubles.command import rostrum
from tests.doubles.discord import Code, DiscordServer, denied
from tests.doubles.discord.state import Message
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import SlackServer, refused
from tests.doubles.slack.state import Message as SlackMessage
from tests.scenario.conftest import play
from tests.scenario.discord_stage import DiscordStage, author, ended, until
from tests.scenario.slack_stage import (
    SlackStage,
    ended as ended_on_slack,
    title,
    voting as voting_on_slack,
)
from tests.scenario.test_last_words import private

NEARLY: dict[str, Any] = {
    "budget": {"debate_usd": None, "community_daily_usd": 50.0, "alert_percent": 0.5}
    | dict.fromkeys(("user_daily_debates", "max_live_per_community")),
}
SAID = "have used or reserved at least 0.5 % of the 50.00 USD for a day"
WARNINGS = ("Warning", "Warnung", "Aviso", "Advertencia", "Uyarı", "警告")


@pytest.fixture(autouse=True)
def _priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is rehearsed be reserved as if it cost something."""

    async def price(_: RehearsalModels, __: Model) -> Price:
        return Price(usd_in=20.0, usd_out=100.0)

    monkeypatch.setattr(RehearsalModels, "price", price)


@pytest.fixture
def stage(on_discord: DiscordStage) -> DiscordStage:
    on_discord.settings = NEARLY
    return on_discord


@pytest.fixture
def at_slack(on_slack: SlackStage) -> SlackStage:
    on_slack.settings = NEARLY
    return on_slack


def warned(messages: list[Message] | list[SlackMessage]) -> list[str]:
    """Return the texts of warnings, which name no model and no member."""
    heads = ((m, author(m) if isinstance(m, Message) else title(m)) for m in messages)
    found = [message.text for message, head in heads if head in WARNINGS]
    assert not any(word in text for text in found for word in ("rehearsal", "ada", "olga"))
    return found


async def hold(stage: DiscordStage, **options: Any) -> None:
    async with stage.at_vote(**options):
        pass


async def test_the_owner_of_a_server_is_warned_once_a_day(stage: DiscordStage) -> None:
    discord = stage.discord
    for _ in range(2):  # as often as it is restarted
        await hold(stage)
    (message,) = private(discord)
    assert discord.users["olga"].id in discord.world.channels[message.channel_id].members
    (text,) = warned([message])
    assert SAID in text
    assert warned(discord.messages()) == []
    for thread in discord.threads():
        assert warned(discord.messages(thread.id)) == []


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("shut", "told"),
    [("", [1, 0, 0]), ("view_channel", [0, 1, 0]), ("send_messages", [0, 0, 1])],
)
async def test_a_channel_of_moderators_comes_before_the_owner_unless_it_is_shut(
    stage: DiscordStage, shut: str, told: list[int]
) -> None:
    discord = stage.discord
    moderators = discord.add_channel("moderators")
    discord.guild.updates = moderators.id
    if shut:
        discord.deny(shut, moderators.id)
    await hold(stage)
    found = (discord.messages(moderators.id), private(discord), discord.messages())
    assert [len(warned(messages)) for messages in found] == told
    assert all(SAID in text for messages in found for text in warned(messages))


async def test_where_the_owner_takes_no_messages_the_debates_channel_is_told(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    owner = discord.world.direct(discord.users["olga"].id)
    discord.fail(
        denied(Code.NO_DIRECT_MESSAGES), "POST", f"/channels/{owner.id}/messages", times=-1
    )
    await hold(stage)
    assert private(discord) == []
    (text,) = warned(discord.messages())
    assert SAID in text


async def test_it_is_in_the_language_of_the_debate(stage: DiscordStage) -> None:
    async with stage.process():
        await stage.start(language="de")
        (message,) = await until(lambda: private(stage.discord))
    assert "haben mindestens 0,5 % der 50,00 USD" in message.text
    assert "/debate settings" in message.text


async def test_it_can_be_turned_off(stage: DiscordStage) -> None:
    stage.settings = NEARLY | {"budget": NEARLY["budget"] | {"alert_percent": "off"}}
    await hold(stage)
    assert private(stage.discord) == []
    assert warned(stage.discord.messages()) == []


async def test_the_warning_outlives_a_debate_that_could_not_be_announced(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.fail(
        denied(Code.MISSING_PERMISSIONS), "POST", f"/channels/{discord.channel.id}/messages"
    )
    async with stage.process() as app:
        await stage.start()
        await ended(app)
        (message,) = await until(lambda: private(discord))
    assert SAID in message.text


def told(slack: SlackServer, user: str) -> list[str]:
    place = slack.world.direct(slack.users[user].id)
    return warned(list(place.messages.values()))


async def test_each_listed_manager_is_warned_privately_once(
    at_slack: SlackStage, slack: SlackServer
) -> None:
    at_slack.managers = tuple(slack.users[name].id for name in ("olga", "cleo"))
    for _ in range(2):
        async with at_slack.at_vote():
            pass
    for user in ("olga", "cleo"):
        (text,) = told(slack, user)
        assert SAID in text
    assert warned(slack.messages()) == []
    assert warned(at_slack.replies) == []


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("reached", ["olga", "cleo", ""])
async def test_the_channel_is_told_only_where_no_listed_manager_can_be(
    at_slack: SlackStage, slack: SlackServer, reached: str, listed: bool
) -> None:
    if listed:
        at_slack.managers = tuple(slack.users[name].id for name in ("olga", "cleo"))
    for name in {"olga", "cleo"} - {reached}:
        to = f'"channel": "{slack.users[name].id}"'
        slack.fail(refused("cannot_dm_bot"), "chat.postMessage", times=-1, text=to)
    async with at_slack.process() as app:
        await at_slack.start()
        await app.service.close_vote((await voting_on_slack(app)).id)
        await ended_on_slack(app)
    found = [name for name in ("olga", "cleo") if told(slack, name)]
    assert found == ([reached] if reached and listed else [])
    assert [SAID in text for text in warned(slack.messages())] == [True] * (not found)


@pytest.mark.slow
async def test_a_terminal_shows_it(tmp_path: Path) -> None:
    async with ModelServer(play) as server:
        settings = {
            "ROSTRUM_BACKENDS__NEAR__BASE_URL": server.base_url,
            "ROSTRUM_MODELS": "near/ana,near/ben",
            "ROSTRUM_JURORS": "near/j1,near/j2,near/j3",
            "ROSTRUM_PRICES": orjson.dumps(
                {f"near/{name}": [20, 100] for name in ("ana", "ben", "j1", "j2", "j3")}
            ).decode(),
            "ROSTRUM_BUDGET__ALERT_PERCENT": "0.5",
            "ROSTRUM_BUDGET__DEBATE_USD": "off",
            "ROSTRUM_BUDGET__COMMUNITY_DAILY_USD": "50",
        }
        held = await asyncio.to_thread(rostrum, tmp_path, "debate", "Tea is best", **settings)
    assert held.code == 0, held
    assert " ".join(held.out.split()).count(SAID) == 1
