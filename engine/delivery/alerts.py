"""Where to post an alert to managers: wherever they read, else the channel of its debate.

Each place is a separate message, queued like any other, so it is posted once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import structlog

from engine.delivery.ending import UNNAMED_ALERT
from engine.delivery.last_word import GIVEN
from engine.store import Intent, Lease, Post, Store
from engine.values.debate import short_code
from engine.values.errors import VenueError
from engine.values.messages import Alert, Skipped
from engine.values.ports import Unnamed, Venue

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Alerts:
    """Makes sure that an alert reaches people somewhere."""

    venue: Venue
    store: Store
    _told: dict[str, Unnamed] = field(default_factory=dict)  # communities, and of what last

    async def address(self, lease: Lease, intent: Intent, alert: Alert | Skipped) -> Intent:
        """Return an alert addressed to its place, and queue it for the next manager.

        Raises VenueError if its manager is unknown now.
        """
        if alert.manager is None:
            return intent.model_copy(update={"thread": None})
        unnamed = isinstance(alert, Alert) and alert.unnamed != ""
        if not alert.manager and isinstance(alert, Alert) and not unnamed:
            log.warning(
                "budget of the day nearly used up",
                debate=intent.debate,
                percent=alert.percent,
                usd=alert.usd,
            )
        places = await self.venue.managers(intent.channel)
        if not places and alert.manager == 0 and not unnamed:
            return intent.model_copy(update={"thread": None})
        if alert.manager >= len(places):
            raise VenueError("This manager is no longer one of those who can be told.")
        if alert.manager + 1 < len(places):
            await self._publish(lease, intent, alert, alert.manager + 1)
        return intent.model_copy(update={"thread": places[alert.manager]})

    async def tell_unnamed(self, lease: Lease, intent: Intent, why: Unnamed) -> None:
        """Queue an alert on why a side spoke under the bot's own name: once for each new cause.

        What was told before is read from the messages of the community's debates.
        """
        community = intent.community
        if self._told.get(community) == why:
            return
        self._told[community] = why
        keys = [_unnamed_key(each) for each in get_args(Unnamed)]
        told = await self.store.outbox.newest(self.venue.platform, community, keys)
        if told is not None and isinstance(told.message, Alert) and told.message.unnamed == why:
            return
        code, language = short_code(intent.debate), intent.message.language
        message = Alert(language=language, code=code, unnamed=why)
        post = Post(key=_unnamed_key(why), message=message)
        await self.store.outbox.publish(lease, intent.debate, [post])

    async def go_elsewhere(self, lease: Lease, intent: Intent, alert: Alert | Skipped) -> None:
        """Queue an alert that cannot be posted for the channel, unless any manager gets it."""
        if alert.manager is None or (isinstance(alert, Alert) and alert.unnamed):
            return
        first = _first_key(intent, alert)
        if await self.store.outbox.find(intent.debate, _key(first, alert.manager + 1)) is not None:
            return
        known = [
            await self.store.outbox.find(intent.debate, _key(first, manager))
            for manager in range(alert.manager)
        ]
        if not any(found is not None and found.state in GIVEN for found in known):
            log.info("alert rerouted", debate=intent.debate)
            await self._publish(lease, intent, alert, None)

    async def _publish(
        self, lease: Lease, intent: Intent, alert: Alert | Skipped, manager: int | None
    ) -> None:
        message = alert.model_copy(update={"manager": manager})
        post = Post(key=_key(_first_key(intent, alert), manager), message=message)
        await self.store.outbox.publish(lease, intent.debate, [post])


def _unnamed_key(why: Unnamed) -> str:
    return f"{UNNAMED_ALERT}/{why}"


def _first_key(intent: Intent, alert: Alert | Skipped) -> str:
    """Return the key of the message for the first manager."""
    return intent.key.rpartition("/")[0] if alert.manager else intent.key


def _key(first: str, manager: int | None) -> str:
    if manager is None:
        return f"{first}/channel"
    return f"{first}/{manager}" if manager else first
