"""`review` on a running Rostrum: what is offered to whom, and what becomes of an answer."""

import asyncio
from datetime import timedelta

import pytest

from engine.chat.answers import to_markdown
from engine.chat.answers.voters import ReviewAnswer
from engine.chat.commands import parse_command
from engine.chat.context import Requester
from engine.run.order import Defaults
from engine.values.debate import BallotKind, Debate
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.verdicts import Question
from engine.votes.outcome import readable_from
from tests.doubles.hall import DEFAULTS, LOBBY, Hall, Session
from tests.kit import record_of, some
from tests.scenario.test_privacy import commands_of

ANN = Requester(platform="memory", community="club", place=LOBBY, user="ann")
BOB = ANN.model_copy(update={"user": "bob"})
STRANGER = ANN.model_copy(update={"community": "guild"})


async def say(session: Session, person: Requester, text: str) -> str:
    command = parse_command(text)
    return to_markdown(await commands_of(session).run(person, command))


async def held(session: Session, defaults: Defaults = DEFAULTS) -> Debate:
    debate = await session.vote(await session.start(defaults), ann="A")
    return (await session.close(debate.id)).debate


async def answers(session: Session, debate: Debate) -> list[str]:
    record = await record_of(session.store, debate.id)
    return [one.option for one in record.asked(Question.AGAIN)]


async def offered(session: Session, person: Requester) -> list[str]:
    answer = await commands_of(session).run(person, parse_command("review"))
    assert isinstance(answer, ReviewAnswer)
    return [line.debate.code for line in answer.lines]


async def test_what_is_answered_is_kept_apart_and_offered_no_more(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await held(session)
        assert await offered(session, ANN) == [debate.code]
        listed = await say(session, ANN, "review")
        options = "(`A` 🔵 A, `B` 🔴 B, `tie`, "
        assert f"- `{debate.code}` {debate.thread}: Tea is better than coffee {options}" in listed
        assert "kept separate" in listed
        said = await say(session, ANN, f"review {debate.code} b")
        assert said.startswith(f"Answer on debate `{debate.code}` recorded: 🔴 B.")
        assert "they change no result" in said
        assert await offered(session, ANN) == []
        assert await offered(session, BOB) == [debate.code]
        assert f"`{debate.code}`" in await say(session, BOB, f"review {debate.code}")
        with pytest.raises(UsageError, match="choose from A, B, tie, weak, or none to withdraw"):
            await say(session, BOB, f"review {debate.code} C")
        assert await offered(session, STRANGER) == []
        with pytest.raises(NotFoundError):
            await say(session, STRANGER, f"review {debate.code} A")
        assert "you have answered them all" in await say(session, ANN, "review")
        assert await answers(session, debate) == ["B"]
        result = await say(session, ANN, f"result {debate.code}")
    assert "**People:** 🔵 A 1 · 🔴 B 0" in result


@pytest.mark.parametrize("ballot", BallotKind)
async def test_another_answer_takes_its_place_and_none_takes_it_back(
    hall: Hall, ballot: BallotKind
) -> None:
    async with hall.open() as session:
        debate = await held(session, DEFAULTS.model_copy(update={"ballot": ballot}))
        for choice, kept in (("A", ["A"]), ("A", ["A"]), ("tie", ["tie"]), ("none", [])):
            await say(session, BOB, f"review {debate.code} {choice}")
            assert await answers(session, debate) == kept
        assert "is withdrawn" in await say(session, BOB, f"review {debate.code} none")
        told = await say(session, BOB, "privacy")
    assert "an answer after 1 reveal" in told


async def test_a_reaction_below_the_reveal_and_an_answer_here_are_one_persons(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await held(session, DEFAULTS.model_copy(update={"again": True}))
        [target] = [
            target
            for target in await session.store.votes.targets(debate.id)
            if target.question is Question.AGAIN
        ]
        await session.venue.react("ann", target.place, target.message, "A")
        assert await offered(session, ANN) == []
        await say(session, ANN, f"review {debate.code} B")
        assert await answers(session, debate) == ["B"]
    async with hall.open() as session:  # which reads the reactions first
        await asyncio.sleep(0.2)
        assert await answers(session, debate) == ["B"]


async def test_nothing_is_offered_or_taken_before_the_reveal_or_of_a_lost_thread(
    hall: Hall,
) -> None:
    async with hall.open() as session:
        debate = await session.voting(await session.start())
        assert await offered(session, ANN) == []
        for text in (f"review {debate.code}", f"review {debate.code} A"):
            with pytest.raises(UsageError, match="is not revealed yet; vote on it in its thread"):
                await say(session, ANN, text)
        assert await session.store.votes.events(debate.id) == ()
        await hall.venue.delete_thread(debate.thread or "")
        await session.ended(debate.id)
        assert await offered(session, ANN) == []


async def test_of_the_forgotten_no_answer_is_kept(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await held(session)
        await say(session, ANN, "forget confirm=yes")
        with pytest.raises(NotAllowedError, match="asked to be forgotten"):
            await say(session, ANN, f"review {debate.code} B")
        await say(session, ANN, "optin")
        with pytest.raises(NotAllowedError):  # a debate from before: it may have counted already
            await say(session, ANN, f"review {debate.code} B")
        assert await answers(session, debate) == []


async def test_a_vote_before_anybody_can_have_read_is_fast_and_counts(hall: Hall) -> None:
    async with hall.open() as session:
        debate = await held(session)
        [vote] = (await session.votes(debate.id, "ann")).values()
        kept = await session.store.journal.read(debate.id, "turns")
        result = await say(session, ANN, f"result {debate.code}")
    assert sum(turn.words for turn in kept.turns) > 200
    assert (vote.fast, vote.gold) == (True, True)
    assert "**People:** 🔵 A 1 · 🔴 B 0" in result
    assert readable_from(debate, 500) == some(debate.opened_at) + timedelta(seconds=30)
