"""What goes wrong between Rostrum and Discord: nothing is posted twice, and no turn is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

import engine.delivery.outbox
from bot.app import App
from engine.values.debate import Status
from tests.doubles.discord import (
    Code,
    DiscordServer,
    Fault,
    delay,
    denied,
    drop,
    garbage,
    limited,
    status,
)
from tests.scenario.discord_stage import (
    HASTY,
    SWIFT,
    DiscordStage,
    author,
    ended,
    state,
    until,
    voting,
)

POST = ("POST", "/channels/*/messages")


@pytest.fixture
def stage(on_discord: DiscordStage, monkeypatch: pytest.MonkeyPatch) -> DiscordStage:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    on_discord.discord.rules.nonce_seconds, on_discord.limits = 0.0, HASTY
    return on_discord


def assert_whole(stage: DiscordStage) -> None:
    """Every message of a debate is there once, in order."""
    references = stage.references()
    numbers = [int(ref.split("·")[1]) for ref in references]
    assert len(set(references)) == len(references), references
    assert numbers == sorted(numbers), references
    turns = [m for m in stage.discord.messages(stage.thread.id) if " · turn " in author(m)]
    assert len(turns) == 8
    assert stage.discord.world.pings == []


@asynccontextmanager
async def speaking(stage: DiscordStage) -> AsyncIterator[App]:
    """Run a process in the middle of a debate whose first turn is posted."""
    stage.settings = {"models": "rehearsal/maple?latency=0.1, rehearsal/willow?latency=0.1"}
    async with stage.process() as app:
        await stage.start()
        server = stage.discord
        await until(lambda: server.threads() and server.messages(stage.thread.id))
        yield app


FAULTS = {
    "500 before": status(500),
    "500 after": status(500, when="after"),
    "dropped after": drop("after"),
    "garbage": garbage(),
    "429": limited(0.1),
    "503 after": status(503, when="after"),
    "dropped before": drop("before"),
    "429 of Cloudflare": limited(0.0, via=False),
    "429 everywhere": limited(0.1, everywhere=True),
    "slow": delay(1.2),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_at_a_message_duplicates_and_loses_nothing(
    stage: DiscordStage, discord: DiscordServer, name: str
) -> None:
    discord.fail(FAULTS[name], *POST, skip=2)
    async with stage.process() as app:
        await stage.start()
        await stage.ballot()
        await voting(app)
        await stage.close()
        await ended(app)
    assert_whole(stage)
    if name != "429 everywhere":  # what was on its way when that was said cannot be called back
        assert discord.violations == []


@pytest.mark.parametrize(
    ("announcing", "opening"),
    [(status(500, when="after"), drop("after")), (drop("before"), status(500, when="after"))],
    ids=["after", "before"],
)
async def test_faults_at_announcement_thread_and_reactions_duplicate_nothing(
    stage: DiscordStage, discord: DiscordServer, announcing: Fault, opening: Fault
) -> None:
    discord.fail(announcing, *POST)
    discord.fail(opening, "POST", "/channels/*/messages/*/threads")
    discord.fail(drop("after"), "PUT", "/channels/*/messages/*/reactions/**", skip=1)
    discord.fail(status(500), "PUT", "/channels/*/messages/*/reactions/**", skip=2)
    async with stage.at_vote() as (_, ballot, _):
        pass
    assert len(discord.messages()) == len(discord.threads()) == 1
    assert_whole(stage)
    assert list(ballot.reactions) == ["🔵", "🔴", "🤝", "🚫"]


async def test_where_reading_is_refused_there_is_a_gap_and_no_duplicate(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    # On a slow machine too only what is meant is in doubt.
    stage.limits = SWIFT
    discord.fail(drop("after"), *POST, skip=3)
    discord.fail(denied(Code.MISSING_PERMISSIONS), "GET", "/channels/*/messages", times=-1)
    async with stage.at_vote():
        pass
    assert_whole(stage)


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("deleted", "was deleted"),
        ("kicked", "invite it again"),  # told by an event, or by a refused message
        ("unseen", "View Channel"),
        ("mute", "Send Messages in Threads"),
    ],
)
async def test_a_thread_that_is_lost_between_turns_stops_the_debate_and_says_why(
    stage: DiscordStage, discord: DiscordServer, trouble: str, why: str
) -> None:
    async with speaking(stage) as app:
        announcement = discord.messages()[0]
        match trouble:
            case "deleted":
                discord.delete_thread(stage.thread.id)
            case "kicked":
                discord.kick_bot()
            case "mute":
                discord.deny("send_messages_in_threads", discord.channel.id)
            case _:
                discord.deny("view_channel", discord.channel.id)
        debate = await ended(app)
        assert (debate.status, debate.gone) == (Status.FAILED, True)
        assert why in debate.reason
        assert 0 < await app.store.journal.turns_held(debate.id) < 8
        if trouble == "deleted":
            await until(lambda: "its thread is gone" in announcement.text)
            assert why in announcement.text
        if trouble == "mute":
            button = f"rostrum:status:{debate.code}"
            assert (await discord.press("ada", announcement, button).finished()).ephemeral


async def test_a_debate_goes_on_after_its_interaction_its_thread_or_its_process_has_ended(
    stage: DiscordStage,
) -> None:
    async with speaking(stage):
        stage.discord.advance(1000)
        stage.discord.archive(stage.thread.id)
        await until(lambda: len(stage.discord.messages(stage.thread.id)) > 2)
    async with stage.process() as app:
        await stage.ballot()
        await voting(app)
    assert_whole(stage)


@pytest.mark.parametrize("how", ["archived too", "active", "without permissions"])
async def test_a_debate_waits_while_its_thread_is_locked_and_then_goes_on(
    stage: DiscordStage, discord: DiscordServer, how: str
) -> None:
    """It ended within a second, and named permissions that the bot had."""
    async with speaking(stage) as app:
        discord.lock(stage.thread.id, archived=how == "archived too")
        if how == "without permissions":  # a lock takes them away
            refused = denied(Code.MISSING_PERMISSIONS)
            discord.fail(refused, "POST", f"/channels/{stage.thread.id}/messages", times=-1)
        waiting = await state(app, lambda debate: debate.reason.startswith("Waiting to post"))
        assert (
            f"<#{stage.thread.id}> is locked; unlock it or grant Manage Threads" in waiting.reason
        )
        assert not waiting.gone
        discord.faults.clear()
        discord.lock(stage.thread.id, locked=False)
        await stage.ballot()
        assert not (await voting(app)).reason
    assert_whole(stage)


@pytest.mark.slow
@pytest.mark.parametrize("permission", ["add_reactions", "read_message_history"])
async def test_reactions_are_added_once_the_permission_for_them_is_back(
    stage: DiscordStage, discord: DiscordServer, permission: str
) -> None:
    """A vote said "React below" without any reaction for good."""
    missing = {"add_reactions": "Add Reactions", "read_message_history": "Read Message History"}
    async with speaking(stage) as app:
        discord.deny(permission, discord.channel.id)
        waiting = await state(app, lambda debate: debate.vote_opened_at and debate.reason)
        assert "Reactions to vote with are missing" in waiting.reason
        named = {name for name in missing.values() if name in waiting.reason}
        assert named == {missing[permission]}
        told = await discord.slash("ben", "debate status", channel=stage.thread.id).finished()
        assert f"grant it {missing[permission]} there" in told.text
        discord.allow(permission, discord.channel.id)
        await stage.ballot()
        await state(app, lambda debate: not debate.reason)


async def test_discord_away_for_a_while_is_caught_up_with_in_order(stage: DiscordStage) -> None:
    async with stage.process() as app:
        await stage.start()
        await until(lambda: stage.discord.threads())
        await stage.discord.stop()
        await asyncio.sleep(0.5)
        await stage.discord.start()
        await stage.ballot()
        await voting(app)
    assert_whole(stage)


async def test_what_can_be_answered_only_in_the_channel_tells_no_secret_and_starts_nothing(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    async def told(user: str, command: str, **options: str) -> str:
        before = len(discord.messages())
        discord.slash(user, f"debate {command}", options)
        await until(lambda: len(discord.messages()) > before)
        return discord.messages()[-1].text

    given_up = denied(Code.UNKNOWN_INTERACTION)
    async with stage.process() as app:
        discord.fail(given_up, "POST", "/interactions/**")
        said = await told("olga", "models")
        assert "ask again" in said
        assert "rehearsal" not in said
        discord.fail(given_up, "POST", "/interactions/**")
        said = await told("ada", "start", topic="Tea", model_a="rehearsal/maple")
        assert "so nothing was started" in said
        assert f"<@{discord.users['ada'].id}>" in said
        assert "rehearsal/maple" not in said
        assert discord.world.pings == []
        assert not await app.store.listings.recent()
        await discord.slash("ada", "debate start", {"topic": "Tea"}).finished()
        assert len(await app.store.listings.recent()) == 1


async def test_an_answer_later_than_its_token_lives_is_said_in_the_channel(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.fail(denied(Code.INVALID_TOKEN), "PATCH", "/webhooks/**", times=-1)
    async with stage.process():
        discord.slash("ada", "debate topics")
        told = await until(lambda: discord.messages())
    assert "Remote work" in told[0].text


async def test_a_gateway_that_refuses_or_talks_nonsense_is_tried_again_without_a_storm(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.fail(status(503), "GET", "/gateway/bot", times=2)
    discord.fail(status(500), "GET", "/users/@me", times=1)
    async with stage.process():
        await (await stage.start()).finished()
        for n in range(3):
            before = discord.gateway.identifies
            discord.gateway.malformed()
            await until(partial(identified, discord, before + 1))
            await discord.gateway.until_connected()
            assert discord.gateway.identifies <= n + 2
        await stage.start()


def identified(discord: DiscordServer, times: int) -> bool:
    return discord.gateway.identifies >= times
