"""The system's clock."""

from __future__ import annotations

import asyncio
from datetime import datetime

from engine.values.ports import utc_now


class SystemClock:
    """The Clock port on the machine's own time."""

    def now(self) -> datetime:
        return utc_now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
