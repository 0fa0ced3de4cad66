"""Which pair of models to compare next, so that ratings' intervals narrow fastest; pure.

A comparison adds its Fisher information to what is known. The pair to compare next is the one whose
expected information lowers the weighted sum of the ratings' variances most (A-optimality; for
paired comparisons: M. E. Glickman, S. T. Jensen, Journal of Statistical Planning and Inference 127,
2005). A rating that is wider than others weighs more, since all have to become narrow. The inverse
of the information follows each addition by the formula of J. Sherman and W. J. Morrison (1950).
That the comparisons of a batch first connect all models is as in ASAP (A. Mikhailiuk and others,
International Conference on Pattern Recognition 2020).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import NamedTuple, TypeAlias

from engine.series.contents import Planned, Results, expand
from engine.series.spec import Series
from engine.stats.bradley_terry import (
    Bouts,
    Contests,
    Lead,
    Matchup,
    Matrix,
    PairLikelihood,
    StrengthFit,
    Vector,
    add_outer,
    can_be_rated,
    chances,
    climb,
    fit_matchups,
    fit_strengths,
    invert,
    reach,
)
from engine.stats.ratings import POINTS
from engine.tally import Z95
from engine.values.verdicts import TIE

SPREAD = 4.0  # of strengths, in log odds, before anything is known: about 700 points
PRIOR = 1 / SPREAD**2
SHARPNESS = 15  # how much more a wide interval weighs


class _Seats(NamedTuple):
    """The models on both sides: the place of that on A and of that on B."""

    a: int
    b: int


PairTally: TypeAlias = tuple[int, int, int]
"""How often A won, B won, and they tied."""


@dataclass(slots=True)
class _Design:
    """What is known of `models` models, and what each comparison would add.

    `parameters` are the likeliest strengths, A's advantage and the readiness for ties, in log odds;
    `met` counts comparisons, and what has no result yet adds what it is expected to.
    """

    models: int
    parameters: Vector
    met: Counter[_Seats]
    _covariance: Matrix = field(init=False)
    _spreads: dict[_Seats, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        free = PairLikelihood((), self.models, effects=1, prior=PRIOR)
        information = free.information(free.start)
        for seats, number in self.met.items():
            add_outer(information, _lead(seats, self.models), number * self._spread(seats))
        covariance = invert(information)
        assert covariance is not None, "a prior makes it positive definite"  # noqa: S101
        self._covariance = covariance

    def _spread(self, seats: _Seats) -> float:
        """Return the expected information of a comparison about its lead."""
        if seats not in self._spreads:
            found, models = self.parameters, self.models
            lead = found[seats.a] - found[seats.b] + found[models]
            tie = found[-1] if len(found) > models + 1 else None
            self._spreads[seats] = chances(lead, tie).spread
        return self._spreads[seats]

    def widths(self, among: Collection[int] = ()) -> Vector:
        """Return the widths of intervals in points, once what has begun has ended.

        Each is of the difference to the mean of the models `among`, by default of all.
        """
        places = sorted(among) or range(self.models)
        rows = [[self._covariance[one][other] for other in places] for one in places]
        means = [sum(row) / len(places) for row in rows]
        mean = sum(means) / len(places)
        spreads = (row[n] - 2 * means[n] + mean for n, row in enumerate(rows))
        return [width_of(sqrt(max(0.0, spread))) for spread in spreads]

    def gap(self, seats: _Seats) -> float:
        """Return the width of the interval of two models' difference in points."""
        a, b = self._covariance[seats.a], self._covariance[seats.b]
        return width_of(sqrt(max(0.0, a[seats.a] + b[seats.b] - 2 * a[seats.b])))

    def best(self, offered: Iterable[_Seats]) -> _Seats | None:
        """Return the most informative seats of those that can be had, None without any.

        Models that nothing connects yet come first; of a pair, the side that it had less often.
        """
        sides = self._even(offered)
        links: dict[int, set[int]] = {place: set() for place in range(self.models)}
        for a, b in self.met:
            links[a].add(b)
            links[b].add(a)
        known = reach(links, 0)
        apart = [seats for seats in sides if (seats.a in known) is not (seats.b in known)]
        widths = self.widths()
        widest = max(widths)
        weights = [(width / widest) ** (2 * SHARPNESS) for width in widths]
        return max(apart or sides, key=lambda seats: self._gain(seats, weights), default=None)

    def begin(self, seats: _Seats) -> None:
        """Count a comparison as begun."""
        moved, spread = self._moved(seats), self._spread(seats)
        rate = spread / (1 + spread * self._along(seats, moved))
        for row, one in zip(self._covariance, moved, strict=True):
            for place, other in enumerate(moved):
                row[place] -= rate * one * other
        self.met[seats] += 1

    def _even(self, offered: Iterable[_Seats]) -> list[_Seats]:
        """Return one side of each pair: the one held less often, where both can be had."""
        sides: dict[_Seats, _Seats] = {}
        for seats in offered:
            pair = _Seats(min(seats), max(seats))
            other = sides.setdefault(pair, seats)
            if self.met[seats] < self.met[other]:
                sides[pair] = seats
        return list(sides.values())

    def _gain(self, seats: _Seats, weights: Sequence[float]) -> float:
        """Return by how much a comparison lowers the weighted variances."""
        moved, spread = self._moved(seats), self._spread(seats)
        lowered = sum(weight * one * one for weight, one in zip(weights, moved, strict=False))
        return spread * lowered / (1 + spread * self._along(seats, moved))

    def _moved(self, seats: _Seats) -> Vector:
        """Return the covariance of all parameters with a lead."""
        a, b, side = (self._covariance[place] for place in (*seats, self.models))
        return [one - other + third for one, other, third in zip(a, b, side, strict=True)]

    def _along(self, seats: _Seats, moved: Vector) -> float:
        return moved[seats.a] - moved[seats.b] + moved[self.models]


def learn(tallies: Mapping[_Seats, PairTally], models: int, start: Vector | None = None) -> _Design:
    """Return what results say; `start` are parameters close to theirs, such as earlier ones.

    A weak prior keeps strengths finite where a model has won or lost everything so far.
    """
    likelihood = PairLikelihood(
        bouts=[Bouts(_lead(seats, models), *tally) for seats, tally in tallies.items()],
        models=models,
        effects=1,
        ties=any(tied for _, _, tied in tallies.values()),
        prior=PRIOR,
    )
    if start is not None and len(start) != len(likelihood.start):
        start = None
    parameters = climb(likelihood, start) or likelihood.start
    return _Design(models, parameters, Counter({one: sum(of) for one, of in tallies.items()}))


def rate_seats(tallies: Mapping[_Seats, PairTally]) -> StrengthFit | None:
    """Return the maximum-likelihood ratings of results, with A's advantage where it is finite.

    Models are named by their places. None if not all have a finite strength.
    """
    contests = Contests()
    for (a, b), (won, lost, tied) in tallies.items():
        contests.wins[str(a), str(b)] += won
        contests.wins[str(b), str(a)] += lost
        contests.ties[min(str(a), str(b)), max(str(a), str(b))] += tied
    contests.wins, contests.ties = +contests.wins, +contests.ties
    if not can_be_rated(contests):
        return None
    matchups = [Matchup(str(a), str(b), *tally, (1.0,)) for (a, b), tally in tallies.items()]
    return fit_matchups(matchups) or fit_strengths(contests)


def width_of(error: float) -> float:
    """Return the width of a 95 % interval in points, from a standard error in log odds."""
    return 2 * Z95 * POINTS * error


def _lead(seats: _Seats, models: int) -> Lead:
    """Return what the lead of A adds up: both strengths, and the advantage of A."""
    return ((seats.a, 1.0), (seats.b, -1.0), (models, 1.0))


# Informative pairing: holds the debates that narrow the ratings' intervals most, and stops.


NEAR = 1.25  # from which on the ratings themselves are worked out


@dataclass(slots=True)
class Informative:
    """Debates of a series in the order of what they tell, until every interval is narrow enough.

    Of the debates of a pair on the same sides, the first in the series comes first. A debate that
    has begun counts as what it is expected to tell, so that many can run at once; so does one that
    ended without a verdict, so that a model that always fails does not take the others' debates.
    """

    series: Series
    _rest: Iterator[Planned] = field(init=False)
    _places: dict[str, int] = field(init=False)
    _pulled: dict[str, Planned] = field(default_factory=dict)
    _waiting: dict[_Seats, deque[Planned]] = field(default_factory=dict)
    _results: Results = field(default_factory=dict)
    _known: _Design = field(init=False)
    _goal: float = 0.0
    _done: bool = False

    def __post_init__(self) -> None:
        self._rest = expand(self.series)
        self._places = {model.ref: place for place, model in enumerate(self.series.models)}
        for pair in self.series.pairs:
            a, b = (self._places[model.ref] for model in pair)
            self._waiting |= {_Seats(a, b): deque(), _Seats(b, a): deque()}
        self._known = learn({}, len(self._places))
        self._goal = self.series.limits.interval_points

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield the most informative debates, until what has begun is expected to be enough."""
        missing = {key for key in begun if key not in self._pulled}
        while missing and (planned := self._pull()):
            missing.discard(planned.key)
        if results != self._results:
            self._count(results)
        if self._done:
            return
        running = any(key not in results for key in begun)
        silent = Counter(
            self._seats(self._pulled[key])
            for key in begun
            if key in self._pulled and self._results.get(key) is None
        )
        design = _Design(self._known.models, self._known.parameters, self._known.met + silent)
        while not running or max(design.widths()) > self._goal:
            seats = design.best(one for one in self._waiting if self._has(one, begun))
            if seats is None:
                return
            design.begin(seats)
            running = True
            yield self._waiting[seats].popleft()

    def total(self) -> int:
        """Return the size of the series, which is seldom held as a whole."""
        return self.series.size

    def _pull(self) -> Planned | None:
        """Take one more debate from the series, None if there is none."""
        planned = next(self._rest, None)
        if planned is not None:
            self._pulled[planned.key] = planned
            self._waiting[self._seats(planned)].append(planned)
        return planned

    def _count(self, results: Results) -> None:
        """Work out what the results say, and whether that is enough."""
        self._results = dict(results)
        counts: dict[_Seats, Counter[str]] = {}
        for key, winner in results.items():
            planned = self._pulled.get(key)
            if planned is not None and winner is not None:
                sides = dict(zip(planned.contenders, "AB", strict=True))
                counts.setdefault(self._seats(planned), Counter())[sides.get(winner, winner)] += 1
        tallies = {seats: (found["A"], found["B"], found[TIE]) for seats, found in counts.items()}
        self._known = learn(tallies, len(self._places), self._known.parameters)
        # A design has a prior, so that its intervals are somewhat narrower than those of the
        # ratings. Models without any verdict have no rating.
        limit = self.series.limits.interval_points
        designed = max(self._known.widths({one for seats in tallies for one in seats}))
        self._goal, self._done = limit, False
        if tallies and designed <= NEAR * limit:
            fit = rate_seats(tallies)
            rated = max(map(width_of, fit.errors.values())) if fit else inf
            self._goal, self._done = limit * designed / rated, rated <= limit

    def _has(self, seats: _Seats, begun: Collection[str]) -> bool:
        """Return whether a pair has a debate left on these sides."""
        waiting = self._waiting[seats]
        while waiting and waiting[0].key in begun:
            waiting.popleft()
        while not waiting and self._pull():
            pass
        return bool(waiting)

    def _seats(self, planned: Planned) -> _Seats:
        return _Seats(self._places[planned.a.ref], self._places[planned.b.ref])
