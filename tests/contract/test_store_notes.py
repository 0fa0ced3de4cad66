"""What every Store must do with what formats find out: keep it, and hold back what waits."""

from datetime import timedelta

from engine.store import Closing, DeliveryState, Note, Store
from engine.values.debate import Status
from engine.values.ports import utc_now
from engine.values.verdicts import UNANSWERED, Adjustment, Artifact, Score, Verdict, VoteEvent
from tests.kit import NOW, Running, notice, record_of, run, some, verdict

STEP = "turn/opening/A"
DOCKED = Adjustment(
    name="docked/1", subject=STEP, side="A", criterion="logic", amount=-2, reason="made up", by="x"
)
NOTE = Note(
    artifacts=(
        Artifact(name="arc", kind="arc", body={"points": [1, 2.5, None], "text": "çay 茶"}),
        Artifact(name="judge", kind="judgment", body={"raw": "no json"}, valid=False),
    ),
    scores=(Score(subject=STEP, side="A", criterion="logic", value=22, original=14),),
    adjustments=(DOCKED,),
    verdicts={"audited": Verdict(winner="B", valid=1, invalid=0, rubric="audited", blind=False)},
)
HELD = Note(held=(notice("briefing", "CANARY"), notice("review", "CANARY too")))


async def close(store: Store, r: Running, *, gone: bool = False) -> None:

    def conclude(_: tuple[VoteEvent, ...]) -> Closing:
        said = () if gone else (notice("reveal"),)
        return Closing(votes=(), posts=said, last=() if gone else (notice("again"),))

    await store.votes.close(r.lease, r.id, NOW + timedelta(minutes=1), False, conclude)


async def queued(store: Store, r: Running) -> list[str]:
    """Return the keys that delivery gets, in order, each settled as it comes."""
    keys = []
    while intent := await store.outbox.next(r.id):
        keys.append(intent.key)
        await store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    return keys


async def test_a_note_stored_again_changes_nothing(store: Store) -> None:
    r = await run(store)
    again = NOTE.model_copy(update={"scores": (NOTE.scores[0].model_copy(update={"value": 1}),)})
    for note in (NOTE, again, HELD, HELD):
        await store.journal.note(r.lease, r.id, note)
    await r.open_vote()
    await close(store, r)
    assert (await record_of(store, r.id)).scores == NOTE.scores
    assert (await queued(store, r)).count("briefing") == 1


async def test_a_question_that_stayed_unanswered_is_known_to_whoever_resumes(store: Store) -> None:
    r = await run(store)
    await r.call("captain/free-1/A", text=None)
    body = {"problem": "The backend is down."}
    missing = Artifact(name="unanswered/captain/free-1/A", kind=UNANSWERED, body=body, valid=False)
    await store.journal.note(r.lease, r.id, Note(artifacts=(missing, *NOTE.artifacts)))
    journaled = await store.journal.load(r.id)
    assert journaled.unanswered == {"captain/free-1/A": "The backend is down."}


async def test_what_a_format_finds_is_in_the_record_as_it_was_and_its_verdict_is_not_the_panels(
    store: Store,
) -> None:
    r = await run(store)
    await store.journal.note(r.lease, r.id, NOTE)
    assert (await store.journal.read(r.id, "verdict")).verdict is None
    await store.journal.record_verdict(r.lease, r.id, verdict("A"), {})
    await r.open_vote()
    await close(store, r)
    found = await record_of(store, r.id)
    assert found.artifacts == NOTE.artifacts
    assert found.scores == NOTE.scores
    assert found.adjustments == NOTE.adjustments
    assert dict(found.verdicts) == dict(NOTE.verdicts)
    assert some(found.verdict).winner == "A"


async def test_what_is_held_is_delivered_behind_the_reveal_and_as_old_as_its_release(
    store: Store,
) -> None:
    r = await run(store)
    await store.journal.note(r.lease, r.id, HELD)
    await store.journal.note(r.lease, r.id, Note(posts=(notice("stage"),)))
    before = await queued(store, r)
    assert "stage" in before
    assert not {"briefing", "review"} & set(before)
    await r.open_vote()
    assert not {"briefing", "review"} & set(await queued(store, r))
    assert await store.deliveries.backlog() == {}, "it waits for people, not for delivery"
    released = utc_now()
    await close(store, r)
    [(messages, oldest)] = (await store.deliveries.backlog()).values()
    assert messages == 4
    assert some(oldest) >= released
    assert await queued(store, r) == ["reveal", "briefing", "review", "again"]
    r = await run(store)  # one that ends without a vote
    await store.journal.note(r.lease, r.id, HELD)
    await r.advance(Status.RUNNING, Status.CANCELLED)
    assert not {"briefing", "review"} & set(await queued(store, r))
    r = await run(store)  # one whose thread is gone
    await store.journal.note(r.lease, r.id, HELD)
    await r.open_vote("another message")
    await queued(store, r)
    await close(store, r, gone=True)
    assert await queued(store, r) == []


async def test_what_stances_decided_is_stored_with_the_close(store: Store) -> None:
    r = await run(store)
    await r.open_vote()
    decided = Verdict(winner="A", valid=9, invalid=0, rubric="stance")

    def conclude(_: tuple[VoteEvent, ...]) -> Closing:
        return Closing(votes=(), posts=(notice("reveal"),), verdicts={"oxford": decided})

    await store.votes.close(r.lease, r.id, NOW, False, conclude)
    assert dict((await record_of(store, r.id)).verdicts) == {"oxford": decided}
