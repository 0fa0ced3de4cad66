"""What every Store must do: leases, guarded writes, debates and their states."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from engine.store import Closing, DeliveryState, Lease, Note, Post, Store
from engine.store.debates import KEPT_SETUPS
from engine.store.series import StoredSeries
from engine.store.vote_log import NewEvent
from engine.values.debate import TRANSITIONS, Status
from engine.values.errors import (
    LeaseLostError,
    NotFoundError,
    StoppedError,
    StoreError,
)
from engine.values.language import Text, speaking
from engine.values.messages import Skipped
from engine.values.ports import Attempt, Part, Reply
from engine.values.verdicts import Question
from engine.words.phrases import WAITS_TO_CLOSE, WAITS_TO_POST
from engine.words.translation import say
from tests.kit import (
    LATER,
    NO_CAPS,
    NOW,
    Running,
    asking,
    ballot,
    cast,
    create,
    make_call,
    make_start,
    new_debate,
    notice,
    run,
    some,
    turn,
    turn_post,
    verdict,
)


async def test_a_lease_is_held_by_one_claim_at_a_time(store: Store) -> None:
    claims = await asyncio.gather(*(store.leases.claim("debate/x", "me", 9) for _ in range(20)))
    assert [lease for lease in claims if lease] == [Lease(name="debate/x", epoch=1)]
    assert await store.leases.claim("debate/y", "me", 9)


async def test_an_epoch_never_repeats_and_what_was_released_is_not_renewed(store: Store) -> None:
    epochs = []
    for _ in range(5):
        lease = some(await store.leases.claim("debate/x", "me", 9))
        epochs.append(lease.epoch)
        await store.leases.release(lease)
    assert epochs == [1, 2, 3, 4, 5]
    assert await store.leases.renew("me", 9) == {}


async def test_renewing_holds_all_of_a_holders_leases(store: Store) -> None:
    await store.leases.claim("debate/x", "me", 0.01)
    await store.leases.claim("debate/y", "me", 0.01)
    await store.leases.claim("debate/z", "other", 9)
    assert await store.leases.renew("me", 9) == {"debate/x": 1, "debate/y": 1}
    await asyncio.sleep(0.02)
    assert await store.leases.claim("debate/x", "me", 9) is None


async def test_a_late_release_does_not_free_a_successors_lease(store: Store) -> None:
    old = some(await store.leases.claim("debate/x", "me", 0.01))
    await asyncio.sleep(0.02)
    assert await store.leases.claim("debate/x", "me", 9)
    await store.leases.release(old)
    assert await store.leases.claim("debate/x", "me", 9) is None
    assert await store.leases.renew("me", 9) == {"debate/x": 2}


Guarded = Callable[[Running, Lease], Awaitable[object]]


async def _send(r: Running, lease: Lease) -> object:
    intent = some(await r.store.outbox.next(r.id))
    return await r.store.outbox.sending(lease, intent, [Part(reference="r", body="b")], LATER)


async def _post(r: Running, lease: Lease) -> object:
    intent = some(await r.store.outbox.next(r.id))
    return await r.store.outbox.posted(lease, intent, "message")


async def _settle(r: Running, lease: Lease) -> object:
    intent = some(await r.store.outbox.next(r.id))
    return await r.store.outbox.settle(lease, intent, DeliveryState.SENT)


def _end(r: Running, lease: Lease) -> Awaitable[object]:
    reply = Reply(text="late", finish="stop", model="m")
    return r.store.journal.ended(lease, make_start(r.id), Attempt(number=1), reply)


def _begin(r: Running, lease: Lease) -> Awaitable[object]:
    start = make_start(r.id, "turn/late/A")
    return r.store.journal.began(lease, start, make_call(r.id, "turn/late/A"))


def _recover(r: Running, lease: Lease) -> Awaitable[object]:
    found = [NewEvent(person=1, option="A", added=True)]
    return r.store.votes.recover(lease, asking(r.id), lambda cast: found, NOW, False)


def _close(r: Running, lease: Lease) -> Awaitable[object]:
    closing = Closing(votes=(), posts=(notice("reveal"),))
    return r.store.votes.close(lease, r.id, NOW, False, lambda _: closing)


GUARDED: dict[str, Guarded] = {
    "advance": lambda r, lease: r.store.debates.advance(lease, r.id, Status.CLOSED),
    "began": _begin,
    "ended": _end,
    "record_turn": lambda r, lease: r.store.journal.record_turn(lease, r.id, turn(2), turn_post(2)),
    "note": lambda r, lease: r.store.journal.note(lease, r.id, Note(posts=(notice("late"),))),
    "record_verdict": lambda r, lease: r.store.journal.record_verdict(
        lease, r.id, verdict(), {"jury/oak/AB": ballot()}
    ),
    "publish": lambda r, lease: r.store.outbox.publish(lease, r.id, [notice("late")]),
    "sending": _send,
    "posted": _post,
    "settle": _settle,
    "set_thread": lambda r, lease: r.store.outbox.set_thread(lease, r.id, "elsewhere"),
    "abandon": lambda r, lease: r.store.deliveries.abandon(lease, r.id, "gone"),
    "accept": lambda r, lease: r.store.votes.accept(lease, r.id, "late", Question.STANCE_AFTER),
    "open": lambda r, lease: r.store.votes.open(lease, r.id, "late", LATER, LATER),
    "open a stance": lambda r, lease: r.store.votes.open(
        lease, r.id, "late", LATER, LATER, Question.STANCE_BEFORE
    ),
    "recover": _recover,
    "extend": lambda r, lease: r.store.votes.extend(lease, r.id, LATER, notice("vote/extended")),
    "close": _close,
    "close a stance": lambda r, lease: r.store.votes.close(
        lease, r.id, NOW, question=Question.STANCE_BEFORE
    ),
}


async def _everything(r: Running) -> tuple[object, ...]:
    store = r.store
    return (
        await store.debates.get(r.id),
        await store.debates.stops(),
        await store.journal.load(r.id),
        await store.journal.read(r.id, "verdict", "ballots"),
        await store.journal.thinking("chat"),
        await store.outbox.next(r.id),
        await store.outbox.undelivered_turns(r.id),
        await store.votes.events(r.id),
        await store.votes.due("chat"),
    )


@pytest.mark.parametrize("write", GUARDED.values(), ids=GUARDED)
async def test_who_lost_the_lease_writes_nothing(store: Store, write: Guarded) -> None:
    r = await run(store)
    await store.outbox.set_thread(r.lease, r.id, "thread")
    await r.began("turn/opening/A")
    await store.journal.record_turn(r.lease, r.id, turn(), turn_post())
    await store.votes.open(r.lease, r.id, "vote-message", NOW, NOW)
    await r.advance(Status.VOTING)
    await store.votes.cast(cast())
    await store.leases.release(r.lease)
    some(await store.leases.claim(r.lease.name, "successor", 9))
    before = await _everything(r)
    with pytest.raises(LeaseLostError, match=r"Another process took over debate/"):
        await write(r, r.lease)
    assert await _everything(r) == before


async def test_debates_are_counted_from_one(store: Store) -> None:
    numbers = await asyncio.gather(*(store.debates.next_number() for _ in range(10)))
    assert sorted(numbers) == list(range(1, 11))


async def test_a_stored_debate_reads_back_as_it_was_asked_for_by_its_code_in_any_case(
    store: Store,
) -> None:
    new = new_debate(request={"topic": "Çay mı? 茶 {{ 7*7 }} \x07 @everyone", "language": "tr"})
    made = await create(store, new, NO_CAPS, [notice("announcement")])
    assert made == await store.debates.get(new.id)
    assert made.setup == new.setup
    again = await store.debates.get(new.id)
    assert again.setup is (await store.debates.get(new.id)).setup  # its text is read once
    assert (made.status, made.created_at, made.place) == (Status.QUEUED, NOW, "lobby")
    assert some(await store.outbox.next(new.id)).key == "announcement"
    for name in (made.code, made.code.upper(), made.id.lower(), made.id):
        assert await store.debates.get(name) == made


async def test_setups_of_debates_under_way_are_read_once_however_many_there_are(
    store: Store,
) -> None:
    news = [new_debate(request={"topic": f"Topic {n}"}) for n in range(KEPT_SETUPS + 3)]
    held = [await create(store, new) for new in news]
    for debate in held:
        assert (await store.debates.get(debate.id)).setup is debate.setup


async def test_a_code_of_several_debates_asks_which(store: Store) -> None:
    ids = ("01ARZ3NDEKTSV4RRFFQ6K7F2QZ", "01BRZ3NDEKTSV4RRFFQ6K7F2QZ")
    for number, (id, community) in enumerate(zip(ids, ("club", "guild"), strict=True), start=1):
        topic = f"Topic {number}\nand more"
        new = new_debate(id=id, number=number, community=community, request={"topic": topic})
        await create(store, new)
    with pytest.raises(NotFoundError) as asked:
        await store.debates.get("k7f2qz")
    assert str(asked.value) == (
        "Several debates have the code k7f2qz; give one of these instead: "
        "01brz3ndektsv4rrffq6k7f2qz (2026-03-01, “Topic 2 and more”), "
        "01arz3ndektsv4rrffq6k7f2qz (2026-03-01, “Topic 1 and more”)."
    )
    for number, id in enumerate(ids, start=1):
        for name in (id.lower(), id[-25:], id):
            assert (await store.debates.get(name)).number == number
    for name in ("K7F2QZ", ids[1].lower()):
        assert [one.id for one in await store.listings.named(name, "chat", "guild")] == [ids[1]]
    assert await store.listings.named(ids[0], "chat", "guild") == []
    assert await store.listings.named("k7f2qz", "talk", "guild") == []
    assert await store.listings.named("f2qz", "chat", "guild") == []


@pytest.mark.parametrize("name", ["", "a", "nobody", "%%%%%%", "0" * 26, "z" * 40])
async def test_a_name_that_no_debate_has_is_not_found(store: Store, name: str) -> None:
    await create(store, new_debate())
    with pytest.raises(NotFoundError, match="There is no debate"):
        await store.debates.get(name)


async def test_the_newest_debates_come_first(store: Store) -> None:
    running = [await run(store) for _ in range(3)]
    await running[0].advance(Status.FAILED)
    ids = [r.id for r in reversed(running)]
    assert [debate.id for debate in await store.listings.recent()] == ids
    assert [debate.id for debate in await store.listings.recent(limit=2)] == ids[:2]
    failed = await store.listings.recent([Status.FAILED, Status.CLOSED])
    assert [debate.id for debate in failed] == ids[2:]


async def test_what_nobody_has_finished_is_listed_oldest_first(store: Store) -> None:
    running = await run(store)
    queued = await create(store, new_debate())
    await (await run(store, new_debate())).advance(Status.VOTING)
    await (await run(store, new_debate())).advance(Status.CANCELLED)
    assert await store.queue.unfinished() == [running.id, queued.id]
    assert await store.queue.census() == {Status.QUEUED: 1, Status.RUNNING: 1, Status.VOTING: 1}


# The shortest way to each state; a vote is closed by `close`, and stands for itself here.
WAYS: dict[Status, tuple[Status, ...]] = {
    Status.QUEUED: (Status.QUEUED,),
    Status.RUNNING: (Status.RUNNING,),
    Status.VOTING: (Status.VOTING,),
    Status.CLOSED: (Status.VOTING, Status.CLOSED),
    Status.PARTIAL: (Status.PARTIAL,),
    Status.CANCELLED: (Status.CANCELLED,),
    Status.FAILED: (Status.FAILED,),
}


@pytest.mark.parametrize("before", Status)
async def test_states_follow_one_another_as_allowed(store: Store, before: Status) -> None:
    for after in Status:
        r = await run(store)
        await r.advance(*WAYS[before])
        if after in TRANSITIONS[before] or after is before:
            assert (await r.advance(after, reason="why")).status is after
            assert (await r.get()).reason == "why"
        else:
            with pytest.raises(StoreError, match=f"is {before} and cannot become {after}"):
                await r.advance(after)
            assert (await r.get()).status is before


@pytest.mark.parametrize("ended", [Status.FAILED, Status.PARTIAL])
async def test_a_debate_that_ended_early_can_be_queued_again(store: Store, ended: Status) -> None:
    r = await run(store)
    await store.queue.ask_stop(r.id, "enough")
    await r.advance(ended, reason="something broke")
    again = await store.queue.requeue(r.id, NO_CAPS, NOW)
    assert (again.status, again.reason) == (Status.QUEUED, "")
    assert await store.debates.stops() == {}
    assert await store.queue.unfinished() == [r.id]


async def test_other_ends_are_final_and_what_runs_is_left_alone(store: Store) -> None:
    for ended in (Status.CANCELLED, Status.CLOSED, Status.VOTING):
        r = await run(store)
        assert (await store.queue.requeue(r.id, NO_CAPS, NOW)).status is Status.RUNNING
        await r.advance(*WAYS[ended])
        with pytest.raises(StoreError, match="cannot become queued"):
            await store.queue.requeue(r.id, NO_CAPS, NOW)
        with pytest.raises(NotFoundError):
            await store.debates.advance(r.lease, "0" * 26, Status.RUNNING)


async def test_a_stop_wish_is_read_until_the_debate_ends(store: Store) -> None:
    r, other = await run(store), await run(store)
    await store.queue.ask_stop(r.id, "the starter cancelled it")
    await store.queue.ask_stop("0" * 26, "nobody")
    stops = await store.debates.stops()
    assert list(stops) == [r.id]
    error = stops[r.id]
    assert (type(error), error.ends) == (StoppedError, "")
    assert str(error) == "the starter cancelled it"
    await r.advance(Status.CANCELLED)
    await other.advance(Status.CANCELLED)
    await store.queue.ask_stop(other.id, "too late")
    assert await store.debates.stops() == {}
    r = await run(store)  # a thread that is gone stops it for good
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    error = (await store.debates.stops())[r.id]
    assert (type(error), error.ends) == (StoppedError, "thread")
    assert (await r.get()).gone


async def test_what_a_debate_waits_for_is_shown_while_it_goes_on(store: Store) -> None:
    r = await run(store)
    await store.queue.set_waiting(r.id, "Waiting to post")
    assert (await r.get()).reason == "Waiting to post"
    await store.queue.set_waiting(r.id, "")
    assert (await r.get()).reason == ""
    await store.queue.set_waiting(r.id, "Waiting for Slack")
    await store.queue.stop_waiting(r.id, ["Waiting to post"])
    assert (await r.get()).reason == "Waiting for Slack"
    await store.queue.stop_waiting(r.id, ["Waiting to post", "Waiting for Slack"])
    assert (await r.get()).reason == ""
    await r.advance(Status.FAILED, reason="broken")
    await store.queue.set_waiting(r.id, "Waiting to post")
    assert (await r.get()).reason == "broken"


async def test_what_was_stored_of_why_a_debate_waits_or_ends_is_said_in_any_language(
    store: Store,
) -> None:
    why = Text(
        "{live} debates are running here already, and the cap is {cap}; wait for one to end.",
        live=1200,
        cap=3,
    )
    waits, late = Text(WAITS_TO_POST, why=why), Text(WAITS_TO_CLOSE, platform="Slack")
    r, lost = await run(store), await run(store)
    await store.queue.set_waiting(r.id, waits)
    found = [(await r.get()).reason]
    await store.queue.stop_waiting(r.id, [late])
    assert (await r.get()).reason == waits
    await store.queue.stop_waiting(r.id, [late, waits])
    assert (await r.get()).reason == ""
    await store.queue.ask_stop(r.id, waits)
    found.append((await store.debates.stops())[r.id].text)
    await r.advance(Status.CANCELLED, reason=waits)
    found.append((await r.get()).reason)
    await store.deliveries.abandon(lost.lease, lost.id, waits)
    found.append((await lost.get()).reason)
    skipped = Post(key="skipped", message=Skipped(due="now", why=waits, following="later"))
    await store.outbox.publish(r.lease, r.id, [skipped])
    intent = some(await store.outbox.find(r.id, "skipped"))
    assert isinstance(intent.message, Skipped)
    found += [intent.message.why, intent.reason]
    league = StoredSeries(name="cup", body="{}", begun_at=NOW, due_at=NOW, problem=waits)
    await store.series.save(league)
    found.append(some(some(await store.series.find("cup")).problem))
    await store.series.schedule(r.lease, league)
    found.append(some(some(await store.series.find("cup")).problem))
    assert set(found) == {str(waits)}
    with speaking("de"):
        assert {say(text) for text in found} == {say(waits)} != {str(waits)}


async def test_templates_are_kept_under_their_hash_and_missing_ones_named(store: Store) -> None:
    texts = {"classic/system": "{{ topic }} ‘ ü", "jury/ballot": "\n"}
    await asyncio.gather(*(store.debates.keep_templates("digest", texts) for _ in range(3)))
    assert await store.debates.templates("digest") == texts
    with pytest.raises(StoreError, match="The templates unknown-hash… are not in the database"):
        await store.debates.templates("unknown-hash")


async def test_a_secret_stays_the_same_and_differs_by_name(store: Store) -> None:
    asked = await asyncio.gather(*(store.debates.secret("salt") for _ in range(10)))
    assert len(set(asked)) == 1
    assert len(asked[0]) == 32
    assert await store.debates.secret("export") != asked[0]
    assert await store.debates.secret("salt") == asked[0]
