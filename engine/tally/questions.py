"""What a debate asks people: one entry for each kind of question. Venues use the same options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.values.debate import BallotKind, Status
from engine.values.language import Text
from engine.values.verdicts import EVEN, TIE, WEAK, Question
from engine.words.phrases import WAITS_TO_BEGIN, WAITS_TO_CLOSE, WAITS_TO_HEAR

UP, DOWN, UNSURE = "up", "down", "unsure"
THUMBS = (UP, DOWN)
STANCES = (UP, DOWN, UNSURE)
NUMBERS = tuple("123456789")
CLOSE, CLEAR, ONE_SIDED = "close", "clear", "onesided"
CONFIDENCES = (CLOSE, CLEAR, ONE_SIDED)
PERCENTS = tuple(map(str, range(101)))
LOGIC, EVIDENCE, REBUTTAL, STYLE, OTHER = "logic", "evidence", "rebuttal", "style", "other"
GROUNDS = (LOGIC, EVIDENCE, REBUTTAL, STYLE, OTHER)
CONFIDENCE_NAMES = {CLOSE: "close", CLEAR: "clear", ONE_SIDED: "one-sided"}
STANCE_NAMES = {UP: "for", DOWN: "against", UNSURE: "unsure"}


def vote_options(contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of a vote: every contender (A and B, or 1 to 9), a tie, and neither."""
    return (*contenders, TIE, WEAK)


def round_options(contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of who is ahead after a round: every contender, and no one."""
    return (*contenders, EVEN)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of question is answered and closed.

    `options` are the possible answers, given the contenders. It closes in its own time only while
    its debate is in one of the states `during`, under the lease `lease`/ID, and those `along` close
    with it. Without a time of its own it closes once one of those `until` opens. What the platform
    did not report in a gap is read soon after it, or, if it is `brief`, at its close. `waits` is
    what the debate waits for while it cannot be read; empty: it waits for nothing. `ballot` is how
    it is always answered; None: as the debate is voted on.
    """

    options: Callable[[tuple[str, ...]], tuple[str, ...]]
    during: tuple[Status, ...] = ()
    lease: str = "debate"
    along: tuple[Question, ...] = ()
    until: tuple[Question, ...] = ()
    brief: bool = False
    waits: str = WAITS_TO_CLOSE
    ballot: BallotKind | None = None


# Those that are due at the same time close in this order.
KINDS = {
    Question.STANCE_BEFORE: Kind(
        lambda _: STANCES,
        during=(Status.QUEUED, Status.RUNNING, Status.VOTING),
        lease="stance",  # the runner holds the debate, and waits for the stances
        brief=True,
        waits=WAITS_TO_BEGIN,
    ),
    # Before the vote, whose close shows how the rounds went.
    Question.ROUND: Kind(
        round_options,
        during=(Status.QUEUED, Status.RUNNING, Status.VOTING),
        lease="round",  # the runner holds the debate
        until=(Question.ROUND, Question.VOTE),
        brief=True,
        waits="",
    ),
    # Of one person, who answers by buttons and a form; the runner holds the debate, and waits.
    Question.CONSENT: Kind(
        lambda _: (),
        during=(Status.QUEUED, Status.RUNNING),
        lease="consent",
        brief=True,
        waits="",
        ballot=BallotKind.PRIVATE,
    ),
    Question.SPEAK: Kind(
        lambda _: (),
        during=(Status.QUEUED, Status.RUNNING),
        lease="speak",
        brief=True,
        waits=WAITS_TO_HEAR,
        ballot=BallotKind.PRIVATE,
    ),
    # By buttons, which stand below what was asked: there is nothing to read on the platform.
    Question.SUPPORT: Kind(
        lambda _: NUMBERS,
        during=(Status.QUEUED, Status.RUNNING),
        lease="support",  # the runner holds the debate, and waits for the questions
        brief=True,
        waits="",
        ballot=BallotKind.PRIVATE,
    ),
    Question.VOTE: Kind(
        vote_options,
        during=(Status.VOTING,),
        along=(Question.CONFIDENCE, Question.STANCE_AFTER, Question.ROUND),
    ),
    Question.CONFIDENCE: Kind(lambda _: CONFIDENCES),  # or typed in percent, see PERCENTS
    Question.STANCE_AFTER: Kind(lambda _: STANCES),
    # Said in private beside a vote, by buttons and menus; they end with it.
    Question.GROUND: Kind(lambda _: GROUNDS),
    Question.GUESS: Kind(lambda _: ()),  # from the debate's menu
    Question.AGAIN: Kind(vote_options, during=(Status.CLOSED,)),
    Question.TURN: Kind(lambda _: THUMBS),
}


def waiting_for(question: Question, platform: str) -> str:
    """Say what a debate waits for while the reactions to a question cannot be read."""
    return Text(KINDS[question].waits, platform=platform.capitalize())


def stance_name(option: str) -> str:
    """Return the stance of a thumb; of several, as in `down+up`, each one's."""
    return "+".join(STANCE_NAMES[thumb] for thumb in option.split("+"))


def options_of(question: Question, contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the possible answers to a question."""
    return KINDS[question].options(contenders)
