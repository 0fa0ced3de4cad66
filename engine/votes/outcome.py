"""What people said in a debate: standing votes, stances and the tally. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from engine.debate import BallotKind, Debate, Scores
from engine.judging import Question, Tally, Vote, VoteEvent
from engine.votes.questions import options_of, stance_name
from engine.votes.tally import count, standing_votes

WORDS_A_MINUTE = 1000
NONE: frozenset[Question] = frozenset()


def readable_from(debate: Debate, words: int) -> datetime | None:
    """Return the earliest time at which a person can have read the debate.

    Assumes 1,000 words a minute from the opening of its thread, our own choice: about four times
    silent reading speed (238 words a minute; M. Brysbaert, J. Memory and Language 109, 2019).
    """
    return debate.opened_at and debate.opened_at + timedelta(minutes=words / WORDS_A_MINUTE)


def standing(
    debate: Debate,
    events: tuple[VoteEvent, ...],
    readable_at: datetime | None = None,
    unread: frozenset[Question] = NONE,
) -> tuple[Vote, ...]:
    """Return the standing votes of a debate's log; options not on the ballot are ignored."""
    return _standing(debate, events, Question.VOTE, readable_at, unread)


def stances_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Question] = NONE
) -> tuple[Vote, ...]:
    """Return people's stances before and after the debate."""
    return tuple(
        vote.model_copy(update={"option": stance_name(vote.option)})
        for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
        for vote in _standing(debate, events, question, None, unread)
    )


def _standing(
    debate: Debate,
    events: tuple[VoteEvent, ...],
    question: Question,
    readable_at: datetime | None,
    unread: frozenset[Question],
) -> tuple[Vote, ...]:
    options = options_of(question, tuple(debate.request.sides))
    shown = debate.request.scores is Scores.LIVE and question is not Question.STANCE_BEFORE
    return standing_votes(
        [event for event in events if event.question is question and event.option in options],
        starter=debate.starter,
        judge_visible=shown,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
        readable_at=readable_at,
        gap=debate.gaps > 0 and question is not Question.STANCE_BEFORE,
        recovery="unread" if question in unread else "complete",
    )


def tally_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Question] = NONE
) -> Tally:
    """Count a debate's log in its current state; unread votes are not labels."""
    return count(
        standing(debate, events, None, unread), tuple(debate.request.sides), debate.request.quorum
    )
