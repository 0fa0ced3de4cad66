"""Removes the bot's seed reactions once a question has closed: what people count is what counted.

The close marks the messages, in the transaction that stores the votes, so the last reading never
misses a seed. A mark goes once a message has none left: a process that dies in between, or finds
the platform away, leaves the rest to the next try. Nothing waits for this, and it waits for the
reveal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from engine.fleet.leases import Bell
from engine.store import Store, Target
from engine.store.leases import Served, everyone
from engine.values.errors import VenueAwayError, VenueError
from engine.values.ports import Clock, Venue

LOOK_SECONDS = 10.0  # for a close that rang no bell here
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
AT_ONCE = 5  # messages: people wait for what else is sent
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Unseeding:
    """Removes the seeds of one platform's closed questions.

    `adds_to` tells whether a message is still being given reactions.
    """

    venue: Venue
    store: Store
    bell: Bell
    clock: Clock
    adds_to: Callable[[Target], bool]
    served: Callable[[], Served] = everyone

    async def run(self) -> None:
        """Remove seeds until cancelled, with growing pauses while the platform is away."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self._remove_all()
            except VenueAwayError as error:
                await self.clock.sleep(max(pause, error.retry_after))
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                pause = FIRST_PAUSE
                await self.bell.collect(f"seeds/{self.venue.platform}", LOOK_SECONDS)

    async def _remove_all(self) -> None:
        """Remove what is left. Raises VenueAwayError if some of it has to be tried again."""
        platform, channel = self.venue.platform, self.venue.channel
        left = await self.store.votes.seeds_left(platform, channel, served=self.served())
        room = asyncio.Semaphore(AT_ONCE)

        async def one(target: Target) -> VenueAwayError | None:
            async with room:
                return await self._remove(target)

        tried = await asyncio.gather(*map(one, left))
        if away := next(filter(None, tried), None):
            raise away

    async def _remove(self, target: Target) -> VenueAwayError | None:
        """Remove a message's seeds; return why it has to be tried again."""
        if self.adds_to(target):
            return VenueAwayError("Reactions are still being added.")
        try:
            await self.venue.unseed(target.place, target.message, target.options)
        except VenueAwayError as error:
            return error
        except VenueError as error:  # the message is gone, and its reactions with it, or refused
            log.info("own reactions not removed", debate=target.debate, why=str(error))
        await self.store.votes.seeds_gone(target)
        return None
