"""`/debate review` and the question below a reveal, on Discord and on Slack."""

import pytest

from bot.app import App
from engine.values.verdicts import Question
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.kit import records_of, until_asked, until_true
from tests.scenario.chat_stage import Chat, OnDiscord, close
from tests.scenario.discord_stage import DiscordStage, until as until_seen
from tests.scenario.slack_stage import SlackStage, voting

AGAIN = "Now that you know the models"


async def answers(app: App) -> list[str]:
    (record,) = (await records_of(app.store)).values()
    return [one.option for one in record.asked(Question.AGAIN)]


async def again_is_open(app: App) -> bool:
    return Question.AGAIN in {asked.question for asked in await app.store.votes.due("slack")}


async def until_answered(app: App, *options: str) -> None:
    await until_asked(lambda: answers(app), list(options).__eq__)


@pytest.mark.each_case
async def test_a_menu_takes_the_answer(chat: Chat) -> None:
    async with chat.stage.at_vote() as (app, _, _):
        await close(chat)
        debate = await chat.ended(app)
        asked = await chat.give("ada", "review")
        assert f"`{debate.code}` " in asked.text
        menu = f"rostrum:review:{debate.code}"
        if isinstance(chat, OnDiscord):
            pressed = chat.discord.press("ada", asked.message, menu, values=["B"])
            assert "recorded: 🔴 B." in (await pressed.finished()).text
            assert pressed.ephemeral
        else:
            chosen = await chat.slack.choose("ada", asked.message, menu, "B")
            await chosen.said("recorded: 🔴 B.")
        await chat.ask("cleo", "review", "recorded: tie.", debate=debate.code, vote="tie")
        assert sorted(await answers(app)) == ["B", "tie"]
        await chat.ask("olga", "me", "You have no vote on a revealed debate here yet")
        await chat.ask("ada", "review", "you have answered them all")
        assert not any("kept separate" in message.text for message in chat.thread())


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
            await until_true(lambda: again_is_open(app))
            if ballot == "private":
                pressed = await slack.press("ada", asked.ts, "🔴 B")
                await pressed.said("Vote recorded: 🔴 B.")
            else:
                await slack.react("ada", asked.ts, "red_circle")
            await until_answered(app, "B")
