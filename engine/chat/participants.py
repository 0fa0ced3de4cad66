"""What people beside the starter add: questions, a side of their own, remarks, and the review."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from engine.chat.answers import (
    ACCEPTED,
    DECLINED,
    FORGOTTEN,
    LISTED,
    TURN_TAKEN,
    UNASKED,
    UNLISTED,
    Answer,
)
from engine.chat.answers.debates import DebateLine
from engine.chat.answers.voters import (
    RemarkAnswer,
    ReviewAnswer,
    ReviewLine,
    read_percent,
    revised,
)
from engine.chat.context import Context, Requester, find_held, find_named, find_only, manages
from engine.run.order import ME, ONLY_ONE, Invited
from engine.run.questions import UNKNOWN, ask, is_listed, remove
from engine.store import ExportFilter, Store
from engine.store.ballots import VoterComment
from engine.tally.questions import CONFIDENCES, GROUNDS, PERCENTS, vote_options
from engine.values.debate import ConfidenceScale, Debate, Status
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import Count, Text
from engine.values.text import clean, headline
from engine.values.verdicts import Question
from engine.votes.offers import Why, doubt_of, offer
from engine.words.buttons import ButtonAction

# A person as a side: named in a command, asked whether they agree, and heard turn by turn.


_MENTION = re.compile(r"<@!?(\w{1,40})(?:\|[^<>]{0,100})?>")


def guest_among(sides: Mapping[str, str], asker: str) -> Invited | None:
    """Return the person whom a command names for a side, by a mention or as `me`.

    Raises UsageError for two of them.
    """
    found = []
    for side, text in sides.items():
        mention = _MENTION.fullmatch(text.strip())
        user = mention[1] if mention else asker if text.strip().casefold() == ME else ""
        if user:
            found.append(Invited(side=side.upper(), user=user))
    if len(found) > 1:
        raise UsageError(ONLY_ONE)
    return found[0] if found else None


async def consent(context: Context, person: Requester, debate: str, text: str) -> Answer:
    """Take a person's answer to whether they `accept` or `decline` to argue a side."""
    found = await find_named(context.store, person, debate)
    accept = text == "accept"
    await context.service.guests.answer(found, person.user, accept=accept)
    return Answer(texts=(Text(ACCEPTED if accept else DECLINED),), private=True)


async def check_form(context: Context, person: Requester, pressed: ButtonAction) -> None:
    """Refuse a form to people who could not send it. Raises RostrumError."""
    if pressed.what == "write":
        debate = await find_named(context.store, person, pressed.of.partition(".")[0])
        await context.service.guests.check_turn(debate, person.user)


async def give_turn(context: Context, person: Requester, debate: str, text: str = "") -> Answer:
    """Take the turn that a person wrote in a form."""
    found = await find_named(context.store, person, debate)
    words = await context.service.guests.give_turn(found, person.user, text)
    return Answer(texts=(Count(*TURN_TAKEN, words),), private=True)


async def finish_turn(context: Context, person: Requester, debate: str) -> Answer:
    """End a person's turn with what they wrote in the thread."""
    found = await find_only(context.store, person, debate, (Status.RUNNING,))
    words = await context.service.guests.finish_turn(found, person.user)
    return Answer(texts=(Count(*TURN_TAKEN, words),), private=True)


# The audience's questions, as forms give them: asked, and taken back.


async def ask_sides(context: Context, person: Requester, debate: str, text: str = "") -> Answer:
    """Keep a question that both sides may be asked."""
    found = await find_named(context.store, person, debate)
    number = await ask(context.service, found, person.user, text)
    template = LISTED if await is_listed(context.store, found, number) else UNLISTED
    return Answer(texts=(Text(template, number=number),), private=True)


async def take_back(context: Context, person: Requester, debate: str, text: str) -> Answer:
    """Remove a question by its number, one's own or as a manager."""
    found = await find_named(context.store, person, debate)
    typed = text.strip().lstrip("#")
    if not (typed.isascii() and typed.isdigit() and len(typed) < 5):
        raise UsageError(UNKNOWN, number=headline(clean(typed), 20))
    manager, service = await manages(context.store, person), context.service
    shared = context.store, service.notifier, service.clock
    await remove(*shared, found, person.user, int(typed), manager=manager)
    return Answer(texts=(Text(UNASKED, number=int(typed)),), private=True)


# What somebody who voted may add in private: why, how clear it was, and a guess at the models.
#
# Buttons and menus alone lead here. Answers go into the logs of questions of their own, beside the
# vote; none is needed, and each may be changed until the vote closes.


async def remark(
    context: Context,
    person: Requester,
    debate: str,
    question: Question | None = None,
    option: str = "",
    side: str = "",
    page: int = 0,
) -> RemarkAnswer:
    """Store what somebody adds to their vote, if anything, and offer the rest.

    Of a guess, `side` is the one whose model `option` is, by its number on the menu. `page` is that
    of the menus to show. Raises UsageError for an answer that was not offered.
    """
    found = await find_named(context.store, person, debate)
    request = found.request
    said = VoterComment(
        debate=found.id,
        ballot=request.ballot,
        platform=person.platform,
        user=person.user,
        question=question,
        step=side,
        option=_check(found, question, option, side),
        received_at=context.service.clock.now(),
    )
    held = await context.store.ballots.remark(said)
    return RemarkAnswer(
        code=found.code,
        held=held,
        asks=request.reasons,
        percent=request.confidence is ConfidenceScale.PERCENT,
        language=request.language,
        sides=tuple(request.sides),
        menu=found.setup.menu,
        names=found.setup.called,
        page=page,
    )


async def say_sure(context: Context, person: Requester, debate: str, text: str) -> Answer:
    """Store how sure somebody is of their vote, in percent, as they wrote it in a form."""
    return await remark(context, person, debate, Question.CONFIDENCE, read_percent(text))


def _check(debate: Debate, question: Question | None, option: str, side: str) -> str:
    """Return the answer if it was offered. Raises UsageError."""
    request, sides = debate.request, tuple(debate.request.sides)
    offered: tuple[str, ...] = ()
    match question:
        case None:
            return ""
        case Question.GROUND if request.reasons:
            offered = GROUNDS
        case Question.CONFIDENCE if request.confidence is ConfidenceScale.PERCENT:
            offered = PERCENTS
        case Question.CONFIDENCE if request.reasons:
            offered = CONFIDENCES
        case Question.GUESS if side in sides:
            offered = tuple(map(str, range(len(debate.setup.menu))))
    if option not in offered:
        raise UsageError("That is not one of the choices. Choose again from the message above.")
    return option


# The review: people answer again on revealed debates.
#
# Answers go into the log of the question that is asked again below a reveal, even where it was not
# asked. They are separate from the vote and never gold.


NO_VOTE = "none"
REVIEWED = 200  # of the newest, which are read whole


async def review(
    context: Context, person: Requester, debate: str | None = None, vote: str | None = None
) -> Answer:
    """Offer revealed debates for review, or store an answer.

    `vote` is an option of the ballot, or "none" to withdraw an answer.
    """
    store, now = context.store, context.service.clock.now()
    if debate is None:
        revealed = await find_held(store, person, (Status.CLOSED,), REVIEWED)
        async with context.reading(person):
            lines = await find_offers(store, person.platform, person.user, revealed, now)
        return ReviewAnswer(lines=lines)
    found = await find_named(store, person, debate)
    if found.revealed_at is None:
        raise UsageError(
            "Debate {code} is not revealed yet; vote on it in its thread.",
            code=found.code,
        )
    if vote is None:
        return ReviewAnswer(lines=(line_of(found),))
    return await revise(store, found, person.user, vote, now)


async def find_offers(
    store: Store, platform: str, user: str, revealed: Sequence[Debate], now: datetime
) -> tuple[ReviewLine, ...]:
    """Return the revealed debates to offer, without those the person has answered."""
    readable = {debate.id: debate for debate in revealed if debate.thread and not debate.gone}
    done = await store.votes.revised_by(platform, user, tuple(readable))
    left = tuple(debate for debate in readable if debate not in done)
    if not left:  # a filter without ids would leave all debates
        return ()

    def read() -> dict[str, Why]:
        with store.archive.reading(ExportFilter(ids=left)) as records:
            return offer(map(doubt_of, records), now.date())

    offers = await asyncio.to_thread(read)
    return tuple(line_of(readable[debate], why) for debate, why in offers.items())


def line_of(debate: Debate, why: Why | None = None) -> ReviewLine:
    """Return a debate with its possible answers."""
    options = vote_options(tuple(debate.request.sides))
    return ReviewLine(
        debate=DebateLine.of(debate),
        options=options,
        why=why,
        names=debate.setup.called,
        trial=debate.request.trial is not None,
    )


async def revise(store: Store, debate: Debate, user: str, vote: str, now: datetime) -> Answer:
    """Store or withdraw a person's answer on a revealed debate.

    Raises UsageError for an unknown answer and NotAllowedError for a forgotten person.
    """
    option = _read_choice(debate, vote)
    revision = VoterComment(
        debate=debate.id,
        ballot=debate.request.ballot,
        platform=debate.platform,
        user=user,
        question=Question.AGAIN,
        option=option,
        received_at=now,
    )
    outcome, _ = await store.ballots.revise(revision)
    if outcome == "forgotten":
        raise NotAllowedError(FORGOTTEN)
    return revised(debate.code, option, debate.setup.called)


def _read_choice(debate: Debate, vote: str) -> str | None:
    options = vote_options(tuple(debate.request.sides))
    known: dict[str, str | None] = {option.casefold(): option for option in options}
    known[NO_VOTE] = None
    said = vote.strip().casefold()
    if said not in known:
        raise UsageError(
            "“{vote}” is not an answer for debate {code}; choose from {options}, or {none} to "
            "withdraw your answer.",
            vote=headline(clean(vote), 40),
            code=debate.code,
            options=tuple(options),
            none=NO_VOTE,
        )
    return known[said]
