"""Where to post an alert to managers: wherever they read, else the channel of its debate.

Each place is a separate message, queued like any other, so it is posted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from engine.delivery.ending import ALERT, CHANNEL_ALERT, GIVEN
from engine.errors import VenueError
from engine.messages import Alert
from engine.ports import Venue
from engine.store import Intent, Lease, Post, Store

NO_SUCH_MANAGER = "This manager is no longer one of those who can be told."
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Alerts:
    """Makes sure that an alert reaches people somewhere."""

    venue: Venue
    store: Store

    async def address(self, lease: Lease, intent: Intent, alert: Alert) -> Intent:
        """Return an alert addressed to its place, and queue it for the next manager.

        Raises VenueError if its manager is unknown now.
        """
        if alert.manager is None:
            return intent.model_copy(update={"thread": None})
        if not alert.manager:
            log.warning(
                "budget of the day nearly used up",
                debate=intent.debate,
                percent=alert.percent,
                usd=alert.usd,
            )
        places = await self.venue.managers(intent.channel)
        if not places and alert.manager == 0:
            return intent.model_copy(update={"thread": None})
        if alert.manager >= len(places):
            raise VenueError(NO_SUCH_MANAGER)
        if alert.manager + 1 < len(places):
            await self._publish(lease, intent, alert.manager + 1)
        return intent.model_copy(update={"thread": places[alert.manager]})

    async def go_elsewhere(self, lease: Lease, intent: Intent) -> None:
        """Queue an alert that cannot be posted for the channel, unless any manager gets it."""
        alert = intent.message
        if not isinstance(alert, Alert) or alert.manager is None:
            return
        if await self.store.outbox.find(intent.debate, _key(alert.manager + 1)) is not None:
            return
        known = [
            await self.store.outbox.find(intent.debate, _key(manager))
            for manager in range(alert.manager)
        ]
        if not any(found is not None and found.state in GIVEN for found in known):
            log.info("alert rerouted", debate=intent.debate)
            await self._publish(lease, intent, None)

    async def _publish(self, lease: Lease, intent: Intent, manager: int | None) -> None:
        message = intent.message.model_copy(update={"manager": manager})
        post = Post(key=_key(manager), message=message)
        await self.store.outbox.publish(lease, intent.debate, [post])


def _key(manager: int | None) -> str:
    if manager is None:
        return CHANNEL_ALERT
    return f"{ALERT}/{manager}" if manager else ALERT
