"""Votes on Discord: what counts is what the platform's people hold, and nobody else's hand."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial, partialmethod

import pytest
from discord import AutoShardedClient

import engine.delivery.seeds
from bot.app import App
from engine.values.debate import Status
from engine.votes.outcome import standing
from tests.doubles.discord import DiscordServer, status
from tests.doubles.discord.state import Message, Refusal
from tests.kit import until_asked
from tests.scenario.discord_stage import (
    OPTIONS,
    DiscordStage,
    author,
    counted,
    custom_ids,
    ended,
    known,
    until,
    voting,
)

A, B, TIE = OPTIONS["A"], OPTIONS["B"], OPTIONS["tie"]
NONE = {"A": 0, "B": 0, "tie": 0, "weak": 0}


@pytest.fixture
def stage(on_discord: DiscordStage) -> DiscordStage:
    for name in ("dan", "eve", "robo"):
        on_discord.discord.add_user(name, bot=name == "robo")
    return on_discord


def held(discord: DiscordServer, message: Message) -> dict[str, int]:
    return {option: len(discord.holders(message.id, emoji)) for option, emoji in OPTIONS.items()}


@asynccontextmanager
async def voted(stage: DiscordStage, **emojis: str) -> AsyncIterator[tuple[App, Message]]:
    """Run a process in which these people have voted, which the log of votes knows."""
    async with stage.process() as app:
        ballot = await stage.vote()
        for user, emoji in emojis.items():
            stage.discord.react(user, ballot.id, emoji)
        await voting(app)
        await known(app, len(emojis))
        yield app, ballot


async def test_people_count_once_by_what_they_chose_last_and_only_on_the_vote(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.add_user("fay")
    async with stage.process() as app:
        ballot = await stage.vote()
        discord.react("ben", ballot.id, A)
        discord.react("cleo", ballot.id, A)
        discord.react("cleo", ballot.id, B)
        discord.unreact("cleo", ballot.id, A)
        discord.react("dan", ballot.id, TIE)
        discord.unreact("dan", ballot.id, TIE)
        discord.react("robo", ballot.id, B)
        discord.react("eve", ballot.id, "🎉")
        turn = discord.messages(stage.thread.id)[0]
        discord.react("dan", turn.id, A)
        discord.react("dan", discord.messages()[0].id, B)
        expected = held(discord, ballot)
        for emoji in (A, B, TIE):
            discord.react("fay", ballot.id, emoji)
        await voting(app)
        assert expected == NONE | {"A": 1, "B": 1}
        assert counted(await stage.close()) == expected | {"tie": 1}


async def test_super_reactions_and_handshakes_of_any_skin_are_votes_that_readings_find(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    """A reading without a type lists ordinary reactions only, and took the others for withdrawn."""
    for name in ("fay", "gus", "hal", "ivy", "jon", "kim"):
        discord.add_user(name)
    async with stage.process() as app:
        ballot = await stage.vote()
        for user in ("ben", "cleo", "dan", "ada"):
            discord.react(user, ballot.id, B if user == "ada" else A, burst=True)
        discord.react("olga", ballot.id, A)
        discord.react("ivy", ballot.id, "🤝🏽")
        discord.react("jon", ballot.id, "🤝🏿")
        discord.react("jon", ballot.id, TIE)
        discord.unreact("jon", ballot.id, "🤝🏿")
        # Of both kinds of a reaction the one that is left is the vote.
        for user in ("fay", "gus", "hal"):
            discord.react(user, ballot.id, A, burst=user != "fay")
            discord.react(user, ballot.id, A, burst=user == "fay")
        discord.react("hal", ballot.id, B)
        for user in ("fay", "gus", "hal"):
            discord.unreact(user, ballot.id, A, burst=user == "fay")
        await voting(app)
        await known(app, 19)
        [debate] = await app.store.listings.recent(limit=1)
        votes = standing(debate, await app.store.votes.events(debate.id))
        assert sorted(vote.option for vote in votes) == [*"AAAAAABB", "tie", "tie"]
    discord.react("eve", ballot.id, TIE, burst=True)  # while no process runs
    discord.react("kim", ballot.id, "🤝🏻")
    async with stage.process():
        assert counted(await stage.close()) == NONE | {"A": 6, "B": 2, "tie": 4}


@pytest.mark.parametrize("how", ["drop", "reconnect", "invalid", "resumable", "malformed"])
async def test_votes_in_a_gap_of_the_gateway_are_counted(
    stage: DiscordStage, discord: DiscordServer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discord.backoff.ExponentialBackoff.delay", lambda _: 0.01)
    async with stage.at_vote() as (app, ballot, _):
        identifies = discord.gateway.identifies
        match how:
            case "drop":
                await discord.gateway.disconnect(1001, forget=True)
            case "reconnect":
                discord.gateway.reconnect()
            case "invalid":
                discord.gateway.invalidate(resumable=False)
            case "resumable":
                discord.gateway.invalidate(resumable=True)
            case _:
                discord.gateway.malformed()
        discord.react("ben", ballot.id, A)
        discord.react("cleo", ballot.id, B)
        resumed = how in ("reconnect", "resumable")
        await until(
            lambda: (
                discord.gateway.resumes
                if resumed
                else discord.gateway.identifies > identifies and discord.gateway.connected
            )
        )
        await known(app, 2)
        discord.gateway.repeat(3)
        assert counted(await stage.close()) == NONE | {"A": 1, "B": 1}


@pytest.mark.slow
async def test_a_zombie_of_a_connection_is_left_and_what_it_kept_back_is_counted(
    stage: DiscordStage, discord: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discord.backoff.ExponentialBackoff.delay", lambda _: 0.01)
    patient = AutoShardedClient.__init__
    monkeypatch.setattr(AutoShardedClient, "__init__", partialmethod(patient, heartbeat_timeout=1))
    discord.gateway.heartbeat_seconds = 0.1
    async with stage.at_vote() as (app, ballot, _):
        discord.gateway.zombie = True
        discord.react("ben", ballot.id, A)
        await known(app, 1)
        assert discord.gateway.resumes
        assert counted(await stage.close()) == NONE | {"A": 1}


async def test_late_repeated_and_cleared_reactions_change_nobodys_vote(stage: DiscordStage) -> None:
    async with stage.at_vote() as (app, ballot, debate):
        stage.discord.gateway.paused = True
        stage.discord.react("ben", ballot.id, A)
        stage.discord.react("cleo", ballot.id, B)
        stage.discord.gateway.flow()
        stage.discord.gateway.repeat(2)
        await known(app, 2)
        stage.discord.clear_emoji(ballot.id, A)
        stage.discord.clear_reactions(ballot.id)
        noted = partial(app.store.votes.interventions, debate.id)
        await until_asked(noted, lambda found: len(found) >= 2)
        reveal = await stage.close()
        stage.discord.react("dan", ballot.id, A)
        await ended(app)
        assert counted(reveal) == NONE | {"A": 1, "B": 1}


async def test_a_vote_whose_message_was_deleted_closes_with_the_votes_it_had(
    stage: DiscordStage, discord: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was extended, though no one could vote, and the refused edit then lost its thread."""
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(engine.delivery.seeds, "LOOK_SECONDS", 0.1)
    stage.settings = {"default_extend": True, "default_quorum": 5}
    async with voted(stage, ben=A) as (app, ballot):
        discord.delete_message(ballot.id)
        assert counted(await stage.said("Reveal")) == NONE | {"A": 1}
        debate = await ended(app)
        assert (debate.gone, debate.vote_extended) == (False, False)
        said = [message.text for message in discord.messages(stage.thread.id)]
        assert any("The message to vote on was deleted" in text for text in said)


@pytest.mark.parametrize("trouble", ["deleted", "kicked", "unseen"])
async def test_a_lost_thread_ends_the_debate_clearly_and_keeps_its_votes(
    stage: DiscordStage, discord: DiscordServer, trouble: str
) -> None:
    async with voted(stage, ben=A) as (app, _):
        match trouble:
            case "deleted":
                discord.delete_thread(stage.thread.id)
            case "kicked":
                discord.kick_bot()
            case _:
                discord.deny("view_channel", discord.channel.id)
                newest = (await app.store.listings.recent(limit=1))[0]
                await app.service.close_vote(newest.id)
        debate = await ended(app)
        assert debate.status is Status.CLOSED
        assert debate.gone
        events = await app.store.votes.events(debate.id)
        assert [(event.option, event.added) for event in events] == [("A", True)]


async def test_an_archived_thread_is_opened_again_for_votes_and_for_the_reveal(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    """A post opens it again, the bot's as well as anybody's; meanwhile nobody can react."""
    async with stage.process() as app:
        await stage.start()
        await until(lambda: discord.threads() and len(discord.messages(stage.thread.id)) > 1)
        discord.archive(stage.thread.id)
        ballot = await stage.ballot()
        assert not stage.thread.archived
        discord.react("ben", ballot.id, A)
        discord.archive(stage.thread.id)
        with pytest.raises(Refusal):
            discord.react("cleo", ballot.id, B)
        discord.say("dan", "I am for B.", stage.thread.id)
        discord.react("cleo", ballot.id, B)
        debate = await voting(app)
        discord.archive(stage.thread.id)
        await app.service.close_vote(debate.id)
        assert counted(await stage.said("Reveal")) == NONE | {"A": 1, "B": 1}
        titles = [author(message) for message in discord.messages(stage.thread.id)]
        assert titles[-3:] == ["The vote was closed early", "", "Reveal"]  # Dan's has none


async def test_a_close_waits_for_a_reading_that_fails_and_survives_the_process(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    async with voted(stage, ben=A) as (app, ballot):
        discord.fail(status(500), "GET", "/channels/*/messages/*/reactions/*", times=-1)
        asked = discord.slash("olga", "debate close", channel=stage.thread.id)
        assert "closes as soon as Discord can be read" in (await asked.finished()).text
        assert (await voting(app)).status is Status.VOTING  # it is not a decision
        told = await discord.slash("ben", "debate status", channel=stage.thread.id).finished()
        assert "closes as soon as Discord can be read" in told.text
        assert "left" not in told.text
    discord.react("cleo", ballot.id, B)
    discord.faults.clear()
    async with stage.process() as app:
        assert counted(await stage.said("Reveal")) == NONE | {"A": 1, "B": 1}
        assert (await ended(app)).closed_early


@pytest.mark.slow
async def test_one_refused_page_of_a_reading_delays_no_reveal(stage: DiscordStage) -> None:
    async with voted(stage, ben=A, cleo=B) as (app, _):
        stage.discord.fail(status(503), "GET", "/channels/*/messages/*/reactions/*", times=1)
        await app.service.close_vote((await voting(app)).id)
        assert counted(await stage.said("Reveal")) == NONE | {"A": 1, "B": 1}


@pytest.mark.slow
async def test_a_crowd_larger_than_a_page_is_counted_whole(stage: DiscordStage) -> None:
    discord = stage.discord
    async with stage.at_vote() as (_, ballot, _):
        pass
    for n in range(230):
        discord.react(discord.add_user(f"guest{n}").id, ballot.id, A if n % 3 else B)
    expected = held(discord, ballot)
    async with stage.process():
        assert counted(await stage.close()) == expected
    assert sum(expected.values()) == 230


async def test_a_secret_vote_is_taken_away_and_counted(stage: DiscordStage) -> None:
    discord = stage.discord
    async with stage.process() as app:
        ballot = await stage.vote(ballot="secret")
        for user, emoji in (("ben", A), ("cleo", A), ("cleo", B), ("eve", B), ("ada", "🤝🏽")):
            discord.react(user, ballot.id, emoji)
            await until(lambda: not any(held(discord, ballot).values()))
        await until(lambda: not discord.holders(ballot.id, "🤝🏽"))
        asked = await discord.press("eve", ballot, "rostrum:withdraw").finished()
        assert "withdrawn" in asked.text
        # A super reaction stays, and is no new choice.
        discord.react("olga", ballot.id, A, burst=True)
        await known(app, 7)
        discord.react("olga", ballot.id, B)
        await until(lambda: held(discord, ballot) == NONE | {"A": 1})
        await voting(app)
    discord.react("dan", ballot.id, TIE)
    async with stage.process():
        await until(lambda: held(discord, ballot) == NONE | {"A": 1})
        reveal = await stage.close()
    assert counted(reveal) == NONE | {"A": 1, "B": 2, "tie": 2}


async def test_a_private_vote_on_answers_is_told_with_the_agents_name(stage: DiscordStage) -> None:
    async with stage.process():
        ballot = await stage.vote(format="roundtable", ballot="private")
        assert "Which final answer is best?" in ballot.embeds[0]["description"]
        buttons = [one["label"] for row in ballot.components for one in row["components"]]
        assert buttons[:3] == ["Practitioner", "Sceptic", "Historian"]
        asked = await stage.discord.press("ben", ballot, custom_ids(ballot)[1]).finished()
        assert "Vote recorded: Sceptic." in asked.text


@pytest.mark.parametrize("kind", ["open", "private"])
@pytest.mark.parametrize("setting", ["account_days", "member_days"])
async def test_votes_of_new_accounts_and_members_are_not_gold(
    stage: DiscordStage, discord: DiscordServer, setting: str, kind: str
) -> None:
    days = {"account_days": 43, "member_days": 43, setting: 6}
    discord.add_user("old", account_days=43, member_days=43)
    discord.add_user("new", account_days=days["account_days"], member_days=days["member_days"])
    async with stage.process() as app:
        change = {"setting": setting, "value": "7"}
        asked = await discord.slash("olga", "debate settings", change).finished()
        assert f"Changed: {setting}" in asked.text
        ballot = await stage.vote(ballot=kind)
        debate = await voting(app)
        for user in ("old", "new"):
            if kind == "open":
                discord.react(user, ballot.id, A)
            else:
                await discord.press(user, ballot, custom_ids(ballot)[0]).finished()
            await known(app, 1 + (user == "new"))
        old, new = standing(debate, await app.store.votes.events(debate.id))
        assert (old.gold, old.account_days, old.member_days) == (True, 40, 40)
        assert (new.gold, new.reason, getattr(new, setting)) == (False, "new", 6)


async def test_of_a_vote_that_a_reading_finds_only_the_age_of_the_account_is_known(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    discord.add_user("old", account_days=43, member_days=43)
    async with stage.process() as app:
        for setting in ("account_days", "member_days"):
            change = {"setting": setting, "value": "7"}
            await discord.slash("olga", "debate settings", change).finished()
        ballot = await stage.vote()
        await voting(app)
    discord.react("old", ballot.id, A)
    async with stage.process() as app:
        await known(app, 1)
        debate = await voting(app)
        [vote] = standing(debate, await app.store.votes.events(debate.id))
    assert (vote.reason, vote.account_days, vote.member_days) == ("new", 40, None)
