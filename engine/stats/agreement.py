"""The jury compared with people: every figure of `rostrum stats` but the ratings; pure.

A vote for “neither” counts as a tie throughout, as it prefers neither.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TypeAlias

from engine.stats.confidence import (
    Confidence,
    PercentFigures,
    calibrate,
    measure_percents,
)
from engine.stats.figure import (
    Bin,
    Difference,
    Figure,
    Observation,
    Share,
    alpha_of,
    alpha_sums,
    brier_sums,
    kappa_of,
    kappa_sums,
    mean_of,
    reliability,
)
from engine.stats.jurors import JurorFigures, juror_figures
from engine.stats.row import BlindGuess, Row
from engine.tally.questions import GROUNDS
from engine.values.debate import Value
from engine.values.verdicts import TIE

# How far a reveal moves people: their answers after it, compared with their votes; pure.


class _Anchoring(Value):
    """Answers after the reveal by people with a gold vote, in debates with a verdict.

    `toward` is the share of those who had disagreed with the jury and then agreed; `away` that of
    those who had agreed and then disagreed. Random changes go both ways equally, so the reveal
    pulls people if `toward` is larger. `n` counts people.
    """

    toward: Share
    away: Share


def measure_anchoring(rows: Iterable[Row]) -> _Anchoring:
    """Return both shares, with intervals resampled by topic."""
    held = list(rows)
    return _Anchoring(
        toward=Share.estimate(_moves(held, with_jury=False), mean_of),
        away=Share.estimate(_moves(held, with_jury=True), mean_of),
    )


def _moves(rows: Iterable[Row], *, with_jury: bool) -> Iterator[Observation]:
    """Yield for each person who first agreed (or disagreed) with the jury whether that changed."""
    for row in rows:
        if row.jury is None:
            continue
        for before, after in row.revised:
            if (before == row.jury) is with_jury:
                changed = (after == row.jury) is not with_jury
                yield (row.topic, (float(changed), 1.0))


# People beside people: agreement within each platform, and between chat, labels and jury. Pure.


JUDGES: Mapping[str, Callable[[Row], str | None]] = {
    "chat": lambda row: row.people,
    "web": lambda row: row.web,
    "jury": lambda row: row.jury,
}
Pairs: TypeAlias = Sequence[tuple[str, str, str]]
"""Debates with two judges: the topic, and what each of them chose."""


class _CrowdFigures(Value):
    """How far people of a platform agree: `alike` is the share of pairs that chose the same."""

    platform: str
    alike: Share
    alpha: Figure


class _BetweenFigures(Value):
    """How far two of chat, labels and jury name the same winner."""

    first: str
    second: str
    agreement: Share
    kappa: Figure


class _Crowds(Value):
    """People by platform, and chat, labels and jury in pairs.

    `alpha` is of all three, over the debates that each of them decided.
    """

    platforms: tuple[_CrowdFigures, ...]
    between: tuple[_BetweenFigures, ...]
    alpha: Figure


def measure_crowds(rows: Iterable[Row]) -> _Crowds:
    """Compare the gold votes of each platform, and the winners by chat, labels and jury."""
    held = list(rows)
    platforms, between, named = [], [], []
    for name in sorted({name for row in held for name in row.crowds}):
        units = [(row.topic, row.crowds[name]) for row in held if name in row.crowds]
        platforms.append(
            _CrowdFigures(platform=name, alike=pairs_alike(units), alpha=alpha_between(units))
        )
    for first, second in combinations(JUDGES, 2):
        pairs = _pairs(held, first, second)
        between.append(
            _BetweenFigures(
                first=first,
                second=second,
                agreement=share_alike(pairs),
                kappa=kappa_between(pairs),
            )
        )
    for row in held:
        winners = [judge(row) for judge in JUDGES.values()]
        if None not in winners:
            named.append((row.topic, Counter(winner for winner in winners if winner is not None)))
    return _Crowds(platforms=tuple(platforms), between=tuple(between), alpha=alpha_between(named))


class _Pooled(Value):
    """Agreement of voters with one another and with the panel, on the same debates.

    `people` is the chance that two voters of a debate chose the same, `jury` that a voter and the
    panel did: means over debates with a panel and two gold votes. The α are Krippendorff's: among
    people, among jurors, and among people with the panel as one more voter.
    """

    people: Share
    jury: Share
    alpha_people: Figure
    alpha_jurors: Figure
    alpha_all: Figure


class _SideShares(Value):
    """How often A, or the last speaker, won decided debates of two sides."""

    a: Share
    closer: Share


class _ModelFigures(Value):
    """A model's win rate with people and with the jury, a tie counting half.

    `bias` is the jury's win rate minus the people's, from −1 to 1.
    """

    model: str
    people: Share
    jury: Share
    bias: Difference


class _GroupFigures(Value):
    """Agreement on the compared debates of one language, format or topic."""

    name: str
    agreement: Share
    kappa: Figure


class GuessFigures(Value):
    """The share of blind guesses that were right, beside `chance`; None without guesses.

    `above` says whether they beat chance: its interval lies above it.
    """

    share: Share
    chance: float | None = None

    @property
    def above(self) -> bool:
        """Whether guesses beat chance."""
        low = self.share.low
        return low is not None and self.chance is not None and low > self.chance


class _ReasonShare(Value):
    """How often something decided: the share of voters' words, and of jurors' ballots.

    In a ballot that decided which is the criterion with the widest lead of its winner, a tie of
    several counting for each in part; in debates alone in which a voter said what decided.
    """

    name: str
    criterion: str = ""
    people: Share
    jurors: float | None = None


class Agreement(Value):
    """How well the jury predicts people.

    `debates` are the revealed ones; `compared` were judged by both people and a blind panel, ties
    included; `decided` leaves out ties by either. `matrix` counts compared debates by people's
    choice, then by the jury's.
    """

    debates: int
    compared: int
    agreement: Share
    decided: Share
    kappa: Figure
    matrix: Mapping[str, Mapping[str, int]]
    pooled: _Pooled
    crowds: _Crowds
    people_shares: _SideShares
    jury_shares: _SideShares
    brier: Figure
    reliability: tuple[Bin, ...]
    anchoring: _Anchoring
    confidence: tuple[Confidence, ...]
    percents: PercentFigures
    guessing: GuessFigures
    grounds: tuple[_ReasonShare, ...]
    models: tuple[_ModelFigures, ...]
    jurors: tuple[JurorFigures, ...]
    languages: tuple[_GroupFigures, ...]
    formats: tuple[_GroupFigures, ...]
    topics: tuple[_GroupFigures, ...]


def measure_agreement(rows: Sequence[Row]) -> Agreement:
    """Return every figure of some debates."""
    pairs = _pairs(rows)
    forecasts = [
        (row.topic, (row.p_a, row.credit(row.people, next(iter(row.models)))))
        for row in rows
        if row.p_a is not None and row.people is not None
    ]
    counts = Counter((people, jury) for _, people, jury in pairs)
    categories = categories_of(choice for pair in counts for choice in pair)
    return Agreement(
        debates=len(rows),
        compared=sum(row.compared for row in rows),
        agreement=share_alike(pairs),
        decided=share_alike([pair for pair in pairs if TIE not in pair[1:]]),
        kappa=kappa_between(pairs),
        matrix={one: {other: counts[one, other] for other in categories} for one in categories},
        pooled=_pool(rows),
        crowds=measure_crowds(rows),
        people_shares=_shares(rows, lambda row: row.people),
        jury_shares=_shares(rows, lambda row: row.jury),
        brier=Figure.estimate(((t, brier_sums(*f)) for t, f in forecasts), mean_of),
        reliability=reliability(forecast for _, forecast in forecasts),
        anchoring=measure_anchoring(rows),
        confidence=calibrate(one for row in rows for one in row.sure),
        percents=measure_percents((row.topic, row.p_a, row.percents) for row in rows),
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


def _pairs(rows: Iterable[Row], first: str = "chat", second: str = "jury") -> Pairs:
    """Return the debates in which both of two judges decided."""
    chosen = [(row.topic, JUDGES[first](row), JUDGES[second](row)) for row in rows]
    return [(topic, a, b) for topic, a, b in chosen if a is not None and b is not None]


def share_alike(pairs: Pairs) -> Share:
    """Return how often both judges chose the same."""
    return Share.estimate(((topic, (float(a == b), 1.0)) for topic, a, b in pairs), mean_of)


def kappa_between(pairs: Pairs) -> Figure:
    """Return Cohen's κ of both judges."""
    categories = categories_of(choice for _, *pair in pairs for choice in pair)
    return Figure.estimate(
        ((topic, kappa_sums(a, b, categories)) for topic, a, b in pairs), kappa_of
    )


# --- voters ------------------------------------------------------------------------------


def _pool(rows: Sequence[Row]) -> _Pooled:
    beside = [row for row in rows if row.jury is not None and sum(row.gold.values()) > 1]
    return _Pooled(
        people=pairs_alike((row.topic, row.gold) for row in beside),
        jury=Share.estimate(
            (
                (row.topic, ((row.gold.get(row.jury or "", 0) / sum(row.gold.values())), 1.0))
                for row in beside
            ),
            mean_of,
        ),
        alpha_people=alpha_between((row.topic, row.gold) for row in rows),
        alpha_jurors=alpha_between((row.topic, Counter(row.verdicts().values())) for row in rows),
        alpha_all=alpha_between(
            (row.topic, Counter(row.gold) + Counter([row.jury] if row.jury is not None else []))
            for row in rows
        ),
    )


def alike(unit: Mapping[str, int]) -> float:
    """Return the share of pairs of voters who chose the same."""
    voters = sum(unit.values())
    return sum(n * (n - 1) for n in unit.values()) / (voters * (voters - 1))


def pairs_alike(units: Iterable[tuple[str, Mapping[str, int]]]) -> Share:
    """Return how often two voters chose the same; a unit is as in `alpha_between`."""
    several = ((topic, unit) for topic, unit in units if sum(unit.values()) > 1)
    return Share.estimate(((topic, (alike(unit), 1.0)) for topic, unit in several), mean_of)


def alpha_between(units: Iterable[tuple[str, Mapping[str, int]]]) -> Figure:
    """Return Krippendorff's α of debates: the topic, and the number of voters by choice."""
    several = [(topic, unit) for topic, unit in units if sum(unit.values()) > 1]
    categories = categories_of(choice for _, unit in several for choice in unit)
    return Figure.estimate(
        ((topic, alpha_sums(unit, categories)) for topic, unit in several), alpha_of
    )


# --- biases ------------------------------------------------------------------------------


def _shares(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> _SideShares:
    decided = [
        (row, chosen)
        for row in rows
        if len(row.models) == 2 and (chosen := winner(row)) not in (None, TIE)
    ]
    first = ((row.topic, (float(chosen == next(iter(row.models))), 1.0)) for row, chosen in decided)
    last = (
        (row.topic, (float(chosen == row.closer), 1.0))
        for row, chosen in decided
        if row.closer is not None
    )
    return _SideShares(a=Share.estimate(first, mean_of), closer=Share.estimate(last, mean_of))


def _model_figures(rows: Iterable[Row]) -> tuple[_ModelFigures, ...]:
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
    figures = []
    for model, rates in sorted(credits.items()):
        figures.append(
            _ModelFigures(
                model=model,
                people=Share.estimate(((topic, (a, 1.0)) for topic, a, _ in rates), mean_of),
                jury=Share.estimate(((topic, (b, 1.0)) for topic, _, b in rates), mean_of),
                bias=Difference.estimate(((topic, (b - a, 1.0)) for topic, a, b in rates), mean_of),
            )
        )
    return tuple(figures)


# --- groups ------------------------------------------------------------------------------


def _by_group(rows: Iterable[Row], name: Callable[[Row], str]) -> tuple[_GroupFigures, ...]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.compared:
            groups[name(row)].append(row)
    pairs = {name: _pairs(groups[name]) for name in sorted(groups)}
    return tuple(
        _GroupFigures(name=name, agreement=share_alike(some), kappa=kappa_between(some))
        for name, some in pairs.items()
    )


def _by_topic(rows: Iterable[Row]) -> tuple[_GroupFigures, ...]:
    """Group by topic, most debated first; the title is the first wording.

    The intervals are Wilson's, as one topic cannot be resampled.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.compared:
            groups[row.topic].append(row)
    figures = []
    for group in sorted(groups.values(), key=lambda group: (-len(group), group[0].title)):
        share = Share.of(sum(row.people == row.jury for row in group), len(group))
        kappa = kappa_between(_pairs(group))
        figures.append(_GroupFigures(name=group[0].title, agreement=share, kappa=kappa))
    return tuple(figures)


# How blind people are, and what decides for them; pure.
#
# Guesses are compared with chance: 1/k for a menu of k models. Wilson's interval of the share that
# is right (engine/tally/__init__.py) contains that, unless people know more than nothing.


CRITERION_OF = {"logic": "logic", "evidence": "evidence", "rebuttal": "responsiveness"}
"""What jurors score that is nearest to what voters may say decided."""


def measure_guesses(guesses: Iterable[BlindGuess]) -> GuessFigures:
    """Return the share of guesses that were right, and what chance would make it."""
    made = list(guesses)
    share = Share.of(sum(right for right, _ in made), len(made))
    return GuessFigures(
        share=share, chance=fmean(1 / options for _, options in made) if made else None
    )


def measure_grounds(
    said: Mapping[str, float], leads: Mapping[str, float]
) -> tuple[_ReasonShare, ...]:
    """Return how often each thing decided, for voters and for jurors."""
    voters, ballots = round(sum(said.values())), sum(leads.values())
    return tuple(
        _ReasonShare(
            name=name,
            criterion=CRITERION_OF.get(name, ""),
            people=Share.of(round(said.get(name, 0)), voters),
            jurors=leads.get(CRITERION_OF[name], 0.0) / ballots
            if ballots and name in CRITERION_OF
            else None,
        )
        for name in GROUNDS
    )
