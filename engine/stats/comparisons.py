"""Debates side by side: arms of a series, protocols of trials, and several juries; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import fsum, log

from engine.stats.agreement import alpha_between, kappa_between, share_alike
from engine.stats.figure import (
    Bin,
    Difference,
    Figure,
    Mean,
    Observation,
    Share,
    ShownTable,
    Sums,
    brier_sums,
    mean_of,
    reliability,
)
from engine.stats.ratings import Leaderboard, rank_models, word_rating
from engine.stats.row import KnownAnswer, Row, names_of, read_by
from engine.tally import FEWEST
from engine.values.debate import TrialProtocol, Value
from engine.values.errors import UsageError
from engine.values.verdicts import TIE

# Arms of a series, compared with one another: debates that a draw held in different ways; pure.


Outcome = Callable[[Row], float | None]
"""What a debate adds to a share; None where it has no say in it."""

OUTCOMES: Mapping[str, Outcome] = {
    "the jury decided": lambda row: float(row.jury is not None),
    "tied, of decided": lambda row: None if row.jury is None else float(row.jury == TIE),
    "A won, a tie counting half": lambda row: _first(row, row.jury),
    "A won with people": lambda row: _first(row, row.people),
    "jury and people agree": lambda row: float(row.people == row.jury) if row.compared else None,
    "how sure the jury is": lambda row: None if row.p_a is None else abs(2 * row.p_a - 1),
}


class _ArmShare(Value):
    """What one arm came to."""

    arm: str
    share: Share


class _ArmDifference(Value):
    """By how much an arm is above another one, of the same topics."""

    arm: str
    other: str
    difference: Difference


class _ArmOutcome(Value):
    """One outcome in each arm, and each two arms compared."""

    name: str
    arms: tuple[_ArmShare, ...]
    differences: tuple[_ArmDifference, ...]


class _ArmLength(Value):
    """How many words the debates of an arm have on average."""

    arm: str
    debates: int
    words: Mean


class Arms(Value):
    """The arms of one or several series, as `arm` or `series/arm`."""

    lengths: tuple[_ArmLength, ...]
    outcomes: tuple[_ArmOutcome, ...]


def measure_arms(rows: Iterable[Row]) -> Arms | None:
    """Compare the arms of some debates; None if no two of one series are among them.

    The differences are of arms of one series. Their intervals are resampled by topic, as a draw
    spreads the debates on a topic over the arms.
    """
    held: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.arm:
            held.setdefault((row.series, row.arm), []).append(row)
    keys = sorted(held)
    pairs = [(one, other) for one, other in combinations(keys, 2) if one[0] == other[0]]
    if not pairs:
        return None
    several = len({series for series, _ in keys}) > 1
    names = {key: "/".join(key) if several else key[1] for key in keys}
    outcomes = []
    for name, outcome in OUTCOMES.items():
        found = {
            key: [
                (row.topic, (value, 1.0))
                for row in held[key]
                if (value := outcome(row)) is not None
            ]
            for key in keys
        }
        outcomes.append(
            _ArmOutcome(
                name=name,
                arms=tuple(
                    _ArmShare(arm=names[key], share=Share.estimate(found[key], mean_of))
                    for key in keys
                ),
                differences=tuple(
                    _ArmDifference(
                        arm=names[one],
                        other=names[other],
                        difference=compare_means(found[one], found[other]),
                    )
                    for one, other in pairs
                ),
            )
        )
    lengths = []
    for key in keys:
        words = ((row.topic, (float(sum(row.words.values())), 1.0)) for row in held[key])
        mean = Mean.estimate(words, mean_of)
        lengths.append(_ArmLength(arm=names[key], debates=len(held[key]), words=mean))
    return Arms(lengths=tuple(lengths), outcomes=tuple(outcomes))


def _first(row: Row, winner: str | None) -> float | None:
    """Return the credit of the first of two sides."""
    if winner is None or len(row.models) != 2:
        return None
    return row.credit(winner, next(iter(row.models)))


def compare_means(one: Sequence[tuple[str, Sums]], other: Sequence[tuple[str, Sums]]) -> Difference:
    """Return the difference of two means, unless one of them rests on too few debates."""
    fewest = min(len(one), len(other))
    if fewest < FEWEST:
        return Difference(n=fewest)
    observed = [(topic, (*sums, 0.0, 0.0)) for topic, sums in one]
    observed += [(topic, (0.0, 0.0, *sums)) for topic, sums in other]
    return Difference.estimate(observed, _difference).model_copy(update={"n": fewest})


def _difference(sums: Sums) -> float | None:
    """Return the difference of two means, each given as a sum and a number."""
    first, first_n, second, second_n = sums
    return first / first_n - second / second_n if first_n and second_n else None


def tell_arms(found: Arms) -> Iterator[ShownTable]:
    """Yield all arms as tables: what each came to, and how far two of them are apart."""
    arms = [one.arm for one in found.lengths]
    rows: list[tuple[object, ...]] = [
        ("debates", *(one.debates for one in found.lengths)),
        ("words", *(one.words.cell for one in found.lengths)),
    ]
    for outcome in found.outcomes:
        if any(one.share.n for one in outcome.arms):
            rows.append((outcome.name, *(one.share.cell for one in outcome.arms)))
    yield "Arms", ("", *arms), rows
    compared = [
        (f"{one.arm} less {one.other}: {outcome.name}", one.difference, one.difference.n)
        for outcome in found.outcomes
        for one in outcome.differences
        if not one.difference.few
    ]
    yield "Arm by arm, in points", ("", "difference", "debates, at least"), compared


# Questions whose right answer is known: how often it was found, by protocol; pure.
#
# A tie is worth the share of contenders whose answer is right, half of two. A side is
# paid the log odds that the jury's probability gives its answer; their mean for the right answer
# less that for the wrong one is the agent score difference (arXiv 2504.03731).


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
        scores=Figure.estimate(_scores(protocol, found), _difference),
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


# Several juries of the same debates, side by side, and the one that everything rests on; pure.


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
