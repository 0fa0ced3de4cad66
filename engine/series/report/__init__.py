"""The report of a series as one value, computed from its rows; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, pairwise
from math import ceil, sqrt
from random import Random
from statistics import fmean, median
from typing import Literal, TypeAlias

from engine.series.report.data import CallTotals, EndedDebate, SeriesRows
from engine.series.runner import (
    ArmProgress,
    SeriesProgress,
    count_arm_standings,
    count_standing,
)
from engine.series.spec import Pairing, Series
from engine.stats.agreement import Agreement, kappa_between, measure_agreement, share_alike
from engine.stats.alternative import ReplacementTest, measure_replacement
from engine.stats.comparisons import (
    Arms,
    Juries,
    Trials,
    measure_arms,
    measure_juries,
    measure_trials,
    of_jury,
)
from engine.stats.figure import Figure, Share
from engine.stats.ratings import (
    AdjustedLeaderboard,
    Leaderboard,
    adjust_models,
    contests_of,
    rank_models,
)
from engine.stats.row import Row
from engine.tally import FEWEST
from engine.values.debate import Value

# How often jurors agree with one another, pair by pair; pure.


class _JurorPair(Value):
    """Two jurors on the debates that both judged: how often they chose the same, and Cohen's κ."""

    juror: str
    other: str
    agreement: Share
    kappa: Figure


def juror_pairs(rows: Sequence[Row]) -> tuple[_JurorPair, ...]:
    """Return every pair of jurors that judged a debate on one blind panel."""
    judged = [(row.topic, row.verdicts()) for row in rows]
    jurors = sorted({juror for _, verdicts in judged for juror in verdicts})
    found = []
    for one, other in combinations(jurors, 2):
        both = [
            (topic, said[one], said[other]) for topic, said in judged if {one, other} <= {*said}
        ]
        if both:
            found.append(
                _JurorPair(
                    juror=one,
                    other=other,
                    agreement=share_alike(both),
                    kappa=kappa_between(both),
                )
            )
    return tuple(found)


# The topics on which models differ most, and how much chance alone would do; pure.


FEWEST_ON_TOPIC = 2  # debates of a model on a topic, for a win rate


SHUFFLES = 200


SEED = 1979


_Won: TypeAlias = Sequence[tuple[str, float]]
"""What each model won in a debate, from 0 to 1."""


class _TopicRate(Value):
    """A model's win rate on one topic by the jury, a tie counting half."""

    model: str
    debates: int
    rate: float


class _TopicSplit(Value):
    """How models fared on one topic, the best first.

    `spread` is the standard deviation of their win rates, weighted by debates.
    """

    title: str
    debates: int
    spread: float
    rates: tuple[_TopicRate, ...]


class _TopicSplits(Value):
    """The topics with the most unlike win rates first.

    `by_chance` is the spread that the most unlike topic would pass in 5 % of series in which topics
    made no difference: the 95 % quantile over debates dealt to topics at random. None with fewer
    than two topics.
    """

    splits: tuple[_TopicSplit, ...]
    by_chance: float | None


def split_topics(rows: Sequence[Row]) -> _TopicSplits:
    """Compare win rates by topic, on debates of different models that a jury judged."""
    topics, titles, won = [], dict[str, str](), []
    for row in rows:
        if row.jury is not None and len(set(row.models.values())) > 1:
            topics.append(row.topic)
            titles.setdefault(row.topic, row.title)
            won.append([(model, row.credit(row.jury, s)) for s, model in row.models.items()])
    rated = _rates(topics, won)
    splits = [
        _TopicSplit(
            title=titles[topic],
            debates=topics.count(topic),
            spread=_spread(rates),
            rates=tuple(sorted(rates, key=lambda one: (-one.rate, one.model))),
        )
        for topic, rates in rated.items()
    ]
    ordered = sorted(splits, key=lambda one: (-one.spread, -one.debates, one.title))
    return _TopicSplits(splits=tuple(ordered), by_chance=_by_chance(topics, won))


def _rates(topics: Sequence[str], won: Sequence[_Won]) -> dict[str, list[_TopicRate]]:
    """Return win rates by topic, for topics with at least two models that have one."""
    credits: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for topic, each in zip(topics, won, strict=True):
        for model, credit in each:
            credits[topic][model].append(credit)
    found = {}
    for topic, by_model in credits.items():
        rates = [
            _TopicRate(model=model, debates=len(some), rate=sum(some) / len(some))
            for model, some in by_model.items()
            if len(some) >= FEWEST_ON_TOPIC
        ]
        if len(rates) > 1:
            found[topic] = rates
    return found


def _spread(rates: Sequence[_TopicRate]) -> float:
    n = sum(one.debates for one in rates)
    mean = sum(one.debates * one.rate for one in rates) / n
    return sqrt(sum(one.debates * (one.rate - mean) ** 2 for one in rates) / n)


def _by_chance(topics: Sequence[str], won: Sequence[_Won]) -> float | None:
    if len(set(topics)) < 2:
        return None
    random, dealt, most = Random(SEED), list(topics), []
    for _ in range(SHUFFLES):
        random.shuffle(dealt)
        most.append(max(map(_spread, _rates(dealt, won).values()), default=0.0))
    return sorted(most)[-(-95 * SHUFFLES // 100) - 1]  # the 95 % quantile


# What the figures of a series cannot say, found in its own data; pure.


FEW_TOPICS = 10


CaveatKind: TypeAlias = Literal[
    "unfinished",
    "refused",
    "few_debates",
    "no_verdict",
    "rehearsal",
    "no_people",
    "one_juror",
    "one_family",
    "kin",
    "unrecused",
    "untold",
    "unrated",
    "unbalanced",
    "unpaired",
    "replaced",
    "one_language",
    "few_topics",
    "one_format",
    "unpriced",
]
"""A limit of what a report can say."""


class Caveat(Value):
    """A limit that applies: its counts, and the names that it is about (see the wording)."""

    kind: CaveatKind
    n: int = 0
    of: int = 0
    names: tuple[str, ...] = ()


def find_caveats(series: Series, found: SeriesRows, report: SeriesReport) -> Iterator[Caveat]:
    """Yield every limit that applies, the gravest first."""
    standing = report.standing
    if report.missing:
        yield Caveat(kind="unfinished", n=standing.held, of=standing.held + report.missing)
    if standing.refused:
        ended = standing.held + standing.refused
        yield Caveat(kind="refused", n=standing.refused, of=ended)
    if report.rehearsal:
        yield Caveat(kind="rehearsal", names=report.rehearsal)
    yield from _of_judging(series, report)
    if unrecused := sum(one.unrecused for one in found.ended):
        yield Caveat(kind="unrecused", n=unrecused, of=len(found.ended))
    yield from _of_ratings(report)
    yield from _of_balance(series, found)
    if len(series.languages) == 1:
        yield Caveat(kind="one_language", names=series.languages)
    if len(series.format_names) == 1:
        yield Caveat(kind="one_format", names=series.format_names)
    if len(series.topics) < FEW_TOPICS:
        yield Caveat(kind="few_topics", n=len(series.topics))
    if unpriced := sum(one.unpriced for one in report.totals):
        yield Caveat(kind="unpriced", n=unpriced, of=sum(one.calls for one in report.totals))


def _of_judging(series: Series, report: SeriesReport) -> Iterator[Caveat]:
    held, judged = report.ratings.debates, report.ratings.jury
    if judged < FEWEST:
        yield Caveat(kind="few_debates", n=judged, of=FEWEST)
    if held > judged:
        yield Caveat(kind="no_verdict", n=held - judged, of=held)
    if not report.ratings.people:
        yield Caveat(kind="no_people")
    jurors = series.jury.models
    if len(jurors) == 1:
        yield Caveat(kind="one_juror", names=(jurors[0].ref,))
    elif jurors and len({juror.maker for juror in jurors}) == 1:
        yield Caveat(kind="one_family", n=len(jurors), names=(jurors[0].family,))
    families = {model.maker for model in series.models}
    related = tuple(juror.ref for juror in jurors if juror.maker in families)
    if related:
        yield Caveat(kind="kin", n=len(related), of=len(jurors), names=related)


def _of_ratings(report: SeriesReport) -> Iterator[Caveat]:
    ratings = [one.jury for one in report.ratings.standings if one.jury is not None]
    rated = [one for one in ratings if one.value is not None]
    ordered = sorted(rated, key=lambda one: -(one.value or 0.0))
    untold = sum(((one.low or 0.0) <= (other.high or 0.0)) for one, other in pairwise(ordered))
    if untold:
        yield Caveat(kind="untold", n=untold, of=len(ordered) - 1)
    rated_names = {
        one.model for one in report.ratings.standings if one.jury and one.jury.value is not None
    }
    unrated = tuple(one for one in report.models if one not in rated_names)
    if unrated and report.ratings.jury:
        yield Caveat(kind="unrated", n=len(unrated), names=unrated)


def _of_balance(series: Series, found: SeriesRows) -> Iterator[Caveat]:
    met = Counter(frozenset(row.models.values()) for row in found.rows)
    counts = [met[frozenset(model.ref for model in pair)] for pair in series.pairs]
    if found.rows and not all(counts):
        yield Caveat(kind="unpaired", n=counts.count(0), of=len(counts))
    held = [count for count in counts if count]
    if held and min(held) < max(held):
        yield Caveat(kind="unbalanced", n=min(held), of=max(held))
    replaced = sum(row.mixed for row in found.rows)
    if replaced:
        yield Caveat(kind="replaced", n=replaced, of=len(found.rows))


SCHEMA_VERSION = 1


class _Experiment(Value):
    """What the series' file asks for; `cap_usd` is None without a cap, `arms_seed` without arms.

    `meeting` is how many models meet in a debate: `pairs`, or larger groups.
    """

    topics: int
    models: tuple[str, ...]
    jurors: tuple[str, ...]
    formats: tuple[str, ...]
    languages: tuple[str, ...]
    pairs: int
    meeting: int
    pairing: str
    sides: str
    repeats: int
    arms_seed: int | None
    jury_mode: str
    cap_usd: float | None


class _Costs(Value):
    """What debates of one format took, each with all of its calls; empty format: all of them."""

    format: str
    debates: int
    calls: float
    usd: float
    usd_median: float
    usd_max: float


class PairResult(Value):
    """How often one model won against another, lost and tied, by one judge."""

    model: str
    other: str
    won: int
    lost: int
    tied: int


class _ModelConduct(Value):
    """How a model debated.

    `words` and `of_limit` (the share of the allowed words) are means of its turns; `broken` counts
    its turns that broke a rule, by kind, `breaking` those that broke any. `refused` of its `ended`
    debates are those in which it declined the topic, in a turn or for good. `debates` have a
    result, and `usd` is what its own calls cost in one, on average.
    """

    model: str
    debates: int
    ended: int
    refused: int
    turns: int
    words: float | None
    of_limit: float | None
    breaking: int
    broken: dict[str, int]
    usd: float | None


class _Availability(Value):
    """How reliably and how fast a model answered, in every role.

    `failed` are tries without an answer, but those that our own end cut off: they are `lost`, and
    no try of the model. `waiting` counts debates that wait for it now. `p50` and
    `p95` are of the seconds of answers (nearest rank), None without one.
    """

    model: str
    calls: int
    failed: int
    lost: int
    waiting: int
    p50: float | None
    p95: float | None


class SeriesReport(Value):
    """A series at one moment: its totals, results and their limits.

    `until` is the newest of its debates' reveals. `wins` and `people_wins` have each pair that met
    once. All statistics include rehearsal models, which `rehearsal` names.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    begun_at: datetime
    read_at: datetime
    experiment: _Experiment
    standing: SeriesProgress
    stopping: bool
    rehearsal: tuple[str, ...]
    totals: tuple[CallTotals, ...]
    costs: tuple[_Costs, ...]
    ratings: Leaderboard
    adjusted: AdjustedLeaderboard
    wins: tuple[PairResult, ...]
    people_wins: tuple[PairResult, ...]
    agreement: Agreement
    juries: Juries | None
    arm_standings: tuple[ArmProgress, ...]
    arm_totals: Mapping[str, CallTotals]
    arms: Arms | None
    trials: Trials | None
    replacement: ReplacementTest
    juror_pairs: tuple[_JurorPair, ...]
    topics: _TopicSplits
    conduct: tuple[_ModelConduct, ...]
    availability: tuple[_Availability, ...]
    caveats: tuple[Caveat, ...] = ()

    @property
    def missing(self) -> int:
        """How many debates are still to be held; informative pairing may need none of them."""
        standing = self.standing
        if self.experiment.pairing == Pairing.INFORMATIVE:
            return standing.running + sum(standing.waiting.values()) + standing.failed
        return max(0, standing.total - standing.held - standing.refused)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were to debate, the best rated first."""
        rated = [one.model for one in self.ratings.standings]
        return tuple(dict.fromkeys((*rated, *self.experiment.models)))


def make_report(found: SeriesRows, read_at: datetime, jury: str | None = None) -> SeriesReport:
    """Compute the report of a series, on the jury that is named or on the first one.

    Raises UsageError if no such jury read it.
    """
    series = Series.model_validate_json(found.stored.body)
    report = _measure(series, found, read_at, jury)
    return report.model_copy(update={"caveats": tuple(find_caveats(series, found, report))})


def _measure(
    series: Series, found: SeriesRows, read_at: datetime, jury: str | None
) -> SeriesReport:
    standing = count_standing(series, found.debates, found.refusals)
    rows = found.rows if jury is None else of_jury(found.rows, jury)
    unmixed = [row for row in rows if not row.mixed]
    names = {model for model, _ in found.calls}
    names |= {model.ref for model in (*series.models, *series.jury.models)}
    debaters = {model.ref for model in series.models}
    debaters |= {model for one in found.ended for model in one.models}
    return SeriesReport(
        name=series.name,
        begun_at=found.stored.begun_at,
        read_at=read_at,
        experiment=_Experiment(
            topics=len(series.topics),
            models=tuple(model.ref for model in series.models),
            jurors=tuple(model.ref for model in series.jury.models),
            formats=series.format_names,
            languages=series.languages,
            pairs=len(series.pairs),
            meeting=len(series.pairs[0]),
            pairing=series.pairing,
            sides=series.sides,
            repeats=series.repeats,
            arms_seed=series.arms_seed if series.arms else None,
            jury_mode=series.jury.mode,
            cap_usd=series.limits.usd,
        ),
        standing=standing,
        stopping=found.stored.stop,
        rehearsal=tuple(sorted(one for one in names if one.startswith("rehearsal/"))),
        totals=tuple(sums for _, sums in sorted(found.calls.items())),
        costs=tuple(_costs(found)),
        ratings=rank_models(rows),
        adjusted=adjust_models(rows),
        wins=_wins(unmixed, lambda row: row.jury),
        people_wins=_wins(unmixed, lambda row: row.people),
        agreement=measure_agreement(rows),
        juries=measure_juries(found.rows),
        arm_standings=count_arm_standings(series, found.debates),
        arm_totals=found.arms,
        arms=measure_arms(rows),
        trials=measure_trials(rows),
        replacement=measure_replacement(rows),
        juror_pairs=juror_pairs(rows),
        topics=split_topics(unmixed),
        conduct=tuple(_conduct_of(name, found) for name in sorted(debaters)),
        availability=_availability(found, standing),
    )


# --- what it took ------------------------------------------------------------------------


def _costs(found: SeriesRows) -> Iterable[_Costs]:
    """Yield the costs of all debates with a result, and by format if there are several."""
    held = [one for one in found.ended if one.row is not None]
    formats = sorted({one.format for one in held})
    for name in ("", *formats) if len(formats) > 1 else ("",):
        some = [one for one in held if name in ("", one.format)]
        took = [found.costs.get(one.id, (0, 0.0)) for one in some]
        if took:
            usd = [cost for _, cost in took]
            yield _Costs(
                format=name,
                debates=len(some),
                calls=fmean(calls for calls, _ in took),
                usd=fmean(usd),
                usd_median=median(usd),
                usd_max=max(usd),
            )


def _availability(found: SeriesRows, standing: SeriesProgress) -> tuple[_Availability, ...]:
    by_model: dict[str, list[CallTotals]] = defaultdict(list)
    for (model, _), sums in sorted(found.calls.items()):
        by_model[model].append(sums)
    for model in standing.waiting:
        by_model.setdefault(model, [])
    measured = []
    for model, roles in sorted(by_model.items()):
        seconds = sorted(value for one in roles for value in one.seconds)
        measured.append(
            _Availability(
                model=model,
                calls=sum(one.calls for one in roles),
                failed=sum(one.failed for one in roles),
                lost=sum(one.lost for one in roles),
                waiting=standing.waiting.get(model, 0),
                p50=nearest_rank(seconds, 0.5),
                p95=nearest_rank(seconds, 0.95),
            )
        )
    return tuple(measured)


def nearest_rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share of the values does not exceed."""
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None


# --- who won, and how they debated -------------------------------------------------------


def _wins(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> tuple[PairResult, ...]:
    return tuple(
        PairResult(model=one.first, other=one.second, won=one.won, lost=one.lost, tied=one.tied)
        for one in contests_of(rows, winner).pairs()
    )


def _conduct_of(model: str, found: SeriesRows) -> _ModelConduct:
    mine: list[EndedDebate] = [one for one in found.ended if model in one.models]
    spoken = [turn for one in mine for turn in one.spoken if turn.model == model]
    limited = [turn for turn in spoken if turn.limit]
    held = [one for one in mine if one.row is not None]
    paid = [found.paid.get((one.id, model), 0.0) for one in held]
    return _ModelConduct(
        model=model,
        debates=len(held),
        ended=len(mine),
        refused=found.refusals.get(model, 0),
        turns=len(spoken),
        words=fmean(turn.words for turn in spoken) if spoken else None,
        of_limit=fmean(turn.words / turn.limit for turn in limited) if limited else None,
        breaking=sum(bool(turn.broken) for turn in spoken),
        broken=dict(sorted(Counter(kind for turn in spoken for kind in set(turn.broken)).items())),
        usd=fmean(paid) if paid else None,
    )
