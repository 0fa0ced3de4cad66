"""A connection that serves one channel leaves the others to whoever serves them."""

from __future__ import annotations

import pytest

import engine.delivery.outbox
from engine.run.plan import Order
from engine.store import OpenQuestion
from engine.values.debate import Status
from tests.doubles.hall import DEFAULTS, LOBBY, QUICK, Hall
from tests.doubles.venue import MemoryVenue


@pytest.fixture
def hall(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Hall:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    venue = MemoryVenue(limits=QUICK)
    venue.channel = LOBBY
    return Hall(database_url, venue)


async def test_another_terminals_debate_is_not_shown_or_closed_here(hall: Hall) -> None:
    async with hall.open() as session:
        elsewhere = Order(platform="memory", community="club", place="elsewhere", seed=8)
        other = (await session.service.start(elsewhere, DEFAULTS)).debate.id
        mine = await session.start()
        await session.voting(mine)
        await session.delivery.settled(mine)
        waiting = await session.until(other, lambda debate: debate.status is Status.RUNNING)
        assert waiting.thread is None
        assert await session.store.outbox.waiting("memory", LOBBY) == []
        assert await session.store.outbox.waiting("memory", "elsewhere") == [other]
        assert await session.store.outbox.waiting("memory") == [other]
        assert await session.store.journal.thinking("memory", "elsewhere") == []
        assert list(await session.store.votes.due("memory", LOBBY)) == [OpenQuestion(mine)]
    assert len(hall.venue.threads) == 1
