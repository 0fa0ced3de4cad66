"""People beside people: agreement within each platform, and between chat, labels and jury. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from engine.stats.alpha import alpha_of, alpha_sums
from engine.stats.bootstrap import mean_of
from engine.stats.figure import Figure, Observation, estimate
from engine.stats.kappa import kappa_of, kappa_sums
from engine.stats.row import Row
from engine.values.debate import Value
from engine.values.judging import TIE

JUDGES: Mapping[str, Callable[[Row], str | None]] = {
    "chat": lambda row: row.people,
    "web": lambda row: row.web,
    "jury": lambda row: row.jury,
}


class CrowdFigures(Value):
    """How far people of a platform agree: `alike` is the share of pairs that chose the same."""

    platform: str
    alike: Figure
    alpha: Figure


class BetweenFigures(Value):
    """How far two of chat, labels and jury name the same winner."""

    first: str
    second: str
    agreement: Figure
    kappa: Figure


class Crowds(Value):
    """People by platform, and chat, labels and jury in pairs; `alpha` is of all three."""

    platforms: tuple[CrowdFigures, ...]
    between: tuple[BetweenFigures, ...]
    alpha: Figure


def measure_crowds(rows: Iterable[Row]) -> Crowds:
    """Compare the gold votes of each platform, and the winners by chat, labels and jury."""
    held = list(rows)
    names = sorted({name for row in held for name in row.crowds})
    return Crowds(
        platforms=tuple(_crowd(held, name) for name in names),
        between=tuple(_between(held, *pair) for pair in combinations(JUDGES, 2)),
        alpha=_alpha((row.topic, _winners(row)) for row in held),
    )


def _winners(row: Row) -> Counter[str]:
    named = (judge(row) for judge in JUDGES.values())
    return Counter(winner for winner in named if winner is not None)


def _crowd(rows: Iterable[Row], name: str) -> CrowdFigures:
    units = [(row.topic, Counter(row.crowds[name])) for row in rows if name in row.crowds]
    several = [(topic, unit) for topic, unit in units if unit.total() > 1]
    alike = (Observation(topic, (_alike(unit), 1.0)) for topic, unit in several)
    return CrowdFigures(platform=name, alike=estimate(alike, mean_of), alpha=_alpha(several))


def _alike(unit: Counter[str]) -> float:
    n = unit.total()
    return sum(k * (k - 1) for k in unit.values()) / (n * (n - 1))


def _alpha(units: Iterable[tuple[str, Counter[str]]]) -> Figure:
    several = [(topic, unit) for topic, unit in units if unit.total() > 1]
    kinds = _kinds(choice for _, unit in several for choice in unit)
    return estimate((Observation(t, alpha_sums(unit, kinds)) for t, unit in several), alpha_of)


def _kinds(choices: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(choices), key=lambda choice: (choice == TIE, choice)))


def _between(rows: Iterable[Row], first: str, second: str) -> BetweenFigures:
    pairs = list(_pairs(rows, JUDGES[first], JUDGES[second]))
    kinds = _kinds(choice for _, *pair in pairs for choice in pair)
    alike = (Observation(topic, (float(a == b), 1.0)) for topic, a, b in pairs)
    sums = (Observation(topic, kappa_sums(a, b, kinds)) for topic, a, b in pairs)
    return BetweenFigures(
        first=first,
        second=second,
        agreement=estimate(alike, mean_of),
        kappa=estimate(sums, kappa_of),
    )


def _pairs(
    rows: Iterable[Row], first: Callable[[Row], str | None], second: Callable[[Row], str | None]
) -> Iterator[tuple[str, str, str]]:
    for row in rows:
        a, b = first(row), second(row)
        if a is not None and b is not None:
            yield row.topic, a, b
