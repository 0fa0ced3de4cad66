"""`rostrum bench jury`: how much of the jurors' knowledge each kind of panel extracts.

A share of gain is (accuracy − 50) / (oracle's accuracy − 50), in percent, where a declared tie
is half right. Worlds, jurors and debates are simulated; the product's panel is its own code.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress

from bot.bench.jury_panels import Panel, PanelCall, Product, ask_naive, ask_swapped, make_oracle
from bot.bench.jury_world import WORLDS, Case, World, make_case, make_court, make_rng
from bot.bench.machine import print_result
from bot.bench.workers import open_workers, submit
from engine.errors import RostrumError, UsageError
from engine.judging import TIE

ORACLE, NAIVE, SWAPPED = "oracle", "naive majority", "strict swap"
UNLABELLED, LABELLED = "rostrum, no labels", "rostrum, 200 labels"
LABELS = 200
WHOLE_INTERVAL = 1.96


@dataclass(frozen=True, slots=True)
class Simulation:
    """What to simulate: installations by seed, each with debates to learn from and to count."""

    seeds: range
    debates: int
    learning: int


class PanelScore(NamedTuple):
    """A panel's results in one installation, averaged over its debates.

    `accuracy` and `lean` (A's wins beyond those it deserved) are shares of 1.
    """

    accuracy: float
    lean: float
    calls: float
    audits: float


class PanelLine(NamedTuple):
    """A panel in one world: points, percent and calls; `interval` is half a 95 % one."""

    panel: str
    accuracy: float
    share: float
    interval: float
    lean: float
    calls: float
    audits: float


Scores = Mapping[str, PanelScore]


async def run_jury(debates: int, seeds: int, first_seed: int, learning: int) -> None:
    """Print the table as JSON, and as text on stderr. Raises UsageError for too few debates."""
    if learning < LABELS:
        raise UsageError(
            f"--learning is {learning}; it has to be at least {LABELS}, to be voted on."
        )
    plan = Simulation(range(first_seed, first_seed + seeds), debates, learning)
    try:
        found = await _simulate(plan)
    except (asyncio.CancelledError, BrokenProcessPool):
        raise RostrumError("The benchmark was stopped before it had a result.") from None
    lines = {world: tuple(_summarise(scores)) for world, scores in found.items()}
    print(render(lines), file=sys.stderr)
    print_result(_report(plan, lines))


async def _simulate(plan: Simulation) -> dict[str, list[Scores]]:
    """Measure every world and seed, on all cores."""
    jobs = [(world, seed) for world in WORLDS for seed in plan.seeds]
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
    named: dict[str, list[Scores]] = {world.name: [] for world in WORLDS}
    for (world, _), found in zip(jobs, scores, strict=True):
        named[world.name].append(found)
    return named


def measure(world: World, seed: int, plan: Simulation) -> dict[str, PanelScore]:
    """Hold one installation's debates with every panel."""
    rng = make_rng(world.name, seed)
    court = make_court(world, rng)
    product = Product(court)
    humans = []
    for _ in range(plan.learning):
        case = make_case(court, rng)
        product.ask(case)
        humans.append(case.human)
    panels: dict[str, Panel] = {
        ORACLE: make_oracle(court),
        NAIVE: ask_naive,
        SWAPPED: ask_swapped,
        UNLABELLED: product.label(()).ask,
        LABELLED: product.label(humans[-LABELS:]).ask,
    }
    cases = [make_case(court, rng) for _ in range(plan.debates)]
    return {name: _score(cases, [panel(case) for case in cases]) for name, panel in panels.items()}


def _score(cases: Sequence[Case], calls: Sequence[PanelCall]) -> PanelScore:
    pairs = list(zip(cases, calls, strict=True))
    return PanelScore(
        accuracy=fmean(_credit(call, case.winner) for case, call in pairs),
        lean=fmean(_credit(call, "A") - (case.winner == "A") for case, call in pairs),
        calls=fmean(call.calls for call in calls),
        audits=fmean(call.audits for call in calls),
    )


def _credit(call: PanelCall, winner: str) -> float:
    return 0.5 if call.winner == TIE else float(call.winner == winner)


def _summarise(installations: Sequence[Scores]) -> Iterator[PanelLine]:
    """Compare every panel with the oracle over one world's installations."""
    best = fmean(scores[ORACLE].accuracy for scores in installations) - 0.5
    for panel in installations[0]:
        found = [scores[panel] for scores in installations]
        accuracy = fmean(score.accuracy for score in found)
        share = (accuracy - 0.5) / best
        gaps = [
            score.accuracy - 0.5 - share * (scores[ORACLE].accuracy - 0.5)
            for score, scores in zip(found, installations, strict=True)
        ]
        error = stdev(gaps) / math.sqrt(len(gaps)) / best if len(gaps) > 1 else math.nan
        yield PanelLine(
            panel=panel,
            accuracy=100 * accuracy,
            share=100 * share,
            interval=100 * WHOLE_INTERVAL * error,
            lean=100 * fmean(score.lean for score in found),
            calls=fmean(score.calls for score in found),
            audits=fmean(score.audits for score in found),
        )


def _over_worlds(lines: Mapping[str, Sequence[PanelLine]]) -> Iterator[dict[str, float | str]]:
    """Yield each panel's share on average and in its worst world, and the other figures."""
    for one in zip(*lines.values(), strict=True):
        worst = min(one, key=lambda line: line.share)
        yield {
            "panel": one[0].panel,
            "share_average": fmean(line.share for line in one),
            "interval_average": math.hypot(*(line.interval for line in one)) / len(one),
            "share_worst": worst.share,
            "interval_worst": worst.interval,
            "calls": fmean(line.calls for line in one),
            "audit_calls": fmean(line.audits for line in one),
            "lean_worst": max((line.lean for line in one), key=abs),
        }


def _report(plan: Simulation, lines: Mapping[str, Sequence[PanelLine]]) -> dict[str, object]:
    return {
        "bench": "jury",
        "seeds": [plan.seeds.start, plan.seeds.stop - 1],
        "debates_a_seed": plan.debates,
        "debates_before": plan.learning,
        "worlds": {
            world: [_rounded(line._asdict()) for line in found] for world, found in lines.items()
        },
        "panels": [_rounded(row) for row in _over_worlds(lines)],
    }


def _rounded(row: Mapping[str, float | str]) -> dict[str, float | str]:
    return {
        name: value if isinstance(value, str) else round(value, 2) for name, value in row.items()
    }


def render(lines: Mapping[str, Sequence[PanelLine]]) -> str:
    """Return the table as text: one row per panel, one column per world."""
    heads = ["average", "±", "worst", "±", *lines, "calls", "audits", "lean"]
    rows = [f"{'share of the gain, %':22}" + "".join(f"{head:>9}" for head in heads)]
    for row, one in zip(_over_worlds(lines), zip(*lines.values(), strict=True), strict=True):
        names = ("share_average", "interval_average", "share_worst", "interval_worst")
        cells = [f"{row[name]:>9.1f}" for name in names]
        cells += [f"{line.share:>9.1f}" for line in one]
        cells += [f"{row[name]:>9.2f}" for name in ("calls", "audit_calls", "lean_worst")]
        rows.append(f"{row['panel']:22}" + "".join(cells))
    return "\n".join(rows)
