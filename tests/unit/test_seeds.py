"""The bot's own reactions that were refused for now, when another process takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

import engine.delivery.seeds
from adapters.storage.store import SqlStore
from bot.clock import SystemClock
from engine.delivery.seeds import Seeds
from engine.errors import VenueAwayError
from engine.judging import Question
from tests.doubles.memory.venue import MemoryVenue
from tests.doubles.poll import OPTIONS, THREAD, Poll, open_poll


class BusyVenue(MemoryVenue):
    """A platform that takes no reaction of the bot while it is `busy`."""

    busy = False

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        if self.busy:
            raise VenueAwayError("The platform is busy; try again.", retry_after=0.01)
        await super().seed(place, message, options)


async def test_the_next_process_adds_what_was_refused_for_now(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.01)
    venue = BusyVenue()
    poll = await open_poll(store, venue)
    venue.messages[poll.message].seeds.clear()
    venue.busy = True
    await Seeds(venue, store, SystemClock()).plant(
        poll.debate_id, Question.VOTE, poll.message, OPTIONS
    )
    venue.busy = False
    running = asyncio.create_task(Seeds(venue, store, SystemClock()).run())
    try:
        await _until_seeded(venue, poll)
    finally:
        running.cancel()


async def _until_seeded(venue: MemoryVenue, poll: Poll) -> None:
    async with asyncio.timeout(30):
        while (await venue.reactions(THREAD, poll.message)).seeded != set(OPTIONS):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
