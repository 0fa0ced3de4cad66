"""Waits by polling, for conditions without an event."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], T | None], seconds: float = 30.0) -> T:
    """Wait until something is there, and return it; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not (found := look()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return found


async def until_true(ask: Callable[[], Awaitable[object]], seconds: float = 30.0) -> None:
    """Wait until the answer to a question is true; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await ask():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_shown(what: str, screen: io.StringIO) -> str:
    """Wait until a screen shows something, and return all that it shows."""
    await until(lambda: what in screen.getvalue(), 5)
    return screen.getvalue()
