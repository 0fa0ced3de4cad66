"""The bot's own reactions on Discord and on Slack: there while a question is open, then gone."""

import pytest

import engine.delivery.seeds
from engine.values.verdicts import Question
from tests.kit import until
from tests.scenario.chat_stage import NOBODY, Chat, close, said, vote
from tests.scenario.discord_stage import counted_in, known, voting


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(engine.delivery.seeds, "LONGEST_PAUSE", 0.05)


async def test_they_go_as_each_question_closes_and_peoples_stay(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, round_votes=True, confidence="on")
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
