"""How long a stop may take: `ROSTRUM_STOP_SECONDS`, after which service managers kill.

From the first moment nothing new begins. Calls in flight, which are paid for, have all but its last
15 s (30 s of 45); meanwhile the platforms are left. Then deliveries end, leases are released, and
everything is closed. Whatever still hangs in its last second is left behind: all that counts is
stored by then, as for a kill.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable

import structlog

END_SECONDS = 15.0  # of a stop, after its calls
CLOSE_SECONDS = 4.0  # for each of what is closed in the end
CUT_SECONDS = 1.0  # before a service manager kills
SAY_SECONDS = 0.5  # the log may be what hangs
CUT_OFF = 1
log = structlog.get_logger(__name__)


def calls_seconds(stop: float) -> float:
    """Return how much of a stop calls in flight have."""
    return max(stop - END_SECONDS, 0.0)


async def close_in_time(**closings: Callable[[], Awaitable[None]]) -> None:
    """Close parts one after the other, by their names; one that hangs is left behind."""
    for part, close in closings.items():
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()
        except TimeoutError:
            log.warning("stopped without waiting", part=part)


def end_in_time(stop: float) -> None:
    """End this process when a stop has to be over, whatever hangs by then, such as a thread."""
    timer = threading.Timer(stop - CUT_SECONDS, _cut_off)
    timer.daemon = True
    timer.start()


def _cut_off() -> None:
    saying = threading.Thread(target=log.error, args=("stop cut off",), daemon=True)
    saying.start()
    saying.join(SAY_SECONDS)
    os._exit(CUT_OFF)
