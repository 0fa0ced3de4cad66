"""Questions of the audience on Discord and on Slack: by button and form, listed, supported."""

from bot.app import App
from engine.values.verdicts import Question
from tests.doubles.model_server import ModelServer, status
from tests.kit import until, until_asked, until_true
from tests.scenario.chat_stage import Chat, close, said
from tests.scenario.discord_stage import voting
from tests.scenario.test_moderation import guard
from tests.scenario.test_suggested_topics import change

__all__ = ["guard"]  # a fixture

TITLE = "Questions from the audience"


async def opened(app: App) -> None:
    (debate,) = await until_asked(lambda: app.store.listings.recent(limit=1), bool)
    await until_true(lambda: app.store.votes.targets(debate.id, Question.SUPPORT))


async def end_time(app: App) -> None:
    (debate,) = await app.store.listings.recent(limit=1)
    due = "UPDATE questions SET closes_at = opened_at WHERE debate = :debate AND closed_at IS NULL"
    await app.store.guests._database.run(due, debate=debate.id)
    app.service.notifier.publish(f"votes/{debate.platform}")


async def test_people_ask_by_a_form_and_support_by_a_button(chat: Chat, guard: ModelServer) -> None:
    chat.stage.settings["moderation"] = {"model": "guard", "base_url": guard.base_url}
    guard.flags = {"insults": "idiots"}
    async with chat.stage.process() as app:
        await chat.start(questions="20m", length="short")
        await opened(app)
        asked = await said(chat, TITLE)
        assert "What should both sides answer before they close?" in asked.text
        assert sorted(chat.buttons(asked.id)) == ["Ask"]
        sure = await chat.fill("ada", asked.id, "Ask", text="Is tea **cheaper**?")
        assert "Your question is number 1." in sure
        assert "number 2" in await chat.fill("ben", asked.id, "Ask", text="What of maple syrup?")
        assert "is empty" in await chat.fill("cleo", asked.id, "Ask", text="  ")
        # As topics are, they are checked by the community's words and by the moderation model.
        await change(chat, "blocked_words", "malls")
        blocked = await chat.fill("cleo", asked.id, "Ask", text="Are Malls fine?")
        assert "a word that is blocked here" in blocked
        flagged = await chat.fill("cleo", asked.id, "Ask", text="Why, idiots?")
        assert "flagged your question, so it was not asked" in flagged
        guard.script(*[status(503)] * 3, model="guard")
        away = await chat.fill("cleo", asked.id, "Ask", text="And water?")
        assert "try again in a minute" in away
        assert "number 3" in await chat.fill("cleo", asked.id, "Ask", text="Buy my coin @everyone")
        await until(lambda: "👍 3" in chat.buttons(asked.id))
        assert "number 4" in await chat.fill("olga", asked.id, "Ask", text="Is it pricey?")
        await until(lambda: "👍 4" in chat.buttons(asked.id))
        await change(chat, "blocked_words", "malls, pricey")  # off the list, and never put
        await until(lambda: "👍 4" not in chat.buttons(asked.id))
        listed = await said(chat, TITLE)
        assert "pricey" not in listed.text
        assert "Is tea \\*\\*cheaper\\*\\*?" in listed.text
        assert "maple" not in listed.text.casefold(), "a model that debates"
        assert "@everyone" not in listed.text
        supports = await chat.push("olga", asked.id, "👍 2")
        assert "You support question 2." in supports
        assert "You support no question" in await chat.push("olga", asked.id, "👍 2")
        assert "You support question 2." in await chat.push("ben", asked.id, "👍 2")
        refused = await chat.fill("ada", asked.id, "Remove", number="3")
        assert "is someone else's" in refused
        assert "Question 3 is removed." in await chat.fill("olga", asked.id, "Remove", number="#3")
        await until(lambda: "👍 3" not in chat.buttons(asked.id))
        await end_time(app)
        await voting(app)
        closed = await said(chat, TITLE)
        assert "Both sides now answer:" in closed.text
        assert "coin" not in closed.text
        assert closed.text.index("syrup") < closed.text.index("cheaper")
        assert chat.buttons(asked.id) == {}
        titles = [message.title for message in chat.thread()]
        assert [title for title in titles if "questions" in title] == [
            title for title in titles if "turn 7 of 10" in title or "turn 8 of 10" in title
        ]
        assert titles.count(TITLE) == 1
        await close(chat)
        await chat.ended(app)
