"""What a figure was measured on, and how long the loop was held up meanwhile."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

TICK = 0.02


def print_result(figures: Mapping[str, object]) -> None:
    """Print a benchmark's figures as JSON, with the machine that they were measured on."""
    machine = {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }
    shown = {**figures, "machine": machine}
    print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())


def peak_memory() -> int | None:
    """Return the most memory that this process has held, in bytes; None where Linux is not."""
    # Not getrusage: what the parent held at the fork would count as this process's own.
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = status.read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@dataclass(slots=True)
class Lags:
    """By how many seconds the loop was late, tick by tick."""

    seconds: list[float] = field(default_factory=list)


@asynccontextmanager
async def watch_loop() -> AsyncIterator[Lags]:
    """Measure the loop's lag every 20 ms while the body runs."""
    lags = Lags()

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
    """Return the value that a share of all does not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
