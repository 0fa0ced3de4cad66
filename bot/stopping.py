"""How long a stop may take: service managers kill what has not ended after 45 s.

From the first moment nothing new begins. Calls in flight, which are paid for, have 30 s; meanwhile
the platforms are left. Then deliveries end, leases are released, and everything is closed. Whatever
still hangs after 44 s is left behind: all that counts is stored by then, as for a kill.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable

import structlog

CALLS_SECONDS = 30.0
CLOSE_SECONDS = 4.0  # for each of what is closed in the end
ALL_SECONDS = 44.0
SAY_SECONDS = 0.5  # the log may be what hangs
CUT_OFF = 1
log = structlog.get_logger(__name__)


async def close_in_time(**closings: Callable[[], Awaitable[None]]) -> None:
    """Close parts one after the other, by their names; one that hangs is left behind."""
    for part, close in closings.items():
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()
        except TimeoutError:
            log.warning("stopped without waiting", part=part)


def end_in_time() -> None:
    """End this process after `ALL_SECONDS`, whatever hangs by then, such as a thread."""
    timer = threading.Timer(ALL_SECONDS, _cut_off)
    timer.daemon = True
    timer.start()


def _cut_off() -> None:
    saying = threading.Thread(target=log.error, args=("stop cut off",), daemon=True)
    saying.start()
    saying.join(SAY_SECONDS)
    os._exit(CUT_OFF)
