"""The link from a rematch's announcement to that of the debate before."""

from __future__ import annotations

import structlog

from engine.store import Store
from engine.values.errors import VenueAwayError, VenueError, VenueGoneError
from engine.values.messages import Announcement
from engine.values.ports import Venue

ANNOUNCEMENT = "announcement"
log = structlog.get_logger(__name__)


async def with_link(
    venue: Venue, store: Store, community: str, message: Announcement
) -> Announcement:
    """Return an announcement with the address of the debate before, if it has one."""
    before = message.before
    if before is None:
        return message
    first = await store.outbox.find(before.debate, ANNOUNCEMENT)
    if first is None or not first.refs:
        return message
    try:
        link = await venue.link(community, first.channel, first.refs[0])
    except (VenueAwayError, VenueGoneError):
        raise
    except VenueError as error:
        log.info("message has no link", debate=before.debate, why=str(error))
        return message
    linked = before.model_copy(update={"link": link})
    return message.model_copy(update={"before": linked})
