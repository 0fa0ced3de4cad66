"""Erasing people, and deleting communities that have left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog
from ulid import ULID

from engine.chat.context import own_community
from engine.store import Store
from engine.values.debate import Debate, Status, Value
from engine.values.errors import StoreError, UsageError, VenueError
from engine.values.ports import Clock

WIPE_TRIES = 20
WIPE_SECONDS = 0.05
log = structlog.get_logger(__name__)


async def forget(store: Store, clock: Clock, platform: str, user: str) -> bool:
    """Forget a person; False while a reader still holds an older state of the database.

    `tidy` overwrites that state, which still identifies the person, once no one reads it.
    """
    number = await store.people.number(platform, user)
    if number is not None:
        # Those that still run are stopped, and deleted as those of a community that has left.
        community = own_community(number)
        live = tuple(status for status in Status if status.live)
        running = await store.listings.of_community(platform, community, live)
        for debate in running:
            await store.queue.ask_stop(debate.id, "Its starter asked to be forgotten.")
        if running:
            await store.communities.left(platform, community, clock.now())
        await store.communities.purge(platform, community)
    await store.privacy.forget(platform, user)
    return await wiped(store, clock)


async def wiped(store: Store, clock: Clock) -> bool:
    """Overwrite what was deleted; False while a reader still holds an older state."""
    for _ in range(WIPE_TRIES):
        if await store.privacy.wipe():
            return True
        await clock.sleep(WIPE_SECONDS)
    return False


async def purge(store: Store, platform: str, community: str) -> int:
    """Delete a community's debates completely and return their number.

    Raises UsageError while one is queued or running.
    """
    await check_no_live(store, platform, community)
    return await store.communities.purge(platform, community)


async def check_no_live(store: Store, platform: str, community: str) -> None:
    """Raise UsageError while a debate of a community is queued or running."""
    live = tuple(status for status in Status if status.live)
    running = await store.listings.of_community(platform, community, live)
    if running:
        codes = ", ".join(debate.code for debate in running)
        raise UsageError(f"Debates still run there: {codes}; cancel them first.")


async def tidy(store: Store, clock: Clock, grace: timedelta) -> None:
    """Purge communities whose grace period is over; overwrite deleted data."""
    for platform, community in await store.communities.gone(clock.now() - grace):
        debates = await store.communities.purge(platform, community)
        log.info("community purged", debates=debates)
    await store.communities.drop_late_budgets(clock.now())
    await store.privacy.wipe()


# Deletes what an operator keeps for a limited time: prompts and replies, and whole debates.


ROUND_SECONDS = 3600.0
REST_SECONDS = 0.05  # between two debates, for other writes
AT_ONCE = 100  # debates looked up at once
LEASE, LEASE_SECONDS = "retention", 600.0
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
