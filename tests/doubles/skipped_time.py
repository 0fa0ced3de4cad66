"""Time that passes where it is waited for, and nowhere else: a busy machine measures nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LATE = 1e-6  # seconds: no timer rings early


@contextmanager
def skipped_time() -> Iterator[None]:
    """Skip what the running loop would wait for its timers; `time.monotonic` follows.

    For code that waits for timers alone: a network or a thread would be given no time.
    """
    loop: Any = asyncio.get_running_loop()
    now, select = time.monotonic(), loop._selector.select

    def skip(seconds: float | None) -> object:
        nonlocal now
        if seconds:
            now += seconds + LATE
        return select(seconds and 0)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop._selector, "select", skip)
        patched.setattr(time, "monotonic", lambda: now)
        yield
