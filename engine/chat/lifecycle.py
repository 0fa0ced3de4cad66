"""The commands on a debate: start, cancel, close, status, result, list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import Literal

from engine.chat.answers import Answer
from engine.chat.answers.debates import (
    STOPPED,
    DebateLine,
    ResultAnswer,
    StartedAnswer,
    StatusAnswer,
    debate_list,
    vote_closed,
)
from engine.chat.choices import suggested_topics
from engine.chat.context import (
    Context,
    Requester,
    check_may_start,
    check_started,
    find_held,
    find_named,
    find_newest,
    find_only,
    held_here,
    settings_of,
)
from engine.chat.invocation import StartArguments
from engine.chat.settings import check_channel, order_of, overlay, page_of
from engine.delivery.board import awaits_consent, turns_expected
from engine.delivery.reasons import where_revealed, why
from engine.run.order import Defaults, Order, Rematch
from engine.run.rematch import check_repeatable, repeat
from engine.store import Store
from engine.store.communities import PublicPart
from engine.store.votes import closes_with, tied
from engine.values.debate import BallotKind, Debate, Status
from engine.values.errors import NotFoundError, UsageError
from engine.values.language import N_, Text
from engine.values.options import BUILT_IN
from engine.values.ports import Permalinks
from engine.values.topics import RANDOM
from engine.values.verdicts import Log, Question
from engine.votes.close import read_reveal, unread_logs

LISTED = 20
LIVE = (Status.QUEUED, Status.RUNNING)
BY_STARTER = N_("Its starter stopped it.")
BY_MANAGER = N_("A manager stopped it.")


async def start(context: Context, person: Requester, asked: StartArguments) -> StartedAnswer:
    """Queue a debate and answer with its estimate.

    Raises NotAllowedError for a person or channel that is not allowed, UsageError and BudgetError.
    """
    await check_may_start(context.store, person)
    return await begin(context, person, lambda defaults: order_of(person, asked, defaults))


async def begin(
    context: Context, person: Requester, make: Callable[[Defaults], Order]
) -> StartedAnswer:
    """Queue the debate of the order that `make` returns, whatever asks for it."""
    settings = await settings_of(context.store, person)
    check_channel(settings, person.channel or person.place)
    defaults = overlay(context.defaults, settings)
    if person.trial is not None:
        cap = defaults.caps.community_daily_usd
        daily = min(person.trial, inf if cap is None else cap)
        small = {
            "community_daily_usd": None if daily == inf else daily,
            "max_live_per_community": 1,
        }
        defaults = defaults.model_copy(update={"caps": defaults.caps.model_copy(update=small)})
    order = make(defaults)
    if person.trial is not None and not order.rematch:  # one person votes, with buttons
        order = order.model_copy(update={"ballot": BallotKind.PRIVATE, "quorum": 1})
    if (order.topic or "").strip().casefold() == RANDOM:
        # The topic is one that people suggested, if any is in the debate's language.
        own = await suggested_topics(context.store, person, defaults)
        language = (BUILT_IN | defaults | order).language or ""
        fit = tuple(topic for topic in own if topic.speaks(language))
        defaults = defaults.model_copy(update={"topics": fit}) if fit else defaults
    async with context.starts.setdefault(person.thread or object(), asyncio.Lock()):
        await _check_thread(context.store, person, mirrored=bool(order.mirror))
        started = await context.service.start(order, defaults)
    return StartedAnswer(
        debate=DebateLine.of(started.debate),
        mirror=started.mirror and DebateLine.of(started.mirror),
        estimate=started.estimate,
        waits=started.waits,
        warnings=started.warnings,
        models={} if order.rematch else {side: one.ref for side, one in order.models.items()},
        names=started.debate.setup.called,
        jurors=() if order.rematch else tuple(juror.ref for juror in order.jurors),
    )


async def _check_thread(store: Store, person: Requester, *, mirrored: bool) -> None:
    """Refuse debates whose turns would interleave in one thread."""
    if person.thread is None:
        return
    if mirrored:
        raise UsageError(
            "A mirrored debate needs two threads; start it in a channel, or leave out mirror."
        )
    going = await store.votes.held_in(person.platform, thread=person.thread)
    going += await store.votes.held_in(person.platform, channel=person.thread)
    if going:
        raise UsageError(
            "A debate is already running in this thread; wait until it ends, or use another "
            "thread or channel."
        )


async def cancel(context: Context, person: Requester, debate: str | None = None) -> Answer:
    """Stop a debate; allowed for its starter and managers."""
    found = await find_only(context.store, person, debate, LIVE)
    starter = await check_started(context.store, person, found)
    stopped = await context.service.cancel(found.id, BY_STARTER if starter else BY_MANAGER)
    return Answer(texts=(Text(STOPPED, code=stopped.code),))


async def close(context: Context, person: Requester, debate: str | None = None) -> Answer:
    """Close a vote early, together with an open one on its mirror."""
    found = await find_only(context.store, person, debate, (Status.VOTING,))
    mirror = await context.store.debates.mirror_of(found)
    both = mirror is not None and closes_with(found, mirror)
    closed = await context.service.close_vote(found.id)
    unread = "" if closed.status is Status.CLOSED else person.platform.capitalize()
    return vote_closed(closed.code, mirror.code if mirror is not None and both else "", unread)


async def status(context: Context, person: Requester, debate: str | None = None) -> StatusAnswer:
    """Report a debate's progress without anything sealed."""
    store = context.store
    found = await find_newest(store, person, debate)
    mirror, now = await store.debates.mirror_of(found), context.service.clock.now()
    going = found.status.live or found.status is Status.VOTING
    revealed = await where_revealed(store.outbox, found)
    told = revealed is not None and revealed != "waiting"
    return StatusAnswer(
        debate=DebateLine.of(found),
        turns=await store.journal.turns_held(found.id),
        turns_total=await turns_expected(store, found),
        why="" if going else why(found),
        revealed=revealed,
        minutes_left=_minutes_left(context, found),
        mirror=DebateLine.of(mirror) if mirror and tied(found, mirror, now) else None,
        gaps=found.gaps,
        waits=why(found) if going else "",
        asked=await awaits_consent(store, found),
        unread=Log(Question.VOTE) in await unread_logs(store, found),
        reveal=await read_reveal(store, found) if told else None,
    )


async def result(
    context: Context,
    person: Requester,
    debate: str | None = None,
    part: Literal["", "why", "details"] = "",
) -> ResultAnswer:
    """Report a debate's result, or a part of it, once it is revealed."""
    found = await find_newest(context.store, person, debate)
    reveal = None if found.revealed_at is None else await read_reveal(context.store, found)
    return ResultAnswer(
        debate=DebateLine.of(found),
        reveal=reveal,
        minutes_left=_minutes_left(context, found),
        part=part,
    )


async def line_of(store: Store, debate: Debate) -> DebateLine:
    """Return a debate's public facts, and whether it waits for a person's consent."""
    return DebateLine.of(debate, asked=await awaits_consent(store, debate))


async def newest(context: Context, person: Requester) -> Answer:
    """List the community's newest debates."""
    held = await find_held(context.store, person, limit=LISTED)
    lines = [await line_of(context.store, debate) for debate in held]
    settings = await settings_of(context.store, person)
    if PublicPart.DEBATES not in settings.public:
        return debate_list(lines, {})
    web = await page_of(context, person, settings)
    links = Permalinks(context.defaults.web_url)
    pages = {line.id: links.debate(line.id) for line in lines} if web else {}
    return debate_list(lines, pages, web)


def _minutes_left(context: Context, debate: Debate) -> float | None:
    if debate.status is not Status.VOTING or debate.vote_deadline is None:
        return None
    if debate.close_asked_at is not None:
        return 0.0
    left = debate.vote_deadline - context.service.clock.now()
    return max(0.0, left.total_seconds() / 60)


# `rematch`: hold a revealed debate once more, with the same models.


async def rematch(
    context: Context, person: Requester, debate: str | None = None, *, swap: bool = False
) -> StartedAnswer:
    """Queue a rematch and answer with its estimate. Raises as `start` does."""
    await check_may_start(context.store, person)
    store = context.store
    if debate:
        found = await find_named(store, person, debate)
    else:
        here = held_here(person, await find_held(store, person, (Status.CLOSED,)))
        if not here:
            raise NotFoundError("No debate in this channel has a result yet; give a debate's code.")
        found = here[0]
    check_repeatable(found, await store.debates.mirror_of(found))
    if person.thread is not None and person.thread == found.thread != found.place:
        # In the thread that this debate had to itself: the next one has its own.
        person = person.model_copy(update={"thread": None})
    order = Order(
        platform=person.platform,
        community=person.community,
        place=person.thread or person.place,
        capabilities=person.capabilities,
        user=person.user,
    )
    again = Rematch(of=found, swapped=swap)
    seed = context.service.new_seed()
    return await begin(context, person, lambda offer: repeat(order, again, offer, seed))
