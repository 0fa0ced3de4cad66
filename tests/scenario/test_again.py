"""The question that is asked again below the reveal: kept apart, recovered, closed, forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from engine.dataset.entry import Pseudonyms, make_entry
from engine.dataset.people_tables import VOTES
from engine.run.plan import Defaults
from engine.store import ExportFilter, OpenQuestion, StandingAnswer, Target
from engine.values.debate import BallotKind, Debate
from engine.values.judging import Question
from engine.values.ports import ButtonPressed
from tests.doubles.databases import traces
from tests.doubles.hall import DEFAULTS, Hall, Session
from tests.kit import HANG_SECONDS, FixedClock, record_of

ANN = "190384756102938475"
BALLOTS = list(BallotKind)


def asking(minutes: float = 60, ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    asked = {"again": True, "again_minutes": minutes, "ballot": ballot}
    return DEFAULTS.model_copy(update=asked)


async def revealed(session: Session, defaults: Defaults, **votes: str) -> Debate:
    """Hold a debate, have people vote, and close the vote."""
    debate_id = await session.start(defaults)
    debate = await session.voting(debate_id)
    for user, option in votes.items():
        await session.venue.react(user, debate.thread or "", debate.vote_message or "", option)
    await session.service.close_vote(debate_id)
    return await session.ended(debate_id)


async def asked_again(
    session: Session, debate: Debate, done: Callable[[Target], object] = lambda target: True
) -> Target:
    """Wait until it is asked again, and the question is as wanted."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            due = await session.store.votes.due("memory")
            for target in await session.store.votes.targets(debate.id, Question.AGAIN):
                if (target.closed or OpenQuestion(debate.id, Question.AGAIN) in due) and done(
                    target
                ):
                    return target
            await asyncio.sleep(0.005)


async def answers(session: Session, debate: Debate) -> list[StandingAnswer]:
    record = await record_of(session.store, debate.id)
    return list(record.asked(Question.AGAIN))


async def choose(session: Session, target: Target, user: str, option: str) -> None:
    """Answer as the ballot wants it: by reaction, or by button."""
    if target.ballot is BallotKind.PRIVATE:
        pressed = ButtonPressed(target.place, target.message, user, option)
        await session.service.hear("memory", pressed)
    else:
        await session.venue.react(user, target.place, target.message, option)


@pytest.mark.parametrize("ballot", BALLOTS)
async def test_what_is_answered_after_the_reveal_is_kept_apart(
    hall: Hall, ballot: BallotKind
) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(ballot=ballot))
        before = await session.store.votes.events(debate.id, Question.VOTE)
        target = await asked_again(session, debate)
        for user, option in (("ann", "B"), ("bob", "tie"), ("ann", "A")):
            await choose(session, target, user, option)
        record = await record_of(session.store, debate.id)
        assert await session.store.votes.events(debate.id, Question.VOTE) == before
    assert hall.thread()[-1].body.startswith("After the reveal: A, B, tie, weak.")
    found = [(vote.option, vote.gold, vote.judge_visible) for vote in record.asked(Question.AGAIN)]
    assert found == [("A", False, True), ("tie", False, True)]
    assert record.votes == ()
    entry = make_entry(record, Pseudonyms(b"key", ExportFilter(), None), b"salt")
    assert {row["phase"] for row in VOTES.rows(entry)} == {"after_reveal"}
    assert entry.tally is not None
    assert not any(entry.tally.counts.values())


async def test_nothing_is_asked_again_where_nobody_wants_it(hall: Hall) -> None:
    async with hall.open() as session:
        await revealed(session, DEFAULTS)
    assert hall.thread()[-1].body.startswith("Reveal:")


async def test_it_is_asked_last_and_changes_no_vote(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(), ann="A", bob="B")
        target = await asked_again(session, debate)
        await choose(session, target, "ann", "B")
        record = await record_of(session.store, debate.id)
        shown = [message.body.split(":")[0] for message in hall.thread()[-2:]]
    assert shown == ["Reveal", "After the reveal"]
    assert sorted(vote.option for vote in record.votes) == ["A", "B"]
    assert [vote.option for vote in record.asked(Question.AGAIN)] == ["B"]


async def test_what_was_answered_while_nothing_ran_is_read_when_it_runs_again(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking())
        target = await asked_again(session, debate)
        await choose(session, target, "ann", "A")
    hall.venue.listening = False
    await hall.venue.unreact("ann", target.place, target.message, "A")
    await hall.venue.react("bob", target.place, target.message, "weak")
    hall.venue.listening = True
    async with hall.open() as session, asyncio.timeout(HANG_SECONDS):
        while [vote.option for vote in await answers(session, debate)] != ["weak"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_it_closes_in_time_and_reads_what_is_there_first(hall: Hall) -> None:
    hall.clock = clock = FixedClock()
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.02))
        hall.venue.listening = False
        target = await asked_again(session, debate)
        await hall.venue.react("ann", target.place, target.message, "B")
        clock.pass_seconds(1.3)
        await asked_again(session, debate, lambda target: target.closed)
        hall.venue.listening = True
        await hall.venue.react("bob", target.place, target.message, "A")
        found = await answers(session, debate)
    assert [(vote.option, vote.late_seen) for vote in found] == [("B", False)]


async def test_a_deadline_that_passed_while_nothing_ran_fires_late(hall: Hall) -> None:
    hall.clock = clock = FixedClock()
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.02))
        target = await asked_again(session, debate)
    hall.venue.listening = False
    await hall.venue.react("ann", target.place, target.message, "B")
    clock.pass_seconds(1.3)
    async with hall.open() as session:
        await asked_again(session, debate, lambda target: target.closed)
        found = await answers(session, debate)
    assert [(vote.option, vote.late_seen) for vote in found] == [("B", True)]


async def test_a_deleted_question_keeps_its_answers(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.03))
        target = await asked_again(session, debate)
        await choose(session, target, "ann", "B")
        await hall.venue.delete_message(target.message)
        await asked_again(session, debate, lambda target: target.closed)
        found = await answers(session, debate)
    assert [vote.option for vote in found] == ["B"]


# --- forgetting ----------------------------------------------------------------------------


async def forget(session: Session, user: str) -> None:
    await session.store.people.forget("memory", user)
    assert await session.store.people.wipe()


@pytest.mark.parametrize("ballot", BALLOTS)
async def test_forgetting_while_it_is_asked_again_leaves_no_trace(
    hall: Hall, ballot: BallotKind
) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(ballot=ballot))
        target = await asked_again(session, debate)
        await choose(session, target, ANN, "B")
        told = await session.store.people.traces("memory", ANN)
        assert (told.revisions, told.votes, told.entries > 0) == (1, 0, True)
        await forget(session, ANN)
        assert traces(hall.url, ANN) == []
        await choose(session, target, ANN, "A")
        assert traces(hall.url, ANN) == []
        record = await record_of(session.store, debate.id)
    assert [vote.option for vote in record.asked(Question.AGAIN)] == ["B"]
    entry = make_entry(record, Pseudonyms(b"key", ExportFilter(), None), b"salt")
    assert VOTES.rows(entry) == []
    assert traces(hall.url, ANN) == []


async def test_forgetting_while_it_closes_leaves_no_trace(hall: Hall) -> None:
    crowd = [f"7{number:017}" for number in range(20)]
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.01))
        hall.venue.listening = False
        target = await asked_again(session, debate)
        for user in crowd:
            await hall.venue.react(user, target.place, target.message, "B")
        for user in crowd:
            await session.store.people.forget("memory", user)
            await asyncio.sleep(0.03)
        await asked_again(session, debate, lambda target: target.closed)
        assert await session.store.people.wipe()
        assert [traces(hall.url, user) for user in crowd] == [[]] * len(crowd)


@pytest.mark.slow
async def test_reading_the_question_again_does_not_bring_the_forgotten_back(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.03))
        target = await asked_again(session, debate)
        await forget(session, ANN)
        hall.venue.listening = False
        await hall.venue.react(ANN, target.place, target.message, "B")
        await asked_again(session, debate, lambda target: target.closed)
        assert await answers(session, debate) == []
    assert traces(hall.url, ANN) == []
