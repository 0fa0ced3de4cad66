"""`rostrum bench trials`: how well the gap between two protocols is recovered.

Each simulated series holds every topic twice under either protocol, and a jury finds the right
answer with a chance that is the protocol's and moves with the topic. The figures are the product's.
"""

from __future__ import annotations

import asyncio
from random import Random
from statistics import fmean
from typing import NamedTuple

from bench.wheel.machine import print_result
from engine.stats.comparisons import measure_trials
from engine.stats.row import KnownAnswer, Row

RIGHT = {"debate": 0.80, "consultancy": 0.65}
GAP = RIGHT["debate"] - RIGHT["consultancy"]
HARDER = 0.15  # by how much a topic's chance is above or below, at most
REPEATS = 2


class GapRecovery(NamedTuple):
    """The mean of the measured gaps, and the share of series whose 95 % interval has the true one.

    A gap is a difference of shares, from -1 to 1.
    """

    mean: float
    covered: float


async def run_trials(series: int, topics: int) -> None:
    """Print how well the gap is recovered, as JSON."""
    found = await asyncio.to_thread(recover_gap, series, topics)
    print_result(
        {
            "bench": "trials",
            "series": series,
            "topics": topics,
            "true_gap": round(GAP, 4),
            "mean_gap": round(found.mean, 4),
            "intervals_that_cover_it": round(found.covered, 4),
        }
    )


def recover_gap(series: int, topics: int) -> GapRecovery:
    """Measure the gap in simulated series, one for each seed from 0."""
    gaps = []
    for seed in range(series):
        found = measure_trials(_simulate(Random(seed), topics))
        gaps += [one.difference for one in found.gaps] if found else []
    values = [-one.value for one in gaps if one.value is not None]
    covering = ((one.low or 0.0) <= -GAP <= (one.high or 0.0) for one in gaps)
    return GapRecovery(fmean(values), fmean(covering))


def _simulate(random: Random, topics: int) -> list[Row]:
    rows = []
    for topic in range(topics):
        harder = random.uniform(-HARDER, HARDER)
        for protocol, right in RIGHT.items():
            for _ in range(REPEATS):
                won = "A" if random.random() < right + harder else "B"
                rows.append(_held(str(topic), protocol, won))
    return rows


def _held(topic: str, protocol: str, won: str) -> Row:
    return Row(
        topic=topic,
        title=topic,
        language="en",
        format="classic",
        models={"A": "bench/maple", "B": "bench/birch"},
        families={"A": "maple", "B": "birch"},
        people=None,
        jury=won,
        gold={},
        p_a=None,
        closer=None,
        blind=True,
        readings=(),
        trial=KnownAnswer(protocol, frozenset("A")),
    )
