"""How clear people found a debate: asked beside the vote, in its row, calibrated in exports."""

from __future__ import annotations

import asyncio

import pytest

from engine.dataset.entry import Pseudonyms, make_entry
from engine.dataset.people_tables import VOTES
from engine.run.plan import Defaults
from engine.store import DebateRecord, ExportFilter
from engine.values.debate import BallotKind
from engine.values.errors import VenueError
from engine.values.judging import Question
from engine.values.messages import ConfidenceInvite, Reveal
from engine.values.ports import ButtonPressed, Reactions
from tests.doubles.hall import DEFAULTS, QUICK, Hall, Session
from tests.doubles.venue import AttentiveVenue
from tests.kit import HANG_SECONDS, record_of


class HalfReadVenue(AttentiveVenue):
    """A platform that may never let some messages be read."""

    def __init__(self) -> None:
        super().__init__(limits=QUICK)
        self.unreadable = ""

    async def reactions(self, place: str, message: str) -> Reactions:
        if self.messages[message].body.startswith(self.unreadable or "nothing"):
            raise VenueError("The bot may not read this message.")
        return await super().reactions(place, message)


@pytest.fixture
def venue() -> HalfReadVenue:
    return HalfReadVenue()


@pytest.fixture
def hall(database_url: str, venue: HalfReadVenue) -> Hall:
    return Hall(database_url, venue)


def asking(ballot: BallotKind = BallotKind.OPEN) -> Defaults:
    return DEFAULTS.model_copy(update={"confidence": True, "ballot": ballot})


async def open_both(session: Session, defaults: Defaults) -> tuple[str, str, str, str]:
    """Return a debate, its thread, and the messages of its vote and of how clear it was."""
    debate_id = await session.start(defaults)
    debate = await session.voting(debate_id)
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            found = await session.store.votes.targets(debate_id, Question.CONFIDENCE)
            if found:
                break
            await asyncio.sleep(0.005)
    return debate_id, debate.thread or "", debate.vote_message or "", found[0].message


async def finish(session: Session, debate_id: str) -> DebateRecord:
    await session.service.close_vote(debate_id)
    await session.ended(debate_id)
    return await record_of(session.store, debate_id)


def words(record: DebateRecord) -> dict[str, int]:
    """Count the votes by option and word."""
    said = [f"{vote.option} {vote.confidence}".strip() for vote in record.asked(Question.VOTE)]
    return {one: said.count(one) for one in said}


async def test_a_word_stands_in_the_row_of_its_persons_vote(
    hall: Hall, venue: HalfReadVenue
) -> None:
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking())
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
        record = await finish(session, debate_id)
    assert words(record) == {"A one-sided": 1, "B": 1, "A": 1, "tie close": 1}
    reveal = next(m for m in reversed(venue.meant) if isinstance(m, Reveal))
    assert reveal.tally.counts == {"A": 2, "B": 1, "tie": 1, "weak": 0}
    assert not record.asked(Question.CONFIDENCE)


async def test_it_is_asked_right_after_the_vote_and_only_if_wanted(
    hall: Hall, venue: HalfReadVenue
) -> None:
    async with hall.open() as session:
        debate_id, *_ = await open_both(session, asking())
        await finish(session, debate_id)
        kinds = [message.kind for message in venue.meant]
        assert kinds[kinds.index("vote_invite") + 1] == "confidence_invite"
        venue.meant.clear()
        plain = await session.start(DEFAULTS)
        await session.voting(plain)
        await finish(session, plain)
    assert not any(isinstance(message, ConfidenceInvite) for message in venue.meant)


async def test_words_missed_while_nothing_ran_are_read_before_the_close(
    hall: Hall, venue: HalfReadVenue
) -> None:
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking())
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
        record = await finish(session, debate_id)
    assert words(record) == {"A clear": 1, "B": 1}  # which word of two came last is unknown


async def test_a_question_that_can_never_be_read_leaves_the_votes_gold(
    hall: Hall, venue: HalfReadVenue
) -> None:
    venue.unreadable = "How clear"
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking())
        await venue.react("ann", place, vote, "A")
        await venue.react("ann", place, sure, "clear")
        record = await finish(session, debate_id)
    assert words(record) == {"A": 1}
    assert [answer.gold for answer in record.asked(Question.VOTE)] == [True]


@pytest.mark.parametrize("ballot", [BallotKind.PRIVATE, BallotKind.SECRET])
async def test_it_is_as_private_as_the_vote(
    hall: Hall, venue: HalfReadVenue, ballot: BallotKind
) -> None:
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking(ballot))
        for message, option in ((vote, "A"), (sure, "clear"), (sure, "close")):
            if ballot is BallotKind.PRIVATE:
                pressed = ButtonPressed(place, message, "ann", option)
                await session.service.hear("memory", pressed)
            else:
                await venue.react("ann", place, message, option)
        record = await finish(session, debate_id)
    assert words(record) == {"A close": 1}


async def test_a_forgotten_persons_word_stays_without_a_name(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id, place, vote, sure = await open_both(session, asking())
        await session.venue.react("ann", place, vote, "A")
        await session.venue.react("ann", place, sure, "clear")
        traces = await session.store.people.traces("memory", "ann")
        assert (traces.votes, traces.confidences, traces.entries) == (1, 1, 2)
        await session.store.people.forget("memory", "ann")
        record = await finish(session, debate_id)
    assert words(record) == {"A clear": 1}
    entry = make_entry(record, Pseudonyms(b"key", ExportFilter(), None), b"salt")
    assert VOTES.rows(entry) == []
