"""`rostrum bench scale`: gateways and workers on a real PostgreSQL, beside one process.

The processes are those of `rostrum gateway`, `worker` and `run`, on the tests' double of Discord
and a model server on the loopback. The code is with the tests (`tests/bench/scale.py`), which an
installed Rostrum does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.checkout import find_in_checkout
from bench.wheel.machine import print_result
from bot import log
from bot.app import first_error
from bot.settings.settings import Settings
from engine.errors import RostrumError, UsageError

PARTS = ("throughput", "latency")
WRONG_WORKERS = "--workers takes numbers of processes, such as 1,2,4."
FAILED = "A process of the benchmark failed: {why}"
LONGEST_WHY = 2000


async def run_bench_scale(
    part: str,
    *,
    workers: str,
    debates: int,
    slots: int,
    seconds: float,
    pause: float,
    to: str | None,
) -> None:
    """Print what calls cost by kind of process, and how promptly processes hand over.

    `slots` is how many debates a worker runs at once, and `pause` the seconds between two starts
    where latencies are measured. Raises RostrumError.
    """
    log.configure(Settings(log={"level": "error"}).log)
    doubles = find_in_checkout("bench.scale")
    parts = PARTS if part == "both" else (part,)
    size = doubles.Size(_numbers(workers), debates, slots, seconds, pause)
    try:
        result = await doubles.run_scale(parts, size, to)
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    except AssertionError as error:
        raise RostrumError(FAILED.format(why=str(error)[-LONGEST_WHY:])) from error
    print_result(result)


def _numbers(text: str) -> Sequence[int]:
    numbers = [int(one) for one in text.split(",") if one.strip().isdecimal()]
    if not numbers or min(numbers) < 1 or len(numbers) < len(text.split(",")):
        raise UsageError(WRONG_WORKERS)
    return numbers
