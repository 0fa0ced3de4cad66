"""The jury compared with people: every figure of `rostrum stats` but the ratings; pure.

A vote for “neither” counts as a tie throughout, as it prefers neither.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from engine.stats.alpha import alpha_of, alpha_sums
from engine.stats.anchoring import Anchoring, measure_anchoring
from engine.stats.bootstrap import mean_of
from engine.stats.calibration import Bin, Forecast, brier_sums, reliability
from engine.stats.confidence import Confidence, calibrate
from engine.stats.crowds import Crowds, measure_crowds
from engine.stats.figure import Figure, Observation, estimate, estimate_share
from engine.stats.guessing import Ground, Guessing, measure_grounds, measure_guesses
from engine.stats.jurors import JurorFigures, juror_figures
from engine.stats.kappa import kappa_of, kappa_sums
from engine.stats.row import Row
from engine.values.debate import Value
from engine.values.judging import TIE


class Pooled(Value):
    """Agreement of voters with one another and with the panel, on the same debates.

    `people` is the chance that two voters of a debate chose the same, `jury` that a voter and the
    panel did: means over debates with a panel and two gold votes. The α are Krippendorff's: among
    people, among jurors, and among people with the panel as one more voter.
    """

    people: Figure
    jury: Figure
    alpha_people: Figure
    alpha_jurors: Figure
    alpha_all: Figure


class Shares(Value):
    """How often A, or the last speaker, won decided debates of two sides."""

    a: Figure
    closer: Figure


class ModelFigures(Value):
    """A model's win rate with people and with the jury, a tie counting half.

    `bias` is the jury's win rate minus the people's, from −1 to 1.
    """

    model: str
    people: Figure
    jury: Figure
    bias: Figure


class GroupFigures(Value):
    """Agreement on the compared debates of one language, format or topic."""

    name: str
    agreement: Figure
    kappa: Figure


class Agreement(Value):
    """How well the jury predicts people.

    `debates` are the revealed ones; `compared` were judged by both people and a blind panel, ties
    included; `decided` leaves out ties by either. `matrix` counts compared debates by people's
    choice, then by the jury's.
    """

    debates: int
    compared: int
    agreement: Figure
    decided: Figure
    kappa: Figure
    matrix: Mapping[str, Mapping[str, int]]
    pooled: Pooled
    crowds: Crowds
    people_shares: Shares
    jury_shares: Shares
    brier: Figure
    reliability: tuple[Bin, ...]
    anchoring: Anchoring
    confidence: tuple[Confidence, ...]
    guessing: Guessing
    grounds: tuple[Ground, ...]
    models: tuple[ModelFigures, ...]
    jurors: tuple[JurorFigures, ...]
    languages: tuple[GroupFigures, ...]
    formats: tuple[GroupFigures, ...]
    topics: tuple[GroupFigures, ...]


def measure_agreement(rows: Sequence[Row]) -> Agreement:
    """Return every figure of some debates."""
    forecasts = [(row.topic, forecast) for row in rows if (forecast := _forecast(row))]
    return Agreement(
        debates=len(rows),
        compared=sum(row.compared for row in rows),
        agreement=_agreement(rows),
        decided=_agreement(row for row in rows if TIE not in (row.people, row.jury)),
        kappa=_kappa(rows),
        matrix=_matrix(rows),
        pooled=_pool(rows),
        crowds=measure_crowds(rows),
        people_shares=_shares(rows, lambda row: row.people),
        jury_shares=_shares(rows, lambda row: row.jury),
        brier=estimate((Observation(t, brier_sums(f)) for t, f in forecasts), mean_of),
        reliability=reliability(forecast for _, forecast in forecasts),
        anchoring=measure_anchoring(rows),
        confidence=calibrate(one for row in rows for one in row.sure),
        guessing=measure_guesses(one for row in rows for one in row.guesses),
        grounds=measure_grounds(_sum(row.grounds for row in rows), _sum(row.leads for row in rows)),
        models=_model_figures(rows),
        jurors=juror_figures(rows),
        languages=_by_group(rows, lambda row: row.language),
        formats=_by_group(rows, lambda row: row.format),
        topics=_by_topic(rows),
    )


def _sum(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for one in counts:
        for name, n in one.items():
            total[name] += n
    return total


def categories_of(choices: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct choices, the tie last."""
    return tuple(sorted(set(choices), key=lambda choice: (choice == TIE, choice)))


def _pairs(rows: Iterable[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield (topic, people, jury) of each compared debate."""
    for row in rows:
        if row.people is not None and row.jury is not None:
            yield row.topic, row.people, row.jury


def _agreement(rows: Iterable[Row]) -> Figure:
    return estimate(
        (Observation(topic, (float(a == b), 1.0)) for topic, a, b in _pairs(rows)), mean_of
    )


def _kappa(rows: Iterable[Row]) -> Figure:
    pairs = list(_pairs(rows))
    categories = categories_of(choice for _, *pair in pairs for choice in pair)
    return estimate(
        (Observation(topic, kappa_sums(a, b, categories)) for topic, a, b in pairs), kappa_of
    )


def _matrix(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    counts = Counter((people, jury) for _, people, jury in _pairs(rows))
    categories = categories_of(choice for pair in counts for choice in pair)
    return {one: {other: counts[one, other] for other in categories} for one in categories}


def _forecast(row: Row) -> Forecast | None:
    if row.p_a is None or row.people is None:
        return None
    return Forecast(row.p_a, row.credit(row.people, next(iter(row.models))))


# --- voters ------------------------------------------------------------------------------


def _pool(rows: Sequence[Row]) -> Pooled:
    beside = [row for row in rows if row.jury is not None and sum(row.gold.values()) > 1]
    return Pooled(
        people=estimate((Observation(row.topic, (_alike(row), 1.0)) for row in beside), mean_of),
        jury=estimate((Observation(row.topic, (_with_jury(row), 1.0)) for row in beside), mean_of),
        alpha_people=_alpha(rows, lambda row: row.gold),
        alpha_jurors=_alpha(rows, lambda row: Counter(row.verdicts().values())),
        alpha_all=_alpha(rows, _gold_with_panel),
    )


def _alike(row: Row) -> float:
    """Return the share of pairs of voters who chose the same."""
    voters = sum(row.gold.values())
    return sum(n * (n - 1) for n in row.gold.values()) / (voters * (voters - 1))


def _with_jury(row: Row) -> float:
    return row.gold.get(row.jury or "", 0) / sum(row.gold.values())


def _gold_with_panel(row: Row) -> Mapping[str, int]:
    return Counter(row.gold) + Counter([row.jury] if row.jury is not None else [])


def _alpha(rows: Iterable[Row], choices: Callable[[Row], Mapping[str, int]]) -> Figure:
    units = [(row.topic, unit) for row in rows if sum((unit := choices(row)).values()) > 1]
    categories = categories_of(choice for _, unit in units for choice in unit)
    return estimate(
        (Observation(topic, alpha_sums(unit, categories)) for topic, unit in units), alpha_of
    )


# --- biases ------------------------------------------------------------------------------


def _shares(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> Shares:
    decided = [
        (row, chosen)
        for row in rows
        if len(row.models) == 2 and (chosen := winner(row)) not in (None, TIE)
    ]
    first = (
        Observation(row.topic, (float(chosen == next(iter(row.models))), 1.0))
        for row, chosen in decided
    )
    last = (
        Observation(row.topic, (float(chosen == row.closer), 1.0))
        for row, chosen in decided
        if row.closer is not None
    )
    return Shares(a=estimate(first, mean_of), closer=estimate(last, mean_of))


def _model_figures(rows: Iterable[Row]) -> tuple[ModelFigures, ...]:
    """Compare win rates in debates between different models."""
    credits: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for row in rows:
        models = set(row.models.values())
        if row.people is None or row.jury is None or len(models) < 2 or row.mixed:
            continue
        for model in models:
            sides = [side for side, one in row.models.items() if one == model]
            people = sum(row.credit(row.people, side) for side in sides)
            jury = sum(row.credit(row.jury, side) for side in sides)
            credits[model].append((row.topic, people, jury))
    return tuple(_model_figure(model, credits[model]) for model in sorted(credits))


def _model_figure(model: str, credits: Sequence[tuple[str, float, float]]) -> ModelFigures:
    return ModelFigures(
        model=model,
        people=estimate((Observation(topic, (a, 1.0)) for topic, a, _ in credits), mean_of),
        jury=estimate((Observation(topic, (b, 1.0)) for topic, _, b in credits), mean_of),
        bias=estimate((Observation(topic, (b - a, 1.0)) for topic, a, b in credits), mean_of),
    )


# --- groups ------------------------------------------------------------------------------


def _by_group(rows: Iterable[Row], name: Callable[[Row], str]) -> tuple[GroupFigures, ...]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.compared:
            groups[name(row)].append(row)
    return tuple(
        GroupFigures(name=name, agreement=_agreement(groups[name]), kappa=_kappa(groups[name]))
        for name in sorted(groups)
    )


def _by_topic(rows: Iterable[Row]) -> tuple[GroupFigures, ...]:
    """Group by topic, most debated first; the title is the first wording."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.compared:
            groups[row.topic].append(row)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group[0].title))
    return tuple(_topic_figures(group) for group in ordered)


def _topic_figures(rows: Sequence[Row]) -> GroupFigures:
    """Return one topic's figures, with Wilson's interval, as one topic cannot be resampled."""
    agreed = sum(row.people == row.jury for row in rows)
    share = estimate_share(agreed, len(rows))
    return GroupFigures(name=rows[0].title, agreement=share, kappa=_kappa(rows))
