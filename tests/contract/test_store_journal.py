"""What every Store must do with results: keep each before the next step, and give it back."""

from collections.abc import Callable

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Closing, Note, Store
from engine.store.journal import Record, prompt_hash
from engine.store.usage import UsageFilter
from engine.values.debate import Status, Usage
from engine.values.errors import StoppedError
from engine.values.ports import Attempt, FaultKind, Reply
from engine.values.verdicts import Artifact, Vote, VoteEvent
from tests.kit import NOW, ballot, make_call, new_debate, real, run, verdict, vote


async def test_a_stored_result_is_found_as_it_was_in_the_order_asked_for(store: Store) -> None:
    r = await run(store)
    reply = Reply(
        text="Tea — “çay” 茶 \x00 {{ x }}",
        finish="length",
        model="maple-2026",
        usage=Usage(tokens_in=12, tokens_out=34, tokens_cached=5),
        cost=0.0125,
        latency=1.5,
        attempts=2,
    )
    start = await r.began("turn/opening/A")
    attempt = Attempt(number=1, cost=0.0125, latency=1.5)
    await store.journal.ended(r.lease, start, attempt, reply)
    step = (await store.journal.load(r.id)).steps["turn/opening/A"]
    assert (step.reply, step.prompt_hash) == (reply, prompt_hash(make_call(r.id).messages))
    r = await run(store)
    steps = ["turn/opening/B", "turn/opening/A", "turn/closing/A", "jury/online/x/AB"]
    for one in steps:
        await r.call(one)
    assert list((await store.journal.load(r.id)).steps) == steps


async def test_attempts_are_counted_and_only_success_is_a_result(store: Store) -> None:
    r, other = await run(store), await run(store)
    await r.call("turn/opening/A", number=1, text=None, cost=0.0)
    await r.call("turn/opening/A", number=2, text=None, cost=None, cost_max=0.5)
    await r.call("turn/opening/A", number=3, cost=0.125)
    await r.call("turn/opening/B", number=1, text=None, cost=0.0)
    journaled = await store.journal.load(r.id)
    assert list(journaled.steps) == ["turn/opening/A"]
    assert journaled.attempts == {"turn/opening/A": 3, "turn/opening/B": 1}
    assert journaled.spent == pytest.approx(0.625)
    untouched = await store.journal.load(other.id)
    assert (untouched.steps, untouched.attempts, untouched.spent) == ({}, {}, 0.0)


async def test_nothing_begins_for_a_debate_asked_to_stop(store: Store) -> None:
    r = await run(store)
    await r.call("turn/opening/A")
    await store.queue.ask_stop(r.id, "the starter cancelled it")
    with pytest.raises(StoppedError, match=r"^the starter cancelled it$"):
        await r.began("turn/opening/B")
    await store.deliveries.abandon(r.lease, r.id, "the thread was deleted")
    with pytest.raises(StoppedError, match=r"^the thread was deleted$") as caught:
        await r.began("turn/opening/B")
    assert caught.value.ends == "thread"
    assert (await store.journal.load(r.id)).attempts == {"turn/opening/A": 1}


async def test_what_is_out_counts_at_its_most_and_can_be_settled_after_a_stop(store: Store) -> None:
    r = await run(store)
    start = await r.began("turn/opening/A", cost_max=0.5)
    cut_off = await store.journal.load(r.id)  # as a crash would cut it off
    assert (cut_off.steps, cut_off.attempts) == ({}, {"turn/opening/A": 1})
    assert cut_off.spent == 0.5
    await store.queue.ask_stop(r.id, "cancelled")
    await store.journal.ended(r.lease, start, Attempt(number=1, error="cancelled", cost=0.1), None)
    assert (await store.journal.load(r.id)).spent == pytest.approx(0.1)


async def test_a_ballot_comes_back_with_the_call_that_gave_it_or_its_raw_text(store: Store) -> None:
    r = await run(store)
    await r.call("jury/oak/AB", text='{"verdict": "A"}', cost=0.02)
    given = ballot(signal={"A": 0.4}, weight=1.2, scores={"A": {"logic": 7}}, confidence=0.6)
    await store.journal.record_verdict(r.lease, r.id, verdict(), {"jury/oak/AB": given})
    read = await store.journal.read(r.id, "verdict", "ballots")
    assert read.verdict == verdict()
    call = {
        "raw": '{"verdict": "A"}',
        "model": "m",
        "cost": 0.02,
        "cost_origin": "unknown",
        "latency": 0.0,
        "prompt_hash": prompt_hash(make_call(r.id).messages),
    }
    assert read.ballots == (given.model_copy(update=call),)
    r = await run(store)
    await r.call("jury/oak/AB", text="no JSON here")
    await r.call("jury/oak/AB/again", text=None)
    failed = ballot(
        valid=False, verdict=None, problem="the juror failed", raw="no JSON here", cost=0.01
    )
    await store.journal.record_verdict(r.lease, r.id, verdict(), {"jury/oak/AB/again": failed})
    assert (await store.journal.read(r.id, "ballots")).ballots == (failed,)


async def test_only_the_parts_that_are_asked_for_are_read(store: Store) -> None:
    r = await run(store)
    await r.call("jury/oak/AB", text='{"verdict": "A"}')
    artifacts = (Artifact(name="why", kind="why", body={}), Artifact(name="c", kind="map", body={}))
    note = Note(artifacts=artifacts, verdicts={"audited": verdict("B")})
    await store.journal.note(r.lease, r.id, note)
    await store.journal.record_verdict(r.lease, r.id, verdict("A"), {"jury/oak/AB": ballot()})
    assert await store.journal.read(r.id) == Record()
    assert await store.journal.read(r.id, "verdict") == Record(verdict=verdict("A"))
    assert await store.journal.read(r.id, "verdicts", artifacts="why") == Record(
        verdicts={"audited": verdict("B")}, artifacts=artifacts[:1]
    )
    whole = await store.journal.read(r.id, "turns", "ballots", "judgings")
    assert (len(whole.ballots), whole.turns, whole.judgings) == (1, (), ())


async def test_the_first_verdict_stands(store: Store) -> None:
    r = await run(store)
    assert await store.journal.read(r.id, "verdict", "ballots") == Record()
    await store.journal.record_verdict(r.lease, r.id, verdict("A"), {"jury/oak/AB": ballot()})
    await store.journal.record_verdict(
        r.lease, r.id, verdict("B"), {"jury/oak/AB": ballot(verdict="B")}
    )
    judged = await store.journal.read(r.id, "verdict", "ballots")
    found, ballots = judged.verdict, judged.ballots
    assert (found, ballots) == (verdict("A"), (ballot(),))


async def test_spending_is_unknown_while_one_cost_is(store: Store) -> None:
    r = await run(store)
    assert await store.journal.spending(r.id) == (0, 0.0)
    await r.call("turn/opening/A", cost=0.25)
    await r.call("turn/opening/B", cost=0.5)
    assert await store.journal.spending(r.id) == (2, 0.75)
    await r.began("turn/closing/A")
    assert await store.journal.spending(r.id) == (3, None)


async def test_who_thinks_now_is_known_for_open_threads_of_a_platform(store: Store) -> None:
    r, threadless = await run(store), await run(store)
    elsewhere = await run(store, new_debate(platform="elsewhere"))
    for running in (r, elsewhere):
        await store.outbox.set_thread(running.lease, running.id, f"thread of {running.id}")
    for running in (r, threadless, elsewhere):
        for number in (1, 2):  # the first is lost with its process
            await running.began("turn/opening/A", number=number)
    await r.call("turn/opening/B")
    assert await store.journal.thinking("chat") == [(r.id, f"thread of {r.id}", "turn/opening/A")]
    await r.advance(Status.FAILED)
    assert await store.journal.thinking("chat") == []


def _standing(stood: Vote) -> Callable[[tuple[VoteEvent, ...]], Closing]:
    return lambda _: Closing(votes=(stood,), posts=())


async def test_the_past_is_what_was_revealed_oldest_first(store: Store) -> None:
    """Debates of rehearsal models apart: what they say of jurors is made up."""
    held = [new_debate(request={"quorum": 1}) for _ in range(4)]
    debates = [*map(real, held[:3]), held[3]]
    for winner, new in zip(("A", "B", "A", "B"), debates, strict=True):
        r = await run(store, new)
        step = f"jury/oak-{winner}/AB"
        ballots = {step: ballot(f"oak-{winner}", verdict=winner)}
        await store.journal.record_verdict(r.lease, r.id, verdict(winner), ballots)
        await r.open_vote(f"message of {r.id}")
        person = (await store.votes.people("chat", ["user-1"]))["user-1"]
        await store.votes.close(r.lease, r.id, NOW, False, _standing(vote(person, winner)))
    sealed = await run(store)
    await store.journal.record_verdict(sealed.lease, sealed.id, verdict(), {"jury/x": ballot()})
    await sealed.advance(Status.VOTING)
    past = await store.learning.past(2, rehearsal=False)
    assert [debate.human for debate in past] == ["B", "A"]
    assert [debate.ballots[0].juror for debate in past] == ["oak-B", "oak-A"]
    assert {debate.z for debate in past} == {1.5}
    assert len(await store.learning.past(10, rehearsal=False)) == 3
    (rehearsed,) = await store.learning.past(10, rehearsal=True)
    assert rehearsed.ballots[0].juror == "oak-B"


async def test_what_our_own_end_cut_off_is_no_failure_of_a_model(store: Store) -> None:
    r = await run(store)
    await r.began("turn/opening/A")  # its process was killed, and the next one asks again
    await r.call("turn/opening/A", number=2, text=None)
    stopped = await r.began("turn/opening/A", number=3)
    cut = Attempt(number=3, error="cancelled", fault=FaultKind.CANCELLED)
    await store.journal.ended(r.lease, stopped, cut, None)
    await r.call("turn/opening/A", number=4)
    (taken,) = (await store.usage.read(UsageFilter(debate=r.id))).totals
    assert (taken.calls, taken.failed, taken.lost) == (4, 1, 2)


@pytest.mark.sqlite
async def test_a_try_of_a_running_debate_takes_one_statement_at_either_end(
    store: Store, database: SqlDatabase
) -> None:
    r = await run(store)
    run_there: list[str] = []
    await database.write(lambda c: c.driver.set_trace_callback(run_there.append))
    await r.call("turn/opening/A")
    await database.write(lambda c: c.driver.set_trace_callback(None))
    verbs = [sql.split()[0] for sql in run_there]
    assert [verb for verb in verbs if verb not in ("BEGIN", "COMMIT")] == ["INSERT", "UPDATE"]
