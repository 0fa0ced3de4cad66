"""Informative pairing: what it holds next, when it stops, and that no model is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from random import Random

import numpy as np
import pytest

from engine.series.contents import Planned
from engine.series.design import (
    PRIOR,
    Design,
    Informative,
    Seats,
    Tally,
    learn,
    rate_seats,
    width_of,
)
from engine.series.matches import Chooser, choose
from engine.series.spec import Series, read_series
from engine.stats.contests import reach
from engine.stats.likelihood import chances
from engine.values.judging import TIE

STRENGTHS = {"near/m0": 1.2, "near/m1": 0.9, "near/m2": 0.0, "near/m3": -0.8, "near/m4": -1.3}


def series(points: float = 150, **changes: object) -> Series:
    plain: dict[str, object] = {
        "name": "spring",
        "topics": [f"Topic {number}" for number in range(20)],
        "models": list(STRENGTHS),
        "pairing": "informative",
        "repeats": 5,
        "limits": {"interval_points": points},
    }
    return read_series(plain | changes, ())


def decide(planned: Planned, side: float = 0.3) -> str:
    lead = STRENGTHS[planned.a.ref] - STRENGTHS[planned.b.ref] + side
    options = (*planned.contenders, TIE)
    return Random(planned.key).choices(options, chances(lead, -1.5))[0]


class Hall:
    """Holds the debates that a chooser chooses."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.begun: dict[str, Planned] = {}
        self.results: dict[str, str | None] = {}

    def begin(self) -> Iterator[Planned]:
        for planned in self.chooser.next(self.begun.keys(), self.results):
            assert planned.key not in self.begun
            self.begun[planned.key] = planned
            yield planned

    def hold(self, at_once: int, silent: str = "") -> None:
        """Hold everything; debates of a `silent` model have no verdict."""
        while batch := list(islice(self.begin(), at_once)):
            for one in batch:
                fails = silent in (one.a.ref, one.b.ref)
                self.results[one.key] = None if fails else decide(one)

    def tallies(self) -> dict[Seats, Tally]:
        counts: dict[Seats, Counter[str | None]] = {}
        for key, one in self.begun.items():
            seats = Seats(int(one.a.name[1:]), int(one.b.name[1:]))
            if self.results[key] is not None:
                counts.setdefault(seats, Counter())[self.results[key]] += 1
        return {seats: Tally(of["A"], of["B"], of[TIE]) for seats, of in counts.items()}

    def widest(self) -> float:
        fit = rate_seats(self.tallies())
        assert fit is not None
        return max(map(width_of, fit.errors.values()))


def hall(points: float = 150, **changes: object) -> Hall:
    chooser = choose(series(points, **changes))
    assert isinstance(chooser, Informative)
    return Hall(chooser)


@pytest.mark.slow
def test_it_stops_as_soon_as_every_interval_is_narrow_enough() -> None:
    one = hall()
    one.hold(at_once=10)
    assert one.widest() <= 150
    assert 100 < len(one.begun) < one.chooser.total() == 2000
    assert not list(one.begin())
    finer = hall(points=120)
    finer.hold(at_once=10)
    assert finer.widest() <= 120
    assert len(finer.begun) > 1.3 * len(one.begun)


def test_all_pairs_take_more_debates_for_the_same_widest_interval() -> None:
    every = Hall(choose(series(pairing="all", repeats=1, limits={})))
    every.hold(at_once=200)
    one = hall(points=every.widest())
    one.hold(at_once=10)
    assert one.widest() <= every.widest()
    assert len(one.begun) < 0.95 * len(every.begun)


def test_the_first_debates_connect_every_model() -> None:
    links: dict[str, set[str]] = {model: set() for model in STRENGTHS}
    for planned in islice(hall().begin(), len(STRENGTHS) - 1):
        links[planned.a.ref].add(planned.b.ref)
        links[planned.b.ref].add(planned.a.ref)
    assert reach(links, "near/m0") == set(STRENGTHS)


@pytest.mark.parametrize("sides", ["both", "drawn"])
def test_both_sides_are_used_evenly_and_no_model_is_left_out(sides: str) -> None:
    one = hall(sides=sides)
    one.hold(at_once=10)
    met = Counter((planned.a.ref, planned.b.ref) for planned in one.begun.values())
    pairs = list(combinations(STRENGTHS, 2))
    assert max(abs(met[a, b] - met[b, a]) for a, b in pairs) <= 1
    often = Counter(model for pair in met.elements() for model in pair)
    assert set(often) == set(STRENGTHS)
    assert min(often.values()) > 0.4 * max(often.values())


def test_models_of_about_equal_strength_meet_more_often() -> None:
    one = hall(points=110)
    one.hold(at_once=10)
    met = Counter(frozenset((planned.a.ref, planned.b.ref)) for planned in one.begun.values())
    assert met[frozenset(("near/m0", "near/m1"))] > 1.5 * met[frozenset(("near/m0", "near/m4"))]


def test_a_run_goes_on_after_a_kill_as_if_there_had_been_none() -> None:
    whole, killed = hall(), hall()
    whole.hold(at_once=10)
    for _ in range(7):
        batch = list(islice(killed.begin(), 10))
        killed.results |= {one.key: decide(one) for one in batch}
        killed.chooser = Informative(series())
    killed.hold(at_once=10)
    assert killed.widest() <= 150
    assert len(killed.begun) == pytest.approx(len(whole.begun), rel=0.15)
    assert not list(Informative(series()).next(killed.begun.keys(), killed.results))


def test_what_has_begun_counts_at_what_it_is_expected_to_say() -> None:
    one = hall(points=200)
    first = list(one.begin())  # everything at once, without one result
    assert 20 < len(first) < 200
    assert not list(one.begin())
    one.results = {planned.key: decide(planned) for planned in first}
    one.hold(at_once=1000)
    assert one.widest() <= 200


@pytest.mark.slow
def test_a_model_without_verdicts_does_not_take_the_debates_of_others() -> None:
    one = hall()
    one.hold(at_once=10, silent="near/m2")
    often = Counter(model for on in one.begun.values() for model in (on.a.ref, on.b.ref))
    assert often["near/m2"] <= 2 * min(often[model] for model in STRENGTHS)
    assert len(one.begun) < one.chooser.total() / 2
    assert one.widest() <= 150


def test_a_series_that_is_too_short_is_held_as_a_whole() -> None:
    one = hall(points=20, repeats=1, topics=["Tea", "Cats"])
    one.hold(at_once=7)
    assert len(one.begun) == one.chooser.total() == 40
    assert set(one.results) == {planned.key for planned in one.begun.values()}


# --- what a comparison adds --------------------------------------------------------------


def direction(seats: Seats, models: int) -> np.ndarray:
    lead = np.zeros(models + 1)
    lead[[seats.a, seats.b, models]] = 1, -1, 1
    return lead


def covariance(design: Design) -> np.ndarray:
    """The inverse of the information, without any update."""
    models = design.models
    found = PRIOR * np.eye(models + 1)
    found[:models, :models] += 1 / models
    tie = design.parameters[-1] if len(design.parameters) > models + 1 else None
    for seats, number in design.met.items():
        lead = direction(seats, models)
        spread = chances(float(lead @ design.parameters[: models + 1]), tie).spread
        found += number * spread * np.outer(lead, lead)
    return np.linalg.inv(found)


def widths(design: Design) -> list[float]:
    models, found = design.models, covariance(design)
    centre = np.eye(models) - 1 / models
    return [width_of(one**0.5) for one in np.diag(centre @ found[:models, :models] @ centre)]


def test_updates_of_the_inverse_are_the_inverse_of_the_updated() -> None:
    random = Random(3)
    seats = [Seats(a, b) for a in range(5) for b in range(5) if a != b]
    tallies = {one: Tally(*(random.randrange(4) for _ in range(3))) for one in seats}
    design = learn(tallies, 5)
    for _ in range(50):
        assert design.widths() == pytest.approx(widths(design), rel=1e-9)
        design.begin(random.choice(seats))


def test_the_best_pair_lowers_the_widest_intervals_most() -> None:
    random = Random(4)
    seats = [Seats(a, b) for a in range(5) for b in range(5) if a != b]
    design = learn({one: Tally(*(random.randrange(1, 4) for _ in range(3))) for one in seats}, 5)
    for _ in range(30):
        best = design.best(seats)
        assert best is not None
        after = {one: _norm(design, one) for one in seats}
        assert after[best] <= min(after.values()) * 1.01
        design.begin(best)
    assert design.best([]) is None


def _norm(design: Design, seats: Seats) -> float:
    """How wide the intervals are after one more comparison, the widest counting most."""
    more = Design(design.models, design.parameters, design.met + Counter([seats]))
    return float(np.linalg.norm(widths(more), ord=32))
