"""A reveal as people in Discord and Slack read it: the outcome first, and the rest on demand."""

from __future__ import annotations

import re

from engine.values.text import marked
from tests.kit import until
from tests.scenario.chat_stage import Chat, OnDiscord, close, said, vote
from tests.scenario.discord_stage import known, voting

NUMBERS = re.compile(r"\d%|ballot|reading|\bread (A|B)\b|USD|\$\d|model calls|not independent:")


async def pressed(chat: Chat, user: str, message: str, what: str) -> str:
    """Press a button below a result; return the answer, which this person alone sees."""
    if isinstance(chat, OnDiscord):
        (code,) = {one.rpartition(":")[2] for one in _ids(chat, message)}
        asked = await chat.discord.press(user, message, f"rostrum:{what}:{code}").finished()
        assert asked.ephemeral
        return asked.text
    label = {"why": "Why?", "details": "Details"}[what]
    return await (await chat.slack.press(user, message, label)).said("")


async def pictured(chat: Chat, user: str, ask: str, name: str, says: str) -> None:
    """Ask for something in private: Discord shows a picture of it, Slack can show none there."""
    if not isinstance(chat, OnDiscord):
        return
    (code,) = {one.rpartition(":")[2] for one in _ids(chat, announced(chat))}
    if ask == "why":
        asked = chat.discord.press(user, announced(chat), f"rostrum:why:{code}")
    else:
        asked = chat.discord.slash(user, f"debate {ask}")
    shown = (await asked.finished()).answer
    assert shown is not None
    (picture,) = shown.attachments
    assert picture.filename == name
    assert picture.data.startswith(b"\x89PNG")
    assert says in (picture.description or "")


def announced(chat: Chat) -> str:
    """Return the newest announcement."""
    if isinstance(chat, OnDiscord):
        return chat.discord.messages()[-1].id
    return chat.slack.messages()[-1].ts


def _ids(chat: OnDiscord, message: str) -> list[str]:
    found = chat.discord.world.find_message(message)
    return [one["custom_id"] for row in found.components for one in row["components"]]


async def test_a_reveal_says_who_won_and_why_and_numbers_come_on_demand(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        await voting(app)
        await chat.react("ben", ballot, "A")
        await known(app, 1)
        assert "🏁" not in chat.card
        assert "rehearsal/" not in chat.card
        reveal = await close(chat)
        message = (await said(chat, "Reveal")).id
        lines = reveal.splitlines()
        outcome = next(n for n, line in enumerate(lines) if line.startswith("People: "))
        assert re.match(r"People: \*\*🔵 A\*\* \(1–0\) · Jury: \*\*.+\*\*", lines[outcome])
        assert lines[outcome + 1].startswith("People and jury **")
        for said_why in ("**Why the jury decided so:** ", "- Best point of **🔵 A**: "):
            assert any(line.startswith(said_why) for line in lines), said_why
        assert not NUMBERS.search(reveal)
        why = await pressed(chat, "cleo", message, "why")
        assert re.search(r"- `\w+/\S+` for \*\*.+\*\*: ", why)
        assert "**Mean marks:**" in why
        assert re.search(r"logic: 🔵 A \d\.\d · 🔴 B \d\.\d", why)
        assert re.search(r"(?m)^\W*🔵 A–🔴 B: logic \d+(\.\d)?–\d+(\.\d)?, ", why)
        assert not NUMBERS.search(why)
        details = await pressed(chat, "cleo", message, "details")
        for number in ("**People:** 🔵 A 1", "readings counted", "(read ", "model calls"):
            assert number in details
        # The command tells all of it at once.
        result = await chat.ask("cleo", "result")
        for part in (lines[outcome], "**Mean marks:**", "readings counted"):
            assert part in result
        debate = await chat.ended(app)
        # The card in the channel is the news, and opens the rest too.
        await until(lambda: "🏁" in chat.card)
        card = chat.card.replace("\\n", "\n").splitlines()
        assert f"🏁 {lines[outcome]}" in card
        for side, model in debate.request.sides.items():
            stands = {"A": "for it", "B": "against it"}[side]
            assert f"**{marked(side)}** ({stands}) was `{model.ref}`" in chat.card
        assert any(line.startswith("**Why the jury decided so:** ") for line in card)
        assert " min ·" not in chat.card
        assert not NUMBERS.search(chat.card)
        assert "**Mean marks:**" in await pressed(chat, "cleo", announced(chat), "why")
        files = None if isinstance(chat, OnDiscord) else len(chat.slack.world.files)
        await pictured(chat, "cleo", "why", "marks.png", "The jury's mean marks. logic: A ")
        assert "revealed debate here" in await chat.ask("ben", "me")
        await pictured(chat, "ben", "me", "record.png", "As the people did: ")
        if not isinstance(chat, OnDiscord):
            assert len(chat.slack.world.files) == files
