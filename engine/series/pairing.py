"""Which debates of a series are held next. Pure: what was held so far decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.series.expand import Planned, Results, expand
from engine.series.informative import Informative
from engine.series.spec import Pairing, Series
from engine.values.debate import Model
from engine.values.judging import TIE


class Chooser(Protocol):
    """Says which debates may begin, the most urgent first.

    What it yields begins, or is kept by who asked: it need not yield it again.
    """

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield debates that are not among the keys that have begun."""

    def total(self) -> int:
        """Return how many debates will be held, at most."""


def choose(series: Series) -> Chooser:
    """Return what chooses the debates of a series."""
    if series.league is not None:
        from engine.series.matches import LeagueMatches  # which pairs models as Swiss does

        return LeagueMatches(series, series.league)
    match series.pairing:
        case Pairing.ALL:
            return AllDebates(series)
        case Pairing.SWISS:
            return Swiss(series)
        case Pairing.INFORMATIVE:
            return Informative(series)


class AllDebates:
    """Every debate of the series, each once and in its order."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self._rest = expand(series)

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield what has not begun."""
        return (planned for planned in self._rest if planned.key not in begun)

    def total(self) -> int:
        """Return the size of the series."""
        return self.series.size


@dataclass(slots=True)
class Swiss:
    """Rounds in which models meet others of about the same standing that they have not met.

    A round takes one motion, in every format and on the sides that the series asks for. A win is a
    point, a tie half a point. With an odd number of models the last one that had no bye gets it, as
    a point. Following results alone, the same rounds come out whenever they are worked out.
    """

    series: Series
    _motions: dict[int, list[Planned]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        motions: dict[tuple[int, str, str], list[Planned]] = defaultdict(list)
        for planned in expand(self.series):
            motions[planned.repeat, planned.topic.text, planned.language].append(planned)
        self._motions = dict(enumerate(motions.values()))

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield the rest of the first round that has not ended."""
        points: defaultdict[str, float] = defaultdict(float)
        met: set[frozenset[str]] = set()
        rested: set[str] = set()
        for number in range(self._rounds):
            pairs, bye = pair_up([model.ref for model in self.series.models], points, met, rested)
            debates = [one for one in self._motions[number] if _pair(one.a, one.b) in pairs]
            yield from [one for one in debates if one.key not in begun]
            if any(one.key not in results for one in debates):
                return
            for one in debates:
                _score(points, one, results[one.key])
            met |= pairs
            if bye:
                rested.add(bye)
                points[bye] += 1

    def total(self) -> int:
        """Return how many debates all rounds have."""
        held = [len(self._motions[number]) for number in range(self._rounds)]
        return sum(held) * (len(self.series.models) // 2) // len(self.series.pairs)

    @property
    def _rounds(self) -> int:
        return min(self.series.rounds or 0, len(self._motions))


def pair_up(
    models: Sequence[str],
    points: Mapping[str, float],
    met: Collection[frozenset[str]],
    rested: Collection[str] = (),
) -> tuple[set[frozenset[str]], str | None]:
    """Pair models of about equal points that have not met; return the pairs and who has a bye.

    When everyone has met everyone, models meet again.
    """
    ranked = sorted(models, key=lambda model: (-points.get(model, 0), model))
    bye = None
    if len(ranked) % 2:
        bye = next((model for model in reversed(ranked) if model not in rested), ranked[-1])
        ranked.remove(bye)
    return _match(ranked, met) or _match(ranked, ()) or set(), bye


def _match(ranked: Sequence[str], met: Collection[frozenset[str]]) -> set[frozenset[str]] | None:
    """Match from the top, going back where the rest cannot be matched; None if nothing fits."""
    if not ranked:
        return set()
    first, rest = ranked[0], ranked[1:]
    for other in rest:
        pair = frozenset((first, other))
        if pair in met:
            continue
        found = _match([model for model in rest if model != other], met)
        if found is not None:
            return {pair, *found}
    return None


def _pair(one: Model, other: Model) -> frozenset[str]:
    return frozenset((one.ref, other.ref))


def _score(points: dict[str, float], planned: Planned, winner: str | None) -> None:
    sides = {side: model.ref for side, model in planned.models.items()}
    if winner == TIE:
        for model in sides.values():
            points[model] += 1 / 2
    elif winner is not None and winner in sides:
        points[sides[winner]] += 1
