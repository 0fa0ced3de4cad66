"""Votes on Discord and on Slack: what stands is what people hold, also after an absence."""

from __future__ import annotations

import pytest

import engine.run.invitation
import engine.votes.window
from bot.record.listing import show_debate
from engine.values.debate import Status
from engine.words.reveal import UNREAD
from tests.doubles.faults import drop, garbage, limited, page, status
from tests.kit import record_of
from tests.scenario.chat_stage import NOBODY, Chat, OnDiscord, close, said, vote
from tests.scenario.discord_stage import counted_in, known, pass_deadline, state, until, voting

PEOPLE = ("ada", "ben", "cleo")


async def test_votes_cast_while_nothing_ran_are_counted(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        for user in PEOPLE:
            await chat.react(user, ballot, "A")
        await voting(app)
        await known(app, 3)
    await chat.unreact("ada", ballot, "A")
    await chat.unreact("cleo", ballot, "A")
    await chat.react("cleo", ballot, "B")
    await chat.react("olga", ballot, "B")
    expected = chat.held(ballot)
    async with chat.stage.process() as app:
        await chat.ask("ben", "me", "You have no vote on a revealed debate here yet.")
        assert counted_in(await close(chat)) == expected == NOBODY | {"A": 1, "B": 2}
        debate = await chat.ended(app)
        told = await chat.ask("ben", "me", "**Your votes:** 1 revealed debate here")
        # Two people chose B; a rehearsal jury is compared with no one.
        assert "as the people did: 0 of 1, too few to say much" in told
        assert "as the jury did: nothing to compare yet" in told
        assert str(debate.thread).rpartition("/")[2].replace(".", "") in told
        assert "Tea beats coffee: you 🔵 A" in told
        assert "as the people did: 1 of 1" in await chat.ask("cleo", "me")
        await chat.ask("ada", "me", "You have no vote on a revealed debate here yet.")


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["failing", "cut", "limited", "no JSON", "sign-in page"])
async def test_a_vote_waits_for_the_platform_and_closes_on_what_people_hold(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """One option's page that failed was left out, and the vote closed on what was known before."""
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.05)
    faults = {"failing": status(502), "cut": drop(), "no JSON": garbage()}
    faults["limited"] = limited(0.1 if isinstance(chat, OnDiscord) else 1)
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        for user in PEOPLE:
            await chat.react(user, ballot, "A")
        await voting(app)
        await known(app, 3)
    for user in PEOPLE:
        await chat.unreact(user, ballot, "A")
        await chat.react(user, ballot, "B")
    chat.fail_readings(faults.get(trouble, page("<h1>Sign in</h1>", "text/html")))
    await pass_deadline(chat.stage.url)
    async with chat.stage.process() as app:
        waits = await state(app, lambda debate: debate.reason)
        assert waits.status is Status.VOTING
        await chat.ask("ada", "status", f"Waiting for {chat.title}")
        await until(lambda: f"Waiting for {chat.title}" in chat.card)
        chat.faults.clear()
        reveal = (await said(chat, "Reveal")).text
        assert counted_in(reveal) == NOBODY | {"B": 3}
        assert "could not be read" not in reveal
        assert (await chat.ended(app)).reason == ""


async def test_votes_that_may_never_be_read_are_no_labels(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        await chat.react("ben", ballot, "A")
        await voting(app)
        await known(app, 1)
        chat.forbid_readings(forbidden=True)
        debate = await app.service.close_vote((await voting(app)).id)
        reveal = (await said(chat, "Reveal")).text
        assert counted_in(reveal) == NOBODY | {"A": 1}
        assert "could not be read before the vote closed" in reveal
        record = await record_of(app.store, debate.id)
        assert [(v.gold, v.recovery) for v in record.votes] == [(False, "unread")]
        for command in ("status", "result"):
            await chat.ask("ada", command, "could not be read before the vote closed")
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", chat.stage.url)
    await show_debate(debate.id)
    assert f"votes      {UNREAD}" in capsys.readouterr().out


async def test_rehearsal_models_are_called_what_they_are_and_make_no_labels(chat: Chat) -> None:
    named = "Rehearsal:** The speakers are rehearsal models: they recite prepared text"
    async with chat.stage.process() as app:
        await vote(chat)
        await voting(app)
        assert named in chat.card
        assert named in await close(chat)
        await chat.ended(app)
        for command in ("export", "leaderboard", "agreement"):
            await chat.ask("olga", command, "Only rehearsal debates were revealed here.")
