"""Topics that people of a community suggest, want and block, on Discord and Slack."""

from bot.app import App
from engine.store.suggestions import next_topic
from tests.scenario.chat_stage import Chat, OnDiscord

CATS = "Cats are better than dogs"
RAIN = "Rain is better than sun"


async def change(chat: Chat, setting: str, value: str, user: str = "olga") -> str:
    if isinstance(chat, OnDiscord):
        return await chat.ask(user, "settings", setting=setting, value=value)
    return await chat.ask(user, f'settings {setting}="{value}"')


def community(chat: Chat) -> str:
    if isinstance(chat, OnDiscord):
        return chat.discord.guild.id
    return chat.slack.world.user("ada").team


async def the_next(app: App, chat: Chat) -> str | None:
    found = await next_topic(
        app.store.communities, app.store.suggestions, chat.title.casefold(), community(chat)
    )
    return found.text if found else None


async def test_people_suggest_a_manager_approves_and_the_most_wanted_is_debated(chat: Chat) -> None:
    async with chat.stage.process() as app:
        assert "No one has suggested a topic yet" in await chat.ask("ada", "topics")
        for user, topic in (("ada", CATS), ("ben", RAIN)):
            waits = await chat.give(user, "suggest", topic=topic)
            assert f"“{topic}” is suggested." in waits.text
        again = await chat.give("cleo", "suggest", topic="rain is BETTER than sun!")
        assert "was suggested before" in again.text
        # Members do not see what waits, and may not approve it; managers have buttons for it.
        hidden = await chat.give("ada", "topics")
        assert CATS not in hidden.text
        assert hidden.buttons == {}
        refused = await chat.give("ada", "topics", action="approve", number=1)
        assert "Only a manager" in refused.text
        waiting = await chat.give("olga", "topics")
        assert waiting.text.index(RAIN) < waiting.text.index(CATS)
        assert len(waiting.buttons) == 4
        for button in ("rostrum:approve:1", "rostrum:approve:2"):
            assert "is on the list now" in (await chat.press("olga", waiting, button)).text
        assert await the_next(app, chat) == RAIN
        # One ▲ a person; pressed again it is taken back.
        shown = await chat.give("cleo", "topics")
        assert shown.buttons == {
            "rostrum:upvote:2": f"▲ 2 · {RAIN}",
            "rostrum:upvote:1": f"▲ 1 · {CATS}",
        }
        assert "Remote work" in shown.text  # ideas follow
        for user in ("cleo", "ben"):
            listed = await chat.give(user, "topics")
            wanted = await chat.press(user, listed, "rostrum:upvote:1")
            assert "Your ▲ counts." in wanted.text
        assert "3 people want a debate" in wanted.text
        assert await the_next(app, chat) == CATS
        back = await chat.press("ben", wanted, "rostrum:upvote:1")
        assert "is taken back" in back.text
        # What is drawn comes from the list, and is used with the debate.
        await chat.start(topic="random", format="oxford")
        debate = (await app.store.listings.recent())[0].request.topic
        assert debate in (CATS, RAIN)
        assert await the_next(app, chat) == ({CATS, RAIN} - {debate}).pop()
        assert debate not in (await chat.give("cleo", "topics")).text
        assert (
            "debate on this topic already"
            in (await chat.give("cleo", "suggest", topic=debate)).text
        )
        # A manager removes the other.
        left = (await chat.give("olga", "topics")).buttons
        number = next(iter(left)).rpartition(":")[2]
        assert (
            "is removed"
            in (await chat.give("olga", "topics", action="remove", number=int(number))).text
        )
        assert await the_next(app, chat) is None


async def test_blocked_words_keep_topics_out_and_only_managers_read_them(chat: Chat) -> None:
    async with chat.stage.process() as app:
        assert "Changed: topic_approval" in await change(chat, "topic_approval", "off")
        listed = await chat.give("ada", "suggest", topic="Crème brûlée beats cake")
        assert "is on the list now" in listed.text
        assert "crème" not in await change(chat, "blocked_words", "x", user="ada")
        changed = await change(chat, "blocked_words", "CREME, büro, 猫")
        assert "`blocked_words`: CREME, büro, 猫 (set here)" in changed
        for topic in ("Is Creme fine?", "Ein BURO für alle", "养猫比养狗好"):
            refused = await chat.give("ada", "suggest", topic=topic)
            assert "a word that is blocked here" in refused.text
            assert "CREME" not in refused.text
            assert "a word that is blocked here" in await chat.start(topic=topic)
        stated = await chat.start(topic="Tea", conditions="crème")
        assert "a word that is blocked here" in stated
        # Parts of a word are not it; what was on the list before is off it, but for managers.
        assert "is on the list now" in (await chat.give("ada", "suggest", topic="Cremes rule")).text
        assert "brûlée" not in (await chat.give("ada", "topics")).text
        assert "brûlée" in (await chat.give("olga", "topics")).text
        assert await the_next(app, chat) == "Cremes rule"
        assert await app.store.listings.recent() == []
