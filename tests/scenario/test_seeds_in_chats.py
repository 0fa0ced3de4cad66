"""The bot's own reactions on Discord and on Slack: there while a question is open, then gone."""

from __future__ import annotations

import pytest

import engine.delivery.seeds
from engine.values.judging import Question
from tests.doubles.faults import drop, status
from tests.kit import until, until_asked
from tests.scenario.chat_stage import NOBODY, Chat, close, said, vote
from tests.scenario.discord_stage import counted_in, known, pass_deadline, voting


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(engine.delivery.seeds, "LONGEST_PAUSE", 0.05)


async def test_they_go_as_each_question_closes_and_peoples_stay(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, round_votes=True, confidence=True)
        await voting(app)
        ahead = [m.id for m in chat.thread() if m.title.startswith("After ")]
        await until(lambda: not any(map(chat.seeds, ahead)))
        sure = (await said(chat, "How clear was it?")).id
        await until(lambda: len(chat.seeds(sure)) == 3)
        assert len(ahead) == 3
        assert len(chat.seeds(ballot)) == 4
        turn = next(m.id for m in chat.thread() if "turn 1 of 8" in m.title)
        for message, option in ((ballot, "A"), (sure, "close"), (turn, "up")):
            await chat.react("ada", message, option)
        await known(app, 1, Question.CONFIDENCE)
        assert counted_in(await close(chat)) == NOBODY | {"A": 1}
        await until(lambda: not chat.seeds(ballot) | chat.seeds(sure))
        debate = await chat.ended(app)
        left = [m for m in chat.thread() if m.reactions]
        assert [m.id for m in left] == [turn, ballot, sure]
        assert all(len(m.reactions) == 1 for m in left)
        assert len(await app.store.votes.events(debate.id)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["failing", "cut"])
async def test_a_removal_that_fails_for_now_is_done_later_by_the_next_process_too(
    chat: Chat, trouble: str
) -> None:
    """A mark on the closed question remembers it; what people hold was read before."""
    faults = {"failing": status(503), "cut": drop("after")}
    chat.fail_unseeding("B", faults[trouble])
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        await voting(app)
        await chat.react("ada", ballot, "B")
        await known(app, 1)
        assert counted_in(await close(chat)) == NOBODY | {"B": 1}
        await until(lambda: len(chat.seeds(ballot)) == (3 if trouble == "failing" else 2))
        await chat.ended(app)
    chat.faults.clear()
    async with chat.stage.process() as app:
        await until(lambda: not chat.seeds(ballot))
        assert chat.held(ballot) == NOBODY | {"B": 1}
        debate = await chat.ended(app)
        assert len(await app.store.votes.events(debate.id)) == 1
        assert [noted.act for noted in await app.store.votes.interventions(debate.id)] == []


@pytest.mark.slow
async def test_a_message_that_is_deleted_meanwhile_and_a_vote_closed_while_away(
    chat: Chat,
) -> None:
    """The last reading comes first: a vote that nothing counted yet keeps its seeds until then."""
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        await voting(app)
    await chat.react("ada", ballot, "A")
    await pass_deadline(chat.stage.url)
    async with chat.stage.process() as app:
        assert counted_in((await said(chat, "Reveal")).text) == NOBODY | {"A": 1}
        await until(lambda: not chat.seeds(ballot))
        await chat.ended(app)
        chat.fail_unseeding("A", status(503))
        second = await vote(chat)
        await voting(app)
        await close(chat)
        await chat.ended(app)
        chat.delete(second)
        chat.faults.clear()
        platform = next(iter(app.deliveries))
        await until_asked(lambda: app.store.votes.seeds_left(platform), lambda left: not left)
