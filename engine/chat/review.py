"""The review: revealed debates are offered to be answered once more, and answers are taken.

What is answered here is in the log of the question asked again below a reveal, whether or not that
was asked: kept apart from the vote, and never gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from engine.answers.debates import DebateLine
from engine.answers.presses import FORGOTTEN
from engine.answers.review_list import ReviewAnswer, ReviewLine, RevisedAnswer
from engine.chat.context import Context
from engine.chat.invocation import ReviewArguments
from engine.chat.lookup import find_held, find_named
from engine.chat.person import Person
from engine.debate import Debate, Status
from engine.errors import NotAllowedError, UsageError
from engine.store import ExportFilter, Revision, Store
from engine.text import clean, headline
from engine.votes.offers import Offer, Why, doubt_of, offer
from engine.votes.questions import vote_options

NO_VOTE = "none"
REVIEWED = 200  # of the newest, which are read whole


async def review(
    context: Context, person: Person, asked: ReviewArguments
) -> ReviewAnswer | RevisedAnswer:
    """Offer revealed debates to be answered once more, or take such an answer."""
    store, now = context.store, context.service.clock.now()
    if asked.debate is None:
        revealed = await find_held(store, person, (Status.CLOSED,), REVIEWED)
        async with context.reading:
            lines = await find_offers(store, person.platform, person.user, revealed, now)
        return ReviewAnswer(lines=lines)
    debate = await find_named(store, person, asked.debate)
    if debate.revealed_at is None:
        raise UsageError(f"Debate {debate.code} is not revealed; vote on it in its thread.")
    if asked.vote is None:
        return ReviewAnswer(lines=(line_of(debate),))
    return await revise(store, debate, person.user, asked.vote, now)


async def find_offers(
    store: Store, platform: str, user: str, revealed: Sequence[Debate], now: datetime
) -> tuple[ReviewLine, ...]:
    """Return which of some revealed debates to offer to a person who has not answered them."""
    readable = {debate.id: debate for debate in revealed if debate.thread and not debate.gone}
    done = await store.votes.revised_by(platform, user, tuple(readable))
    left = tuple(debate for debate in readable if debate not in done)
    if not left:  # a filter without ids would leave all debates
        return ()

    def read() -> tuple[Offer, ...]:
        with store.archive.reading(ExportFilter(ids=left)) as records:
            return offer(map(doubt_of, records), now.date())

    offers = await asyncio.to_thread(read)
    return tuple(line_of(readable[one.debate], one.why) for one in offers)


def line_of(debate: Debate, why: Why | None = None) -> ReviewLine:
    """Return a debate with what can be answered on it."""
    options = vote_options(tuple(debate.request.sides))
    return ReviewLine(debate=DebateLine.of(debate), options=options, why=why)


async def revise(
    store: Store, debate: Debate, user: str, vote: str, now: datetime
) -> RevisedAnswer:
    """Keep what a person answers on a revealed debate, or take it back.

    Raises UsageError for what is no answer, and NotAllowedError for somebody who was forgotten.
    """
    option = _read_choice(debate, vote)
    revision = Revision(
        debate=debate.id,
        ballot=debate.request.ballot,
        platform=debate.platform,
        user=user,
        option=option,
        received_at=now,
    )
    if (await store.votes.revise(revision)).outcome == "forgotten":
        raise NotAllowedError(FORGOTTEN)
    return RevisedAnswer(debate=DebateLine.of(debate), option=option)


def _read_choice(debate: Debate, vote: str) -> str | None:
    options = vote_options(tuple(debate.request.sides))
    known: dict[str, str | None] = {option.casefold(): option for option in options}
    known[NO_VOTE] = None
    said = vote.strip().casefold()
    if said not in known:
        raise UsageError(
            f"“{headline(clean(vote), 40)}” cannot be answered on debate {debate.code}; choose "
            f"from {', '.join(options)}, or {NO_VOTE} to take an answer back."
        )
    return known[said]
