"""Erasing people, and deleting communities that have left."""

from __future__ import annotations

from datetime import timedelta

import structlog

from engine.chat.person import own_community
from engine.store import Store
from engine.values.debate import Status
from engine.values.errors import UsageError
from engine.values.ports import Clock

WIPE_TRIES = 20
WIPE_SECONDS = 0.05
FORGOTTEN = "Its starter asked to be forgotten."
log = structlog.get_logger(__name__)


async def forget(store: Store, clock: Clock, platform: str, user: str) -> bool:
    """Forget a person; False while a reader still holds an older state of the database.

    `tidy` overwrites that state, which still identifies the person, once no one reads it.
    """
    number = await store.people.number(platform, user)
    if number is not None:
        await _drop_own(store, clock, platform, own_community(number))
    await store.people.forget(platform, user)
    return await wiped(store, clock)


async def _drop_own(store: Store, clock: Clock, platform: str, community: str) -> None:
    """Delete the debates of a person's own direct messages, which lead to them.

    Those that still run are stopped, and deleted as those of a community that has left.
    """
    live = tuple(status for status in Status if status.live)
    running = await store.debates.of_community(platform, community, live)
    for debate in running:
        await store.debates.ask_stop(debate.id, FORGOTTEN)
    if running:
        await store.communities.left(platform, community, clock.now())
    await store.communities.purge(platform, community)


async def wiped(store: Store, clock: Clock) -> bool:
    """Overwrite what was deleted; False while a reader still holds an older state."""
    for _ in range(WIPE_TRIES):
        if await store.people.wipe():
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
    running = await store.debates.of_community(platform, community, live)
    if running:
        codes = ", ".join(debate.code for debate in running)
        raise UsageError(f"Debates still run there: {codes}; cancel them first.")


async def tidy(store: Store, clock: Clock, grace: timedelta) -> None:
    """Purge communities whose grace period is over; overwrite deleted data."""
    for left in await store.communities.gone(clock.now() - grace):
        debates = await store.communities.purge(left.platform, left.community)
        log.info("community purged", debates=debates)
    await store.communities.drop_late_budgets(clock.now())
    await store.people.wipe()
