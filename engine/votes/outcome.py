"""What people said in a debate: standing votes, stances, the tally, one event's outcome. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from engine.store import Outcome
from engine.tally import count, standing_votes
from engine.tally.questions import (
    CONFIDENCE_NAMES,
    PERCENTS,
    options_of,
    round_options,
    stance_name,
)
from engine.values.debate import BallotKind, ConfidenceScale, Debate, Scores, Value
from engine.values.verdicts import Log, Question, RoundTally, Tally, Vote, VoteEvent

WORDS_A_MINUTE = 1000
NONE: frozenset[Log] = frozenset()


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
    unread: frozenset[Log] = NONE,
) -> tuple[Vote, ...]:
    """Return the standing votes of a debate's log; options not on the ballot are ignored."""
    return _standing(debate, events, Log(Question.VOTE), readable_at, unread)


def with_remarks(
    votes: Iterable[Vote],
    debate: Debate,
    events: tuple[VoteEvent, ...],
    unread: frozenset[Log] = NONE,
) -> tuple[Vote, ...]:
    """Return votes with how clear their people found it, and what decided for them.

    In percent, that is how sure they were.
    """
    in_percent = debate.request.confidence is ConfidenceScale.PERCENT
    names = {one: one for one in PERCENTS} if in_percent else CONFIDENCE_NAMES
    clear, grounds = (
        _said(debate, events, Log(question), unread)
        for question in (Question.CONFIDENCE, Question.GROUND)
    )
    return tuple(
        vote._replace(
            confidence=names.get(clear.get(vote.person, ""), ""),
            ground=grounds.get(vote.person, ""),
        )
        for vote in votes
    )


def _said(
    debate: Debate, events: tuple[VoteEvent, ...], log: Log, unread: frozenset[Log]
) -> dict[int, str]:
    """Return what each person said; nothing where that is not certainly known."""
    if log in unread:
        return {}
    said = _standing(debate, events, log, None, unread)
    return {one.person: one.option for one in said if not one.ambiguous}


def guesses_of(
    debate: Debate, events: tuple[VoteEvent, ...], votes: Iterable[Vote]
) -> tuple[Vote, ...]:
    """Return which model each voter took each side for; `step` is the side.

    What somebody guessed who holds no vote any more is left out.
    """
    menu, voters = debate.setup.menu, {vote.person for vote in votes}
    guesses = [e for e in events if e.question is Question.GUESS and e.person in voters]
    return tuple(
        vote._replace(option=menu[int(vote.option)], step=side)
        for side in debate.request.sides
        for vote in standing_votes(
            [event for event in guesses if event.step == side],
            starter=debate.starter,
            judge_visible=False,
            tally_visible=False,
            scripted=debate.scripted,
        )
    )


def guessed_of(debate: Debate, guesses: Iterable[Vote]) -> dict[str, tuple[int, int]]:
    """Count, by side, the guesses that were right and all; only those of people who could not know.

    The starter may have chosen the models, and a mirror's reveal names them.
    """
    counts: dict[str, tuple[int, int]] = {}
    for guess in guesses:
        if guess.gold:
            right, n = counts.get(guess.step, (0, 0))
            models = debate.request.sides
            counts[guess.step] = right + (models[guess.step].ref == guess.option), n + 1
    return counts


def stances_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Log] = NONE
) -> tuple[Vote, ...]:
    """Return people's stances before and after the debate."""
    return tuple(
        vote._replace(option=stance_name(vote.option))
        for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
        for vote in _standing(debate, events, Log(question), None, unread)
    )


def round_votes_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Log] = NONE
) -> tuple[Vote, ...]:
    """Return whom people saw ahead after each round, in the order of the rounds."""
    rounds = dict.fromkeys(e.step for e in events if e.question is Question.ROUND)
    return tuple(
        vote._replace(step=step)
        for step in rounds
        for vote in _standing(debate, events, Log(Question.ROUND, step), None, unread)
    )


def course_of(debate: Debate, votes: Iterable[Vote]) -> tuple[RoundTally, ...]:
    """Count the votes of each round; an ambiguous or a scripted one is in no count."""
    counts: dict[str, dict[str, int]] = {}
    for vote in votes:
        if not vote.ambiguous and vote.reason != "scripted":
            usual = dict.fromkeys(round_options(tuple(debate.request.sides)), 0)
            counts.setdefault(vote.step, usual)[vote.option] += 1
    return tuple(RoundTally(round=step, counts=counted) for step, counted in counts.items())


def _standing(
    debate: Debate,
    events: tuple[VoteEvent, ...],
    log: Log,
    readable_at: datetime | None,
    unread: frozenset[Log],
) -> tuple[Vote, ...]:
    question, step = log
    options = options_of(question, tuple(debate.request.sides))
    if question is Question.CONFIDENCE and debate.request.confidence is ConfidenceScale.PERCENT:
        options = PERCENTS  # which are typed, and no reactions
    shown = debate.request.scores is Scores.LIVE and question is not Question.STANCE_BEFORE
    return standing_votes(
        [e for e in events if (e.question, e.step) == (question, step) and e.option in options],
        starter=debate.starter,
        judge_visible=shown,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
        readable_at=readable_at,
        speaker=debate.guest,
        known=debate.setup.known and question is not Question.STANCE_BEFORE,
        gap=debate.gaps > 0 and question is not Question.STANCE_BEFORE,
        recovery="unread" if log in unread else "complete",
        scripted=debate.scripted,
        least_days=(debate.setup.account_days, debate.setup.member_days),
    )


def tally_of(debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Log] = NONE) -> Tally:
    """Count a debate's log in its current state; unread votes are not labels."""
    return count(
        standing(debate, events, None, unread), tuple(debate.request.sides), debate.request.quorum
    )


class EventOutcome(Value):
    """The outcome of an event; after a button press, `option` is the person's current choice.

    `name` is that of the agent whose answer was chosen, where agents have names; `voted` is the id
    of the debate in whose vote somebody has made a choice.
    "noted" is an event that is not an answer, "unknown" one that belongs to no debate. `question`
    is what was answered, where that is known.
    """

    outcome: Outcome | Literal["noted"]
    option: str | None = None
    name: str = ""
    question: Question | None = None
    voted: str = ""
