"""`rostrum bench votes`: compares every stored vote with the platform.

`rostrum run` serves the tests' doubles of the platforms, over their real protocols and at their
rates, through kills, lost sessions and refusals. The code is with the tests
(`tests/bench/votes.py`), which an installed Rostrum does not have.
"""

from __future__ import annotations

from pathlib import Path

from bench.checkout import find_in_checkout
from bench.wheel.machine import print_result
from bot.app import first_error
from engine.errors import RostrumError

PLATFORMS = ("discord", "slack")
BROKEN = "What must not happen did: {names}; the figures above say how often."


async def run_bench_votes(
    platform: str,
    *,
    debates: int,
    voters: int,
    kills: int,
    minutes: float,
    seed: int,
    runs: int,
    keep: Path | None,
) -> None:
    """Print what became of every vote; raises RostrumError if a bound is broken."""
    chosen = PLATFORMS if platform == "both" else (platform,)
    doubles = find_in_checkout("bench.votes")
    size = doubles.Size(debates, voters, kills, minutes)
    try:
        result = await doubles.run_votes(chosen, size, seed, runs, keep)
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    print_result(result)
    if result["broken"]:
        raise RostrumError(BROKEN.format(names=", ".join(result["broken"])))
