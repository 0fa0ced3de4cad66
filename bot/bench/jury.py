"""`rostrum bench jury`: how much of the jurors' knowledge each kind of panel extracts.

A share of gain is (accuracy − 50) / (oracle's accuracy − 50), in percent, where a declared tie
is half right. Worlds, jurors and debates are simulated; the product's panel is its own code. A
verdict earns its chance to be right given what all jurors share of the debate: its mean is the
same as with the truth drawn, and its error smaller.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

from bot.bench.jury_panels import (
    Panel,
    PanelCall,
    Product,
    ask_naive,
    ask_swapped,
    make_knowing,
    make_oracle,
)
from bot.bench.jury_world import MISSPECIFIED, WORLDS, Case, World, make_case, make_court, make_rng
from bot.bench.machine import print_result
from bot.bench.workers import open_workers, submit
from engine.errors import RostrumError, UsageError
from engine.judging import TIE
from engine.jury.fitting import fit_jurors
from engine.jury.hearing import Heard, HeardDebate

ORACLE, NAIVE, SWAPPED = "oracle", "naive majority", "strict swap"
KNOWING = "six, exact weights"
UNLABELLED, LABELLED = "rostrum, no labels", "rostrum, 200 labels"
UNCALIBRATED, BALANCED = "without calibration", "balanced by order"
COLD = 50  # an installation's first debates
BINS = 5  # of p(A)
FITS = ((12, 1000), (60, 20_000))  # jurors and debates
LABELS = 200
WHOLE_INTERVAL = 1.96


@dataclass(frozen=True, slots=True)
class Simulation:
    """What to simulate: installations by seed, each with debates to learn from and to count."""

    seeds: range
    debates: int
    learning: int
    worlds: tuple[World, ...] = WORLDS


class PanelScore(NamedTuple):
    """A panel's results in one installation, averaged over its debates.

    `accuracy` and `lean` (A's wins beyond those it deserved) are shares of 1.
    """

    accuracy: float
    lean: float
    calls: float
    audits: float
    cold: float | None = None
    ties: float = 0.0
    chances: tuple[Bin, ...] = ()


class Bin(NamedTuple):
    """The debates whose p(A) lies in one bin: how many, and the sums of p, of p·(1 − p), of what p
    missed, squared, and of A's wins.
    """

    n: int
    p: float
    expected: float
    missed: float
    won: float


class PanelLine(NamedTuple):
    """A panel in one world: points, percent and calls; `interval` is half a 95 % one.

    `cold` is the accuracy in an installation's first debates. `brier` is that of p(A), and
    `expected` what it would be if p were right; `reliability` gives each bin's mean p, A's share of
    wins and the half of its 95 % interval. `of_six` is the share of what six jurors' ballots can
    give at most.
    """

    panel: str
    accuracy: float
    share: float
    interval: float
    lean: float
    calls: float
    audits: float
    cold: float = math.nan
    ties: float = 0.0
    brier: float = math.nan
    expected: float = math.nan
    reliability: tuple[tuple[float, float, float], ...] = ()
    of_six: float = math.nan


Scores = Mapping[str, PanelScore]


async def run_jury(
    debates: int, seeds: int, first_seed: int, learning: int, *, misspecified: bool = False
) -> None:
    """Print the table as JSON, and as text on stderr. Raises UsageError for too few debates.

    `misspecified`: in the worlds that the model of jurors does not expect, not in the usual ones.
    """
    if learning < LABELS:
        raise UsageError(
            f"--learning is {learning}; it has to be at least {LABELS}, to be voted on."
        )
    worlds = MISSPECIFIED if misspecified else WORLDS
    plan = Simulation(range(first_seed, first_seed + seeds), debates, learning, worlds)
    try:
        found = await _simulate(plan)
    except (asyncio.CancelledError, BrokenProcessPool):
        raise RostrumError("The benchmark was stopped before it had a result.") from None
    lines = {world: tuple(_summarise(scores)) for world, scores in found.items()}
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
    products = {
        BALANCED: Product(court, modelled=False),
        UNCALIBRATED: Product(court, wave=4),
        UNLABELLED: Product(court),
    }
    learning = [make_case(court, rng, at / whole) for at in range(plan.learning)]
    begun = {name: [product.ask(case) for case in learning] for name, product in products.items()}
    humans = [case.human for case in learning[-LABELS:]]
    panels: dict[str, Panel] = {
        ORACLE: make_oracle(court),
        NAIVE: ask_naive,
        SWAPPED: ask_swapped,
        LABELLED: products[UNLABELLED].label(humans).ask,
        **{name: product.ask for name, product in products.items()},
        KNOWING: make_knowing(court),
    }
    cases = [make_case(court, rng, (plan.learning + at) / whole) for at in range(plan.debates)]
    scores = {name: _score(cases, list(map(panel, cases))) for name, panel in panels.items()}
    for name, calls in begun.items():
        cold = _score(learning[:COLD], calls[:COLD]).accuracy
        scores[name] = scores[name]._replace(cold=cold)
    return scores


def _score(cases: Sequence[Case], calls: Sequence[PanelCall]) -> PanelScore:
    pairs = list(zip(cases, calls, strict=True))
    return PanelScore(
        accuracy=fmean(_earn(call, case) for case, call in pairs),
        lean=fmean(_credit(call, "A") - case.chance for case, call in pairs),
        calls=fmean(call.calls for call in calls),
        audits=fmean(call.audits for call in calls),
        ties=fmean(call.winner == TIE for call in calls),
        chances=tuple(_sort(pairs)),
    )


def _sort(pairs: Sequence[tuple[Case, PanelCall]]) -> Iterator[Bin]:
    found = [(call.p, float(case.winner == "A")) for case, call in pairs if call.p is not None]
    for at in range(BINS):
        inside = [(p, won) for p, won in found if min(int(p * BINS), BINS - 1) == at]
        yield Bin(
            n=len(inside),
            p=math.fsum(p for p, _ in inside),
            expected=math.fsum(p * (1 - p) for p, _ in inside),
            missed=math.fsum((p - won) ** 2 for p, won in inside),
            won=math.fsum(won for _, won in inside),
        )


def _earn(call: PanelCall, case: Case) -> float:
    a = _credit(call, "A")
    return a * case.chance + (1 - a) * (1 - case.chance)


def _credit(call: PanelCall, winner: str) -> float:
    return 0.5 if call.winner == TIE else float(call.winner == winner)


def _summarise(installations: Sequence[Scores]) -> Iterator[PanelLine]:
    """Compare every panel with the oracle over one world's installations."""
    best = fmean(scores[ORACLE].accuracy for scores in installations) - 0.5
    six = fmean(scores[KNOWING].accuracy for scores in installations) - 0.5
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
            cold=100 * fmean(math.nan if one.cold is None else one.cold for one in found),
            ties=100 * fmean(score.ties for score in found),
            of_six=100 * (accuracy - 0.5) / six,
            **_rely(found),
        )


def _rely(found: Sequence[PanelScore]) -> dict[str, Any]:
    """Return how far p(A) can be relied on, over installations."""
    bins = [
        Bin(*map(sum, zip(*same, strict=True)))
        for same in zip(*(one.chances for one in found), strict=True)
    ]
    n = sum(one.n for one in bins)
    if not n:
        return {}
    return {
        "brier": sum(one.missed for one in bins) / n,
        "expected": sum(one.expected for one in bins) / n,
        "reliability": tuple(
            (
                one.p / one.n,
                one.won / one.n,
                WHOLE_INTERVAL * math.sqrt(one.expected / one.n / one.n),
            )
            for one in bins
            if one.n
        ),
    }


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
            "of_six_average": fmean(line.of_six for line in one),
            "of_six_worst": min(line.of_six for line in one),
            "calls": fmean(line.calls for line in one),
            "audit_calls": fmean(line.audits for line in one),
            "cold": fmean(line.cold for line in one),
            "brier_off": max((line.brier - line.expected for line in one), key=abs),
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


def _hear(skills: Sequence[float], rng: Random) -> Iterator[Heard]:
    truth = rng.gauss(0, 1.13)
    for at, juror in enumerate(rng.sample(range(len(skills)), 4)):
        margin = skills[juror] * truth + rng.gauss(0, 1)
        side = math.copysign(1.0, margin)
        yield Heard(f"juror-{juror}", f"family-{juror % 6}", 1 if at % 2 else -1, margin, side)


FINE = ("brier", "expected", "brier_off")


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _round(value, 4 if name in FINE else 2) for name, value in row.items()}


def _round(value: Any, digits: int) -> Any:
    """Round numbers, in tuples too; None for one that was not measured."""
    if isinstance(value, tuple):
        return [_round(one, 3) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, digits)
    return value


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
