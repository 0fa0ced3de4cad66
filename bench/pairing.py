"""`rostrum bench pairing`: how many debates `informative` pairing saves, on simulated models.

Ten models have known strengths, and side A an advantage. First `all` holds every debate of a
series; then `informative` pairing, which is the product's own code, holds debates of the same
series with more repeats, until every rating's interval is as narrow as the widest of `all`. What is
saved depends on how far the models are apart: where all are equal, every debate tells as much, and
nothing can be saved. So there are several fields of models, and beside each stands what the same
pairing would take if it knew the strengths from the beginning.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import combinations, islice
from random import Random
from statistics import fmean, median
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress

from bench.wheel.machine import percentile, print_result
from bench.wheel.workers import open_workers, submit
from engine.errors import RostrumError
from engine.judging import TIE
from engine.series.design import Design, Seats, Tally, learn, rate_seats, width_of
from engine.series.expand import Planned, expand
from engine.series.informative import Informative
from engine.series.spec import Pairing, Series, read_series
from engine.stats.likelihood import chances
from engine.stats.ratings import POINTS
from engine.votes.wilson import Z95

MODELS = 10
SIDE = 60 / POINTS  # the advantage of side A: 60 points, it wins 58.5 % between equals
TIES = -1.5  # η; about one debate in ten between equals is a tie
AT_ONCE = 20
TARGET = 0.6
# L. Mazur, LLM Debate Benchmark (github.com/lechmazur/debate), ratings of March 2026.
# fmt: off
PUBLISHED = (
    1617.5, 1610.5, 1605.6, 1600.4, 1599.0, 1594.6, 1589.9, 1561.5, 1552.6, 1551.9, 1520.9,
    1511.1, 1508.7, 1480.4, 1476.0, 1469.2, 1456.1, 1370.5, 1360.6, 1330.1, 1132.9,
)
# fmt: on
FIELDS: Mapping[str, Callable[[Random], list[float]]] = {
    "1200 points": lambda random: _spread(random, 1200),
    "800 points": lambda random: _spread(random, 800),
    "400 points": lambda random: _spread(random, 400),
    "published": lambda random: random.sample(PUBLISHED, MODELS),
}


def _spread(random: Random, points: float) -> list[float]:
    """Return strengths from a weakest to a strongest model, the others drawn between them."""
    return [0.0, points, *(random.uniform(0, points) for _ in range(MODELS - 2))]


@dataclass(frozen=True, slots=True)
class World:
    """A field of models: their strengths in log odds with mean 0, and the seed of results."""

    strengths: tuple[float, ...]
    seed: int

    def winner(self, planned: Planned, seats: Seats) -> str:
        """Return who wins a debate, always the same."""
        lead = self.strengths[seats.a] - self.strengths[seats.b] + SIDE
        draw = Random(f"{self.seed}/{planned.key}")
        return draw.choices((*planned.contenders, TIE), chances(lead, TIES))[0]


class Run(NamedTuple):
    """What one pairing led to in one world; widths are in points.

    `covered` counts true strengths within their intervals. `apart` is the widest interval of a
    difference between two models, `rarest` how often the model with the fewest debates had one,
    `unmet` how many pairs never met, and `uneven` by how much a pair had one side more often.
    """

    debates: int
    widest: float
    covered: int
    apart: float
    rarest: int
    unmet: int
    uneven: int


class Saving(NamedTuple):
    """One seed: both pairings, and the share that one would take if it knew the strengths."""

    all: Run
    informative: Run
    knowing: float

    @property
    def share(self) -> float:
        """What `informative` held of the debates of `all`."""
        return self.informative.debates / self.all.debates


async def run_pairing(seeds: int, topics: int, repeats: int, first_seed: int) -> None:
    """Print the figures of every field as JSON."""
    try:
        found = await _simulate(range(first_seed, first_seed + seeds), topics, repeats)
    except (asyncio.CancelledError, BrokenProcessPool):
        raise RostrumError("The benchmark was stopped before it had a result.") from None
    print_result(
        {
            "bench": "pairing",
            "models": MODELS,
            "seeds": [first_seed, first_seed + seeds - 1],
            "debates_of_all": make_series(topics, 1).size,
            "repeats_to_choose_from": repeats,
            "at_once": AT_ONCE,
            "side_points": round(SIDE * POINTS),
            "target_share": TARGET,
            "fields": {field: _summarise(savings) for field, savings in found.items()},
        }
    )


async def _simulate(
    seeds: Sequence[int], topics: int, repeats: int
) -> dict[str, list[Saving | None]]:
    """Measure every field and seed, on all cores."""
    jobs = [(field, seed) for field in FIELDS for seed in seeds]
    console = Console(stderr=True)
    with (
        open_workers() as workers,
        Progress(console=console, disable=not console.is_terminal, transient=True) as progress,
    ):
        bar = progress.add_task("Simulating", total=len(jobs))
        futures = [submit(workers, measure, *job, topics, repeats) for job in jobs]
        for future in futures:
            future.add_done_callback(lambda _: progress.advance(bar))
        # Not awaited one by one: the pool breaks on futures that are cancelled while it shuts down.
        savings = await asyncio.to_thread(lambda: [future.result() for future in futures])
    found: dict[str, list[Saving | None]] = {field: [] for field in FIELDS}
    for (field, _), saving in zip(jobs, savings, strict=True):
        found[field].append(saving)
    return found


def _summarise(savings: Sequence[Saving | None]) -> dict[str, object]:
    """Return a field's figures over its seeds; shares are of the debates of `all`."""
    rated = [one for one in savings if one is not None]
    if not rated:
        return {"rated": 0}
    shares = [one.share for one in rated]
    return {
        "rated": len(rated),
        "share": {
            "p50": round(median(shares), 3),
            "p90": round(percentile(shares, 0.9), 3),
            "worst": round(max(shares), 3),
        },
        "share_if_strengths_were_known": round(median(one.knowing for one in rated), 3),
        "within_target": median(shares) <= TARGET,
        "widest_interval_points": round(median(one.informative.widest for one in rated)),
        "coverage": round(fmean(one.informative.covered for one in rated) / MODELS, 3),
        "coverage_of_all": round(fmean(one.all.covered for one in rated) / MODELS, 3),
        "worst_pair": {
            "interval_beside_widest_of_all": round(
                max(one.informative.apart / one.all.apart for one in rated), 2
            ),
            "never_met": round(fmean(one.informative.unmet for one in rated), 1),
            "sides_apart": max(one.informative.uneven for one in rated),
        },
        "fewest_debates_of_a_model": min(one.informative.rarest for one in rated),
    }


def make_world(field: str, seed: int) -> World:
    """Return a field's world of a seed."""
    random = Random(f"{field}/{seed}")
    points = FIELDS[field](random)
    random.shuffle(points)
    return World(tuple((one - fmean(points)) / POINTS for one in points), seed)


def make_series(topics: int, repeats: int, points: float = 100.0) -> Series:
    """Return a series of the benchmark's models."""
    held = {
        "name": "pairing",
        "topics": [f"Topic {number}" for number in range(topics)],
        "models": [f"near/m{number}" for number in range(MODELS)],
        "pairing": Pairing.INFORMATIVE.value,
        "repeats": repeats,
        "limits": {"interval_points": points},
    }
    return read_series(held, ())


def measure(field: str, seed: int, topics: int, repeats: int) -> Saving | None:
    """Hold one world's debates by both pairings; None if `all` leaves a model without a rating."""
    world = make_world(field, seed)
    every = _rate(world, _tally(world, expand(make_series(topics, 1))))
    chosen = every and _hold(world, make_series(topics, repeats, every.widest))
    if every is None or chosen is None:
        return None
    return Saving(every, chosen, _knowing(world, topics))


def _hold(world: World, series: Series) -> Run | None:
    """Hold the debates that informative pairing chooses, some at once."""
    chooser = Informative(series)
    begun: dict[str, Planned] = {}
    results: dict[str, str | None] = {}
    while batch := list(islice(_begin(chooser, begun, results), AT_ONCE)):
        results |= {one.key: world.winner(one, _seats(one)) for one in batch}
    return _rate(world, _tally(world, begun.values()))


def _begin(
    chooser: Informative, begun: dict[str, Planned], results: dict[str, str | None]
) -> Iterator[Planned]:
    for planned in chooser.next(begun.keys(), results):
        begun[planned.key] = planned
        yield planned


def _tally(world: World, debates: Iterable[Planned]) -> dict[Seats, Tally]:
    counts: dict[Seats, Counter[str]] = {}
    for one in debates:
        counts.setdefault(_seats(one), Counter())[world.winner(one, _seats(one))] += 1
    return {seats: Tally(found["A"], found["B"], found[TIE]) for seats, found in counts.items()}


def _seats(planned: Planned) -> Seats:
    return Seats(int(planned.a.name[1:]), int(planned.b.name[1:]))


def _rate(world: World, tallies: Mapping[Seats, Tally]) -> Run | None:
    fit = rate_seats(tallies)
    if fit is None or len(fit.strengths) < MODELS:
        return None
    met = Counter({seats: sum(tally) for seats, tally in tallies.items()})
    design = learn(tallies, MODELS)
    pairs = [(Seats(a, b), Seats(b, a)) for a, b in combinations(range(MODELS), 2)]
    often = [sum(n for seats, n in met.items() if place in seats) for place in range(MODELS)]
    return Run(
        debates=met.total(),
        widest=max(map(width_of, fit.errors.values())),
        covered=sum(
            abs(fit.strengths[str(place)] - strength) <= Z95 * fit.errors[str(place)]
            for place, strength in enumerate(world.strengths)
        ),
        apart=max(design.gap(one) for one, _ in pairs),
        rarest=min(often),
        unmet=sum(not met[one] and not met[other] for one, other in pairs),
        uneven=max(abs(met[one] - met[other]) for one, other in pairs),
    )


def _knowing(world: World, topics: int) -> float:
    """Return the share of debates that pairing takes if it knows the strengths."""
    parameters = [*world.strengths, SIDE, TIES]
    seats = [Seats(a, b) for a in range(MODELS) for b in range(MODELS) if a != b]
    every = Design(MODELS, parameters, Counter(dict.fromkeys(seats, topics)))
    chosen = Design(MODELS, parameters, Counter())
    limit, held = max(every.widths()), 0
    while max(chosen.widths()) > limit:
        best = chosen.best(seats)
        chosen.begin(best or seats[0])
        held += 1
    return held / (len(seats) * topics)
