"""The Store port on what is deleted of debates that have ended, by age or by an operator."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Note, Store
from engine.store.retention import OUTDATED, UNPRUNED
from engine.store.series import StoredSeries
from engine.values.debate import Status
from engine.values.errors import BudgetError, NotFoundError, UsageError
from engine.values.limits import Caps
from engine.values.verdicts import Artifact
from tests.kit import (
    NO_CAPS,
    NOW,
    Running,
    ballot,
    create,
    make_setup,
    new_debate,
    record_of,
    run,
    some,
    turn,
    turn_post,
    verdict,
)

AFTER = datetime.now(UTC) + timedelta(days=1)  # calls are journaled at the real time
BEFORE_ITS_CALLS = NOW + timedelta(hours=1)
SPOKEN = "A word that only the model said."


async def ended(store: Store, status: Status = Status.FAILED, **fields: Any) -> Running:
    """Hold a debate of two calls, one turn and one unreadable ballot, and end it."""
    held = await run(store, new_debate(**fields))
    await held.call("turn/opening/A", text=SPOKEN)
    await held.call("jury/oak", text=SPOKEN)
    await store.journal.record_turn(held.lease, held.id, turn(), turn_post())
    unread = Artifact.of("judge", "marks", {"raw": SPOKEN, "problem": "no JSON"}, valid=False)
    await store.journal.note(held.lease, held.id, Note(artifacts=(unread,)))
    cast = {"jury/oak": ballot(), "jury/elm": ballot("near/elm", raw=SPOKEN)}
    await store.journal.record_verdict(held.lease, held.id, verdict(), cast)
    await held.advance(status)
    await store.leases.release(held.lease)
    return held


async def due(store: Store, before: datetime = AFTER) -> set[str]:
    found = await store.retention.outdated(before, 100, pruned=False)
    assert set(found) == set(await store.retention.outdated(before, 100, pruned=True))
    return set(found)


async def test_a_pruned_debate_keeps_everything_but_what_models_read_and_wrote(
    store: Store,
) -> None:
    held = await ended(store)
    before = await record_of(store, held.id)
    journaled = await store.journal.load(held.id)
    assert await store.retention.prune(held.id, AFTER)
    after = await record_of(store, held.id)
    assert (after.turns, after.verdict) == (before.turns, before.verdict)
    for old, new in zip(before.calls, after.calls, strict=True):
        assert new.reply == some(old.reply).model_copy(update={"text": ""})
        assert (new.prompt_hash, new.cost, new.model) == (old.prompt_hash, old.cost, old.model)
    assert [one.raw for one in before.ballots] == [SPOKEN, SPOKEN]
    assert after.ballots == tuple(one.model_copy(update={"raw": ""}) for one in before.ballots)
    assert after.artifacts[0].body == {"raw": "", "problem": "no JSON"}
    assert (await store.journal.load(held.id)).spent == journaled.spent
    assert after.debate.pruned_at is not None
    assert not await store.retention.outdated(AFTER, 100, pruned=False)
    assert await store.retention.outdated(AFTER, 100, pruned=True) == [held.id]
    with pytest.raises(UsageError, match=r"was deleted on .* cannot go on"):
        await store.queue.requeue(held.id, NO_CAPS, NOW)
    assert (await held.get()).status is Status.FAILED


async def test_an_expired_debate_is_gone_and_its_money_still_counts(store: Store) -> None:
    held, other = await ended(store), await ended(store)
    assert some(await store.retention.expire(held.id, AFTER)).code == held.id[-6:].lower()
    with pytest.raises(NotFoundError):
        await held.get()
    assert await store.retention.expire(held.id, AFTER) is None
    assert (await store.journal.load(held.id)).steps == {}
    assert len((await record_of(store, other.id)).calls) == 2
    with pytest.raises(BudgetError, match="You have started 2 debates today"):
        await create(store, new_debate(), Caps(user_daily_debates=2))


async def test_only_debates_that_ended_and_that_no_process_works_on_are_deleted(
    store: Store,
) -> None:
    held = await ended(store)
    running, voting = await run(store), await run(store)
    await voting.open_vote()
    await store.leases.release(voting.lease)
    await store.leases.release(running.lease)
    assert await due(store) == {held.id}
    assert await due(store, BEFORE_ITS_CALLS) == set(), "it ended with its last call"
    for one in (running, voting):
        assert not await store.retention.prune(one.id, AFTER)
        assert await store.retention.expire(one.id, AFTER) is None
    with pytest.raises(UsageError, match="is running; wait for its end"):
        await store.retention.delete(running.id)
    lease = some(await store.leases.claim(f"debate/{held.id}", "judge", 60))
    assert await due(store) == set()
    with pytest.raises(UsageError, match="A process works on debate"):
        await store.retention.delete(held.id)
    await store.leases.release(lease)
    assert await due(store) == {held.id}
    assert (await store.retention.delete(held.id)).id == held.id
    with pytest.raises(NotFoundError):
        await store.retention.delete(held.id)
    assert (await running.get()).status is Status.RUNNING


async def test_a_debate_is_kept_for_its_mirror(store: Store) -> None:
    first = new_debate(user=None)
    setup = make_setup().model_copy(update={"mirror_of": first.id})
    second = new_debate(user=None, setup=setup)
    await store.debates.create([(first, []), (second, [])], NO_CAPS)
    for one, rest in ((first, {second.id}), (second, set())):
        lease = some(await store.leases.claim(f"debate/{one.id}", "runner", 60))
        assert await due(store) == set()
        await store.debates.advance(lease, one.id, Status.CANCELLED)
        await store.leases.release(lease)
        assert await due(store) == (set() if rest else {first.id, second.id})


@pytest.mark.parametrize(
    ("fields", "stop", "kept"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"platform": "chat", "due_at": NOW}, False, True),
        ({"platform": "chat", "due_at": NOW}, True, False),
        ({"platform": "chat"}, False, False),
    ],
)
async def test_a_debate_is_kept_for_a_series_that_goes_on(
    store: Store, fields: dict[str, Any], stop: bool, kept: bool
) -> None:
    held = await ended(store, series="cup", series_key="1")
    await store.series.save(StoredSeries(name="cup", body="{}", begun_at=NOW, **fields))
    if stop:
        await store.series.ask_stop("cup")
    assert await due(store) == (set() if kept else {held.id})
    running = await run(store, new_debate(series="cup", series_key="2"))
    await store.leases.release(running.lease)
    assert await due(store) == set()


async def test_a_debate_of_a_schedule_goes_by_its_own_age(store: Store) -> None:
    held = await ended(store, series="daily", series_key="1")
    going = StoredSeries(
        name="daily", body='{"recurring":{}}', begun_at=NOW, platform="chat", due_at=NOW
    )
    await store.series.save(going)
    assert not going.goes_on
    running = await run(store, new_debate(series="daily", series_key="2"))
    await store.leases.release(running.lease)
    assert await due(store) == {held.id}


async def test_every_deletion_changes_a_mark(store: Store) -> None:
    marks = [await asyncio.to_thread(store.archive.last_deletion)]
    for one in (await ended(store), await ended(store)):
        await store.retention.delete(one.id)
        marks.append(await asyncio.to_thread(store.archive.last_deletion))
    assert len(set(marks)) == 3


async def test_people_without_any_record_are_erased_with_the_last_one(store: Store) -> None:
    held = await ended(store, user="ann")
    await ended(store, user="bob")
    await store.privacy.opt_out("chat", "cy")
    assert await store.retention.drop_strangers() == 0
    await store.retention.delete(held.id)
    assert await store.retention.drop_strangers() == 1
    known = [(await store.privacy.traces("chat", user)).known for user in ("ann", "bob", "cy")]
    assert known == [False, True, True]
    assert (await ended(store, user="ann")).id, "who comes again is someone new"


@pytest.mark.sqlite
async def test_what_is_due_is_found_by_its_age(database: SqlDatabase) -> None:
    values = {"before": AFTER, "now": NOW, "most": 1}
    for query, index in ((OUTDATED, "ix_debates_created_at"), (UNPRUNED, "ix_debates_unpruned")):
        plan = await database.rows(f"EXPLAIN QUERY PLAN {query}", **values)
        assert index in plan[0].detail
