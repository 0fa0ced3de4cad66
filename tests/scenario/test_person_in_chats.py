"""A person as a side on Discord and on Slack: asked by buttons, heard by a form or a thread."""

import pytest

from engine.store import Store
from tests.kit import until
from tests.scenario.chat_stage import Chat, OnDiscord, Shown, close, said
from tests.scenario.discord_stage import voting
from tests.scenario.test_slack_home import opened
from tests.scenario.test_suggested_topics import change


async def invited(chat: Chat, started: str) -> Shown:
    """Wait until the person is asked; return the message that asks."""
    assert "Your debate waits for the person you named" in started
    assert "It begins once the person agrees." in started
    assert "starts now" not in started
    await until(chat.thread)
    return await said(chat, "Will you argue a side?")


async def turn(chat: Chat, round_name: str) -> str:
    found = await said(chat, f"🔴 It is your turn: {round_name}")
    assert chat.pings(found.id) == {"ben"}
    return found.id


async def test_a_person_is_asked_then_writes_by_form_or_in_the_thread(chat: Chat) -> None:
    async with chat.stage.process() as app:
        who = chat.mention("ben")
        started = await chat.start(model_b=who, length="short", turn_minutes="20m")
        asked = await invited(chat, started)
        assert "🔴 B is a person, not a model" in chat.card.replace("*", "")
        await until(lambda: "Waiting for the person who was asked" in chat.card)
        assert chat.pings(asked.id) == {"ben"}
        assert "It waits for the person who was asked" in await chat.ask("ada", "status")
        assert "It has 4 turns for you, with up to 20 minutes for each." in asked.text
        assert "Only the person" in await chat.push("cleo", asked.id, "Take part")
        assert "You take part" in await chat.push("ben", asked.id, "Take part")
        opening = await turn(chat, "opening")
        await until(lambda: "🔴 B is writing the opening" in chat.card.replace("*", ""))
        assert "ben" not in chat.card
        assert "At most 120 words" in next(m for m in chat.thread() if m.id == opening).text
        too_long = await chat.fill("ben", opening, "Write your turn", text="word " * 121)
        assert "at most 120 are allowed" in too_long
        assert "word word" in too_long, "nothing of it is lost"
        refused = await chat.push("cleo", opening, "Write your turn")  # no form opens
        assert "Only the person" in refused
        taken = await chat.fill("ben", opening, "Write your turn", text="Coffee wakes, says ben.")
        assert "Rostrum has your turn of 4 words and posts it." in taken
        rebuttal = await turn(chat, "rebuttal")
        assert chat.buttons(opening) == {}
        assert "There is nothing of yours" in await chat.push("ben", rebuttal, "Done")
        first = chat.write("ben", "Tea is slow.")
        chat.write("cleo", "And dull!")
        gone = chat.write("ben", "A slip.")
        chat.rewrite("ben", first, "Tea is slow, & weak.")
        chat.delete(gone)
        assert "your turn of" in await chat.push("ben", rebuttal, "Done")
        for number, name in enumerate(("assumptions", "closing")):
            message = await turn(chat, name)
            await chat.fill("ben", message, "Write your turn", text=f"Point {number}.")
        await voting(app)
        (debate,) = await app.store.listings.recent(limit=1)
        held = (await app.store.journal.read(debate.id, "turns")).turns
        own = [one.text for one in held if one.side == "B"]
        assert own == ["Coffee wakes, says [name].", "Tea is slow, & weak.", "Point 0.", "Point 1."]
        shown = "\n".join(message.text for message in chat.thread())
        assert "written by a person" in shown
        reveal = await close(chat)
        await chat.ended(app)
        assert "🔴 B (against it) was a person" in reveal.replace("*", "")
        assert "somebody" not in "\n".join(message.text for message in chat.thread())


async def test_a_form_that_could_not_be_sent_is_refused_while_the_database_is_away(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was checked in the database, and nobody answered for as long as that was away."""
    async with chat.stage.process():
        started = await chat.start(model_b=chat.mention("ben"), length="short", turn_minutes="20m")
        asked = await invited(chat, started)
        await chat.push("ben", asked.id, "Take part")
        opening = await turn(chat, "opening")
        monkeypatch.setattr(Store, "away", True)
        refused = await chat.push("ben", opening, "Write your turn")
        monkeypatch.undo()
        assert refused.strip() == "The database is away; try again in a minute."


async def test_two_people_are_refused_consent_is_waited_for_and_who_declines_calls_it_off(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        both = await chat.start(model_a=chat.mention("ada"), model_b=chat.mention("ben"))
        assert "Only one side can be a person" in both
        mirrored = await chat.start(model_b=chat.mention("ben"), mirror=True)
        assert "leave mirror out" in mirrored
        assert "`turn_minutes`: 7 (set here)" in await change(chat, "turn_minutes", "7m")
        asked = await invited(chat, await chat.start(model_b=chat.mention("ben")))
        assert "with up to 7 minutes for each" in asked.text
        # Both said that it was being debated.
        assert "waiting for a person" in await chat.ask("ada", "list")
        if not isinstance(chat, OnDiscord):
            home = await opened(chat.slack, "cleo", "Waiting for the person who was asked to argue")
            assert "Being debated" not in home
        assert "called off" in await chat.push("ben", asked.id, "No, thanks")
        debate = await chat.ended(app)
        assert "declined" in debate.reason
        await until(lambda: "declined" in chat.card)
