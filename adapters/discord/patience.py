"""Retries an interaction's requests for as long as its token is valid.

A repeated edit replaces what it showed before, so nothing appears twice. Later pieces of a long
answer are separate messages: if one is shown but its response is lost, it appears twice, which is
better than not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import discord
import structlog

from adapters.discord.errors import NETWORK
from engine.values.errors import why_of

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
PASSING = 429  # and any 5xx
log = structlog.get_logger(__name__)

Interaction = discord.Interaction[discord.Client]


async def insist(interaction: Interaction, ask: Callable[[], Awaitable[object]]) -> bool:
    """Retry with growing pauses until Discord accepts; False if it refuses or time runs out."""
    pause = FIRST_PAUSE
    while not interaction.client.is_closed():
        try:
            await ask()
        except (discord.HTTPException, *NETWORK) as error:
            if not _passes(error) or seconds_left(interaction) < pause:
                log.warning("private answer lost", why=str(error))
                return False
            log.info("private answer retried", why=why_of(error))
        else:
            return True
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return False


def seconds_left(interaction: Interaction) -> float:
    """Return how long an interaction's token is still valid."""
    return (interaction.expires_at - discord.utils.utcnow()).total_seconds()


def _passes(error: BaseException) -> bool:
    if isinstance(error, discord.HTTPException):
        return error.status == PASSING or error.status >= 500
    return True
