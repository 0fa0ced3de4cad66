"""Removes a reaction of a secret ballot from its message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.store import Cast, Intervention, Store
from engine.values.errors import VenueAwayError, VenueError
from engine.values.ports import Clock, VisibleReaction

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
