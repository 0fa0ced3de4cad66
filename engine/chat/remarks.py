"""What somebody who voted may add in private: why, how clear it was, and a guess at the models.

Buttons and menus alone lead here. Answers go into the logs of questions of their own, beside the
vote; none is needed, and each may be changed until the vote closes.
"""

from __future__ import annotations

from engine.chat.answers.remarked import Guessing, RemarkAnswer
from engine.chat.context import Context
from engine.chat.invocation import RemarkArguments
from engine.chat.lookup import find_named
from engine.chat.person import Person
from engine.store import Remark
from engine.tally.questions import CONFIDENCES, GROUNDS
from engine.values.debate import Debate
from engine.values.errors import UsageError
from engine.values.judging import Question


async def remark(context: Context, person: Person, asked: RemarkArguments) -> RemarkAnswer:
    """Store what somebody adds to their vote, if anything, and offer the rest.

    Raises UsageError for an answer that was not offered.
    """
    debate = await find_named(context.store, person, asked.debate)
    said = Remark(
        debate=debate.id,
        ballot=debate.request.ballot,
        platform=person.platform,
        user=person.user,
        question=asked.question,
        step=asked.side,
        option=_check(debate, asked),
        received_at=context.service.clock.now(),
    )
    held = await context.store.votes.remark(said)
    return RemarkAnswer(
        code=debate.code,
        outcome=held.outcome,
        option=held.option,
        ground=held.ground,
        confidence=held.confidence,
        asks=debate.request.reasons,
        guessing=_guessing(debate),
        guesses={side: debate.setup.menu[int(at)] for side, at in held.guesses.items()},
        names=debate.setup.called,
        page=asked.page,
    )


def _check(debate: Debate, asked: RemarkArguments) -> str:
    """Return the answer if it was offered. Raises UsageError."""
    request, sides = debate.request, tuple(debate.request.sides)
    offered: tuple[str, ...] = ()
    match asked.question:
        case None:
            return ""
        case Question.GROUND if request.reasons:
            offered = GROUNDS
        case Question.CONFIDENCE if request.reasons:
            offered = CONFIDENCES
        case Question.GUESS if asked.side in sides:
            offered = tuple(map(str, range(len(debate.setup.menu))))
    if asked.option not in offered:
        raise UsageError("That is not one of the choices. Choose again from the message above.")
    return asked.option


def _guessing(debate: Debate) -> Guessing | None:
    menu = debate.setup.menu
    return Guessing(sides=tuple(debate.request.sides), menu=menu) if menu else None
