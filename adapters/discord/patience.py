"""A request of an interaction that is cut is sent again, for as long as its token lives.

What is sent again stands in place of what it showed before, so that nothing is said twice. Of an
answer in several pieces the later ones are messages of their own: should one of them be shown and
its answer be lost, it is shown twice, which is better than not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import discord
import structlog

from adapters.discord.errors import NETWORK

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
PASSING = 429  # and whatever is 500 or more
log = structlog.get_logger(__name__)

Interaction = discord.Interaction[discord.Client]


async def insist(interaction: Interaction, ask: Callable[[], Awaitable[object]]) -> bool:
    """Ask, with growing pauses, until Discord answers; False where it refuses, or never does."""
    pause = FIRST_PAUSE
    while not interaction.client.is_closed():
        try:
            await ask()
        except (discord.HTTPException, *NETWORK) as error:
            if not _passes(error) or seconds_left(interaction) < pause:
                log.warning("private answer lost", why=str(error))
                return False
            log.info("private answer retried", why=str(error) or type(error).__name__)
        else:
            return True
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return False


def seconds_left(interaction: Interaction) -> float:
    """Return for how long an interaction's token is still good."""
    return (interaction.expires_at - discord.utils.utcnow()).total_seconds()


def _passes(error: BaseException) -> bool:
    if isinstance(error, discord.HTTPException):
        return error.status == PASSING or error.status >= 500
    return True
