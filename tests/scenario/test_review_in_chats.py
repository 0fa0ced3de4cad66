"""`/debate review` and the question below a reveal, on Discord and on Slack."""

from __future__ import annotations

import asyncio

import pytest

from bot.app import App
from engine.values.judging import Question
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.kit import HANG_SECONDS, records_of
from tests.scenario.discord_stage import (
    DiscordStage,
    ended as ended_on_discord,
    until as until_seen,
)
from tests.scenario.slack_stage import SlackStage, ended, voting

AGAIN = "Now that you know the models"


async def answers(app: App) -> list[str]:
    (record,) = (await records_of(app.store)).values()
    return [one.option for one in record.asked(Question.AGAIN)]


async def again_is_open(app: App) -> bool:
    return Question.AGAIN in {asked.question for asked in await app.store.votes.due("slack")}


async def until_answered(app: App, *options: str) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while await answers(app) != list(options):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_on_discord_a_menu_takes_the_answer(database_url: str) -> None:
    async with DiscordServer(rates=Rates.generous()) as discord:
        stage = DiscordStage(database_url, discord)
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            debate = await ended_on_discord(app)
            asked = await discord.slash("ada", "debate review").finished()
            assert asked.ephemeral
            assert f"`{debate.code}` <#{debate.thread}>" in asked.text
            menu = f"rostrum:review:{debate.code}"
            chosen = await discord.press("ada", asked.messages[0], menu, values=["B"]).finished()
            assert chosen.ephemeral
            assert "recorded: 🔴 B." in chosen.text
            given = {"debate": debate.code, "vote": "tie"}
            await discord.slash("ben", "debate review", given).finished()
            assert sorted(await answers(app)) == ["B", "tie"]
            own = await discord.slash("cleo", "debate me").finished()
            assert own.ephemeral
            assert "You have no vote on a revealed debate here yet" in own.text
            nothing = await discord.slash("ada", "debate review").finished()
            assert "you have answered them all" in nothing.text


async def test_on_slack_a_menu_takes_the_answer(database_url: str) -> None:
    async with SlackServer(rules=Rules.generous()) as slack:
        stage = SlackStage(database_url, slack)
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            debate = await ended(app)
            asked = await slack.slash("ben", "/debate review")
            await asked.said(f"`{debate.code}` [in its thread](")
            menu = f"rostrum:review:{debate.code}"
            chosen = await slack.choose("ben", asked.messages[-1], menu, "B")
            await chosen.said("recorded: 🔴 B.")
            other = await slack.slash("cleo", f"/debate review {debate.code} tie")
            await other.said("recorded: tie.")
            assert sorted(await answers(app)) == ["B", "tie"]
            nothing = await slack.slash("ben", "/debate review")
            await nothing.said("you have answered them all")
            # Nobody else reads any of it.
            assert not any("kept separate" in message.text for message in slack.messages())


async def test_on_discord_a_server_has_it_asked_below_the_reveal(database_url: str) -> None:
    async with DiscordServer(rates=Rates.generous()) as discord:
        stage = DiscordStage(database_url, discord)
        async with stage.process() as app:
            change = {"setting": "again", "value": "on"}
            await discord.slash("olga", "debate settings", change).finished()
            await stage.vote()
            await voting(app)
            await stage.close()
            asked = await stage.said(AGAIN)
            await until_seen(lambda: len(asked.reactions) == 4 or None)
            discord.react("ada", asked.id, "🔴")
            await until_answered(app, "B")
            assert "You can answer for 24 hours." in asked.text


@pytest.mark.parametrize("ballot", ["open", "private"])
async def test_on_slack_a_workspace_has_it_asked_below_the_reveal(
    database_url: str, ballot: str
) -> None:
    async with SlackServer(rules=Rules.generous()) as slack:
        stage = SlackStage(database_url, slack)
        async with stage.process() as app:
            changed = await slack.slash("olga", "/debate settings again=on")
            await changed.said("Changed: again")
            await stage.vote(f'"Tea beats coffee" ballot={ballot}')
            await voting(app)
            await stage.close()
            asked = await stage.said(AGAIN)
            while not await again_is_open(app):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            if ballot == "private":
                pressed = await slack.press("ada", asked.ts, "🔴 B")
                await pressed.said("Vote recorded: 🔴 B.")
            else:
                await slack.react("ada", asked.ts, "red_circle")
            await until_answered(app, "B")


async def test_a_mirror_is_a_typed_option_on_discord(database_url: str) -> None:
    async with DiscordServer(rates=Rates.generous()) as discord:
        stage = DiscordStage(database_url, discord)
        async with stage.process() as app:
            sides = {"model_a": "rehearsal/maple", "model_b": "rehearsal/willow"}
            asked = await stage.start(mirror=True, **sides)
            assert "with the sides swapped" in asked.text
            first, second = sorted(await app.store.debates.recent(), key=lambda d: d.number)
    assert second.setup.mirror_of == first.id
    assert second.request.sides == {"A": first.request.sides["B"], "B": first.request.sides["A"]}
