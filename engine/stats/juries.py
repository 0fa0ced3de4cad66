"""Several juries of the same debates, side by side, and the one that everything rests on; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import fsum

from engine.stats.agreement import alpha_between, kappa_between, share_alike
from engine.stats.figure import Figure, Share, ShownTable, brier_sums, mean_of
from engine.stats.ratings import Leaderboard, rank_models, word_rating
from engine.stats.row import Row, names_of, read_by
from engine.values.debate import Value
from engine.values.errors import UsageError


class _JuryFigures(Value):
    """A jury beside people; `debates` have its verdict, `usd` is None if partly unknown."""

    name: str
    debates: int
    agreement: Share
    kappa: Figure
    brier: Figure
    ratings: Leaderboard
    usd: float | None


class _JuryPair(Value):
    """How far two juries name the same winner."""

    first: str
    second: str
    agreement: Share
    kappa: Figure


class Juries(Value):
    """Every jury, and each two of them; `alpha` is of all, over debates that two of them read."""

    juries: tuple[_JuryFigures, ...]
    between: tuple[_JuryPair, ...]
    alpha: Figure


def of_jury(rows: Sequence[Row], asked: str) -> list[Row]:
    """Return rows whose jury is the one asked for, by its name or its jurors alone.

    Raises UsageError, which names those there are.
    """
    known = names_of(rows)
    wanted = "".join(asked.split())
    found = [name for name in known if wanted in (name, name.rpartition(":")[0])]
    if len(found) != 1:
        raise UsageError(
            "The jury “{name}” is not one of those here; there are {known:and}.",
            name=asked,
            known=tuple(found or known),
        )
    return list(read_by(rows, found[0]))


def measure_juries(rows: Sequence[Row]) -> Juries | None:
    """Compare all juries; None if no debate was read by a second one."""
    names = names_of(rows)
    if len(names) == 1:
        return None
    read = {name: list(read_by(rows, name)) for name in names}
    verdicts = [
        {name: row.jury for name, row in zip(names, by_jury, strict=True) if row.jury is not None}
        for by_jury in zip(*read.values(), strict=True)
    ]
    between = []
    for first, second in combinations(names, 2):
        pairs = [
            (row.topic, said[first], said[second])
            for row, said in zip(rows, verdicts, strict=True)
            if first in said and second in said
        ]
        figures = {"agreement": share_alike(pairs), "kappa": kappa_between(pairs)}
        between.append(_JuryPair(first=first, second=second, **figures))
    alike = ((row.topic, Counter(said.values())) for row, said in zip(rows, verdicts, strict=True))
    return Juries(
        juries=tuple(_describe(name, of) for name, of in read.items()),
        between=tuple(between),
        alpha=alpha_between(alike),
    )


def _describe(name: str, rows: Sequence[Row]) -> _JuryFigures:
    pairs = [
        (row.topic, row.people, row.jury)
        for row in rows
        if row.people is not None and row.jury is not None
    ]
    forecasts = (
        (row.topic, brier_sums(row.p_a, row.credit(row.people, next(iter(row.models)))))
        for row in rows
        if row.p_a is not None and row.people is not None
    )
    costs = [reading.usd for row in rows for reading in row.readings]
    known = [usd for usd in costs if usd is not None]
    return _JuryFigures(
        name=name,
        debates=sum(row.jury is not None for row in rows),
        agreement=share_alike(pairs),
        kappa=kappa_between(pairs),
        brier=Figure.estimate(forecasts, mean_of),
        ratings=rank_models(rows),
        usd=fsum(known) if len(known) == len(costs) else None,
    )


def tell_juries(found: Juries) -> Iterator[ShownTable]:
    """Yield all juries as tables: beside people, each two of them, and what they rate models."""
    columns = ("", "agrees with people", "Cohen's κ", "Brier score", "verdicts", "USD")
    rows = [
        (
            one.name,
            one.agreement.cell,
            one.kappa.cell,
            one.brier.cell,
            one.debates,
            "unknown" if one.usd is None else f"{one.usd:.4f}",
        )
        for one in found.juries
    ]
    yield "Juries", columns, rows
    pairs: list[tuple[object, ...]] = [
        (f"{one.first} and {one.second}", one.agreement.cell, one.kappa.cell, one.agreement.n)
        for one in found.between
    ]
    if len(found.juries) > 2:
        pairs.append(("all of them", "", found.alpha.cell, found.alpha.n))
    yield "Jury by jury", ("", "alike", "Cohen's κ or Krippendorff's α", "debates"), pairs
    models = {one.model: None for jury in found.juries for one in jury.ratings.standings}
    ratings = [
        {one.model: word_rating(one.jury) for one in jury.ratings.standings}
        for jury in found.juries
    ]
    yield (
        "Ratings by each jury",
        ("", *(one.name for one in found.juries)),
        [(model, *(by.get(model, word_rating(None)) for by in ratings)) for model in models],
    )
