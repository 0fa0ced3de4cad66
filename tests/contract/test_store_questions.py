"""What every Store must do with the messages that ask something: votes, stances, turns."""

import asyncio
from datetime import datetime, timedelta

import pytest

from engine.store import Closing, DeliveryState, Intervention, OpenQuestion, Store, Target
from engine.store.ballots import VoterComment
from engine.store.leases import Partition, partition_key_of
from engine.store.vote_log import NewEvent, Outcome
from engine.values.debate import BallotKind, Status
from engine.values.ports import ButtonPressed
from engine.values.verdicts import How, Log, Question, VoteEvent
from tests.kit import (
    LATER,
    NO_CAPS,
    NOW,
    Running,
    asking,
    cast,
    new_debate,
    notice,
    records_of,
    run,
    some,
    turn,
    turn_post,
)

SOON = NOW + timedelta(minutes=1)


async def voting(store: Store, ballot: BallotKind = BallotKind.OPEN) -> Running:
    r = await run(store, new_debate(request={"ballot": ballot}))
    await r.open_vote()
    return r


async def press(
    store: Store,
    option: str | None,
    user: str = "user-1",
    *,
    message: str = "vote-message",
    event: str | None = None,
    account_days: int | None = None,
) -> tuple[Outcome, str | None]:
    pressed = ButtonPressed("thread", message, user, option, event)
    return await store.ballots.press("chat", pressed, NOW, account_days=account_days)


@pytest.mark.parametrize("ballot", list(BallotKind))
async def test_a_vote_message_asks_its_debates_question(store: Store, ballot: BallotKind) -> None:
    r = await voting(store, ballot)
    target = await store.votes.target("chat", "thread", "vote-message")
    assert target == Target(
        debate=r.id,
        question=Question.VOTE,
        platform="chat",
        place="thread",
        message="vote-message",
        ballot=ballot,
        options=("A", "B", "tie", "weak"),
        closes_at=(await r.get()).vote_deadline,
    )
    assert await store.votes.targets(r.id) == (target,)
    for elsewhere in (("elsewhere", "thread"), ("chat", "lobby")):
        assert await store.votes.target(*elsewhere, "vote-message") is None


async def asked_again(store: Store) -> Running:
    """Bring a debate to its reveal, below which it is asked again until LATER."""
    r = await voting(store)
    await store.votes.close(r.lease, r.id, NOW, False, lambda _: Closing(votes=(), posts=()))
    await store.votes.accept(r.lease, r.id, "again", Question.AGAIN)
    await store.votes.open(r.lease, r.id, "again", NOW, LATER, Question.AGAIN)
    return r


def revision(r: Running, option: str | None, user: str = "user-1") -> VoterComment:
    return VoterComment(
        debate=r.id,
        ballot=BallotKind.OPEN,
        platform="chat",
        user=user,
        question=Question.AGAIN,
        option=option,
        received_at=SOON,
    )


async def test_it_is_asked_again_until_its_own_deadline(store: Store) -> None:
    r = await asked_again(store)
    due, asked = store.votes.due, {OpenQuestion(r.id, Question.AGAIN): LATER}
    assert await due("chat") == asked
    assert await due("elsewhere") == await due("chat", "attic") == {}
    assert await due("chat", "lobby") == asked
    later = LATER + timedelta(hours=1)
    await store.votes.open(r.lease, r.id, "again", SOON, later, Question.AGAIN)
    assert await due("chat") == asked
    assert await store.votes.cast(cast(message="again")) == "stored"
    assert await store.votes.cast(cast()) == "closed"
    await store.votes.close(r.lease, r.id, LATER, question=Question.AGAIN)
    assert await due("chat") == {}
    assert await store.votes.cast(cast("user-2", message="again")) == "closed"
    assert some(await store.votes.target("chat", "thread", "again")).closed


async def test_a_revision_takes_the_place_of_what_was_answered_and_is_known(store: Store) -> None:
    r = await asked_again(store)
    await store.votes.cast(cast(message="again"))
    steps = (("B", "stored"), ("B", "duplicate"), (None, "stored"), (None, "duplicate"))
    for option, outcome in steps:
        assert await store.ballots.revise(revision(r, option)) == (outcome, option)
    # Which ends the reactions alone.
    await store.votes.close(r.lease, r.id, LATER, question=Question.AGAIN)
    assert await store.ballots.revise(revision(r, "tie")) == ("stored", "tie")
    events = await store.votes.events(r.id, Question.AGAIN)
    assert [(event.option, event.added, event.how) for event in events] == [
        ("A", True, How.LIVE),
        ("B", True, How.BUTTON),
        ("B", False, How.BUTTON),
        ("tie", True, How.BUTTON),
    ]
    other = await run(store)
    among = (r.id, other.id)
    assert await store.votes.revised_by("chat", "user-1", among) == {r.id}
    assert await store.votes.revised_by("chat", "user-1", (other.id,)) == frozenset()
    for platform, user in (("chat", "user-2"), ("elsewhere", "user-1")):
        assert await store.votes.revised_by(platform, user, among) == frozenset()


async def test_answers_to_each_question_are_logged_apart(store: Store) -> None:
    r = await voting(store)
    for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER):
        await store.votes.accept(r.lease, r.id, f"message of {question}", question)
        for _ in range(2):
            await store.votes.cast(cast("user-2", "up", message=f"message of {question}"))
    await store.votes.cast(cast("user-1", "A"))
    logs = {question: await store.votes.events(r.id, question) for question in Question}
    assert [len(logs[question]) for question in Question] == [1, 2, 2, *[0] * 11]
    assert {event.question for event in logs[Question.STANCE_AFTER]} == {Question.STANCE_AFTER}
    assert len(await store.votes.events(r.id)) == 5
    # Who answered another question was not seen before in this one.
    assert logs[Question.VOTE][0].votes_seen_before == 0


async def spoken(r: Running, *messages: str, number: int = 1) -> str:
    """Post a turn in parts, and return its step."""
    await r.store.outbox.set_thread(r.lease, r.id, "thread")
    await r.store.journal.record_turn(r.lease, r.id, turn(number), turn_post(number))
    intent = some(await r.store.outbox.next(r.id))
    posted = intent.model_copy(update={"refs": messages})
    await r.store.outbox.settle(r.lease, posted, DeliveryState.SENT)
    return intent.key


async def test_a_turn_that_was_posted_takes_thumbs_apart_from_the_vote(store: Store) -> None:
    r = await run(store)
    step = await spoken(r, "m1", "m2")
    for message in ("m1", "m2"):
        target = some(await store.votes.target("chat", "thread", message))
        assert (target.question, target.step, target.options) == (
            Question.TURN,
            step,
            ("up", "down"),
        )
    thumbs = [cast(user, "up", message="m2", event=f"e-{user}") for user in ("ann", "bob", "ann")]
    outcomes = [await store.votes.cast(thumb) for thumb in thumbs]
    assert outcomes == ["stored", "stored", "duplicate"]
    assert await store.votes.events(r.id) == ()
    events = await store.votes.events(r.id, Question.TURN)
    assert [(event.step, event.how) for event in events] == [(step, How.LIVE)] * 2
    assert await store.votes.targets(r.id) == ()
    target = some(await store.votes.target("chat", "thread", "m1"))
    await store.votes.intervene(target, Intervention.on(target, "deleted", SOON))
    assert await store.votes.cast(cast("cem", "up", message="m1")) == "closed"
    assert await store.votes.cast(cast("cem", "up", message="m2")) == "stored"
    (note,) = await store.votes.interventions(r.id)
    assert (note.question, note.step, note.act) == (Question.TURN, step, "deleted")
    found = await store.votes.targets(r.id, Question.TURN)
    assert {each.message: each.closed for each in found} == {"m1": True, "m2": False}


async def test_the_messages_of_a_turn_are_told_one_after_another(store: Store) -> None:
    r = await run(store)
    first = await spoken(r, "m3", "m1")
    second = await spoken(r, "m2", "m4", number=2)
    await store.votes.accept(r.lease, r.id, "vote-message")
    found = await store.votes.targets(r.id, Question.TURN)
    assert [target.step for target in found] == [first, first, second, second]
    assert {target.message for target in found} == {"m1", "m2", "m3", "m4"}
    both = await store.votes.targets(r.id, Question.TURN, Question.VOTE)
    assert len(both) == 5
    assert [target.message for target in await store.votes.targets(r.id)] == ["vote-message"]


async def test_thumbs_that_were_missed_are_added_to_the_log_of_their_turn(store: Store) -> None:
    r = await run(store)
    first, second = await spoken(r, "m1"), await spoken(r, "m2", number=2)
    for message, user in (("m1", "ann"), ("m2", "bob"), ("m2", "eve")):
        await store.votes.cast(cast(user, "up", message=message))
    people = await store.votes.people("chat", ["ann", "cem", "eve"])
    await store.privacy.forget("chat", "eve")
    seen: list[int] = []

    def find(events: tuple[VoteEvent, ...]) -> list[NewEvent]:
        seen.extend(event.person for event in events)
        taken_back = [NewEvent(people[user], "up", added=False) for user in ("ann", "eve")]
        return [*taken_back, NewEvent(people["cem"], "down", added=True)]

    turn_of = asking(r.id, Question.TURN, first)
    assert await store.votes.recover(r.lease, turn_of, find, SOON, True) == 2
    assert seen == [people["ann"]]
    assert await store.votes.events(r.id) == ()
    *live, gone, new = await store.votes.events(r.id, Question.TURN)
    assert [event.step for event in live] == [first, second, second]
    assert (gone.person, gone.added, gone.step) == (people["ann"], False, first)
    assert (new.option, new.how, new.received_at) == ("down", How.RECOVERED, SOON)
    traces = await store.privacy.traces("chat", "ann")
    assert (traces.thumbs, traces.votes, traces.entries) == (1, 0, 2)


@pytest.mark.parametrize("found_at", [NOW, SOON, LATER])
async def test_a_thumb_found_after_the_reveal_is_never_one_before_it(
    store: Store, found_at: datetime
) -> None:
    r = await voting(store)
    step = await spoken(r, "m1")
    await store.votes.cast(cast("ann", "up", message="m1"))
    cem = (await store.votes.people("chat", ["cem"]))["cem"]
    closing = Closing(votes=(), posts=())
    await store.votes.close(r.lease, r.id, SOON, False, lambda _: closing)
    turn_of = asking(r.id, Question.TURN, step)
    found = [NewEvent(cem, "up", added=True)]
    await store.votes.recover(r.lease, turn_of, lambda _: found, found_at, False)
    (record,) = (await records_of(store)).values()
    assert [label.blind for label in record.labels] == [True, found_at < SOON]


async def test_thumbs_are_in_the_record_of_a_debate(store: Store) -> None:
    r = await run(store)
    step = await spoken(r, "m1")
    await store.votes.cast(cast("ann", "up", message="m1"))
    await store.votes.cast(cast("bob", "down", message="m1"))
    await store.votes.cast(cast("ann", "up", message="m1", added=False))
    await r.advance(Status.CANCELLED)
    ids = await store.votes.people("chat", ["bob"])
    (record,) = (await records_of(store)).values()
    (label,) = record.labels
    assert (label.step, label.person, label.up, label.blind) == (step, ids["bob"], False, True)


async def test_reactions_of_one_moment_each_get_their_own_answer(store: Store) -> None:
    r = await voting(store)
    casts = [
        cast("ann", "A", event="e1"),
        cast("bob", "B", message="elsewhere"),
        cast("ann", "A", event="e1"),
        cast("cem", "tie"),
        cast("bob", "B", event="e2"),
    ]
    outcomes = await asyncio.gather(*map(store.votes.cast, casts))
    assert outcomes == ["stored", "unknown", "duplicate", "stored", "stored"]
    assert [event.option for event in await store.votes.events(r.id)] == ["A", "tie", "B"]
    # One that cannot be stored takes no other with it.
    casts = [cast("ann", "A"), cast("half a \ud800 pair", "A"), cast("bob", "B")]
    told = await asyncio.gather(*map(store.votes.cast, casts), return_exceptions=True)
    assert told[::2] == ["stored", "stored"]
    assert isinstance(told[1], Exception)
    assert [event.option for event in await store.votes.events(r.id)][3:] == ["A", "B"]


@pytest.mark.parametrize("ballot", [BallotKind.SECRET, BallotKind.PRIVATE])
async def test_a_button_chooses_changes_and_withdraws_once_each(
    store: Store, ballot: BallotKind
) -> None:
    r = await voting(store, ballot)
    answers = [await press(store, option) for option in ("A", "B", "B", "A", None)]
    assert answers == [("stored", option) for option in ("A", "B", None, "A", None)]
    events = await store.votes.events(r.id)
    assert [(event.option, event.added) for event in events] == [
        ("A", True),
        ("B", True),
        ("B", False),
        ("A", True),
        ("A", False),
    ]
    assert {event.how for event in events} == {How.BUTTON}
    first = await press(store, "A", "user-2", event="e1", account_days=30)
    again = await press(store, "A", "user-2", event="e1")
    assert (first, again) == (("stored", "A"), ("duplicate", "A"))
    assert (await store.votes.events(r.id))[-1].account_days == 30


async def test_a_button_in_a_secret_vote_withdraws_the_reaction(store: Store) -> None:
    r = await voting(store, BallotKind.SECRET)
    await store.votes.cast(cast("user-1", "tie"))
    assert await press(store, None) == ("stored", None)
    assert [event.option for event in await store.votes.events(r.id)] == ["tie", "tie"]
    # There is nothing left to withdraw.
    assert await press(store, None) == ("stored", None)
    assert len(await store.votes.events(r.id)) == 2


async def test_where_there_are_no_buttons_none_is_known(store: Store) -> None:
    await voting(store)
    assert await press(store, "A") == ("unknown", None)
    assert await press(store, "A", message="m404") == ("unknown", None)


async def test_a_deleted_message_takes_no_more_and_that_is_noted_once_while_there_is_a_debate(
    store: Store,
) -> None:
    r = await voting(store)
    await store.votes.cast(cast("ann"))
    target = some(await store.votes.target("chat", "thread", "vote-message"))
    acts = (("cleared", "A"), ("deleted", None), ("deleted", None))
    for act, option in acts:
        noted = {"debate": r.id, "question": "vote", "act": act, "option": option, "at": SOON}
        await store.votes.intervene(target, Intervention.model_validate(noted))
    assert await store.votes.cast(cast("bob")) == "closed"
    assert len(await store.votes.events(r.id)) == 1
    notes = await store.votes.interventions(r.id)
    assert [(note.act, note.option, note.at) for note in notes] == [
        ("cleared", "A", SOON),
        ("deleted", None, SOON),
    ]
    # That was an error once the debate was deleted, as the message was still known here.
    assert await store.communities.purge("chat", "club") == 1
    await store.votes.intervene(target, Intervention.on(target, "cleared", SOON, "A"))
    assert await store.votes.interventions(r.id) == ()


async def test_the_debates_of_a_thread_community_or_channel_are_found_while_they_go_on(
    store: Store,
) -> None:
    r = await voting(store)
    over, elsewhere = await run(store), await run(store, new_debate(community="other"))
    await over.advance(Status.CANCELLED)
    held = store.votes.held_in
    assert await held("chat", thread="thread") == [r.id]
    assert await held("chat", community="club") == [r.id]
    assert await held("chat", community="other") == [elsewhere.id]
    assert await held("elsewhere", thread="thread") == []
    assert await held("chat", channel="lobby") == [r.id, elsewhere.id]
    assert await held("chat", channel="attic") == []


async def test_the_first_stance_is_asked_for_until_its_deadline_and_closed_once(
    store: Store,
) -> None:
    r = await run(store)
    stance = Question.STANCE_BEFORE
    assert await store.votes.due("chat") == {}
    await store.votes.accept(r.lease, r.id, "m1", stance)
    for deadline in (SOON, LATER):
        await store.votes.open(r.lease, r.id, "m1", NOW, deadline, stance)
    assert await store.votes.due("chat") == {OpenQuestion(r.id, stance): SOON}
    assert await store.votes.due("elsewhere") == {}
    assert await store.votes.cast(cast(option="up", place="lobby", message="m1")) == "stored"
    for moment in (SOON, LATER):
        await store.votes.close(r.lease, r.id, moment, question=stance)
    debate = await r.get()
    assert (debate.stance_deadline, debate.stance_closed_at) == (SOON, SOON)
    assert await store.votes.due("chat") == {}
    assert await store.votes.cast(cast(option="down", place="lobby", message="m1")) == "closed"
    r = await run(store)  # it was never posted here
    await store.votes.close(r.lease, r.id, SOON, question=stance)
    debate = await r.get()
    assert (debate.stance_deadline, debate.stance_closed_at) == (None, SOON)


@pytest.mark.parametrize("ballot", list(BallotKind))
async def test_a_closed_questions_messages_lose_their_seeds_once(
    store: Store, ballot: BallotKind
) -> None:
    """A private ballot has buttons instead; on a turn there were never any."""
    r = await run(store, new_debate(request={"ballot": ballot}))
    votes = store.votes

    async def left() -> list[str]:
        return [target.message for target in await votes.seeds_left("chat")]

    await r.store.outbox.set_thread(r.lease, r.id, "thread")
    await votes.open(r.lease, r.id, "before", NOW, SOON, Question.STANCE_BEFORE)
    await votes.close(r.lease, r.id, SOON, question=Question.STANCE_BEFORE)
    await r.open_vote()
    await spoken(r, "said")
    await ask(r, Question.STANCE_AFTER, None)
    seeded = ballot is not BallotKind.PRIVATE
    assert await left() == (["before"] if seeded else [])
    for target in await votes.seeds_left("chat"):
        await votes.seeds_gone(target)
    await ask(r, Question.AGAIN, LATER)
    assert await left() == []
    reveal = Closing(posts=(notice("reveal"),))
    await votes.close(r.lease, r.id, SOON, conclude=lambda _: reveal)
    assert await left() == []  # first the news
    while (intent := await r.store.outbox.next(r.id)) is not None:
        await r.store.outbox.settle(r.lease, intent, DeliveryState.SENT)
    assert set(await left()) == ({"vote-message", "stance_after"} if seeded else set())
    for target in await votes.seeds_left("chat"):
        await votes.seeds_gone(target)
    await votes.close(r.lease, r.id, LATER, question=Question.AGAIN)
    assert await left() == (["again"] if seeded else [])
    assert await votes.seeds_left("elsewhere") == ()
    assert await votes.seeds_left("chat", "attic") == ()
    elsewhere = Partition(2, frozenset({1 - partition_key_of("club") % 2}))
    assert await votes.seeds_left("chat", served=elsewhere) == ()


async def test_a_stopped_debates_open_questions_lose_their_seeds_too(store: Store) -> None:
    for step, status in (("opening", Status.FAILED), ("rebuttal", Status.CANCELLED)):
        r = await run(store)
        await ask(r, Question.ROUND, None, step)
        await r.advance(status)
    # One that failed may be resumed.
    assert [target.step for target in await store.votes.seeds_left("chat")] == ["rebuttal"]


async def ask(r: Running, question: Question, closes_at: datetime | None, step: str = "") -> str:
    await r.store.outbox.set_thread(r.lease, r.id, "thread")
    message = f"{question}{step}"
    await r.store.votes.open(r.lease, r.id, message, NOW, closes_at, question, step)
    return message


async def test_a_question_without_a_time_of_its_own_closes_with_the_vote(store: Store) -> None:
    r = await voting(store)
    message = await ask(r, Question.STANCE_AFTER, None)
    assert await store.votes.due("chat") == {OpenQuestion(r.id): LATER}
    assert await store.votes.cast(cast("ann", "up", message=message)) == "stored"
    await store.votes.close(r.lease, r.id, SOON)
    assert await store.votes.cast(cast("bob", "up", message=message)) == "closed"
    assert all(target.closed for target in await store.votes.targets(r.id))
    assert len(await store.votes.targets(r.id)) == 2


async def test_a_question_is_due_only_while_its_debate_can_end_it(store: Store) -> None:
    r = await run(store)
    await ask(r, Question.STANCE_BEFORE, SOON)
    await ask(r, Question.AGAIN, SOON)
    await r.advance(Status.FAILED)
    assert await store.votes.due("chat") == {}
    await store.queue.requeue(r.id, NO_CAPS, NOW)
    assert await store.votes.due("chat") == {OpenQuestion(r.id, Question.STANCE_BEFORE): SOON}


async def test_what_is_due_first_comes_first_whatever_is_asked(store: Store) -> None:
    first, again = await run(store), await asked_again(store)
    stance = OpenQuestion(first.id, Question.STANCE_BEFORE)
    await ask(first, Question.STANCE_BEFORE, SOON)
    due = await store.votes.due("chat")
    assert list(due.items()) == [(stance, SOON), (OpenQuestion(again.id, Question.AGAIN), LATER)]
    assert await store.votes.due("chat", None, 1) == {stance: SOON}


@pytest.mark.parametrize("question", [Question.STANCE_BEFORE, Question.AGAIN])
async def test_a_question_ends_once_with_what_its_own_log_says(
    store: Store, question: Question
) -> None:
    r = await voting(store)
    message = await ask(r, question, SOON)
    await store.votes.cast(cast("ann", "A"))
    for user in ("ann", "bob"):
        await store.votes.cast(cast(user, "up", message=message))
    seen: list[str] = []

    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        seen.extend(event.option for event in events)
        return Closing(posts=(notice("said"),), unread=frozenset({Log(question)}))

    for _ in range(2):
        await store.votes.close(r.lease, r.id, SOON, False, conclude, question)
    assert seen == ["up", "up"]
    assert some(await store.outbox.next(r.id)).key == "said"
    unread = {target.question: target.unread for target in await store.votes.targets(r.id)}
    assert unread == {Question.VOTE: False, question: True}
    assert (await r.get()).status is Status.VOTING


async def test_a_question_of_several_steps_is_one_for_each(store: Store) -> None:
    r = await voting(store)
    one, two = [await ask(r, Question.STANCE_BEFORE, SOON, step) for step in ("1", "2")]
    due = await store.votes.due("chat", None, 2)
    assert due == {OpenQuestion(r.id, Question.STANCE_BEFORE, step): SOON for step in ("1", "2")}
    await store.votes.close(r.lease, r.id, SOON, question=Question.STANCE_BEFORE, step="1")
    assert await store.votes.cast(cast("ann", "up", message=one)) == "closed"
    assert await store.votes.cast(cast("ann", "up", message=two)) == "stored"
    assert [event.step for event in await store.votes.events(r.id)] == ["2"]
