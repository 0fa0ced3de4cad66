"""Who is ahead after a round, and how clear it was in the end, on Discord and on Slack."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import engine.delivery.outbox
from bot.app import App
from engine.store import DebateRecord
from engine.values.judging import Question
from engine.values.text import REACTIONS, marked
from tests.doubles.faults import status
from tests.kit import HANG_SECONDS, record_of, until
from tests.scenario.chat_stage import NOBODY, Chat, OnDiscord, close, said, vote
from tests.scenario.discord_stage import counted_in, known, voting
from tests.scenario.slack_stage import SlackStage

NEXT_TURN = "turn 3 of 8"


@pytest.fixture(autouse=True)
def _short_pauses(swift: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LONGEST_PAUSE", 0.05)


async def hold_up(chat: Chat, app: App, **options: Any) -> str:
    """Start a debate whose second round cannot be posted yet; return the question of the first."""
    chat.fail_posts(NEXT_TURN, status(503), times=-1)
    await chat.start(round_votes=True, **options)
    await until(chat.thread)
    message = (await said(chat, "After opening")).id
    await taking(app, Question.ROUND)
    return message


async def taking(app: App, question: Question) -> None:
    """Wait until a question that was posted takes answers."""
    (debate,) = await app.store.debates.recent(limit=1)
    async with asyncio.timeout(HANG_SECONDS):
        while not await app.store.votes.targets(debate.id, question):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def newest(app: App) -> DebateRecord:
    (debate,) = await app.store.debates.recent(limit=1)
    return await record_of(app.store, debate.id)


def answers(record: DebateRecord) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in record.asked(Question.ROUND):
        found.setdefault(answer.step, []).append(answer.option)
    return {name: sorted(options) for name, options in found.items()}


async def test_one_tap_says_who_is_ahead_and_the_reveal_shows_the_course(chat: Chat) -> None:
    async with chat.stage.process() as app:
        opening = await hold_up(chat, app)
        asked = await said(chat, "After opening")
        assert "Who is ahead?" in asked.text
        for user, option in (("ada", "A"), ("ben", "A"), ("cleo", "even"), ("olga", "B")):
            await chat.react(user, opening, option)
        await chat.unreact("ben", opening, "A")
        await chat.react("ben", opening, "B")
        await chat.unreact("olga", opening, "B")
        await known(app, 7, Question.ROUND)
        chat.faults.clear()
        await voting(app)
        titles = [message.title for message in chat.thread()]
        reveal = await close(chat)
        await chat.ended(app)
        assert answers(await newest(app)) == {"opening": ["A", "B", "even"]}
    assert "Ahead after opening: 🔵 A 1, 🔴 B 1, even 1" in reveal
    questions = [title for title in titles if title.startswith("After ")]
    assert questions == ["After opening", "After rebuttal", "After assumptions"]
    assert [titles.index(one) for one in questions] == [2, 5, 8]
    assert [m.text for m in chat.thread() if "Ahead after" in m.text] == [reveal]


@pytest.mark.slow
async def test_reactions_of_an_outage_are_read_when_the_round_closes(chat: Chat) -> None:
    async with chat.stage.process() as app:
        opening = await hold_up(chat, app)
        await chat.react("ada", opening, "A")
        await chat.react("ben", opening, "A")
        await known(app, 2, Question.ROUND)
    await chat.unreact("ben", opening, "A")
    await chat.react("cleo", opening, "even")
    chat.faults.clear()
    async with chat.stage.process() as app:
        await voting(app)
        reveal = await close(chat)
        await chat.ended(app)
        assert answers(await newest(app)) == {"opening": ["A", "even"]}
    assert "Ahead after opening: 🔵 A 1, even 1" in reveal


@pytest.mark.slow
async def test_in_a_private_debate_it_is_a_button_that_only_its_person_sees(chat: Chat) -> None:
    async with chat.stage.process() as app:
        opening = await hold_up(chat, app, ballot="private")
        for user, option in (("ada", "A"), ("ben", "even"), ("ada", "B")):
            answer = await press(chat, user, opening, option)
            assert f"Vote recorded: {marked(option)}" in answer
        await known(app, 3, Question.ROUND)
        chat.faults.clear()
        await voting(app)
        reveal = await close(chat)
        await chat.ended(app)
        assert answers(await newest(app)) == {"opening": ["B", "even"]}
    assert "Ahead after opening: 🔴 B 1, even 1" in reveal


async def test_how_clear_it_was_is_one_more_tap_beside_the_vote(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, confidence=True)
        await voting(app)
        sure = (await said(chat, "How clear was it?")).id
        await taking(app, Question.CONFIDENCE)
        for user, option, word in (("ada", "A", "close"), ("ben", "B", "onesided")):
            await chat.react(user, ballot, option)
            await chat.react(user, sure, word)
        await chat.react("cleo", ballot, "A")
        await chat.unreact("ada", sure, "close")
        await chat.react("ada", sure, "onesided")
        await known(app, 4, Question.CONFIDENCE)
        await known(app, 3)
        reveal = await close(chat)
        await chat.ended(app)
        votes = (await newest(app)).asked(Question.VOTE)
    assert counted_in(reveal) == NOBODY | {"A": 2, "B": 1}
    assert sorted((vote.option, vote.confidence) for vote in votes) == [
        *(("A", ""), ("A", "one-sided"), ("B", "one-sided")),
    ]


@pytest.mark.slow
async def test_a_community_asks_both_in_every_debate(chat: Chat) -> None:
    async with chat.stage.process() as app:
        for name in ("round_votes", "confidence"):
            if isinstance(chat, OnDiscord):
                await chat.ask("olga", "settings", f"`{name}`: on", setting=name, value="on")
            else:
                await chat.ask("olga", "settings", f"`{name}`: on", **{name: "on"})
        await chat.start()
        await voting(app)
        await said(chat, "How clear was it?")
        request = (await app.store.debates.recent(limit=1))[0].request
        assert (request.round_votes, request.confidence) == (True, True)
        await close(chat)
        await chat.ended(app)


async def test_slacks_form_asks_for_both(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        asked = await on_slack.slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        entered = {"topic": "Tea beats coffee", "round_votes": "on", "confidence": "on"}
        assert (await on_slack.slack.submit(asked, entered)).errors == {}
        debate = await voting(app)
        assert (debate.request.round_votes, debate.request.confidence) == (True, True)


async def press(chat: Chat, user: str, message: str, option: str) -> str:
    """Press an option's button; return the answer."""
    if isinstance(chat, OnDiscord):
        button = f"rostrum:vote:{option}"
        asked = await chat.discord.press(user, message, button).finished()
        assert asked.ephemeral
        return asked.text
    pressed = await chat.slack.press(user, message, f"{REACTIONS[option]} {option}")
    return await pressed.said("")
