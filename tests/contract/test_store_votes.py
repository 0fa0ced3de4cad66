"""What every Store must do with votes: keep the order of receipt, and close exactly once."""

import asyncio
from datetime import timedelta

import pytest

from engine.store import Closing, OpenQuestion, Store
from engine.store.vote_log import NewEvent
from engine.values.debate import Status
from engine.values.messages import Notice
from engine.values.verdicts import How, VoteEvent
from tests.kit import LATER, NOW, Running, asking, cast, new_debate, notice, run, some, vote

SOON = NOW + timedelta(minutes=1)


async def voting(store: Store, message: str = "vote-message") -> Running:
    r = await run(store)
    await r.open_vote(message)
    return r


async def test_an_open_vote_stays_as_it_was_opened_and_is_extended_once(store: Store) -> None:
    r = await voting(store)
    await store.votes.open(r.lease, r.id, "another message", SOON, SOON)
    debate = await r.get()
    opened = (debate.vote_message, debate.vote_opened_at, debate.vote_deadline)
    assert opened == ("vote-message", NOW, LATER)
    late = LATER + timedelta(minutes=30)
    for minutes in (0, 30):
        deadline = late + timedelta(minutes=minutes)
        await store.votes.extend(r.lease, r.id, deadline, notice("vote/extended"))
    debate = await r.get()
    assert (debate.vote_deadline, debate.vote_extended) == (late, True)
    assert some(await store.outbox.next(r.id)).key == "vote/extended"


async def test_votes_are_kept_in_the_order_of_receipt(store: Store) -> None:
    r = await voting(store)
    users = [f"user-{number % 7}" for number in range(50)]
    casts = [cast(user, "AB"[number % 2]) for number, user in enumerate(users)]
    assert set(await asyncio.gather(*map(store.votes.cast, casts))) == {"stored"}
    events = await store.votes.events(r.id)
    ids = await store.votes.people("chat", users)
    assert [(e.person, e.option) for e in events] == [(ids[c.user], c.option) for c in casts]
    assert [e.number for e in events] == sorted({e.number for e in events})


async def test_an_event_is_kept_as_it_was_seen_with_the_ages_of_account_and_membership(
    store: Store,
) -> None:
    r = await voting(store)
    aged = cast("user-1", "A", how=How.BUTTON, account_days=412, member_days=0)
    await store.votes.cast(aged)
    await store.votes.cast(cast("user-2", "tie"))
    await store.votes.cast(cast("user-1", "A", added=False, received_at=SOON))
    first, _, last = await store.votes.events(r.id)
    assert (first.how, first.added, first.received_at) == (How.BUTTON, True, NOW)
    assert (last.how, last.added, last.received_at) == (How.LIVE, False, SOON)
    assert last.person == first.person
    found = [NewEvent(person=first.person, option="B", added=True, account_days=413)]
    await store.votes.recover(r.lease, asking(r.id), lambda _: found, SOON, False)
    events = await store.votes.events(r.id)
    assert [event.votes_seen_before for event in events] == [0, 1, 1, 1]
    ages = [(event.account_days, event.member_days) for event in events]
    assert ages == [(412, 0), (None, None), (None, None), (413, None)]


async def test_an_event_told_twice_is_kept_once(store: Store) -> None:
    r, other = await voting(store), await voting(store, "another message")
    told = await asyncio.gather(*(store.votes.cast(cast(event="e1")) for _ in range(5)))
    assert sorted(told) == ["duplicate"] * 4 + ["stored"]
    assert await store.votes.cast(cast(event="e2")) == "stored"
    assert await store.votes.cast(cast(event="e1", message="another message")) == "stored"
    assert await store.votes.cast(cast()) == "stored"
    assert await store.votes.cast(cast()) == "stored"
    assert len(await store.votes.events(r.id)) == 4
    assert len(await store.votes.events(other.id)) == 1


async def test_votes_count_while_the_panel_still_sits(store: Store) -> None:
    r = await run(store)
    await store.outbox.set_thread(r.lease, r.id, "thread")
    await store.votes.open(r.lease, r.id, "vote-message", NOW, LATER)
    assert await store.votes.cast(cast()) == "stored"
    assert await store.votes.due("chat") == {}
    await r.advance(Status.VOTING)
    assert await store.votes.due("chat") == {OpenQuestion(r.id): LATER}


async def test_people_keep_their_surrogate_ids_and_the_starter_is_one_of_them(store: Store) -> None:
    first = await store.votes.people("chat", ["ann", "bob", "ann"])
    assert len(set(first.values())) == 2
    assert await store.votes.people("chat", ["bob", "cid"]) == {
        "bob": first["bob"],
        "cid": max(first.values()) + 1,
    }
    assert (await store.votes.people("elsewhere", ["ann"]))["ann"] not in first.values()
    assert await store.votes.people("chat", []) == {}
    r = await voting(store)
    anonymous = await run(store, new_debate(user=None))
    await store.votes.cast(cast("user-1"))
    assert (await store.votes.events(r.id))[0].person == (await r.get()).starter
    assert (await anonymous.get()).starter is None


@pytest.mark.parametrize("late", [True, False])
async def test_recovered_events_follow_those_that_were_seen(store: Store, late: bool) -> None:
    r = await voting(store)
    await store.votes.cast(cast("user-1", "A"))
    ids = await store.votes.people("chat", ["user-1", "user-2"])
    found = [
        NewEvent(person=ids["user-1"], option="A", added=False),
        NewEvent(person=ids["user-2"], option="B", added=True),
    ]
    await store.votes.recover(r.lease, asking(r.id), lambda cast: found, SOON, late)
    _, gone, new = await store.votes.events(r.id)
    assert (gone.person, gone.added, gone.how) == (ids["user-1"], False, How.RECOVERED)
    assert (new.person, new.added, new.received_at) == (ids["user-2"], True, SOON)
    # Only a choice can be seen too late; what was withdrawn was seen before.
    assert (gone.late_seen, new.late_seen) == (False, late)


async def test_a_vote_is_closed_exactly_once_between_votes_cast(store: Store) -> None:
    r = await voting(store)
    seen: list[int] = []

    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        said = Notice(text=f"{len(events)} votes")
        seen.append(len(events))
        return Closing(votes=(), posts=(notice("reveal", said.text),))

    async def person(number: int) -> str:
        if number % 100 == 50:
            await store.votes.close(r.lease, r.id, SOON, False, conclude)
        return await store.votes.cast(cast(f"user-{number}"))

    outcomes = await asyncio.gather(*map(person, range(300)))
    stored = outcomes.count("stored")
    assert outcomes.count("closed") == 300 - stored
    assert seen == [stored]
    assert len(await store.votes.events(r.id)) == stored
    assert some(await store.outbox.next(r.id)).message == Notice(text=f"{stored} votes")


async def test_closing_stores_what_stands_and_reveals_or_leaves_the_vote_open(store: Store) -> None:
    r = await voting(store)

    def fail(_: tuple[VoteEvent, ...]) -> Closing:
        raise ZeroDivisionError("no tally")

    with pytest.raises(ZeroDivisionError, match="no tally"):
        await store.votes.close(r.lease, r.id, SOON, False, fail)
    assert (await r.get()).status is Status.VOTING
    assert await store.votes.cast(cast()) == "stored"

    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        standing = tuple(vote(event.person, event.option) for event in events)
        return Closing(votes=standing, posts=(notice("vote/closed"), notice("reveal")))

    await store.votes.close(r.lease, r.id, SOON, True, conclude)
    debate = await r.get()
    assert (debate.status, debate.revealed_at, debate.closed_early) == (Status.CLOSED, SOON, True)
    assert some(await store.outbox.next(r.id)).key == "vote/closed"
    assert await store.votes.due("chat") == {}
    assert await store.votes.cast(cast("user-2")) == "closed"
    assert len(await store.votes.events(r.id)) == 1


async def test_a_vote_cast_before_the_vote_is_opened_is_kept_on_the_message_accepted_first(
    store: Store,
) -> None:
    r = await run(store)
    await store.outbox.set_thread(r.lease, r.id, "thread")
    await store.votes.accept(r.lease, r.id, "vote-message")
    await r.advance(Status.VOTING)
    for message in ("vote-message", "another message"):
        await store.votes.accept(r.lease, r.id, message)
    assert (await r.get()).vote_message == "vote-message"
    assert await store.votes.cast(cast(message="another message")) == "unknown"
    assert await store.votes.cast(cast()) == "stored"
    assert await store.votes.due("chat") == {}
    await store.votes.open(r.lease, r.id, "vote-message", NOW, LATER)
    await store.votes.accept(r.lease, r.id, "another message")
    debate = await r.get()
    assert (debate.vote_message, debate.vote_deadline) == ("vote-message", LATER)
    assert await store.votes.cast(cast("user-2", "B")) == "stored"
    assert [event.option for event in await store.votes.events(r.id)] == ["A", "B"]
    assert await store.votes.due("chat") == {OpenQuestion(r.id): LATER}


async def test_recoveries_see_what_was_cast_just_before_and_add_what_was_missed_once(
    store: Store,
) -> None:
    r = await voting(store)
    seen: list[str] = []

    def find(log: tuple[VoteEvent, ...]) -> list[NewEvent]:
        seen.extend(event.option for event in log)
        return []

    told = store.votes.cast(cast("user-1", "B"))
    await asyncio.gather(told, store.votes.recover(r.lease, asking(r.id), find, SOON, False))
    assert seen == ["B"]
    missed = NewEvent(
        person=(await store.votes.people("chat", ["ann"]))["ann"], option="A", added=True
    )

    def find_missed(log: tuple[VoteEvent, ...]) -> list[NewEvent]:
        return [] if any(event.person == missed.person for event in log) else [missed]

    recover = (r.lease, asking(r.id), find_missed, SOON, False)
    recoveries = [store.votes.recover(*recover) for _ in range(10)]
    assert sum(await asyncio.gather(*recoveries)) == 1
    assert len(await store.votes.events(r.id)) == 2
