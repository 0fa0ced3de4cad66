"""The review: people answer again on revealed debates.

Answers go into the log of the question that is asked again below a reveal, even where it was not
asked. They are separate from the vote and never gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from engine.chat.answers.debates import DebateLine
from engine.chat.answers.presses import FORGOTTEN
from engine.chat.answers.review_list import ReviewAnswer, ReviewLine, RevisedAnswer
from engine.chat.context import Context
from engine.chat.invocation import ReviewArguments
from engine.chat.lookup import find_held, find_named
from engine.chat.person import Person
from engine.store import ExportFilter, Revision, Store
from engine.tally.questions import vote_options
from engine.values.debate import Debate, Status
from engine.values.errors import NotAllowedError, UsageError
from engine.values.text import clean, headline
from engine.votes.offers import Offer, Why, doubt_of, offer

NO_VOTE = "none"
REVIEWED = 200  # of the newest, which are read whole


async def review(
    context: Context, person: Person, asked: ReviewArguments
) -> ReviewAnswer | RevisedAnswer:
    """Offer revealed debates for review, or store an answer."""
    store, now = context.store, context.service.clock.now()
    if asked.debate is None:
        revealed = await find_held(store, person, (Status.CLOSED,), REVIEWED)
        async with context.reading(person):
            lines = await find_offers(store, person.platform, person.user, revealed, now)
        return ReviewAnswer(lines=lines)
    debate = await find_named(store, person, asked.debate)
    if debate.revealed_at is None:
        raise UsageError(
            "Debate {code} is not revealed yet; vote on it in its thread.",
            code=debate.code,
        )
    if asked.vote is None:
        return ReviewAnswer(lines=(line_of(debate),))
    return await revise(store, debate, person.user, asked.vote, now)


async def find_offers(
    store: Store, platform: str, user: str, revealed: Sequence[Debate], now: datetime
) -> tuple[ReviewLine, ...]:
    """Return the revealed debates to offer, without those the person has answered."""
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
    """Return a debate with its possible answers."""
    options = vote_options(tuple(debate.request.sides))
    names = debate.setup.called
    return ReviewLine(debate=DebateLine.of(debate), options=options, why=why, names=names)


async def revise(
    store: Store, debate: Debate, user: str, vote: str, now: datetime
) -> RevisedAnswer:
    """Store or withdraw a person's answer on a revealed debate.

    Raises UsageError for an unknown answer and NotAllowedError for a forgotten person.
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
    return RevisedAnswer(debate=DebateLine.of(debate), option=option, names=debate.setup.called)


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
