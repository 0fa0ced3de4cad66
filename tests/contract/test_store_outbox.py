"""What every Store must do with messages: once for each key, in order, and none forgotten."""

import asyncio

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Closing, DeliveryState, Intent, OpenQuestion, Post, Store
from engine.store.deliveries import BACKLOG
from engine.store.queue import CENSUS
from engine.values.debate import Status
from engine.values.messages import Notice
from engine.values.ports import Part, utc_now
from tests.kit import (
    LATER,
    NO_CAPS,
    NOW,
    Running,
    invitation,
    new_debate,
    notice,
    run,
    some,
    turn,
    turn_post,
)

PARTS = (Part(reference="abc·1·1/2", body="one"), Part(reference="abc·1·2/2", body="two"))


async def publish(r: Running, *keys: str) -> None:
    await r.store.outbox.publish(r.lease, r.id, [notice(key) for key in keys])


async def first(r: Running) -> Intent:
    return some(await r.store.outbox.next(r.id))


async def deliver(r: Running) -> list[str]:
    keys = []
    intent = await r.store.outbox.next(r.id)
    while intent is not None:
        keys.append(intent.key)
        intent = await r.store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    return keys


async def test_messages_come_in_the_order_they_were_published_each_key_once(store: Store) -> None:
    r = await run(store)
    await publish(r, "b", "a")
    await store.journal.record_turn(r.lease, r.id, turn(), turn_post())
    await publish(r, "c")
    assert await deliver(r) == ["b", "a", "turn/1", "c"]
    assert await store.outbox.next(r.id) is None
    r = await run(store)
    await asyncio.gather(*(publish(r, "a", "b") for _ in range(5)))
    again = Post(key="a", message=Notice(text="another text"))
    await store.outbox.publish(r.lease, r.id, [again])
    assert (await first(r)).message == Notice(text="a")
    assert await deliver(r) == ["a", "b"]
    await publish(r, "a")
    assert await store.outbox.next(r.id) is None


async def test_messages_of_a_debate_are_numbered_without_repeating(store: Store) -> None:
    r, other = await run(store), await run(store)
    await publish(r, "a", "a", "b")
    await publish(other, "a")
    intents = []
    intent = await store.outbox.next(r.id)
    while intent is not None:
        intents.append(intent)
        intent = await store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    assert [intent.number for intent in intents] == [1, 2]
    assert (await first(other)).number == 1


async def test_the_backlog_is_what_is_not_settled_and_the_age_of_its_oldest(store: Store) -> None:
    r = await run(store)
    assert await store.deliveries.backlog() == {}
    before = utc_now()
    await publish(r, "a", "b")
    after = utc_now()
    await publish(r, "c")
    found = await store.deliveries.backlog()
    assert list(found) == ["chat"]
    messages, oldest = found["chat"]
    assert messages == 3
    assert before <= some(oldest) <= after
    await store.outbox.settle(r.lease, await first(r), DeliveryState.SENT)
    assert (await store.deliveries.backlog())["chat"][0] == 2
    intent = await store.outbox.sending(r.lease, await first(r), PARTS, LATER)
    assert (await store.deliveries.backlog())["chat"][0] == 2
    await store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    [(_, last)] = (await store.deliveries.backlog()).values()
    assert some(last) >= after
    assert await deliver(r) == ["c"]
    assert await store.deliveries.backlog() == {}


async def test_a_message_says_where_it_goes_once_a_thread_is_open(store: Store) -> None:
    r = await run(store)
    closed = Post(key="vote/closed", message=Notice(text="closed"), target="vote")
    await store.outbox.publish(r.lease, r.id, [closed])
    assert ((await first(r)).channel, (await first(r)).thread) == ("lobby", None)
    await store.outbox.set_thread(r.lease, r.id, "thread")
    intent = await first(r)
    assert (intent.channel, intent.thread, intent.target) == ("lobby", "thread", "vote")
    opened = (await r.get()).opened_at
    await asyncio.sleep(0.002)
    await store.outbox.set_thread(r.lease, r.id, "thread")
    assert ((await r.get()).thread, (await r.get()).opened_at) == ("thread", some(opened))


async def test_parts_are_frozen_and_their_references_kept_and_what_did_not_leave_is_not_in_doubt(
    store: Store,
) -> None:
    r = await run(store)
    await publish(r, "a", "b")
    intent = await store.outbox.sending(r.lease, await first(r), PARTS, LATER)
    assert intent == await first(r)
    assert (intent.parts, intent.state, intent.deadline) == (PARTS, DeliveryState.SENDING, LATER)
    intent = await store.outbox.posted(r.lease, intent, "message-1")
    assert intent == await first(r)
    assert (intent.refs, intent.state, intent.deadline) == (
        ("message-1",),
        DeliveryState.PENDING,
        None,
    )
    intent = await store.outbox.sending(r.lease, intent, PARTS, LATER)
    intent = await store.outbox.posted(r.lease, intent, "message-2")
    following = await store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    assert following == await first(r)
    assert following is not None
    assert following.key == "b"
    sent, waiting = await store.outbox.find(r.id, "a"), await store.outbox.find(r.id, "b")
    assert some(sent).refs == ("message-1", "message-2")
    assert some(waiting).refs == ()
    assert await store.outbox.find(r.id, "unknown") is None
    # A part that surely did not leave is not in doubt.
    intent = await store.outbox.sending(r.lease, following, PARTS, LATER)
    intent = await store.outbox.posted(r.lease, intent, "message-1")
    intent = await store.outbox.sending(r.lease, intent, PARTS, LATER)
    intent = await store.outbox.unsent(r.lease, intent)
    assert intent == await first(r)
    assert (intent.state, intent.deadline) == (DeliveryState.PENDING, None)
    assert (intent.parts, intent.refs) == (PARTS, ("message-1",))


async def test_a_newer_versions_message_is_read_as_far_as_it_is_known(
    store: Store, database: SqlDatabase
) -> None:
    r = await run(store)
    await store.outbox.publish(r.lease, r.id, [notice("1", "One"), notice("2", "Two"), notice("3")])
    later = "UPDATE outbox SET message = replace(message, :was, :now) WHERE debate = :debate"
    await database.run(later, was='{"', now='{"later": 1, "', debate=r.id)
    unknown = f"{later} AND key = '2'"
    await database.run(unknown, was='"notice"', now='"hologram"', debate=r.id)
    intent = await first(r)
    assert intent.message == notice("1", "One").message
    assert await store.outbox.settle(r.lease, intent, DeliveryState.SENT) is None
    assert await store.outbox.next(r.id) is None, "it waits for a process that can read it"
    assert await store.outbox.waiting("chat") == [r.id]
    assert some(await store.outbox.find(r.id, "1")).state is DeliveryState.SENT


async def test_a_settled_message_is_not_given_again(store: Store) -> None:
    for state in (DeliveryState.SENT, DeliveryState.DOUBTFUL, DeliveryState.REFUSED):
        r = await run(store)
        await publish(r, "a")
        assert await store.outbox.settle(r.lease, await first(r), state, "why") is None
        assert await store.outbox.next(r.id) is None
        assert await store.outbox.waiting("chat") == []


async def test_who_has_something_to_deliver_is_known_by_platform_and_turns_are_counted(
    store: Store,
) -> None:
    r, idle = await run(store), await run(store)
    elsewhere = await run(store, new_debate(platform="elsewhere"))
    await publish(r, "a", "b")
    await publish(elsewhere, "a")
    assert await store.outbox.waiting("chat") == [r.id]
    await store.outbox.sending(r.lease, await first(r), PARTS, LATER)
    assert await store.outbox.waiting("chat") == [r.id]
    await deliver(r)
    assert await store.outbox.waiting("chat") == []
    assert await store.outbox.next(idle.id) is None
    r = await run(store)
    await publish(r, "announcement")
    for number in (1, 2):
        await store.journal.record_turn(r.lease, r.id, turn(number), turn_post(number))
    assert await store.outbox.undelivered_turns(r.id) == 2
    await store.outbox.settle(r.lease, await first(r), DeliveryState.SENT)
    await store.outbox.sending(r.lease, await first(r), PARTS, LATER)
    assert await store.outbox.undelivered_turns(r.id) == 2
    await store.outbox.settle(r.lease, await first(r), DeliveryState.SENT)
    assert await store.outbox.undelivered_turns(r.id) == 1


async def test_what_is_undelivered_is_given_up_with_its_thread(store: Store) -> None:
    r = await run(store)
    await publish(r, "a", "b")
    await store.outbox.settle(r.lease, await first(r), DeliveryState.SENT)
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    assert await store.outbox.next(r.id) is None
    assert await store.outbox.waiting("chat") == []
    debate = await r.get()
    assert (debate.gone, debate.reason) == (True, "the thread was deleted")
    r = await run(store)
    await publish(r, "end")
    await r.advance(Status.PARTIAL, reason="the cap was reached")
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    assert ((await r.get()).reason, (await r.get()).gone) == ("the cap was reached", False)
    assert await store.outbox.next(r.id) is None


@pytest.mark.parametrize("before", [True, False], ids=["thinking", "voting"])
async def test_why_a_thread_is_gone_is_still_known_when_the_vote_is_closed(
    store: Store, before: bool
) -> None:
    r = await run(store)
    if not before:
        await r.advance(Status.VOTING)
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    await store.queue.set_waiting(r.id, "waiting to post")
    await store.queue.set_waiting(r.id, "")
    await r.advance(Status.VOTING)
    assert (await r.get()).reason == "the thread was deleted"
    nothing = Closing(votes=(), posts=(), verdicts={})
    await store.votes.close(r.lease, r.id, NOW, False, lambda _: nothing)
    debate = await r.get()
    assert (debate.status, debate.reason) == (Status.CLOSED, "the thread was deleted")


async def test_an_open_vote_is_due_when_its_thread_is_gone(store: Store) -> None:
    r = await run(store)
    await r.open_vote()
    assert await store.votes.due("chat") == {OpenQuestion(r.id): LATER}
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    due = (await store.votes.due("chat"))[OpenQuestion(r.id)]
    assert due != LATER
    assert await store.debates.stops() == {}


async def test_queued_again_a_debate_delivers_what_was_given_up(store: Store) -> None:
    r = await run(store)
    await publish(r, "sent", "doubtful", "never sent")
    await store.outbox.settle(r.lease, await first(r), DeliveryState.SENT)
    await store.outbox.sending(r.lease, await first(r), PARTS, LATER)
    await store.outbox.publish(r.lease, r.id, [invitation()])
    await store.deliveries.abandon(r.lease, r.id, "the token was revoked")
    await r.advance(Status.FAILED, reason="the token was revoked")
    await store.queue.requeue(r.id, NO_CAPS, NOW)
    assert ((await r.get()).gone, (await r.get()).reason) == (False, "")
    doubtful = await first(r)
    # It may have arrived: the delivery looks for it before it sends it again.
    assert (doubtful.key, doubtful.state, doubtful.deadline, doubtful.parts) == (
        "doubtful",
        DeliveryState.SENDING,
        LATER,
        PARTS,
    )
    assert await deliver(r) == ["doubtful", "never sent", "vote"]
    await r.advance(Status.RUNNING, Status.VOTING)
    assert await store.votes.due("chat") == {}
    await store.votes.open(r.lease, r.id, "vote-message", NOW, LATER)
    assert await store.votes.due("chat") == {OpenQuestion(r.id): LATER}


@pytest.mark.sqlite
async def test_what_metrics_ask_is_counted_by_indexes(database: SqlDatabase) -> None:
    with database.snapshot() as view:
        plans = {sql: view.rows(f"EXPLAIN QUERY PLAN {sql}") for sql in (CENSUS, BACKLOG)}
    steps = {
        sql: [step[3] for step in plan if "debates" in step[3] or "outbox" in step[3]]
        for sql, plan in plans.items()
    }
    assert all("USING COVERING INDEX" in step for step in steps[CENSUS])
    assert all("USING INDEX ix_outbox_open" in step for step in steps[BACKLOG])
