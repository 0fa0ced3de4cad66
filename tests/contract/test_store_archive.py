"""What every Store must do for exports: one consistent view of the debates that have ended."""

import asyncio
from itertools import pairwise

import pytest

from engine.store import Closing, DebateRecord, ExportFilter, Store, count_rehearsals
from engine.values.debate import Status
from tests.kit import (
    NO_CAPS,
    NOW,
    ballot,
    begin,
    cast,
    create,
    make_setup,
    new_debate,
    real,
    run,
    some,
    turn,
    turn_post,
    verdict,
    vote,
    votes_in,
)

ALL = ExportFilter()


async def read(store: Store, where: ExportFilter = ALL) -> list[DebateRecord]:
    def collect() -> list[DebateRecord]:
        with store.archive.reading(where) as records:
            return list(records)

    return await asyncio.to_thread(collect)


async def test_only_debates_that_have_ended_are_read(store: Store) -> None:
    await create(store, new_debate())
    await run(store)
    sealed = await run(store)
    await store.journal.record_verdict(sealed.lease, sealed.id, verdict(), {"jury/x": ballot()})
    await sealed.advance(Status.VOTING)
    ended = []
    for status in (Status.PARTIAL, Status.CANCELLED, Status.FAILED):
        r = await run(store)
        await r.advance(status)
        ended.append(r.id)
    assert [record.debate.id for record in await read(store)] == sorted(ended)
    await sealed.advance(Status.CLOSED)
    assert len(await read(store)) == 4


async def test_a_debate_is_settled_once_its_mirror_has_ended_too(store: Store) -> None:
    one = new_debate()
    other = new_debate(setup=make_setup().model_copy(update={"mirror_of": one.id}))
    await store.debates.create([(one, []), (other, [])], NO_CAPS)
    first, second = [await begin(store, debate.id) for debate in (one, other)]
    await first.advance(Status.CANCELLED)
    settled = ExportFilter(settled=True)
    assert [record.debate.id for record in await read(store)] == [first.id]
    assert await read(store, settled) == []
    await second.advance(Status.FAILED)
    assert len(await read(store, settled)) == 2


async def test_a_record_holds_everything_of_its_debate(store: Store) -> None:
    r = await run(store)
    await r.call("turn/round1/A", number=1, text=None, cost=None)
    await r.call("turn/round1/A", number=2, text="Tea wakes gently.", cost=0.5)
    await r.call("jury/oak/AB", text="raw", cost=0.25)
    for number in (2, 1):
        await store.journal.record_turn(r.lease, r.id, turn(number), turn_post(number))
    await store.journal.record_verdict(r.lease, r.id, verdict(), {"jury/oak/AB": ballot()})
    await r.open_vote()
    for user in ("user-1", "user-2"):
        await store.votes.cast(cast(user))
    closing = Closing(votes=(vote(2, "B"), vote(1, "A")), posts=())
    await store.votes.close(r.lease, r.id, NOW, False, lambda _: closing)
    (record,) = await read(store)
    assert record.debate == await r.get()
    assert record.turns == (turn(1), turn(2))
    assert record.verdict == verdict()
    assert [ballot.raw for ballot in record.ballots] == ["raw"]
    assert votes_in(record) == (vote(1, "A"), vote(2, "B"))
    tries = [(call.step, call.attempt, call.cost, call.error) for call in record.calls]
    assert tries == [
        ("jury/oak/AB", 1, 0.25, ""),
        ("turn/round1/A", 1, None, "503"),
        ("turn/round1/A", 2, 0.5, ""),
    ]
    assert some(record.calls[2].reply).text == "Tea wakes gently."
    assert record.calls[1].reply is None


@pytest.mark.parametrize(
    ("where", "topics"),
    [
        (ExportFilter(), {"club-en", "club-tr", "guild-en", "club-team"}),
        (ExportFilter(community="club"), {"club-en", "club-tr", "club-team"}),
        (ExportFilter(community="nowhere"), set()),
        (ExportFilter(platform="chat"), {"club-en", "club-tr", "guild-en", "club-team"}),
        (ExportFilter(platform="talk"), set()),
        (ExportFilter(platform="chat", revealed=True), {"club-en"}),
        (ExportFilter(languages=("tr", "de")), {"club-tr"}),
        (ExportFilter(formats=("team",)), {"club-team"}),
        (ExportFilter(community="guild", formats=("classic",), languages=("en",)), {"guild-en"}),
    ],
)
async def test_an_export_can_be_narrowed(
    store: Store, where: ExportFilter, topics: set[str]
) -> None:
    for topic, community, request in (
        ("club-en", "club", {}),
        ("club-tr", "club", {"language": "tr"}),
        ("guild-en", "guild", {}),
        ("club-team", "club", {"format": "team"}),
    ):
        new = new_debate(community=community, request={"topic": topic, **request})
        r = await run(store, new)
        if topic == "club-en":
            await r.open_vote()
            closing = Closing(votes=(), posts=())
            await store.votes.close(r.lease, r.id, NOW, False, lambda _: closing)  # noqa: B023
        else:
            await r.advance(Status.CANCELLED)
    assert {record.debate.request.topic for record in await read(store, where)} == topics


async def test_rehearsal_debates_are_counted_and_left_out(store: Store) -> None:
    ids = []
    for new in (new_debate(), real(new_debate())):
        r = await run(store, new)
        await r.advance(Status.FAILED)
        ids.append(r.id)
    where = ExportFilter(without_rehearsal=True)
    assert [record.debate.id for record in await read(store, where)] == ids[1:]
    assert await asyncio.to_thread(count_rehearsals, store.archive, where) == 1
    assert await asyncio.to_thread(count_rehearsals, store.archive, ALL) == 0


async def test_more_debates_than_are_read_at_once_come_complete(store: Store) -> None:
    running = await asyncio.gather(*(run(store) for _ in range(205)))
    await asyncio.gather(*(r.call("turn/round1/A", text=f"by {r.id}") for r in running))
    await asyncio.gather(*(r.advance(Status.FAILED) for r in running))
    records = await read(store)
    ids = [record.debate.id for record in records]
    assert set(ids) == {r.id for r in running}
    assert all(first < second for first, second in pairwise(ids))
    for record in records:
        assert record.calls[0].reply is not None
        assert record.calls[0].reply.text == f"by {record.debate.id}"


async def test_a_view_stays_as_it_was_while_writes_go_on(store: Store) -> None:
    running = await asyncio.gather(*(run(store) for _ in range(105)))
    await asyncio.gather(*(r.advance(Status.FAILED) for r in running[:-1]))
    loop = asyncio.get_running_loop()

    async def write() -> None:
        await running[-1].advance(Status.FAILED)
        again = max(running[:-1], key=lambda r: r.id)
        await store.queue.requeue(again.id, NO_CAPS, NOW)

    def collect() -> list[str]:
        with store.archive.reading(ALL) as records:
            ids = [next(records).debate.id]
            asyncio.run_coroutine_threadsafe(write(), loop).result(10)
            return ids + [record.debate.id for record in records]

    seen = await asyncio.to_thread(collect)
    assert seen == sorted(r.id for r in running[:-1])
    assert len(await read(store)) == 104


async def test_an_export_that_is_left_halfway_holds_nothing_up(store: Store) -> None:
    r = await run(store)
    await r.advance(Status.FAILED)

    def leave() -> None:
        with store.archive.reading(ALL) as records:
            next(records)

    await asyncio.to_thread(leave)
    await store.queue.requeue(r.id, NO_CAPS, NOW)
    assert await read(store) == []
