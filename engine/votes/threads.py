"""What becomes of debates whose thread is locked, archived or deleted, or whose place is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.delivery.fallbacks import LastWord
from engine.fleet.leases import Services
from engine.store import Intervention
from engine.values.language import N_
from engine.values.ports import CommunityChanged, ThreadChanged
from engine.votes.outcome import EventOutcome
from engine.words.phrases import LOCKED

if TYPE_CHECKING:
    from engine.values.protocols import Venue

log = structlog.get_logger(__name__)


async def shut(event: ThreadChanged, venue: Venue, services: Services) -> EventOutcome:
    """Note that a thread was locked, archived or opened again."""
    held = await services.store.votes.held_in(venue.platform, thread=event.place)
    for debate_id in held:
        for target in await services.store.votes.targets(debate_id):
            noted = Intervention.on(target, event.act, services.clock.now())
            await services.store.votes.intervene(target, noted)
        debate = await services.store.debates.get(debate_id)
        if event.act == "locked":
            await services.store.queue.set_waiting(debate_id, LOCKED)
        elif debate.reason == LOCKED:
            await services.store.queue.set_waiting(debate_id, "")
    if event.act != "locked":
        async with services.lease_manager.hold(f"reveals/{event.place}", stoppable=False) as lease:
            last_word = LastWord(venue, services.store, services.notifier, services.clock)
            await last_word.reopen(lease, event.place)
    return EventOutcome(outcome="noted" if held else "unknown")


async def lose(
    lost: ThreadChanged | CommunityChanged, venue: Venue, services: Services
) -> EventOutcome:
    """Give up what was held in a thread or a community that is gone."""
    votes, platform = services.store.votes, venue.platform
    if isinstance(lost, ThreadChanged):
        held = await votes.held_in(platform, thread=lost.place)
        return await _abandon(held, N_("The thread of this debate was deleted."), venue, services)
    held = await votes.held_in(platform, community=lost.community)
    return await _abandon(
        held,
        N_(
            "Rostrum was removed from the place of this debate; invite it again to hold "
            "debates there."
        ),
        venue,
        services,
    )


async def _abandon(debates: list[str], why: str, venue: Venue, services: Services) -> EventOutcome:
    for debate_id in debates:
        async with services.lease_manager.hold(f"gone/{debate_id}", stoppable=False) as lease:
            await services.store.deliveries.abandon(lease, debate_id, why)
        log.warning("thread is gone", debate=debate_id, why=why)
    if debates:
        services.notifier.publish("stop")
        services.notifier.publish(f"votes/{venue.platform}")
    return EventOutcome(outcome="noted" if debates else "unknown")
