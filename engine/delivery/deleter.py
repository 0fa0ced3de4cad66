"""Takes deleted debates out of the chat: first the record, then message by message.

What is left to delete is stored, so a process that is killed leaves it to the next one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from engine.fleet.leases import Notifier
from engine.fleet.shares import PartitionLeases
from engine.store import Lease, Store
from engine.store.retention import Deletion
from engine.values.errors import (
    LeaseLostError,
    MessageGoneError,
    NotFoundError,
    StoreError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
)
from engine.values.ports import Clock

if TYPE_CHECKING:
    from engine.values.protocols import Venue

LOOK_SECONDS = 2.0
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Deleter:
    """Deletes debates of one platform, those of the shares that this process holds."""

    venue: Venue
    erase: Callable[[str, str | None], Awaitable[bool]]  # the venue's
    store: Store
    notifier: Notifier
    clock: Clock
    shares: PartitionLeases

    async def run(self) -> None:
        """Delete what people asked for, until cancelled."""
        platform = self.venue.platform
        while True:
            for deletion in await self.store.retention.asked(platform, served=self.shares.served):
                lease = self.shares.lease_for(deletion.community)
                if lease is not None:
                    try:
                        await self._delete(lease, deletion)
                    except VenueAwayError as error:
                        log.info("deletion waits", debate=deletion.debate, why=str(error))
                        await self.clock.sleep(error.retry_after)
                    except LeaseLostError:
                        log.info("deletion left to another process", debate=deletion.debate)
                    except StoreError as error:
                        log.warning("deletion postponed", debate=deletion.debate, why=str(error))
                    except Exception:  # a bug in one must not hold up the others
                        log.exception("unhandled error in a deletion", debate=deletion.debate)
            await self.notifier.wait(f"deletions/{platform}", LOOK_SECONDS)

    async def _delete(self, lease: Lease, deletion: Deletion) -> None:
        left: Deletion | None = deletion
        if deletion.messages is None:
            await self._stop(deletion.debate)
            left = await self.store.retention.take_out(lease, deletion.debate)
        if left is None:  # something of it goes on for now
            return
        await self.store.retention.drop_strangers()
        left = await self._erase_thread(lease, left)
        while left.messages:
            place, message = left.messages[0]
            async with self.venue.turn(place):
                try:
                    await self.erase(place, message)
                except VenueAwayError:
                    raise
                except (MessageGoneError, VenueGoneError):
                    log.debug("message was gone", debate=left.debate)
                except VenueError as error:
                    log.warning("message stays", debate=left.debate, why=str(error))
            left = left.model_copy(update={"messages": left.messages[1:]})
            await self.store.retention.note(lease, left)
        log.info("debate deleted", debate=left.debate)

    async def _stop(self, debate_id: str) -> None:
        """Have a debate stopped that still runs; one whose vote is open is simply taken out."""
        try:
            debate = await self.store.debates.get(debate_id)
        except NotFoundError:
            return
        if debate.status.live:
            await self.store.queue.ask_stop(debate_id, "It is being deleted.")
            self.notifier.publish("stop")

    async def _erase_thread(self, lease: Lease, left: Deletion) -> Deletion:
        """Delete the thread as a whole, where the platform lets us."""
        if left.thread is None:
            return left
        messages = left.messages or ()
        try:
            if await self.erase(left.thread, None):
                messages = tuple(one for one in messages if one[0] != left.thread)
        except VenueAwayError:
            raise
        except VenueGoneError:
            messages = tuple(one for one in messages if one[0] != left.thread)
        except VenueError as error:
            log.info("thread stays", debate=left.debate, why=str(error))
        left = left.model_copy(update={"thread": None, "messages": messages})
        await self.store.retention.note(lease, left)
        return left
