"""Informative pairing: holds the debates that narrow the ratings' intervals most, and stops."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from engine.series.design import Design, Seats, Tally, learn, rate_seats, width_of
from engine.series.expand import Planned, Results, expand
from engine.series.spec import Series
from engine.values.judging import TIE

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
    _waiting: dict[Seats, deque[Planned]] = field(default_factory=dict)
    _results: Results = field(default_factory=dict)
    _known: Design = field(init=False)
    _goal: float = 0.0
    _done: bool = False

    def __post_init__(self) -> None:
        self._rest = expand(self.series)
        self._places = {model.ref: place for place, model in enumerate(self.series.models)}
        for one, other in self.series.pairs:
            a, b = self._places[one.ref], self._places[other.ref]
            self._waiting |= {Seats(a, b): deque(), Seats(b, a): deque()}
        self._known = learn({}, len(self._places))
        self._goal = self.series.limits.interval_points

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield the most informative debates, until what has begun is expected to be enough."""
        self._find(begun)
        if results != self._results:
            self._count(results)
        if self._done:
            return
        running = any(key not in results for key in begun)
        design = self._design(begun)
        while not running or max(design.widths()) > self._goal:
            planned = self._take(design, begun)
            if planned is None:
                return
            running = True
            yield planned

    def total(self) -> int:
        """Return the size of the series, which is seldom held as a whole."""
        return self.series.size

    def _find(self, begun: Collection[str]) -> None:
        """Find the debates that have begun."""
        missing = {key for key in begun if key not in self._pulled}
        while missing and (planned := self._pull()):
            missing.discard(planned.key)

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
        counts: dict[Seats, Counter[str]] = {}
        for key, winner in results.items():
            planned = self._pulled.get(key)
            if planned is not None and winner is not None:
                sides = dict(zip(planned.contenders, "AB", strict=True))
                counts.setdefault(self._seats(planned), Counter())[sides.get(winner, winner)] += 1
        tallies = {
            seats: Tally(found["A"], found["B"], found[TIE]) for seats, found in counts.items()
        }
        self._known = learn(tallies, len(self._places), self._known.parameters)
        self._aim(tallies)

    def _aim(self, tallies: Mapping[Seats, Tally]) -> None:
        """Find out whether every rating is narrow enough, and how narrow a design has to become.

        A design has a prior, so that its intervals are somewhat narrower than those of the ratings.
        Models without any verdict have no rating.
        """
        limit = self.series.limits.interval_points
        designed = max(self._known.widths({one for seats in tallies for one in seats}))
        self._goal, self._done = limit, False
        if tallies and designed <= NEAR * limit:
            fit = rate_seats(tallies)
            rated = max(map(width_of, fit.errors.values())) if fit else inf
            self._goal, self._done = limit * designed / rated, rated <= limit

    def _design(self, begun: Collection[str]) -> Design:
        """Return what is known and expected of what has begun."""
        silent = Counter(
            self._seats(self._pulled[key])
            for key in begun
            if key in self._pulled and self._results.get(key) is None
        )
        return Design(self._known.models, self._known.parameters, self._known.met + silent)

    def _take(self, design: Design, begun: Collection[str]) -> Planned | None:
        """Return the most informative debate that is left."""
        seats = design.best(one for one in self._waiting if self._has(one, begun))
        if seats is None:
            return None
        design.begin(seats)
        return self._waiting[seats].popleft()

    def _has(self, seats: Seats, begun: Collection[str]) -> bool:
        """Return whether a pair has a debate left on these sides."""
        waiting = self._waiting[seats]
        while waiting and waiting[0].key in begun:
            waiting.popleft()
        while not waiting and self._pull():
            pass
        return bool(waiting)

    def _seats(self, planned: Planned) -> Seats:
        return Seats(self._places[planned.a.ref], self._places[planned.b.ref])
