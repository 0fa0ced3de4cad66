"""`/debate review` and the question below a reveal, on Discord and on Slack."""

import pytest

from bot.app import App
from engine.values.verdicts import Question
from tests.kit import records_of, until_asked, until_true
from tests.scenario.chat_stage import Chat, OnDiscord, close, said, vote
from tests.scenario.slack_stage import voting
from tests.scenario.test_suggested_topics import change

AGAIN = "Now that you know the models"


async def answers(app: App) -> list[str]:
    (record,) = (await records_of(app.store)).values()
    return [one.option for one in record.asked(Question.AGAIN)]


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


@pytest.mark.parametrize("ballot", ["open", "private"])
async def test_a_community_has_it_asked_below_the_reveal(chat: Chat, ballot: str) -> None:
    async def is_open() -> bool:
        due = await app.store.votes.due(chat.title.casefold())
        return Question.AGAIN in {asked.question for asked in due}

    async with chat.stage.process() as app:
        await change(chat, "again", "on")
        await vote(chat, ballot=ballot)
        await voting(app)
        await close(chat)
        asked = await said(chat, "Now that you know the models")
        await until_true(is_open)
        if ballot == "private":
            _, other, *_ = chat.buttons(asked.id)
            assert "Vote recorded: 🔴 B." in await chat.push("ada", asked.id, other)
        else:
            await chat.react("ada", asked.id, "B")
        await until_answered(app, "B")
        assert "You can answer for 24 hours." in asked.text
