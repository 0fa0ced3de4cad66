"""Deletes what an operator keeps for a limited time: prompts and replies, and whole debates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog
from ulid import ULID

from engine.store import Store
from engine.values.debate import Debate, Value
from engine.values.errors import StoreError, VenueError
from engine.values.ports import Clock

ROUND_SECONDS = 3600.0
REST_SECONDS = 0.05  # between two debates, for other writes
AT_ONCE = 100  # debates looked up at once
LEASE, LEASE_SECONDS = "retention", 600.0
log = structlog.get_logger(__name__)
Erase = Callable[[Debate], Awaitable[None]]


class Keeping(Value):
    """How long things are kept after a debate has ended; None: for ever."""

    prompts: timedelta | None = None
    debates: timedelta | None = None

    @property
    def ends(self) -> bool:
        """Whether anything is deleted at all."""
        return self.prompts is not None or self.debates is not None


async def keep_for(keeping: Keeping, store: Store, clock: Clock, erase: Erase) -> None:
    """Delete what is due, at once and then every hour, until cancelled.

    Of several processes one does it. `erase` deletes what is kept of a debate outside the store.
    """
    while True:
        try:
            await delete_due(keeping, store, clock, erase)
        except StoreError as error:
            log.warning("retention postponed", why=str(error))
        await clock.sleep(ROUND_SECONDS)


async def delete_due(keeping: Keeping, store: Store, clock: Clock, erase: Erase) -> None:
    """Delete what is due now, debate by debate."""
    lease = await store.leases.claim(LEASE, str(ULID()), LEASE_SECONDS)
    if lease is None:
        return
    try:
        debates = await _expire(keeping.debates, store, clock, erase)
        prompts = await _prune(keeping.prompts, store, clock)
        people = await store.retention.drop_strangers() if debates else 0
    finally:
        await store.leases.release(lease)
    if debates or prompts:
        log.info("retention applied", debates=debates, prompts=prompts, people=people)


async def _expire(age: timedelta | None, store: Store, clock: Clock, erase: Erase) -> int:
    if age is None:
        return 0
    before, expired = clock.now() - age, 0
    while due := await store.retention.outdated(before, AT_ONCE, pruned=True):
        done = [await _expire_one(one, before, store, clock, erase) for one in due]
        expired += sum(done)
        if not any(done):
            break
    return expired


async def _expire_one(
    debate_id: str, before: datetime, store: Store, clock: Clock, erase: Erase
) -> bool:
    debate = await store.retention.expire(debate_id, before)
    if debate is None:
        return False
    try:
        await erase(debate)
    except VenueError as error:
        log.warning("transcript not deleted", debate=debate_id, why=str(error))
    await clock.sleep(REST_SECONDS)
    return True


async def _prune(age: timedelta | None, store: Store, clock: Clock) -> int:
    if age is None:
        return 0
    before, pruned = clock.now() - age, 0
    while due := await store.retention.outdated(before, AT_ONCE, pruned=False):
        done = 0
        for debate_id in due:
            done += await store.retention.prune(debate_id, before)
            await clock.sleep(REST_SECONDS)
        pruned += done
        if not done:
            break
    return pruned
