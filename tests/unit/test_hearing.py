"""What a platform tells of, on a real log: ballots of every kind, moderators, lost threads."""

import asyncio

import pytest

import engine.votes.window
from engine.store import Store
from engine.values.debate import BallotKind, Status
from engine.values.errors import VenueAwayError, VenueError
from engine.values.messages import Reveal
from engine.values.ports import CommunityChanged, ReactionSeen, ThreadChanged
from engine.values.verdicts import How
from tests.doubles.poll import OPTIONS, THREAD, Poll, open_poll, options_of
from tests.doubles.venue import Fault
from tests.kit import until

AWAY = VenueAwayError("The platform cannot be reached; try again.", retry_after=0.001)


@pytest.fixture
async def poll(store: Store, monkeypatch: pytest.MonkeyPatch) -> Poll:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)
    return await open_poll(store)


@pytest.fixture
async def secret(store: Store) -> Poll:
    return await open_poll(store, ballot=BallotKind.SECRET)


@pytest.fixture
async def private(store: Store) -> Poll:
    return await open_poll(store, ballot=BallotKind.PRIVATE)


def shown(poll: Poll) -> dict[str, set[str]]:
    return {o: users for o, users in poll.venue.messages[poll.message].reactions.items() if users}


async def until_hidden(poll: Poll) -> None:
    await until(lambda: not shown(poll))


async def test_a_secret_vote_is_taken_off_the_message_changed_by_reacting_and_withdrawn_by_button(
    secret: Poll,
) -> None:
    async with secret.watching():
        await secret.react("ann", "A")
        await secret.react("bob", "B")
        await until_hidden(secret)
        # What the first reading of the reactions still finds is taken away once more.
        removed = [call.said for call in secret.venue.seen if call.method == "remove_reaction"]
        assert list(dict.fromkeys(removed)) == ["ann A", "bob B"]
        secret.venue.misbehave("remove_reaction", Fault(AWAY), Fault(AWAY))
        for option in ("tie", "A", "B"):
            await secret.react("ann", option)
            await until_hidden(secret)
        await secret.react("cem", "A")
        await until_hidden(secret)
        heard = await secret.press("cem", None)
    assert (heard.outcome, heard.option) == ("stored", None)
    votes = await secret.close()
    assert options_of(votes) == {"ann": "B", "bob": "B"}
    assert {(v.tally_visible, v.votes_seen_before) for v in votes.values()} == {(False, 0)}
    assert (votes["ann"].changes, votes["ann"].gold) == (3, True)


async def test_where_removing_is_not_allowed_the_last_choice_counts_all_the_same(
    secret: Poll,
) -> None:
    refused = VenueError("The right to manage messages is missing; grant it.")
    secret.venue.misbehave("remove_reaction", *[Fault(refused)] * 9)
    async with secret.watching():
        await secret.react("ann", "A")
        await secret.react("ann", "B")
        await asyncio.sleep(0.05)
    assert shown(secret) == {"A": {"ann"}, "B": {"ann"}}
    secret.restart()
    assert options_of(await secret.close()) == {"ann": "B"}


async def test_after_a_restart_leftovers_go_and_withdraw_nothing(secret: Poll) -> None:
    """The process died between storing and removing; another one finds the reactions."""
    await secret.react("ann", "A")
    secret.venue.listening = False
    await secret.react("bob", "B")
    secret.restart()
    secret.venue.listening = True
    async with secret.watching():
        await until_hidden(secret)
    secret.restart()
    assert options_of(await secret.close()) == {"ann": "A", "bob": "B"}


async def test_a_choice_changed_in_an_absence_replaces_the_one_before(secret: Poll) -> None:
    await secret.start_again()  # what was missed before it is read by then
    async with secret.watching():
        await secret.react("ann", "A")
        await until_hidden(secret)
    secret.venue.listening = False
    await secret.react("ann", "B")
    secret.venue.listening = True
    assert options_of(await secret.close()) == {"ann": "B"}


async def test_a_private_vote_says_what_stands_and_a_second_press_withdraws(private: Poll) -> None:
    presses = ["A", "B", "B", "tie", None, None]
    heard = [await private.press("ann", option) for option in presses]
    assert [said.option for said in heard] == ["A", "B", None, "tie", None, None]
    assert {said.outcome for said in heard} == {"stored"}
    told = [await private.press("bob", "A", "e1") for _ in range(3)]
    assert [said.outcome for said in told] == ["stored", "duplicate", "duplicate"]
    assert {said.option for said in told} == {"A"}
    for user in ("ann", "bob", "cem"):
        await private.react(user, "B")  # which means nothing
    await private.press("ann", "weak")
    assert options_of(await private.close()) == {"ann": "weak", "bob": "A"}
    assert not [call for call in private.venue.seen if call.method == "reactions"]
    said = await private.press("ann", "B")
    assert (said.outcome, said.option) == ("closed", "weak")


async def test_people_who_press_at_once_are_all_heard(private: Poll) -> None:
    users = [f"user-{i}" for i in range(50)]
    await asyncio.gather(*(private.press(user, "AB"[i % 2]) for i, user in enumerate(users)))
    events = await private.store.votes.events(private.debate_id)
    assert len({event.person for event in events}) == 50
    assert {event.how for event in events} == {How.BUTTON}


async def test_a_button_of_an_open_vote_and_a_reaction_elsewhere_or_off_the_ballot_are_unknown(
    poll: Poll,
) -> None:
    for place, message, option in (
        (THREAD, "m404", "A"),
        ("elsewhere", poll.message, "A"),
        (THREAD, poll.message, "party"),
        (THREAD, poll.message, "up"),
    ):
        seen = ReactionSeen(place, message, "ann", option, True)
        assert (await poll.hear(seen)).outcome == "unknown"
    assert (await poll.press("ann", "A")).outcome == "unknown"
    assert await poll.store.votes.events(poll.debate_id) == ()
    assert await poll.close() == {}


async def test_a_clear_withdraws_nothing_and_is_noted(poll: Poll) -> None:
    await poll.react("ann", "A")
    await poll.react("bob", "B")
    await poll.venue.clear(poll.message, "A")
    await poll.venue.clear(poll.message)
    notes = await poll.store.votes.interventions(poll.debate_id)
    assert [(note.act, note.option) for note in notes] == [("cleared", "A"), ("cleared", None)]
    assert options_of(await poll.close()) == {"ann": "A", "bob": "B"}


async def test_after_a_clear_and_new_seeds_only_new_choices_can_be_missed(poll: Poll) -> None:
    await poll.react("ann", "A")
    await poll.react("bob", "A")
    await poll.venue.clear(poll.message)
    await poll.venue.seed(THREAD, poll.message, OPTIONS)
    await poll.react("bob", "A")
    poll.venue.listening = False
    await poll.unreact("bob", "A")
    assert options_of(await poll.close()) == {"ann": "A"}


async def test_a_deleted_message_freezes_the_votes_and_is_found_out_once(poll: Poll) -> None:
    await poll.react("ann", "A")
    poll.venue.delete_message(poll.message)
    for _ in range(2):
        await poll.start_again()
    late = ReactionSeen(THREAD, poll.message, "bob", "B", True)
    assert (await poll.hear(late)).outcome == "closed"
    assert options_of(await poll.close()) == {"ann": "A"}
    notes = await poll.store.votes.interventions(poll.debate_id)
    assert [note.act for note in notes] == ["deleted"]
    assert (await poll.debate()).status is Status.CLOSED


@pytest.mark.parametrize(
    "event", [ThreadChanged(THREAD, "deleted"), CommunityChanged("club", lost=True)]
)
async def test_a_lost_thread_ends_the_vote_with_what_was_cast(
    poll: Poll, event: ThreadChanged | CommunityChanged
) -> None:
    await poll.react("ann", "A")
    async with poll.watching():
        assert (await poll.hear(event)).outcome == "noted"
        poll.clock.pass_minutes(60 * 24 * 3650)  # to the database's own time
        debate = await poll.until(lambda debate: debate.status is Status.CLOSED)
    assert debate.gone
    assert options_of(await poll.votes()) == {"ann": "A"}
    (reveal,) = await poll.messages()
    assert isinstance(reveal, Reveal)
    assert reveal.aside == "channel"
    assert (await poll.hear(event)).outcome == "unknown"


async def test_a_locked_thread_is_said_until_it_is_opened_again(poll: Poll) -> None:
    await poll.react("ann", "A")
    await poll.hear(ThreadChanged(THREAD, "locked"))
    assert "locked the thread" in (await poll.debate()).reason
    await poll.hear(ThreadChanged(THREAD, "reopened"))
    assert (await poll.debate()).reason == ""
    await poll.hear(ThreadChanged(THREAD, "archived"))
    notes = await poll.store.votes.interventions(poll.debate_id)
    assert [note.act for note in notes] == ["locked", "reopened", "archived"]
    assert options_of(await poll.close()) == {"ann": "A"}


@pytest.mark.slow
async def test_many_votes_that_are_due_close_side_by_side(poll: Poll, store: Store) -> None:
    polls = [poll, *[await open_poll(store, poll.venue) for _ in range(14)]]
    poll.venue.latency = 0.3
    poll.clock.pass_minutes(31)
    poll.venue.seen.clear()
    async with poll.watching():
        for each in polls:
            await each.until(lambda debate: debate.status is Status.CLOSED)
    # Each is read when the window begins to watch, and again when it closes.
    reads = [call.at for call in poll.venue.seen if call.method == "reactions"][len(polls) :]
    assert len(reads) == len(polls)
    assert reads[9] - reads[0] < 5 * 0.3  # one after the other it would be 9 times
    assert reads[10] - reads[0] >= 0.3  # and no more than ten at once
