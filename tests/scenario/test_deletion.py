"""`/debate delete` takes a debate out of the chat and the record, whatever happens meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app import App
from engine.values.errors import NotFoundError
from tests.doubles.discord.state import FLAGS
from tests.doubles.faults import status
from tests.kit import until
from tests.scenario.chat_stage import Chat, OnDiscord, vote
from tests.scenario.discord_stage import DiscordStage, known


def shown(chat: Chat) -> list[str]:
    """Return what Rostrum shows in the channel and in all threads."""
    if isinstance(chat, OnDiscord):
        places = [chat.discord.channel, *chat.discord.threads()]
        found = [m for place in places for m in chat.discord.messages(place.id)]
        people = {user.id for user in chat.discord.users.values()}
        return [m.text for m in found if m.author_id not in people]  # also by webhooks
    return [m.text for m in chat.slack.world.everything() if not m.deleted and not m.to]


async def gone(app: App, chat: Chat, *debates: str) -> None:
    """Wait until debates are neither in the record nor in the chat."""
    await until(lambda: not shown(chat) or None)
    for debate in debates:
        with pytest.raises(NotFoundError):
            await app.store.debates.get(debate)
    while await app.store.deletions.due(chat.title.casefold()):
        await app.service.clock.sleep(0.02)


async def test_a_debate_is_deleted_once_that_is_confirmed(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        (debate,) = await app.store.debates.recent()
        code = debate.code
        refused_to_ben = await chat.give("ben", "delete", debate=code)
        assert "Only a manager, or its starter" in refused_to_ben.text
        asked = await chat.give("ada", "delete", debate=code)
        assert f"This deletes debate `{code}` (“Tea beats coffee”) for good" in asked.text
        assert "is stopped first" in asked.text
        assert list(asked.buttons) == [f"rostrum:delete:{code}"]
        await chat.react("ben", ballot, "A")
        await known(app, 1)
        late = await chat.press("ada", asked, f"rostrum:delete:{code}")
        assert "People have voted" in late.text
        assert len(shown(chat)) > 5
        by_manager = await chat.give("olga", "delete", debate=code)
        begun = await chat.press("olga", by_manager, f"rostrum:delete:{code}")
        assert f"Debate `{code}` is being deleted" in begun.text
        await gone(app, chat, debate.id)
        # The person who voted has no record left; the chat goes on as before.
        assert not (await app.store.people.traces(chat.title.casefold(), user(chat, "ben"))).known
        await chat.start(topic="Rain is better than sun")
        assert len(await app.store.debates.recent()) == 1


@pytest.mark.postgresql
async def test_a_running_debate_and_its_mirror_are_stopped_and_deleted_after_a_kill(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        await chat.start(mirror=True, model_a="rehearsal/maple", model_b="rehearsal/willow")
        debates = await app.store.debates.recent()
        fail_deletions(chat)
        code = debates[0].code
        offered = await chat.give("ada", "delete", debate=code)
        assert list(offered.buttons) == [f"rostrum:delete:{code}", f"rostrum:delete_both:{code}"]
        both = await chat.press("ada", offered, f"rostrum:delete_both:{code}")
        assert "are being deleted" in both.text
        due = app.store.deletions.due
        while not all(one.messages is not None for one in await due(chat.title.casefold())):
            await app.service.clock.sleep(0.02)
        assert await app.store.debates.recent() == []
        assert shown(chat)
    chat.faults.clear()
    async with chat.stage.process() as app:
        await gone(app, chat, *(debate.id for debate in debates))


async def test_where_it_may_manage_threads_the_thread_goes_too(on_discord: DiscordStage) -> None:
    discord, chat = on_discord.discord, OnDiscord(on_discord)
    guild = discord.guild
    for role in guild.members[discord.world.bot.id]:
        guild.roles[role].permissions |= FLAGS["manage_threads"]
    async with on_discord.process() as app:
        await vote(chat)
        (debate,) = await app.store.debates.recent()
        assert [thread.id for thread in discord.threads()] == [debate.thread]
        begun = await chat.give("olga", "delete", debate=debate.code, confirm=True)
        assert "is being deleted" in begun.text
        await gone(app, chat, debate.id)
        assert discord.threads() == []
        # Once for the thread, once for the card: nothing is asked about messages that went with it.
        deleted = [sent.path for sent in discord.sent if sent.method == "DELETE"]
        assert len([path for path in deleted if "reactions" not in path]) == 2


def fail_deletions(chat: Chat) -> None:
    """Let the platform be away for whatever deletes."""
    if isinstance(chat, OnDiscord):
        for path in ("/channels/*/messages/*", "/channels/*"):
            chat.discord.fail(status(503), "DELETE", path, times=-1)
    else:
        chat.slack.fail(status(503), "chat.delete", times=-1)


def user(chat: Chat, name: str) -> str:
    """Return a person's id."""
    world: Any = chat.discord.world if isinstance(chat, OnDiscord) else chat.slack.world
    return str(world.user(name).id)
