"""The machine, memory and loop lag of a benchmark."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson

TICK = 0.02


def print_result(figures: Mapping[str, object]) -> None:
    """Print a benchmark's figures as JSON, with the machine."""
    machine = {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }
    shown = {**figures, "machine": machine}
    print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())


@dataclass(slots=True)
class _Lags:
    """The loop's lag in seconds, by tick."""

    seconds: list[float] = field(default_factory=list)


@asynccontextmanager
async def watch_loop() -> AsyncIterator[_Lags]:
    """Measure the loop's lag every 20 ms while the body runs."""
    lags = _Lags()

    async def tick() -> None:
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            lags.seconds.append(max(0.0, time.perf_counter() - due))

    task = asyncio.create_task(tick(), name="loop lag")
    try:
        yield lags
    finally:
        task.cancel()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value at a quantile, `share`."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
