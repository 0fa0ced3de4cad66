"""A clock by which deadlines pass when a test says so, and not while a machine is busy."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from engine.values.ports import utc_now


class FixedClock:
    """A clock that stands still until it is moved; waits take their real time."""

    def __init__(self, beginning: datetime | None = None) -> None:
        self._now = beginning or utc_now()

    def now(self) -> datetime:
        return self._now

    def pass_seconds(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
