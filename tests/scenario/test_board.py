"""What an announcement shows of its debate as that goes on: edited, seldom, and true in the end."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

import engine.delivery.outbox
import engine.formats
from adapters.database.database import SqlDatabase
from engine.run.order import Order
from engine.values.debate import Status
from engine.values.errors import MessageGoneError, VenueAwayError, VenueGoneError
from engine.values.messages import Announcement, Progress
from engine.values.ports import VenueLimits
from engine.words.card import Reference
from tests.doubles.hall import DEFAULTS, LOBBY, QUICK, Hall
from tests.doubles.venue import AttentiveVenue, Fault, MemoryVenue, StoredMessage
from tests.kit import held_at, until

GAP = 0.05
BRIEF = DEFAULTS.model_copy(update={"vote_minutes": 0.002})
LIMITS = VenueLimits(typing_seconds=60, send_seconds=0.2, state_seconds=0.02, edit_seconds=GAP)


@pytest.fixture
def hall(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Hall:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    return Hall(database_url, MemoryVenue(limits=LIMITS))


def announcement(hall: Hall) -> StoredMessage:
    return hall.venue.places[LOBBY][0]


def edits(hall: Hall) -> list[float]:
    return [call.at for call in hall.venue.seen if call.method == "edit" and call.place == LOBBY]


async def shown(hall: Hall, what: str, times: int = 1) -> None:
    await until(lambda: sum(what in m.body for m in hall.venue.places[LOBBY]) >= times)


async def test_an_announcement_shows_each_state_under_its_own_reference(hall: Hall) -> None:
    async with hall.open() as session:
        with held_at("turn/rebuttal/B"):
            debate_id = await session.start()
            await shown(hall, "B is writing the rebuttal")
        await shown(hall, "Vote now in")
        await session.service.close_vote(debate_id)
        await shown(hall, "Read the whole debate")
    assert announcement(hall).body.endswith(
        Reference.read(announcement(hall).reference).small_print
    )
    assert len(hall.venue.places[LOBBY]) == 1


async def test_several_debates_share_one_distance_between_edits(hall: Hall) -> None:
    async with hall.open() as session:
        ids = [await session.start() for _ in range(4)]
        for debate_id in ids:
            await session.voting(debate_id)
        await shown(hall, "Vote now in", times=4)
    assert all(later - earlier >= GAP for earlier, later in pairwise(edits(hall)))


async def test_an_end_that_the_last_process_did_not_show_is_shown_by_the_next(hall: Hall) -> None:
    hall.venue.limits = QUICK
    async with hall.open() as session:
        ended = await session.ended(await session.start(BRIEF))
    assert ended.status is Status.CLOSED
    assert "over" not in announcement(hall).body
    hall.venue.limits = LIMITS
    async with hall.open():
        await shown(hall, "Read the whole debate")


@pytest.mark.slow
async def test_a_debate_that_began_and_ended_between_two_looks_is_shown(hall: Hall) -> None:
    hall.venue.limits = replace(LIMITS, state_seconds=1.0)
    gone = VenueGoneError("Rostrum may not open threads in #lobby; allow it there.")
    hall.venue.misbehave("open_thread", Fault(gone))
    async with hall.open() as session:
        await asyncio.sleep(0.2)
        ended = await session.ended(await session.start(BRIEF))
        assert ended.gone
        await shown(hall, "may not open threads")
        before = len(edits(hall))
        await asyncio.sleep(1.5)
        assert len(edits(hall)) == before


async def test_a_platform_that_is_away_gets_the_newest_state_later_and_once(hall: Hall) -> None:
    away = VenueAwayError("The platform cannot be reached.", retry_after=0.01)
    hall.venue.misbehave("edit", *[Fault(away)] * 3)
    async with hall.open() as session:
        await session.voting(await session.start())
        await shown(hall, "Vote now in")
        before = len(edits(hall))
        await asyncio.sleep(10 * LIMITS.edit_seconds)
        assert len(edits(hall)) == before


async def test_a_deleted_announcement_ends_no_debate(hall: Hall) -> None:
    gone = MessageGoneError("There is no such message any more; it was deleted.")
    hall.venue.misbehave("edit", *[Fault(gone)] * 3)
    async with hall.open() as session:
        ended = await session.ended(await session.start(BRIEF))
    assert (ended.status, ended.gone) == (Status.CLOSED, False)


async def test_a_defect_of_one_edit_ends_neither_the_board_nor_the_process(hall: Hall) -> None:
    defects = [AttributeError("list has no get"), KeyError("ts"), RecursionError()]
    hall.venue.misbehave("edit", *map(Fault, defects))
    with capture_logs() as logs:
        async with hall.open() as session:
            debate_id = await session.start()
            await session.voting(debate_id)
            await session.service.close_vote(debate_id)
            await shown(hall, "Read the whole debate")
    said = [log for log in logs if log["event"] == "unhandled error in a status update"]
    assert said[0]["why"] == "list has no get"
    assert all(log["log_level"] == "error" for log in said)


async def test_a_debate_whose_format_is_gone_keeps_no_other_from_being_shown(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hall.open() as session:
        await session.voting(await session.start())
    monkeypatch.setattr(engine.formats, "FORMATS", {})
    async with hall.open() as session:
        await shown(hall, "Vote now in")
        (asked,) = await session.store.votes.due("memory")
        await session.service.close_vote(asked.debate)
        await shown(hall, "Read the whole debate")


async def test_a_card_names_models_only_once_no_vote_on_a_mirror_is_open_also_after_a_restart(
    database_url: str,
) -> None:
    venue = AttentiveVenue(limits=LIMITS)
    order = Order(platform="memory", community="club", place=LOBBY, mirror=True)
    hall = Hall(database_url, venue)

    def told(code: str) -> list[Progress]:
        said = [m for m in venue.meant if isinstance(m, Announcement) and m.code == code]
        return [one.progress for one in said if one.progress and one.progress.result]

    async def veils(*codes: str, veiled: bool = False) -> None:
        await until(lambda: all(told(c) and told(c)[-1].veiled is veiled for c in codes))

    async with hall.open() as session:
        started = await session.service.start(order, DEFAULTS)
        assert started.mirror is not None
        codes = started.debate.code, started.mirror.code
        for debate in (started.debate, started.mirror):
            await session.until(debate.id, lambda found: found.vote_opened_at)
        assert not any(map(told, codes))
        await session.service.close_vote(started.debate.id)
        await veils(*codes)
        assert all(one.revealed == "thread" for code in codes for one in told(code))
        for debate in (started.debate, started.mirror):
            await session.ended(debate.id)
    # As if it had not waited for its mirror, and nothing had run for two days since.
    database = SqlDatabase(database_url)
    ago = datetime.now(UTC) - timedelta(days=2)
    await database.run("UPDATE debates SET created_at = :ago, revealed_at = :ago", ago=ago)
    reopened = "UPDATE debates SET status = 'running', revealed_at = NULL WHERE id = :id"
    await database.run(reopened, id=started.mirror.id)
    await database.close()
    venue.meant.clear()
    async with hall.open() as session:
        await veils(codes[0], veiled=True)
        over = "UPDATE debates SET status = 'failed' WHERE id = :id"
        await session.store.database.run(over, id=started.mirror.id)
        await veils(codes[0])
        assert told(codes[0])[-1].revealed == "thread"
