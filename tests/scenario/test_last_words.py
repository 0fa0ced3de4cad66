"""A debate that ends early says why; a reveal that its thread does not take goes elsewhere."""

import asyncio

import pytest

import engine.delivery.outbox
from bot.app import App
from engine.chat import interactions
from engine.values.debate import Debate, Status
from tests.doubles.discord import Code, DiscordServer, Interaction, denied, drop
from tests.doubles.discord.state import DIRECT, Message
from tests.doubles.slack import SlackServer, refused
from tests.kit import held_at
from tests.scenario.discord_stage import HASTY, DiscordStage, author, ended, until, voting
from tests.scenario.slack_stage import (
    SlackStage,
    ended as ended_on_slack,
    title,
    voting as voting_on_slack,
)


@pytest.fixture
def stage(on_discord: DiscordStage, monkeypatch: pytest.MonkeyPatch) -> DiscordStage:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(interactions, "VOTE_SECONDS", 0.1)
    monkeypatch.setattr(interactions, "LATER_SECONDS", 0.1)
    on_discord.discord.rules.nonce_seconds = 0.0
    return on_discord


def reveals(discord: DiscordServer, place: str) -> list[Message]:
    return [m for m in discord.messages(place) if author(m) == "Reveal"]


def private(discord: DiscordServer) -> list[Message]:
    places = [c for c in discord.world.channels.values() if c.type == DIRECT]
    return [message for place in places for message in discord.messages(place.id)]


async def close(app: App, debate: Debate) -> None:
    await app.service.close_vote(debate.id)
    await ended(app)


async def status_of(stage: DiscordStage, code: str) -> str:
    asked = stage.discord.slash("ben", "debate status", {"debate": code})
    return (await asked.finished()).text


@pytest.mark.parametrize("when", ["before the vote closes", "just then"])
async def test_the_reveal_of_a_deleted_thread_is_in_the_channel(
    stage: DiscordStage, discord: DiscordServer, when: str
) -> None:
    async with stage.at_vote() as (app, ballot, debate):
        discord.react("ben", ballot.id, "🔵")
        if when == "just then":
            posted = f"/channels/{stage.thread.id}/messages"
            discord.fail(denied(Code.UNKNOWN_CHANNEL), "POST", posted, times=-1)
            await app.service.close_vote(debate.id)
        else:
            discord.delete_thread(stage.thread.id)
        await ended(app)
        (reveal,) = await until(lambda: reveals(discord, discord.channel.id))
        assert "Tea beats coffee" in reveal.text
        assert "rehearsal/" in reveal.text
        assert "the result is in its channel" in await status_of(stage, debate.code)
        card = discord.messages()[0]
        await until(lambda: "The result is in this channel" in card.text)
    assert private(discord) == []


@pytest.mark.slow
async def test_a_locked_thread_gets_its_reveal_when_it_is_unlocked(stage: DiscordStage) -> None:
    discord = stage.discord
    async with stage.at_vote() as (app, _, debate):
        discord.lock(stage.thread.id)
        await close(app, debate)
        assert len(reveals(discord, discord.channel.id)) == 1
        assert reveals(discord, stage.thread.id) == []
        assert "the result is in its channel" in await status_of(stage, debate.code)
        discord.lock(stage.thread.id, locked=False)
        await until(lambda: reveals(discord, stage.thread.id))
        await ended(app)
        assert "The result is in its thread" in await status_of(stage, debate.code)
        card = discord.messages()[0]
        await until(lambda: "the whole debate in <#" in card.text)
        # Nor is anything said twice, however often it is locked and unlocked.
        for locked in (True, False, True, False):
            discord.lock(stage.thread.id, locked=locked)
        await asyncio.sleep(0.3)
        await ended(app)
    assert len(reveals(discord, stage.thread.id)) == len(reveals(discord, discord.channel.id)) == 1
    assert len(set(stage.references())) == len(stage.references())


@pytest.mark.slow
async def test_where_the_channel_is_closed_too_the_starter_is_told_privately_or_status_says_so(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    shut = ("send_messages", "send_messages_in_threads")
    async with stage.at_vote() as (app, _, debate):
        for permission in shut:
            discord.deny(permission, discord.channel.id)
        await close(app, debate)
        (told,) = private(discord)
        assert "rehearsal/" in told.text
        assert "You started it" in told.text
        place = discord.world.channels[told.channel_id]
        assert discord.users["ada"].id in place.members
        assert "started it got the result privately" in await status_of(stage, debate.code)
        discord.rules.direct_messages = False
        for permission in shut:
            discord.allow(permission, discord.channel.id)
        await stage.vote()
        debate, card = await voting(app), discord.messages()[-1]
        for permission in shut:
            discord.deny(permission, discord.channel.id)
        await close(app, debate)
        assert "could not be posted" in await status_of(stage, debate.code)
        await until(lambda: "could not be posted" in card.text)
    assert private(discord) == [told]


async def test_a_reveal_whose_answer_was_lost_is_in_the_channel_once(stage: DiscordStage) -> None:
    discord = stage.discord
    stage.limits = HASTY
    async with stage.at_vote() as (app, _, debate):
        discord.delete_thread(stage.thread.id)
        place = f"/channels/{discord.channel.id}/messages"
        discord.fail(drop("after"), "POST", place)
        await ended(app)
        assert "the result is in its channel" in await status_of(stage, debate.code)
    assert len(reveals(discord, discord.channel.id)) == 1


@pytest.mark.slow
async def test_a_process_that_begins_later_tries_a_reveal_again(stage: DiscordStage) -> None:
    discord = stage.discord
    async with stage.at_vote() as (app, _, debate):
        discord.lock(stage.thread.id)
        await close(app, debate)
    discord.lock(stage.thread.id, locked=False)
    async with stage.process():
        await until(lambda: reveals(discord, stage.thread.id))


async def test_a_vote_that_cannot_be_asked_for_leaves_the_result_in_the_channel(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.fail(denied(Code.INVALID_FORM), "POST", "/channels/*/messages", times=-1, text='"Vote"')
    async with stage.process() as app:
        asked = await stage.start()
        debate = await ended(app)
        assert debate.status is Status.CLOSED
        assert not [m for m in discord.messages(stage.thread.id) if author(m) == "Vote"]
        (reveal,) = reveals(discord, discord.channel.id)
        assert "rehearsal/" in reveal.text
        for said in (await status_of(stage, debate.code), await until(lambda: told(asked))):
            assert "the result is in its channel" in said
            assert "Discord refused that" in said
    assert len(asked.messages) == 1


@pytest.mark.slow
async def test_a_thread_that_is_lost_in_the_vote_is_told_to_the_starter_privately(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    async with stage.process() as app:
        asked = await stage.start()
        await stage.ballot()
        debate = await voting(app)
        discord.delete_thread(stage.thread.id)
        await ended(app)
        assert "was deleted" in await until(lambda: told(asked))
        other = await stage.start()
        await stage.ballot()
        await voting(app)
        await close(app, await voting(app))
        await asyncio.sleep(0.3)
    assert "Follow it in" in other.text
    assert "It is over" not in other.text  # its thread says so
    assert debate.code in asked.text


def told(asked: Interaction) -> str:
    return asked.text if "It is over" in asked.text else ""


@pytest.mark.usefixtures("swift")
async def test_on_slack_a_reveal_goes_to_the_channel_and_then_to_the_starter(
    on_slack: SlackStage, slack: SlackServer
) -> None:
    async with on_slack.at_vote() as (app, _, debate):
        slack.delete_message(on_slack.root.ts)
        await app.service.close_vote(debate.id)
        found = await until(lambda: [m for m in slack.messages() if title(m) == "Reveal"])
        assert len(found) == 1
        await on_slack.vote()
        debate = await voting_on_slack(app)
        here = f'"channel": "{slack.channel.id}"'
        slack.fail(refused("is_archived"), "chat.postMessage", times=-1, text=here)
        await app.service.close_vote(debate.id)
        mine = slack.world.direct(slack.users["ada"].id)
        (told,) = await until(lambda: list(mine.messages.values()))
        assert "rehearsal/" in told.text
        await ended_on_slack(app)
        asked = await slack.slash("ben", f"/debate status {debate.code}")
        await asked.said("started it got the result privately")


async def test_why_a_debate_ended_is_in_status_on_the_card_and_in_its_starters_answer(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    with held_at("turn/rebuttal/A"):
        async with stage.process() as app:
            await stage.start()
            await until(lambda: discord.threads())
            card = discord.messages()[0]
            await discord.slash("ada", "debate cancel").finished()
            debate = await ended(app)
            assert debate.status is Status.CANCELLED
            assert "Its starter stopped it" in await status_of(stage, debate.code)
            await until(lambda: "Its starter stopped it" in card.text)
            asked = await stage.start()
            await until(lambda: "Follow it in" in asked.text)
            discord.delete_thread(stage.thread.id)
            await ended(app)
            await until(lambda: "was deleted" in asked.text)
            assert asked.ephemeral
            assert len(asked.messages) == 1
            discord.fail(denied(Code.MISSING_PERMISSIONS), "POST", "/channels/*/messages", times=-1)
            refused = await stage.start()
            await until(lambda: "Send Messages" in refused.text)


async def test_on_slack_the_starter_reads_privately_why_a_debate_ended(
    on_slack: SlackStage,
) -> None:
    with held_at("turn/rebuttal/A"):
        async with on_slack.process():
            asked = await on_slack.start()
            await asked.said("Follow it in")
            await on_slack.slack.slash("ada", "/debate cancel")
            await asked.said("Its starter stopped it")
