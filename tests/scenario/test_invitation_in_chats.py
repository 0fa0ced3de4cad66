"""The invitation to vote, as people in Discord and Slack read it."""

from __future__ import annotations

import re

from tests.kit import until
from tests.scenario.chat_stage import Chat, OnDiscord, Shown, said, vote
from tests.scenario.discord_stage import pass_deadline, voting

CLOSES = re.compile(r"Closes <t:(\d+):R>|Closes <!date\^(\d+)\^")


def whole(chat: Chat, shown: Shown) -> str:
    """Return everything that a message shows."""
    if isinstance(chat, OnDiscord):
        return shown.text
    return str(chat.slack.world.find(shown.id).blocks).replace("\\n", "\n")


def closes(chat: Chat, shown: Shown) -> int:
    """Return when an invitation says that its vote closes."""
    found = CLOSES.search(whole(chat, shown))
    assert found, whole(chat, shown)
    return next(int(moment) for moment in found.groups() if moment)


async def test_it_recalls_the_debate_and_says_when_it_closes_also_after_an_extension(
    chat: Chat,
) -> None:
    chat.stage.settings |= {"default_quorum": 5, "default_extend": True}
    async with chat.stage.process() as app:
        await vote(chat)
        debate = await voting(app)
        shown = await said(chat, "Vote")
        text = whole(chat, shown)
        assert "Tea beats coffee" in text
        assert "What each side says at the end:" in text
        for side in ("🔵 A", "🔴 B"):
            assert re.search(rf"\*\*{side}:\*\* \S+", text), side
        first = next(one for one in chat.thread() if "opening" in one.title)
        link = re.search(r"\[Read it from the first turn\]\((\S+?)\)", text)
        assert link
        assert first.id.replace(".", "") in link[1]
        assert "**Who debated better?**" in text
        assert not any(model.ref in text for model in debate.request.sides.values())
        assert debate.vote_deadline is not None
        until_then = closes(chat, shown)
        assert abs(until_then - debate.vote_deadline.timestamp()) < 60
    await pass_deadline(chat.stage.url)
    async with chat.stage.process() as app:
        await until(lambda: edited(chat, shown.id))
        extended = await voting(app)
        assert extended.vote_extended
        assert extended.vote_deadline is not None
        assert closes(chat, again(chat, shown)) == int(extended.vote_deadline.timestamp())
        assert closes(chat, again(chat, shown)) >= until_then
        assert [one.title for one in chat.thread()].count("Vote") == 1


def again(chat: Chat, shown: Shown) -> Shown:
    return next(one for one in chat.thread() if one.id == shown.id)


def edited(chat: Chat, message: str) -> bool:
    """Return whether the bot has edited a message."""
    if isinstance(chat, OnDiscord):
        sent = chat.discord.sent
        return any(one.method == "PATCH" and one.path.endswith(message) for one in sent)
    return chat.slack.world.find(message).edited is not None
