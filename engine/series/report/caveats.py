"""What the figures of a series cannot say, found in its own data; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.blinding.vocabulary import kin
from engine.series.report.reading import SeriesRows
from engine.series.spec import Series
from engine.stats.figure import FEWEST
from engine.stats.ratings import Rating
from engine.values.debate import Model, Value

if TYPE_CHECKING:
    from engine.series.report.report import SeriesReport

FEW_TOPICS = 10


class CaveatKind(StrEnum):
    """A limit of what a report can say."""

    UNFINISHED = "unfinished"
    REFUSED = "refused"
    FEW_DEBATES = "few_debates"
    NO_VERDICT = "no_verdict"
    REHEARSAL = "rehearsal"
    NO_PEOPLE = "no_people"
    ONE_JUROR = "one_juror"
    ONE_FAMILY = "one_family"
    KIN = "kin"
    UNRECUSED = "unrecused"
    UNTOLD = "untold"
    UNRATED = "unrated"
    UNBALANCED = "unbalanced"
    UNPAIRED = "unpaired"
    REPLACED = "replaced"
    ONE_LANGUAGE = "one_language"
    FEW_TOPICS = "few_topics"
    ONE_FORMAT = "one_format"
    UNPRICED = "unpriced"


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
        yield Caveat(kind=CaveatKind.UNFINISHED, n=standing.held, of=standing.held + report.missing)
    if standing.refused:
        ended = standing.held + standing.refused
        yield Caveat(kind=CaveatKind.REFUSED, n=standing.refused, of=ended)
    if report.rehearsal:
        yield Caveat(kind=CaveatKind.REHEARSAL, names=report.rehearsal)
    yield from _of_judging(series, report)
    if unrecused := sum(one.unrecused for one in found.ended):
        yield Caveat(kind=CaveatKind.UNRECUSED, n=unrecused, of=len(found.ended))
    yield from _of_ratings(report)
    yield from _of_balance(series, found)
    yield from _of_breadth(series)
    if unpriced := sum(one.unpriced for one in report.totals):
        yield Caveat(
            kind=CaveatKind.UNPRICED, n=unpriced, of=sum(one.calls for one in report.totals)
        )


def _of_judging(series: Series, report: SeriesReport) -> Iterator[Caveat]:
    held, judged = report.ratings.debates, report.ratings.jury
    if judged < FEWEST:
        yield Caveat(kind=CaveatKind.FEW_DEBATES, n=judged, of=FEWEST)
    if held > judged:
        yield Caveat(kind=CaveatKind.NO_VERDICT, n=held - judged, of=held)
    if not report.ratings.people:
        yield Caveat(kind=CaveatKind.NO_PEOPLE)
    jurors = series.jury.models
    if len(jurors) == 1:
        yield Caveat(kind=CaveatKind.ONE_JUROR, names=(jurors[0].ref,))
    elif jurors and len({kin(juror.family) for juror in jurors}) == 1:
        yield Caveat(kind=CaveatKind.ONE_FAMILY, n=len(jurors), names=(jurors[0].family,))
    related = _kin(series.models, jurors)
    if related:
        yield Caveat(kind=CaveatKind.KIN, n=len(related), of=len(jurors), names=related)


def _kin(models: Sequence[Model], jurors: Sequence[Model]) -> tuple[str, ...]:
    """Return the jurors of a debater's family."""
    families = {kin(model.family) for model in models}
    return tuple(juror.ref for juror in jurors if kin(juror.family) in families)


def _of_ratings(report: SeriesReport) -> Iterator[Caveat]:
    ratings = [one.jury for one in report.ratings.standings if one.jury is not None]
    rated = [one for one in ratings if one.value is not None]
    ordered = sorted(rated, key=lambda one: -(one.value or 0.0))
    untold = sum(_overlap(one, other) for one, other in pairwise(ordered))
    if untold:
        yield Caveat(kind=CaveatKind.UNTOLD, n=untold, of=len(ordered) - 1)
    rated_names = {
        one.model for one in report.ratings.standings if one.jury and one.jury.value is not None
    }
    unrated = tuple(one for one in report.models if one not in rated_names)
    if unrated and report.ratings.jury:
        yield Caveat(kind=CaveatKind.UNRATED, n=len(unrated), names=unrated)


def _overlap(better: Rating, worse: Rating) -> bool:
    return (better.low or 0.0) <= (worse.high or 0.0)


def _of_balance(series: Series, found: SeriesRows) -> Iterator[Caveat]:
    met = Counter(frozenset(row.models.values()) for row in found.rows)
    counts = [met[frozenset(model.ref for model in pair)] for pair in series.pairs]
    if found.rows and not all(counts):
        yield Caveat(kind=CaveatKind.UNPAIRED, n=counts.count(0), of=len(counts))
    held = [count for count in counts if count]
    if held and min(held) < max(held):
        yield Caveat(kind=CaveatKind.UNBALANCED, n=min(held), of=max(held))
    replaced = sum(row.mixed for row in found.rows)
    if replaced:
        yield Caveat(kind=CaveatKind.REPLACED, n=replaced, of=len(found.rows))


def _of_breadth(series: Series) -> Iterator[Caveat]:
    if len(series.languages) == 1:
        yield Caveat(kind=CaveatKind.ONE_LANGUAGE, names=series.languages)
    formats = {options.format or "" for options in series.formats}
    if len(formats) == 1:
        yield Caveat(kind=CaveatKind.ONE_FORMAT, names=tuple(formats))
    if len(series.topics) < FEW_TOPICS:
        yield Caveat(kind=CaveatKind.FEW_TOPICS, n=len(series.topics))
