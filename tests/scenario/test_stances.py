"""Stances before and after a debate, and thumbs on its turns: from the thread to the record."""

from engine.run.order import Defaults
from engine.store import DebateRecord
from engine.values.debate import BallotKind, Status
from engine.values.messages import Reveal
from engine.values.ports import ButtonPressed
from engine.values.verdicts import Question
from tests.doubles.archive import export_rows
from tests.doubles.hall import DEFAULTS, Hall, Session
from tests.doubles.venue import AttentiveVenue, StoredMessage
from tests.kit import stances_in, until_asked, votes_in


def asking(seconds: float, ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    asked = {"stance": True, "stance_seconds": seconds, "ballot": ballot}
    return DEFAULTS.model_copy(update=asked)


async def question(session: Session, debate_id: str, asked: Question) -> tuple[str, str]:
    """Return the place and message of a question, once it is asked."""
    (target, *_) = await until_asked(lambda: session.store.votes.targets(debate_id, asked), bool)
    return target.place, target.message


async def answer(session: Session, debate_id: str, asked: Question, **answers: str) -> None:
    place, message = await question(session, debate_id, asked)
    for user, option in answers.items():
        await session.venue.react(user, place, message, option)


async def close(session: Session, debate_id: str) -> DebateRecord:
    await session.voting(debate_id)
    await question(session, debate_id, Question.STANCE_AFTER)
    return await session.close(debate_id)


def stances(record: DebateRecord, asked: Question) -> list[str]:
    return sorted(vote.option for vote in stances_in(record) if vote.question == asked)


def turns_posted(hall: Hall) -> list[StoredMessage]:
    return [message for message in hall.thread() if ", turn " in message.body]


async def test_the_debate_waits_for_stances_and_asks_again_with_the_vote(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(asking(0.8), user="ann")
        await answer(session, debate_id, Question.STANCE_BEFORE, ann="up", bob="down", cem="up")
        assert turns_posted(hall) == []
        await session.voting(debate_id)
        await answer(session, debate_id, Question.STANCE_AFTER, ann="up", bob="unsure", cem="up")
        debate = await session.store.debates.get(debate_id)
        place, message = debate.thread or "", debate.vote_message or ""
        await session.venue.react("ann", place, message, "A")
        record = await close(session, debate_id)
    assert stances(record, Question.STANCE_BEFORE) == ["against", "for", "for"]
    assert stances(record, Question.STANCE_AFTER) == ["for", "for", "unsure"]
    assert [vote.option for vote in votes_in(record)] == ["A"]
    reveal = venue.meant[-1]
    assert isinstance(reveal, Reveal)
    assert reveal.persuasion is not None
    assert (reveal.persuasion.winner, reveal.persuasion.people) == ("A", 3)
    assert reveal.tally.counts == {"A": 1, "B": 0, "tie": 0, "weak": 0}
    told = [(row["phase"], row["option"], row["gold"]) for row in export_rows("votes", record)]
    assert sorted(told) == [
        ("before_reveal", "A", False),  # the starter's own stance is never gold
        ("stance_after", "for", False),
        ("stance_after", "for", True),
        ("stance_after", "unsure", True),
        ("stance_before", "against", True),
        ("stance_before", "for", False),
        ("stance_before", "for", True),
    ]


async def test_a_stance_taken_too_late_is_none_and_one_missed_is_recovered(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(asking(0.5))
        place, message = await question(session, debate_id, Question.STANCE_BEFORE)
        venue.listening = False
        await venue.react("ann", place, message, "down")
        venue.listening = True
        await session.until(debate_id, lambda debate: debate.stance_closed_at)
        await venue.react("bob", place, message, "up")
        record = await close(session, debate_id)
    assert stances(record, Question.STANCE_BEFORE) == ["against"]


async def test_where_the_question_is_refused_the_debate_begins_without_it(
    hall: Hall, venue: AttentiveVenue
) -> None:
    venue.refused = "stance_invite"
    async with hall.open() as session:
        debate_id = await session.start(asking(3600))
        await session.voting(debate_id)
        debate = (await session.close(debate_id)).debate
    assert (debate.status, debate.stance_deadline) == (Status.CLOSED, None)


async def test_a_debate_that_is_stopped_waits_no_longer(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id = await session.start(asking(3600))
        await question(session, debate_id, Question.STANCE_BEFORE)
        await session.service.cancel(debate_id, "Enough.")
        debate = await session.ended(debate_id)
    assert debate.status is Status.CANCELLED
    assert turns_posted(hall) == []


async def test_in_a_private_debate_stances_are_pressed_too(
    hall: Hall, venue: AttentiveVenue
) -> None:
    async with hall.open() as session:
        debate_id = await session.start(asking(0.5, BallotKind.PRIVATE))
        place, message = await question(session, debate_id, Question.STANCE_BEFORE)
        pressed = ButtonPressed(place, message, "ann", "down")
        assert (await session.service.hear("memory", pressed)).option == "down"
        record = await close(session, debate_id)
    assert stances(record, Question.STANCE_BEFORE) == ["against"]
    assert not [call for call in venue.seen if call.method == "reactions"]
    assert not [call for call in venue.seen if call.method == "seed" and call.said]
