"""The Store port on mirrored debates: what the reveal of one means for the other."""

from datetime import datetime, timedelta

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Closing, DeliveryState, Post, Store
from engine.values.debate import Status
from engine.values.verdicts import Question, VoteEvent
from engine.votes.outcome import standing
from tests.kit import (
    LATER,
    NO_CAPS,
    NOW,
    Running,
    begin,
    cast,
    create,
    make_setup,
    new_debate,
    notice,
    record_of,
    some,
    turn,
    turn_post,
)

REVEALED = NOW + timedelta(minutes=10)


async def open_pair(store: Store) -> tuple[Running, Running]:
    """Open the votes on two debates that mirror each other, in threads of their own."""
    first = new_debate(user=None)
    setup = make_setup().model_copy(update={"mirror_of": first.id})
    second = new_debate(user=None, setup=setup)
    await store.debates.create([(first, []), (second, [])], NO_CAPS)
    return await opened(store, first.id, "one"), await opened(store, second.id, "two")


async def opened(store: Store, debate_id: str, thread: str) -> Running:
    held = await begin(store, debate_id)
    lease = held.lease
    await store.outbox.set_thread(lease, debate_id, thread)
    await store.journal.record_turn(lease, debate_id, turn(), turn_post())
    sent = some(await store.outbox.next(debate_id)).model_copy(update={"refs": (f"turn-{thread}",)})
    await store.outbox.settle(lease, sent, DeliveryState.SENT)
    await store.votes.open(lease, debate_id, f"vote-{thread}", NOW, LATER)
    await held.advance(Status.VOTING)
    return held


async def reveal(r: Running, at: datetime) -> None:
    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        return Closing(votes=(), posts=(Post(key="reveal", message=notice("r").message),))

    await r.store.votes.close(r.lease, r.id, at, False, conclude)


async def choose(store: Store, user: str, option: str, minutes: float, **fields: object) -> None:
    at = NOW + timedelta(minutes=minutes)
    where = {"place": "two", "message": "vote-two"} | fields
    await store.votes.cast(cast(user, option, received_at=at, **where))


async def test_what_is_chosen_after_the_mirrors_reveal_is_no_gold(store: Store) -> None:
    first, second = await open_pair(store)
    await choose(store, "ann", "A", 5)
    for user in ("bob", "dee"):
        await choose(store, user, "A", 5)
    await reveal(first, REVEALED)
    await choose(store, "bob", "B", 11)
    await choose(store, "cem", "B", 10)
    await choose(store, "dee", "B", 11)
    await choose(store, "dee", "B", 12, added=False)
    debate = await second.get()
    assert debate.mirror_revealed_at == REVEALED
    votes = standing(debate, await store.votes.events(second.id, Question.VOTE))
    told = [(vote.option, vote.mirror_revealed, vote.gold) for vote in votes]
    assert told == [
        ("A", False, True),
        ("B", True, False),
        ("A", True, False),  # who goes back has seen it as well
        ("B", True, False),
    ]


async def test_either_one_may_be_revealed_first_and_nobody_else_is_told(store: Store) -> None:
    first, second = await open_pair(store)
    alone = new_debate(user=None)
    await create(store, alone)
    other = await opened(store, alone.id, "three")
    await reveal(second, REVEALED)
    await reveal(first, LATER)
    assert (await first.get()).mirror_revealed_at == REVEALED
    # Nothing could be chosen on it any more when the other was revealed.
    assert (await second.get()).mirror_revealed_at is None
    assert (await other.get()).mirror_revealed_at is None


async def test_a_thumb_after_the_mirrors_reveal_is_not_blind(store: Store) -> None:
    first, second = await open_pair(store)
    await choose(store, "ann", "up", 5, message="turn-two")
    await reveal(first, REVEALED)
    await choose(store, "bob", "up", 11, message="turn-two")
    await reveal(second, LATER)

    record = await record_of(store, second.id)
    assert [label.blind for label in record.labels] == [True, False]


@pytest.mark.sqlite
async def test_a_vote_that_opens_reads_no_other_debates_questions(
    store: Store, database: SqlDatabase
) -> None:
    first, _ = await open_pair(store)
    run_there: list[str] = []
    await database.write(lambda c: c.driver.set_trace_callback(run_there.append))
    await store.votes.extend(first.lease, first.id, LATER + timedelta(hours=1))
    await database.write(lambda c: c.driver.set_trace_callback(None))
    changes = [sql for sql in run_there if sql.split()[0] in ("UPDATE", "SELECT")]
    assert any("closes_at = other.closes_at" in sql for sql in changes)
    with database.snapshot() as view:
        plans = [(sql, view.driver.execute(f"EXPLAIN QUERY PLAN {sql}")) for sql in changes]
        assert [sql for sql, plan in plans for step in plan if "SCAN" in step[3]] == []
