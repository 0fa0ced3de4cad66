"""`rostrum bench jury`: how much of the jurors' knowledge each kind of panel extracts.

A share of gain is (accuracy − 50) / (that of a panel that knows all − 50), in percent, where a
declared tie is half right. Two panels know all: `of_six` is the share of what the ballots of the
six best give, weighed exactly; `share` is that of their impressions, before what changes from one
reading to the next, rounded scores and invalid ballots. Bounds are of the second, the harder one.

Worlds, jurors and debates are simulated; the product's panel is its own code. A verdict earns its
chance to be right given what all jurors share of the debate: its mean is the same as with the
truth drawn, and its error smaller. For the lean of a side every second debate is held
again with its sides exchanged, so that only what depends on the order is left.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Literal, Protocol

from rich.console import Console
from rich.progress import Progress

from bench.wheel.jury_panels import (
    Panel,
    PanelCall,
    Product,
    ask_naive,
    ask_swapped,
    make_knowing,
    make_oracle,
    make_thrifty,
)
from bench.wheel.jury_scores import (
    BALANCED,
    KNOWING,
    LABELLED,
    NAIVE,
    ORACLE,
    SWAPPED,
    THRIFTY,
    UNCALIBRATED,
    UNLABELLED,
    PanelLine,
    PanelScore,
    Scores,
    over_worlds,
    render,
    rounded,
    score_calls,
    summarise,
)
from bench.wheel.jury_world import (
    BLIND,
    BROKEN,
    MISSPECIFIED,
    SHOWING,
    WORLDS,
    Case,
    World,
    make_case,
    make_court,
    make_rng,
)
from bench.wheel.machine import print_result
from bench.wheel.workers import open_workers, submit
from engine.jury.fit import fit_jurors
from engine.jury.history import HeardDebate, PairBallot
from engine.values.errors import RostrumError, UsageError

Kind = Literal["usual", "misspecified", "broken", "blind", "showing"]
KINDS: Mapping[Kind, tuple[World, ...]] = {
    "usual": WORLDS,
    "misspecified": MISSPECIFIED,
    "broken": BROKEN,
    "blind": BLIND,
    "showing": SHOWING,
}
COLD = 50  # an installation's first debates
FITS = ((12, 1000), (60, 20_000))  # jurors and debates
LABELS = 200
MIRRORED = 2  # of so many debates one is held with its sides exchanged too


@dataclass(frozen=True, slots=True)
class Simulation:
    """What to simulate: installations by seed, each with debates to learn from and to count."""

    seeds: range
    debates: int
    learning: int
    worlds: tuple[World, ...] = WORLDS


class _MirroredPanel(Protocol):
    """A panel that may be held a second time, with the sides exchanged."""

    def __call__(self, case: Case, *, mirror: bool) -> PanelCall: ...


async def run_jury(
    debates: int, seeds: int, first_seed: int, learning: int, kind: Kind = "usual"
) -> None:
    """Print the table as JSON, and as text on stderr. Raises UsageError for too few debates.

    `kind` is of the worlds: the usual ones; those that the model of jurors does not expect; those
    with jurors that see nothing, or the opposite; those in which no juror sees anything; or some of
    these with speeches shown in both orders, and in the order of speaking alone.
    """
    if learning < LABELS:
        raise UsageError(
            f"--learning is {learning}; it has to be at least {LABELS}, to be voted on."
        )
    plan = Simulation(range(first_seed, first_seed + seeds), debates, learning, KINDS[kind])
    try:
        found = await _simulate(plan)
    except (asyncio.CancelledError, BrokenProcessPool):
        raise RostrumError("The benchmark was stopped before it had a result.") from None
    lines = {world: tuple(summarise(scores)) for world, scores in found.items()}
    print(render(lines), file=sys.stderr)
    print_result(_report(plan, lines))


async def _simulate(plan: Simulation) -> dict[str, list[Scores]]:
    """Measure every world and seed, on all cores."""
    jobs = [(world, seed) for world in plan.worlds for seed in plan.seeds]
    console = Console(stderr=True)
    with (
        open_workers() as workers,
        Progress(console=console, disable=not console.is_terminal, transient=True) as progress,
    ):
        bar = progress.add_task("Simulating", total=len(jobs))
        futures = [submit(workers, measure, *job, plan) for job in jobs]
        for future in futures:
            future.add_done_callback(lambda _: progress.advance(bar))
        # Not awaited one by one: the pool breaks on futures that are cancelled while it shuts down.
        scores = await asyncio.to_thread(lambda: [future.result() for future in futures])
    named: dict[str, list[Scores]] = {world.name: [] for world in plan.worlds}
    for (world, _), found in zip(jobs, scores, strict=True):
        named[world.name].append(found)
    return named


def measure(world: World, seed: int, plan: Simulation) -> dict[str, PanelScore]:
    """Hold one installation's debates with every panel."""
    rng = make_rng(world.name, seed)
    court = make_court(world, rng)
    whole = plan.learning + plan.debates
    products = {BALANCED: Product(court, modelled=False), UNLABELLED: Product(court)}
    if world in WORLDS:
        products[UNCALIBRATED] = Product(court, wave=4)
    learning = [make_case(court, rng, at / whole) for at in range(plan.learning)]
    begun = {name: [product.ask(case) for case in learning] for name, product in products.items()}
    humans = [case.human for case in learning[-LABELS:]]
    others: dict[str, Panel] = {
        ORACLE: make_oracle(court),
        KNOWING: make_knowing(court),
        THRIFTY: make_thrifty(court),
        NAIVE: ask_naive,
        SWAPPED: ask_swapped,
    }
    panels: dict[str, _MirroredPanel] = {
        name: partial(_ask_twice, panel) for name, panel in others.items()
    }
    products = {LABELLED: products[UNLABELLED].label(humans), **products}
    panels |= {name: product.ask for name, product in products.items()}
    cases = [make_case(court, rng, (plan.learning + at) / whole) for at in range(plan.debates)]
    scores = {
        name: score_calls(
            cases, [panel(case, mirror=at % MIRRORED == 0) for at, case in enumerate(cases)]
        )
        for name, panel in panels.items()
    }
    for name, calls in begun.items():
        cold, proven = score_calls(learning[:COLD], calls[:COLD]), products[name].proven
        named = 1 - cold.ties
        scores[name] = scores[name]._replace(cold=cold.accuracy, named=named, proven=proven)
    return scores


def _ask_twice(panel: Panel, case: Case, *, mirror: bool) -> PanelCall:
    call = panel(case)
    return call._replace(mirrored=panel(case.mirror()).winner) if mirror else call


def _report(plan: Simulation, lines: Mapping[str, Sequence[PanelLine]]) -> dict[str, object]:
    return {
        "bench": "jury",
        "seeds": [plan.seeds.start, plan.seeds.stop - 1],
        "debates_a_seed": plan.debates,
        "debates_before": plan.learning,
        "worlds": {
            world: [rounded(line._asdict()) for line in found] for world, found in lines.items()
        },
        "panels": [rounded(row) for row in over_worlds(lines)],
        "fit_seconds": {
            f"{jurors} jurors, {debates} debates": round(time_fit(jurors, debates), 3)
            for jurors, debates in FITS
        },
    }


def time_fit(jurors: int, debates: int) -> float:
    """Return the seconds of processor time that a fit takes; each debate has four ballots."""
    rng = Random(jurors)
    skills = [math.exp(rng.gauss(0, 0.35)) for _ in range(jurors)]
    heard = [HeardDebate(tuple(_hear(skills, rng))) for _ in range(debates)]
    begun = time.process_time()
    fit_jurors(heard)
    return time.process_time() - begun


def _hear(skills: Sequence[float], rng: Random) -> Iterator[PairBallot]:
    truth = rng.gauss(0, 1.13)
    for at, juror in enumerate(rng.sample(range(len(skills)), 4)):
        margin = skills[juror] * truth + rng.gauss(0, 1)
        side = math.copysign(1.0, margin)
        yield PairBallot(f"juror-{juror}", f"family-{juror % 6}", 1 if at % 2 else -1, margin, side)
