"""Turns posted no faster than people read them: counted from the last post, whatever happens."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

import engine.delivery.outbox
from engine.values.debate import Status
from engine.values.messages import Announcement, TurnPost
from tests.doubles.hall import DEFAULTS, LOBBY, QUICK, Hall, Session
from tests.doubles.venue import AttentiveVenue
from tests.kit import FixedClock, some, until, until_true

PACED = DEFAULTS.model_copy(update={"pace": 238})
LOOK_SECONDS = 0.01
AHEAD = 5  # turns that are written while people read the first


@pytest.fixture
def venue() -> AttentiveVenue:
    # The clock stands still: a send that took longer than this would be in doubt for ever.
    return AttentiveVenue(limits=replace(QUICK, send_seconds=60))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def hall(
    database_url: str, venue: AttentiveVenue, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> Hall:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", LOOK_SECONDS)
    return Hall(database_url, venue, clock)


def posted(venue: AttentiveVenue) -> list[TurnPost]:
    standing = "\n".join(message.body for message in venue.messages.values())
    turns = [one for one in venue.meant if isinstance(one, TurnPost)]
    return [one for one in turns if one.text in standing]


async def looked(session: Session, clock: FixedClock) -> None:
    outbox, looks = session.store.outbox, 0
    look = outbox.waiting

    async def count(*given: Any, **named: Any) -> list[str]:
        nonlocal looks
        looks += 1
        clock.pass_seconds(LOOK_SECONDS)
        return await look(*given, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(outbox, "waiting", count)
        clock.pass_seconds(LOOK_SECONDS)
        await until(lambda: looks > 2)


async def nothing_is_late(session: Session, clock: FixedClock) -> bool:
    """Return whether all that is left to post waits for its readers, which is not late."""
    oldest = [oldest for _, oldest in (await session.store.deliveries.backlog()).values()]
    return all(due is not None and due > clock.now() for due in oldest)


@pytest.mark.slow
async def test_a_turn_waits_until_the_one_before_was_read_and_a_restart_waits_for_the_rest(
    hall: Hall, venue: AttentiveVenue, clock: FixedClock
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(PACED)
        await until(lambda: len(posted(venue)) == 1)
        journal = session.store.journal
        while await journal.turns_held(debate_id) < AHEAD:
            await looked(session, clock)
        first = posted(venue)[0]
        assert 60 * first.words / 300 < first.reading < 60 * first.words / 180
        clock.pass_seconds(first.reading / 2)
        await looked(session, clock)
        assert len(posted(venue)) == 1
    clock.pass_seconds(first.reading / 2 - 1)
    async with hall.open() as session:
        await session.reconcile()
        await looked(session, clock)
        assert len(posted(venue)) == 1
        clock.pass_seconds(1)
        for number in range(2, 9):
            await until(lambda: len(posted(venue)) >= number)  # noqa: B023
            await looked(session, clock)
            newest = posted(venue)[-1]
            assert [turn.number for turn in posted(venue)] == list(range(1, number + 1))
            await until_true(partial(nothing_is_late, session, clock))
            clock.pass_seconds(newest.reading)
        debate = await session.voting(debate_id)
    [card] = (one for one in venue.meant if isinstance(one, Announcement))
    assert clock.now() - some(debate.vote_opened_at) < timedelta(seconds=1)
    assert card.estimate is not None
    assert card.estimate.minutes >= card.estimate.reading
    assert len(venue.places[LOBBY]) == 1


async def test_a_stop_ends_the_wait_at_once(
    hall: Hall, venue: AttentiveVenue, clock: FixedClock
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(PACED)
        await until(lambda: len(posted(venue)) == 1)
        while await session.store.journal.turns_held(debate_id) < AHEAD:
            await looked(session, clock)
        await session.service.cancel(debate_id, "Its starter stopped it.")
        assert (await session.ended(debate_id)).status is Status.CANCELLED
    assert len(posted(venue)) == AHEAD
    assert "stopped" in list(venue.messages.values())[-1].body
