"""Questions whose right answer is known: how often it was found, by protocol; pure.

A tie is worth the share of contenders whose answer is right, half of two. A side is
paid the log odds that the jury's probability gives its answer; their mean for the right answer
less that for the wrong one is the agent score difference (arXiv 2504.03731).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from math import log

from engine.stats.arms import compare_means
from engine.stats.figure import (
    Bin,
    Difference,
    Figure,
    Observation,
    Share,
    ShownTable,
    brier_sums,
    mean_of,
    reliability,
)
from engine.stats.row import KnownAnswer, Row
from engine.values.debate import TrialProtocol, Value
from engine.values.verdicts import TIE

SUREST = 0.99  # a probability at most, as log odds of 1 are infinite
UNARGUED = (TrialProtocol.DIRECT.value, TrialProtocol.EXPERT.value)


class _ProtocolFigures(Value):
    """How often the right answer was found under a protocol.

    `jury` are panels' verdicts, `jurors` those of their jurors one by one, `people` the majorities
    of the chat and of labels given on pages, each by itself. `brier` is of the panel's probability
    of the right answer. `scores` is the agent score difference, in log odds.
    """

    protocol: str
    debates: int
    jury: Share
    jurors: Share
    people: Share
    brier: Figure
    scores: Figure


class _ProtocolGap(Value):
    """By how much the jury is right more often under one protocol than under another."""

    one: str
    other: str
    difference: Difference


class Trials(Value):
    """What was found by protocol, how far two are apart, and how calibrated juries are."""

    protocols: tuple[_ProtocolFigures, ...]
    gaps: tuple[_ProtocolGap, ...]
    calibration: tuple[Bin, ...]


def measure_trials(rows: Iterable[Row]) -> Trials | None:
    """Return the figures of all debates whose right answer is known; None without any."""
    held: dict[str, list[tuple[Row, KnownAnswer]]] = {}
    for row in rows:
        if row.trial is not None:
            held.setdefault(row.trial.protocol, []).append((row, row.trial))
    if not held:
        return None
    order = [one.value for one in TrialProtocol]
    names = sorted(held, key=lambda name: order.index(name) if name in order else len(order))
    right = {name: list(_right(held[name], lambda row: row.jury)) for name in names}
    every = [found for name in names for found in held[name]]
    return Trials(
        protocols=tuple(_measure(name, held[name]) for name in names),
        gaps=tuple(
            _ProtocolGap(one=one, other=other, difference=compare_means(right[one], right[other]))
            for one, other in combinations(names, 2)
        ),
        calibration=reliability(
            (row.p_a, float("A" in trial.right)) for row, trial in every if row.p_a is not None
        ),
    )


def _measure(protocol: str, found: Sequence[tuple[Row, KnownAnswer]]) -> _ProtocolFigures:
    jurors = (
        (row.topic, (_credit(row, trial, verdict), 1.0))
        for row, trial in found
        for verdict in row.verdicts().values()
    )
    forecasts = (
        (row.topic, brier_sums(row.p_a, float("A" in trial.right)))
        for row, trial in found
        if row.p_a is not None
    )
    return _ProtocolFigures(
        protocol=protocol,
        debates=len(found),
        jury=Share.estimate(_right(found, lambda row: row.jury), mean_of),
        jurors=Share.estimate(jurors, mean_of),
        people=Share.estimate(
            chain(_right(found, lambda row: row.people), _right(found, lambda row: row.web)),
            mean_of,
        ),
        brier=Figure.estimate(forecasts, mean_of),
        scores=Figure.estimate(_scores(protocol, found), _score_difference),
    )


def _right(
    found: Iterable[tuple[Row, KnownAnswer]], winner: Callable[[Row], str | None]
) -> Iterator[Observation]:
    for row, trial in found:
        if (won := winner(row)) is not None:
            yield row.topic, (_credit(row, trial, won), 1.0)


def _credit(row: Row, trial: KnownAnswer, winner: str) -> float:
    if winner == TIE:
        return len(trial.right) / len(row.models)
    return float(winner in trial.right)


def _scores(protocol: str, found: Iterable[tuple[Row, KnownAnswer]]) -> Iterator[Observation]:
    """Yield what agents are paid: for the right answer and for the wrong one, with their numbers.

    Both sides of a debate are agents; a consultant is one alone.
    """
    for row, trial in found:
        if row.p_a is None or protocol in UNARGUED:
            continue
        p = min(max(row.p_a, 1 - SUREST), SUREST)
        odds = {"A": log(p / (1 - p)), "B": log((1 - p) / p)}
        alone = protocol == TrialProtocol.CONSULTANCY
        spoke = [side for side in odds if not alone or side == trial.advocate]
        right = [odds[side] for side in spoke if side in trial.right]
        wrong = [odds[side] for side in spoke if side not in trial.right]
        counts = (float(len(right)), float(len(wrong)))
        yield row.topic, (sum(right), counts[0], sum(wrong), counts[1])


def _score_difference(sums: Sequence[float]) -> float | None:
    right, right_n, wrong, wrong_n = sums
    return right / right_n - wrong / wrong_n if right_n and wrong_n else None


def tell_trials(found: Trials) -> Iterator[ShownTable]:
    """Yield all of it as tables."""
    shown = ("jury", "jurors", "people", "brier", "scores")
    rows = []
    for one in found.protocols:
        cells = (getattr(one, name).cell for name in shown)
        rows.append((one.protocol, *cells, one.debates))
    columns = (
        "jury right",
        "a juror right",
        "people right",
        "Brier score",
        "agent score difference",
    )
    yield "Right answers by protocol", ("", *columns, "debates"), rows
    gaps = [
        (f"{gap.one} less {gap.other}", gap.difference, gap.difference.n)
        for gap in found.gaps
        if not gap.difference.few
    ]
    if gaps:
        yield "Protocols, in points of juries that are right", ("", "difference", "debates"), gaps
    bins = [
        (f"{one.low:.1f} to {one.high:.1f}", f"{one.predicted:.2f}", f"{one.observed:.2f}", one.n)
        for one in found.calibration
        if one.predicted is not None and one.observed is not None
    ]
    if bins:
        yield "The jury's p(A), where the answer is known", ("", "mean", "A right", "debates"), bins
