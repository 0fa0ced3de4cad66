"""A reveal as people in Discord and Slack read it: the outcome first, and the rest on demand."""

import re

from engine.values.text import marked
from tests.kit import some, until
from tests.scenario.chat_stage import Chat, OnDiscord, close, said, vote
from tests.scenario.discord_stage import known, voting

NUMBERS = re.compile(r"\d%|ballot|reading|\bread (A|B)\b|USD|\$\d|model calls|not independent:")


async def pictured(chat: Chat, user: str, ask: str, name: str, says: str) -> None:
    """Ask for something in private: Discord shows a picture of it, Slack can show none there."""
    if not isinstance(chat, OnDiscord):
        return
    if ask == "why":
        card = chat.announcement
        asked = chat.discord.press(user, card, chat.buttons(card)["Why?"])
    else:
        asked = chat.discord.slash(user, f"debate {ask}")
    shown = some((await asked.finished()).answer)
    (picture,) = shown.attachments
    assert picture.filename == name
    assert picture.data.startswith(b"\x89PNG")
    assert says in (picture.description or "")


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
        why = await chat.push("cleo", message, "Why?")
        assert re.search(r"- `\w+/\S+` for \*\*.+\*\*: ", why)
        assert "**Mean marks:**" in why
        assert re.search(r"logic: 🔵 A \d\.\d · 🔴 B \d\.\d", why)
        assert re.search(r"(?m)^\W*🔵 A–🔴 B: logic \d+(\.\d)?–\d+(\.\d)?, ", why)
        assert not NUMBERS.search(why)
        details = await chat.push("cleo", message, "Details")
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
        assert "**Mean marks:**" in await chat.push("cleo", chat.announcement, "Why?")
        files = None if isinstance(chat, OnDiscord) else len(chat.slack.world.files)
        await pictured(chat, "cleo", "why", "marks.png", "The jury's mean marks. logic: A ")
        assert "revealed debate here" in await chat.ask("ben", "me")
        await pictured(chat, "ben", "me", "record.png", "As the people did: ")
        if not isinstance(chat, OnDiscord):
            assert len(chat.slack.world.files) == files
