"""Files attached to a command: read whole, once their names and sizes are checked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePath

import discord

from adapters.discord import texts
from adapters.discord.errors import KNOWN
from engine.values.errors import UsageError, VenueAwayError
from engine.values.sources import SourceFile, SourceLimits, check_files

TRIES = 3
PAUSE_SECONDS = 0.5  # longer after each try
SECONDS = 20.0  # for one download


async def read_attachments(
    attached: Sequence[discord.Attachment], limits: SourceLimits
) -> tuple[SourceFile, ...]:
    """Read attached files. Raises UsageError, or VenueAwayError for one that Discord withholds."""
    check_files([(name_of(one), one.size) for one in attached], limits)
    contents = await asyncio.gather(*map(_read, attached))
    return tuple(
        SourceFile(name=name_of(one), content=content)
        for one, content in zip(attached, contents, strict=True)
    )


def name_of(attached: discord.Attachment) -> str:
    """Return a file's name; Discord keeps other scripts in its title only."""
    return (
        f"{attached.title or PurePath(attached.filename).stem}{PurePath(attached.filename).suffix}"
    )


async def _read(attached: discord.Attachment) -> bytes:
    """Download a file; what may pass is tried again."""
    for left in reversed(range(TRIES)):
        try:
            async with asyncio.timeout(SECONDS):
                return await attached.read()
        except (discord.NotFound, discord.Forbidden):
            raise UsageError(texts.ATTACHMENT_GONE) from None
        except (*KNOWN, TimeoutError) as error:
            if not left:
                raise VenueAwayError(texts.ATTACHMENT_AWAY) from error
            await asyncio.sleep(PAUSE_SECONDS * (TRIES - left))
    raise AssertionError("unreachable")
