"""What is asked besides the vote: again below the reveal, and how clear it was."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from engine.run.order import Defaults
from engine.store import DebateRecord, OpenQuestion, Target
from engine.values.debate import BallotKind, ConfidenceScale, Debate
from engine.values.errors import VenueError
from engine.values.messages import Reveal
from engine.values.ports import ButtonPressed, Reactions
from engine.values.verdicts import Question, Vote
from tests.doubles.archive import export_rows
from tests.doubles.databases import traces
from tests.doubles.hall import DEFAULTS, QUICK, Hall, Session
from tests.doubles.venue import AttentiveVenue
from tests.kit import HANG_SECONDS, FixedClock, record_of, until_asked, votes_in

ANN = "190384756102938475"
BALLOTS = list(BallotKind)


def asking(minutes: float = 60, ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    asked = {"again": True, "again_minutes": minutes, "ballot": ballot}
    return DEFAULTS.model_copy(update=asked)


async def revealed(session: Session, defaults: Defaults, **votes: str) -> Debate:
    debate = await session.vote(await session.start(defaults), **votes)
    return (await session.close(debate.id)).debate


async def asked_again(
    session: Session, debate: Debate, done: Callable[[Target], object] = lambda target: True
) -> Target:
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            due = await session.store.votes.due("memory")
            for target in await session.store.votes.targets(debate.id, Question.AGAIN):
                if (target.closed or OpenQuestion(debate.id, Question.AGAIN) in due) and done(
                    target
                ):
                    return target
            await asyncio.sleep(0.005)


async def answers(session: Session, debate: Debate) -> list[Vote]:
    record = await record_of(session.store, debate.id)
    return list(record.asked(Question.AGAIN))


async def choose(session: Session, target: Target, user: str, option: str) -> None:
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
    assert votes_in(record) == ()
    assert {row["phase"] for row in export_rows("votes", record)} == {"after_reveal"}
    [row] = export_rows("debates", record)
    assert row["n_a"] == row["n_b"] == row["n_tie"] == row["n_weak"] == 0


async def test_it_is_asked_last_changes_no_vote_and_keeps_its_answers_when_it_is_deleted(
    hall: Hall,
) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(minutes=0.03), ann="A", bob="B")
        target = await asked_again(session, debate)
        await choose(session, target, "ann", "B")
        shown = [message.body.split(":")[0] for message in hall.thread()[-2:]]
        hall.venue.delete_message(target.message)
        await asked_again(session, debate, lambda target: target.closed)
        record = await record_of(session.store, debate.id)
    assert shown == ["Reveal", "After the reveal"]
    assert sorted(vote.option for vote in votes_in(record)) == ["A", "B"]
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
    async with hall.open() as session:
        read = partial(answers, session, debate)
        await until_asked(read, lambda found: [vote.option for vote in found] == ["weak"])


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


async def forget(session: Session, user: str) -> None:
    await session.store.privacy.forget("memory", user)
    assert await session.store.privacy.wipe()


@pytest.mark.parametrize("ballot", BALLOTS)
async def test_forgetting_while_it_is_asked_again_leaves_no_trace(
    hall: Hall, ballot: BallotKind
) -> None:
    async with hall.open() as session:
        debate = await revealed(session, asking(ballot=ballot))
        target = await asked_again(session, debate)
        await choose(session, target, ANN, "B")
        told = await session.store.privacy.traces("memory", ANN)
        assert (told.revisions, told.votes, told.entries > 0) == (1, 0, True)
        await forget(session, ANN)
        assert traces(hall.url, ANN) == []
        await choose(session, target, ANN, "A")
        assert traces(hall.url, ANN) == []
        record = await record_of(session.store, debate.id)
    assert [vote.option for vote in record.asked(Question.AGAIN)] == ["B"]
    assert export_rows("votes", record) == []
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
            await session.store.privacy.forget("memory", user)
            await asyncio.sleep(0.03)
        await asked_again(session, debate, lambda target: target.closed)
        assert await session.store.privacy.wipe()
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


class HalfReadVenue(AttentiveVenue):
    """A platform that may never let some messages be read."""

    def __init__(self) -> None:
        super().__init__(limits=QUICK)
        self.unreadable = ""

    async def reactions(self, place: str, message: str) -> Reactions:
        if self.messages[message].body.startswith(self.unreadable or "nothing"):
            raise VenueError("The bot may not read this message.")
        return await super().reactions(place, message)


def asking_too(ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    return DEFAULTS.model_copy(update={"confidence": ConfidenceScale.ON, "ballot": ballot})


async def open_both(session: Session, defaults: Defaults) -> tuple[str, str, str, str]:
    """Return a debate, its thread, and the messages of its vote and of how clear it was."""
    debate_id = await session.start(defaults)
    debate = await session.voting(debate_id)
    asked = partial(session.store.votes.targets, debate_id, Question.CONFIDENCE)
    found = await until_asked(asked, bool)
    return debate_id, debate.thread or "", debate.vote_message or "", found[0].message


def words(record: DebateRecord) -> dict[str, int]:
    said = [f"{vote.option} {vote.confidence}".strip() for vote in record.asked(Question.VOTE)]
    return {one: said.count(one) for one in said}


async def test_a_word_stands_in_the_row_of_its_persons_vote(hall: Hall) -> None:
    venue = hall.venue = HalfReadVenue()
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking_too())
        for user, option in (("ann", "A"), ("bob", "B"), ("cem", "A"), ("dee", "tie")):
            await venue.react(user, place, vote, option)
        for user, word in (
            *(("ann", "clear"), ("ann", "onesided")),  # the newest stands
            *(("bob", "close"), ("bob", "-close")),  # taken back
            ("dee", "close"),
            ("eve", "clear"),  # without a vote
        ):
            act = venue.unreact if word.startswith("-") else venue.react
            await act(user, place, sure, word.removeprefix("-"))
        record = await session.close(debate_id)
    assert words(record) == {"A one-sided": 1, "B": 1, "A": 1, "tie close": 1}
    kinds = [message.kind for message in venue.meant]
    assert kinds[kinds.index("vote_invite") + 1] == "confidence_invite"
    reveal = next(m for m in reversed(venue.meant) if isinstance(m, Reveal))
    assert reveal.tally.counts == {"A": 2, "B": 1, "tie": 1, "weak": 0}
    assert not record.asked(Question.CONFIDENCE)


async def test_words_missed_while_nothing_ran_are_read_before_the_close(hall: Hall) -> None:
    venue = hall.venue = HalfReadVenue()
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking_too())
        await venue.react("ann", place, vote, "A")
        await venue.react("ann", place, sure, "close")
    venue.listening = False
    await venue.unreact("ann", place, sure, "close")
    await venue.react("ann", place, sure, "clear")
    await venue.react("bob", place, vote, "B")
    for word in ("close", "onesided"):
        await venue.react("bob", place, sure, word)
    venue.listening = True
    async with hall.open() as session:
        await session.reconcile()
        record = await session.close(debate_id)
    assert words(record) == {"A clear": 1, "B": 1}  # which word of two came last is unknown


async def test_a_question_that_can_never_be_read_leaves_the_votes_gold(hall: Hall) -> None:
    venue = hall.venue = HalfReadVenue()
    venue.unreadable = "How clear"
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking_too())
        await venue.react("ann", place, vote, "A")
        await venue.react("ann", place, sure, "clear")
        record = await session.close(debate_id)
    assert words(record) == {"A": 1}
    assert [answer.gold for answer in record.asked(Question.VOTE)] == [True]


@pytest.mark.parametrize("ballot", [BallotKind.PRIVATE, BallotKind.SECRET])
async def test_it_is_as_private_as_the_vote(hall: Hall, ballot: BallotKind) -> None:
    venue = hall.venue = HalfReadVenue()
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking_too(ballot))
        for message, option in ((vote, "A"), (sure, "clear"), (sure, "close")):
            if ballot is BallotKind.PRIVATE:
                pressed = ButtonPressed(place, message, "ann", option)
                await session.service.hear("memory", pressed)
            else:
                await venue.react("ann", place, message, option)
        record = await session.close(debate_id)
    assert words(record) == {"A close": 1}


async def test_a_forgotten_persons_word_stays_without_a_name(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking_too())
        await session.venue.react("ann", place, vote, "A")
        await session.venue.react("ann", place, sure, "clear")
        traces = await session.store.privacy.traces("memory", "ann")
        assert (traces.votes, traces.confidences, traces.entries) == (1, 1, 2)
        await session.store.privacy.forget("memory", "ann")
        record = await session.close(debate_id)
    assert words(record) == {"A clear": 1}
    assert export_rows("votes", record) == []
