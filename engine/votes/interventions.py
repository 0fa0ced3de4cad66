"""What befalls a debate from outside: its thread is locked or lost, or a secret vote shows.
secret votes that others can see.

"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.delivery.fallbacks import LastWord
from engine.fleet.leases import Services
from engine.store import Cast, Intervention, Store
from engine.values.errors import VenueAwayError, VenueError
from engine.values.language import N_
from engine.values.ports import Clock, CommunityChanged, ThreadChanged, VisibleReaction
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


# Removes a reaction of a secret ballot from its message.


if TYPE_CHECKING:
    from engine.values.protocols import Venue

MOST_TRIES = 5
log = structlog.get_logger(__name__)


async def hide(shown: VisibleReaction, venue: Venue, store: Store, clock: Clock) -> None:
    """Remove a reaction, or note that it stays visible."""
    remove = venue.remove_reaction
    if remove is None:
        log.warning("secret vote visible", message=shown.message, why="nobody may remove it")
        await _note_shown(shown, venue, store, clock)
        return
    for _ in range(MOST_TRIES):
        try:
            await remove(shown.place, shown.message, shown.user, shown.reaction)
        except VenueAwayError as error:
            await clock.sleep(error.retry_after)
        except VenueError as error:
            log.warning("secret vote visible", message=shown.message, why=str(error))
            await _note_shown(shown, venue, store, clock)
            return
        else:
            # A reaction found on the message later is a new choice.
            await store.votes.cast(
                Cast(
                    platform=venue.platform,
                    place=shown.place,
                    message=shown.message,
                    user=shown.user,
                    option=shown.option,
                    variant=shown.variant,
                    added=False,
                    received_at=clock.now(),
                )
            )
            return
    log.warning("secret vote still visible", message=shown.message, tries=MOST_TRIES)
    await _note_shown(shown, venue, store, clock)


async def _note_shown(shown: VisibleReaction, venue: Venue, store: Store, clock: Clock) -> None:
    """Record since when a choice was visible to others."""
    votes = store.votes
    target = await votes.target(venue.platform, shown.place, shown.message)
    if target is not None:
        noted = Intervention.on(target, "shown", clock.now(), shown.option)
        await votes.intervene(target, noted)
