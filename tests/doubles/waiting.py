"""Waits by polling, for conditions without an event."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
# What only ends a hang: on a busy machine all takes longer. Yet less than a minute, after which the
# product itself looks for what no bell told.
HANG_SECONDS = 55.0


async def until(look: Callable[[], T | None], seconds: float = HANG_SECONDS) -> T:
    """Wait until something is there, and return it; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not (found := look()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return found


async def until_true(ask: Callable[[], Awaitable[object]], seconds: float = HANG_SECONDS) -> None:
    """Wait until the answer to a question is true; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await ask():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_shown(what: str, screen: io.StringIO) -> str:
    """Wait until a screen shows something, and return all that it shows."""
    await until(lambda: what in screen.getvalue())
    return screen.getvalue()
