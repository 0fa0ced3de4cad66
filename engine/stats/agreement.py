"""The jury compared with people: every figure of `rostrum stats` but the ratings; pure.

A vote for “neither” counts as a tie throughout, as it prefers neither.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from engine.stats.coefficients import (
    Bin,
    Forecast,
    alpha_of,
    alpha_sums,
    brier_sums,
    kappa_of,
    kappa_sums,
    reliability,
)
from engine.stats.confidence import Confidence, calibrate
from engine.stats.figure import Figure, Observation, estimate, estimate_share, mean_of
from engine.stats.jurors import JurorFigures, juror_figures
from engine.stats.row import GuessFigures, ReasonShare, Row, measure_grounds, measure_guesses
from engine.values.debate import Value
from engine.values.judging import TIE

# How far a reveal moves people: their answers after it, compared with their votes; pure.


class Anchoring(Value):
    """Answers after the reveal by people with a gold vote, in debates with a verdict.

    `toward` is the share of those who had disagreed with the jury and then agreed; `away` that of
    those who had agreed and then disagreed. Random changes go both ways equally, so the reveal
    pulls people if `toward` is larger. `n` counts people.
    """

    toward: Figure
    away: Figure


def measure_anchoring(rows: Iterable[Row]) -> Anchoring:
    """Return both shares, with intervals resampled by topic."""
    held = list(rows)
    return Anchoring(
        toward=estimate(_moves(held, with_jury=False), mean_of),
        away=estimate(_moves(held, with_jury=True), mean_of),
    )


def _moves(rows: Iterable[Row], *, with_jury: bool) -> Iterator[Observation]:
    """Yield for each person who first agreed (or disagreed) with the jury whether that changed."""
    for row in rows:
        if row.jury is None:
            continue
        for before, after in row.revised:
            if (before == row.jury) is with_jury:
                changed = (after == row.jury) is not with_jury
                yield Observation(row.topic, (float(changed), 1.0))


# People beside people: agreement within each platform, and between chat, labels and jury. Pure.


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
        alpha=_crowd_alpha((row.topic, _winners(row)) for row in held),
    )


def _winners(row: Row) -> Counter[str]:
    named = (judge(row) for judge in JUDGES.values())
    return Counter(winner for winner in named if winner is not None)


def _crowd(rows: Iterable[Row], name: str) -> CrowdFigures:
    units = [(row.topic, Counter(row.crowds[name])) for row in rows if name in row.crowds]
    several = [(topic, unit) for topic, unit in units if unit.total() > 1]
    alike = (Observation(topic, (_crowd_alike(unit), 1.0)) for topic, unit in several)
    return CrowdFigures(platform=name, alike=estimate(alike, mean_of), alpha=_crowd_alpha(several))


def _crowd_alike(unit: Counter[str]) -> float:
    n = unit.total()
    return sum(k * (k - 1) for k in unit.values()) / (n * (n - 1))


def _crowd_alpha(units: Iterable[tuple[str, Counter[str]]]) -> Figure:
    several = [(topic, unit) for topic, unit in units if unit.total() > 1]
    kinds = _kinds(choice for _, unit in several for choice in unit)
    return estimate((Observation(t, alpha_sums(unit, kinds)) for t, unit in several), alpha_of)


def _kinds(choices: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(choices), key=lambda choice: (choice == TIE, choice)))


def _between(rows: Iterable[Row], first: str, second: str) -> BetweenFigures:
    pairs = list(_judge_pairs(rows, JUDGES[first], JUDGES[second]))
    kinds = _kinds(choice for _, *pair in pairs for choice in pair)
    alike = (Observation(topic, (float(a == b), 1.0)) for topic, a, b in pairs)
    sums = (Observation(topic, kappa_sums(a, b, kinds)) for topic, a, b in pairs)
    return BetweenFigures(
        first=first,
        second=second,
        agreement=estimate(alike, mean_of),
        kappa=estimate(sums, kappa_of),
    )


def _judge_pairs(
    rows: Iterable[Row], first: Callable[[Row], str | None], second: Callable[[Row], str | None]
) -> Iterator[tuple[str, str, str]]:
    for row in rows:
        a, b = first(row), second(row)
        if a is not None and b is not None:
            yield row.topic, a, b


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


class SideShares(Value):
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
    people_shares: SideShares
    jury_shares: SideShares
    brier: Figure
    reliability: tuple[Bin, ...]
    anchoring: Anchoring
    confidence: tuple[Confidence, ...]
    guessing: GuessFigures
    grounds: tuple[ReasonShare, ...]
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
        jury=estimate(
            (
                Observation(
                    row.topic, ((row.gold.get(row.jury or "", 0) / sum(row.gold.values())), 1.0)
                )
                for row in beside
            ),
            mean_of,
        ),
        alpha_people=_alpha(rows, lambda row: row.gold),
        alpha_jurors=_alpha(rows, lambda row: Counter(row.verdicts().values())),
        alpha_all=_alpha(rows, _gold_with_panel),
    )


def _alike(row: Row) -> float:
    """Return the share of pairs of voters who chose the same."""
    voters = sum(row.gold.values())
    return sum(n * (n - 1) for n in row.gold.values()) / (voters * (voters - 1))


def _gold_with_panel(row: Row) -> Mapping[str, int]:
    return Counter(row.gold) + Counter([row.jury] if row.jury is not None else [])


def _alpha(rows: Iterable[Row], choices: Callable[[Row], Mapping[str, int]]) -> Figure:
    units = [(row.topic, unit) for row in rows if sum((unit := choices(row)).values()) > 1]
    categories = categories_of(choice for _, unit in units for choice in unit)
    return estimate(
        (Observation(topic, alpha_sums(unit, categories)) for topic, unit in units), alpha_of
    )


# --- biases ------------------------------------------------------------------------------


def _shares(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> SideShares:
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
    return SideShares(a=estimate(first, mean_of), closer=estimate(last, mean_of))


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
