"""A report as a page: its words in their order, as Markdown and as HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined, Template

from engine.dataset.page import inline
from engine.drawing.svg import Picture
from engine.series.report.data import CallTotals
from engine.series.report.report import (
    Caveat,
    CaveatKind,
    PairResult,
    SeriesReport,
)
from engine.series.spec import Pairing
from engine.stats.agreement import SideShares
from engine.stats.figure import FEWEST
from engine.stats.presentation import (
    word_coefficient,
    word_effect,
    word_points,
    word_rating,
    word_record,
    word_share,
)
from engine.values.language import N_
from engine.values.text import dollars
from engine.words.translation import plural


class _ReportTable(NamedTuple):
    """A table; every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class _ReportSection(NamedTuple):
    """A part of a report; `picture` is the name of its picture, empty without one."""

    title: str
    lines: tuple[str, ...]
    grids: tuple[_ReportTable, ...]
    picture: str = ""


class ReportPage(NamedTuple):
    """A whole report; all of it is plain text."""

    name: str
    title: str
    lines: tuple[str, ...]
    sections: tuple[_ReportSection, ...]


# Every word of a series' report.


TITLE = "Series {name}"
TOPICS = 15
NO_DEBATES = (
    "No debate of this series has ended with a result yet. Go on with rostrum series run, then "
    "write the report again."
)
STATE = "{held:,} of {total:,} debates held"
HOW = (
    "In brackets: 95 % intervals, resampled by topic; those of ratings come from the likelihood. "
    f"No share is given for fewer than {FEWEST} debates."
)
RULES = {
    "too_many_words": "too many words",
    "too_few_words": "too few words",
    "cut": "cut short",
    "cut_off": "cut off at the token cap",
    "repeats": "one sentence over and over",
    "no_decision": "no readable decision",
}
CAVEATS = {
    CaveatKind.UNFINISHED: "Only {n:,} of {of:,} debates were held. Pairs and topics that come "
    "late in the series are missing or thin.",
    CaveatKind.REFUSED: "{n:,} of {of:,} debates ended because a model declined the topic. They "
    "are in no rating, so a model is rated on the topics that it accepts.",
    CaveatKind.FEW_DEBATES: "A jury judged {n} debates. Shares need at least {of}.",
    CaveatKind.NO_VERDICT: "{n:,} of {of:,} debates have no verdict and count in no rating.",
    CaveatKind.REHEARSAL: "Rehearsal models are no language models; a result with one is a test "
    "of the setup and nothing more: {names}.",
    CaveatKind.NO_PEOPLE: "No people voted. Ratings say what the jury prefers; whether people "
    "would agree was not measured.",
    CaveatKind.ONE_JUROR: "A single juror, {names}, decided every debate. Its taste cannot be "
    "told from quality.",
    CaveatKind.ONE_FAMILY: "All {n} jurors are of one family, {names}. Errors that they share "
    "look like agreement.",
    CaveatKind.KIN: "{n} of {of} jurors are of a debater's family: {names}. They do not count in "
    "debates of their family, so panels differ from pair to pair.",
    CaveatKind.UNRECUSED: "In {n:,} of {of:,} debates every juror was of a debater's family, and "
    "none could be recused. They may favour their own.",
    CaveatKind.UNTOLD: "For {n} of {of} neighbours in the ranking the intervals overlap. Their "
    "order may be chance.",
    CaveatKind.UNRATED: "Without a rating by the jury: {names}.",
    CaveatKind.UNBALANCED: "Pairs met between {n} and {of} times. Ratings of models that met "
    "rarely rest on less.",
    CaveatKind.UNPAIRED: "{n} of {of} pairs have not met.",
    CaveatKind.REPLACED: "In {n} of {of} debates a model was replaced. They are in no rating.",
    CaveatKind.ONE_LANGUAGE: "All debates are in one language ({names}). Other languages may rank "
    "models otherwise.",
    CaveatKind.FEW_TOPICS: "The topics are few ({n}). Another choice of topics may rank models "
    "otherwise.",
    CaveatKind.ONE_FORMAT: "All debates have one format ({names}).",
    CaveatKind.UNPRICED: "The cost of {n:,} of {of:,} calls is not known. Totals in USD are at "
    "least what is shown.",
}


def write_page(report: SeriesReport) -> ReportPage:
    """Lay out a report: what a reader sees, in order."""
    columns = ("model", "role", "calls", "failed", "in", "out", "reasoning", "cached", "USD")
    rows = [(one.model, one.role, *_sums([one])) for one in report.totals]
    grid = _ReportTable("", columns, (*rows, ("all", "", *_sums(report.totals))))
    lines = ["Calls, failed tries, tokens and USD."] if rows else []
    sections = [_ReportSection("Totals", tuple(lines), (grid,) if rows else ())]
    if report.ratings.debates:
        sections += [
            _ratings(report),
            _wins(report),
            _sides(report),
            _topics(report),
            _jury(report),
        ]
    sections += [
        _conduct(report),
        _availability(report),
        _costs(report),
        _ReportSection(
            "What the figures cannot say", (" ".join(word_caveats(report.caveats)),), ()
        ),
    ]
    return ReportPage(
        name=report.name,
        title=TITLE.format(name=report.name),
        lines=tuple(_head(report)),
        sections=tuple(one for one in sections if one.lines or one.grids),
    )


def write_results(report: SeriesReport) -> ReportPage:
    """Lay out what a report says of revealed debates alone.

    Calls, costs and waiting debates are left out, as they would name models of a debate that runs.
    """
    standing = report.standing
    sections = (
        [_ratings(report), _wins(report), _sides(report), _topics(report), _jury(report)]
        if report.ratings.debates
        else []
    )
    return ReportPage(
        name=report.name,
        title=TITLE.format(name=report.name),
        lines=(STATE.format(held=standing.held, total=standing.total) + ".",),
        sections=tuple(one for one in sections if one.lines or one.grids),
    )


def _head(report: SeriesReport) -> Iterator[str]:
    standing, asked = report.standing, report.experiment
    state = (
        "{held:,} of at most {total:,} debates held"
        if asked.pairing == Pairing.INFORMATIVE
        else STATE
    )
    parts = [state.format(held=standing.held, total=standing.total)]
    parts += [f"{standing.failed:,} failed"] if standing.failed else []
    parts += [f"{standing.refused:,} refused"] if standing.refused else []
    parts += [f"{standing.running:,} running"] if standing.running else []
    parts += [f"{n:,} waiting for {model}" for model, n in standing.waiting.items()]
    begun = f"begun {report.begun_at:%Y-%m-%d}, read {report.read_at:%Y-%m-%d %H:%M} UTC"
    yield f"{', '.join(parts)}; {begun}."
    yield (
        f"{_count('model', len(asked.models))} in {_count('pair', asked.pairs)}, "
        f"{_count('topic', asked.topics)}, formats {', '.join(asked.formats)}, languages "
        f"{', '.join(asked.languages)}, repeats {asked.repeats}, pairing {asked.pairing}, sides "
        f"{asked.sides}, jury {asked.jury_mode}."
    )
    if report.missing:
        yield (
            "The series is not complete. This report covers what had ended by {at}; totals "
            "also have the calls of debates that were running."
        ).format(at=f"{report.read_at:%Y-%m-%d %H:%M} UTC")
        yield from ["It was asked to stop: it begins no more debates."] if report.stopping else []
    if report.rehearsal:
        yield (
            "Rehearsal models took part. They are prepared texts, not language models: "
            "their ratings and verdicts say nothing about any language model."
        )
    if not report.ratings.debates:
        yield NO_DEBATES


def _count(noun: str, n: int) -> str:
    return plural(f"{{n}} {noun}", f"{{n}} {noun}s", n)


# --- totals and results ------------------------------------------------------------------


def _sums(totals: Sequence[CallTotals]) -> list[str]:
    names = ("calls", "failed", "tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached")
    sums = [sum(getattr(one, name) for one in totals) for name in names]
    usd = f"{sum(one.usd for one in totals):.4f}"
    unpriced = any(one.unpriced for one in totals)
    return [*(f"{number:,}" for number in sums), f"≥ {usd}" if unpriced else usd]


def _ratings(report: SeriesReport) -> _ReportSection:
    board, adjusted = report.ratings, report.adjusted
    judges = ("jury", "people") if board.people else ("jury",)
    columns = ["model"]
    for judge in judges:
        columns += [f"by the {judge}" if judge == "jury" else "by people", "record", "adjusted"]
    rows = []
    for one in board.standings:
        row = [one.model]
        for judge in judges:
            rating = getattr(one, judge)
            equal = getattr(adjusted, judge).ratings.get(one.model)
            row += [word_rating(rating), word_record(rating), word_rating(equal)]
        rows.append(tuple(row))
    judged = f"{board.jury:,} debates by the jury, {board.people:,} by people."
    about = "Adjusted: with side, last word and length equal."
    grid = _ReportTable("", tuple(columns), tuple(rows))
    return _ReportSection(
        N_("Ratings"),
        (judged, "1000 is the mean; 400 points are odds of ten to one. Won–lost–tied.", about, HOW),
        (grid,),
        "ratings",
    )


def _wins(report: SeriesReport) -> _ReportSection:
    grids = [_matrix(report, "the jury", report.wins)] if report.wins else []
    grids += [_matrix(report, "people", report.people_wins)] if report.people_wins else []
    return _ReportSection("Who beat whom", (), tuple(grids), "wins" if grids else "")


def _matrix(report: SeriesReport, judge: str, pairs: Sequence[PairResult]) -> _ReportTable:
    met = {(one.model, one.other): (one.won, one.lost, one.tied) for one in pairs}
    met |= {(one.other, one.model): (one.lost, one.won, one.tied) for one in pairs}
    models = report.models
    rows = []
    for number, model in enumerate(models, 1):
        cells = [
            "" if model == other else "–".join(map(str, met.get((model, other), ()))) or "·"
            for other in models
        ]
        rows.append((f"{number} {model}", *cells))
    columns = ("model", *(str(number) for number in range(1, len(models) + 1)))
    return _ReportTable(
        f"Rows won–lost–tied against columns, by {judge}. The columns are the models in the "
        "order of the rows.",
        columns,
        tuple(rows),
    )


def _sides(report: SeriesReport) -> _ReportSection:
    found, adjusted = report.agreement, report.adjusted
    judges: list[tuple[str, SideShares]] = [("the jury", found.jury_shares)]
    if report.ratings.people:
        judges.append(("people", found.people_shares))
    shares = [
        (judge, word_share(one.a), str(one.a.n), word_share(one.closer), str(one.closer.n))
        for judge, one in judges
    ]
    columns = ("by", "A won", "debates", "the last speaker won", "debates")
    effects = [
        (words, word_effect(getattr(adjusted.jury, name)))
        for name, words in (
            ("side", "side A"),
            ("closer", "speaking last"),
            ("length", "twice as many words"),
        )
    ]
    grids = (
        _ReportTable("Of decided debates", columns, tuple(shares)),
        _ReportTable(
            "Lead in points of rating, by the jury", ("advantage of", "lead"), tuple(effects)
        ),
    )
    return _ReportSection("Side and last word", (), grids, "sides")


def _topics(report: SeriesReport) -> _ReportSection:
    found = report.topics
    if not found.splits:
        return _ReportSection("Topics", (), ())
    lines = (
        "Spread is the standard deviation of the models' win rates on a topic, for models "
        "with at least two debates on it."
    )
    if found.by_chance is not None:
        above = sum(one.spread > found.by_chance for one in found.splits)
        lines += (
            f" Were topics all alike, the largest spread would be above {found.by_chance:.2f} "
            f"in one series of twenty; {above} of {len(found.splits)} topics are."
        )
    columns = ("topic", "debates", "spread", "best", "worst")
    rows = []
    for one in found.splits[:TOPICS]:
        ends = (f"{end.model} {_percent(end.rate, 0)}" for end in (one.rates[0], one.rates[-1]))
        rows.append((one.title, str(one.debates), f"{one.spread:.2f}", *ends))
    return _ReportSection(
        "Topics on which models differ most", (lines,), (_ReportTable("", columns, tuple(rows)),)
    )


def _jury(report: SeriesReport) -> _ReportSection:
    pairs = tuple(
        (
            one.juror,
            one.other,
            word_share(one.agreement),
            word_coefficient(one.kappa),
            str(one.agreement.n),
        )
        for one in report.juror_pairs
    )
    found = report.agreement
    people = bool(found.compared)
    columns = ["juror", "same in both orders", "invalid ballots", "ballots"]
    if people:
        columns[1:1] = ["agrees with people", "debates", "favours its family, points"]
    jurors = []
    for one in found.jurors:
        row = [one.juror, word_share(one.consistency), word_share(one.invalid), str(one.ballots)]
        if people:
            agreed = one.agreement
            row[1:1] = [word_share(agreed), str(agreed.n), word_points(one.self_preference)]
        jurors.append(tuple(row))
    grids = [_ReportTable(N_("Jurors"), tuple(columns), tuple(jurors))] if jurors else []
    if pairs:
        titles = ("juror", "other juror", "agree", "Cohen's κ", "debates")
        grids.append(_ReportTable("Juror by juror", titles, pairs))
    lines = [f"Krippendorff's α of jurors: {word_coefficient(found.pooled.alpha_jurors)}."]
    if people:
        lines.append(
            f"Jury and people agree on {word_share(found.agreement)} of {found.compared:,} "
            f"debates; Cohen's κ {word_coefficient(found.kappa)}; Krippendorff's α of people "
            f"{word_coefficient(found.pooled.alpha_people)}."
        )
    return _ReportSection("The jury", tuple(lines), tuple(grids), "jurors" if pairs else "")


# --- conduct, availability, cost ---------------------------------------------------------


def _conduct(report: SeriesReport) -> _ReportSection:
    rows = []
    for one in report.conduct:
        if one.ended:
            how = ", ".join(f"{rule_name(kind)} {n}" for kind, n in one.broken.items())
            share, refused = _of(one.breaking, one.turns), _of(one.refused, one.ended)
            words = "" if one.words is None else f"{one.words:.0f}"
            limit = "" if one.of_limit is None else _percent(one.of_limit)
            turns = f"{one.turns:,}"
            rows.append((one.model, str(one.ended), turns, words, limit, share, how, refused))
    counted = ("model", "debates", "turns", "words a turn", "of the limit")
    columns = (*counted, "broke a limit", "how", "refused the topic")
    return _ReportSection(
        "Length, limits and refusals", (), (_ReportTable("", columns, tuple(rows)),) if rows else ()
    )


def rule_name(kind: str) -> str:
    """Name a rule that turns break."""
    return RULES.get(kind, kind.replace("_", " "))


def _of(n: int, of: int) -> str:
    return f"{n:,} ({_percent(n / of)})" if of else "0"


def _percent(share: float, digits: int = 1) -> str:
    return f"{share:.{digits}%}".replace("%", " %")


def _availability(report: SeriesReport) -> _ReportSection:
    rows = []
    for one in report.availability:
        times = ("" if value is None else f"{value:.1f}" for value in (one.p50, one.p95))
        failed, waiting = _of(one.failed, one.calls), str(one.waiting or "")
        rows.append((one.model, f"{one.calls:,}", failed, waiting, *times))
    columns = ("model", "tries", "failed", "debates waiting", "p50, s", "p95, s")
    lines = ("Failed: tries without an answer, of every role. p50 and p95: seconds of an answer.",)
    if not rows:
        return _ReportSection("Availability and latency", (), ())
    grid = _ReportTable("", columns, tuple(rows))
    return _ReportSection("Availability and latency", lines, (grid,))


def _costs(report: SeriesReport) -> _ReportSection:
    if not report.costs:
        return _ReportSection(N_("Cost"), (), ())
    columns = ("format", "debates", "calls a debate", "USD a debate", "median", "highest")
    costs = []
    for one in report.costs:
        usd = map(dollars, (one.usd, one.usd_median, one.usd_max))
        costs.append((one.format or "all", f"{one.debates:,}", f"{one.calls:.1f}", *usd))
    formats = _ReportTable("Cost of a debate, with its jury", columns, tuple(costs))
    spent = tuple(
        (one.model, str(one.debates), dollars(one.usd))
        for one in report.conduct
        if one.usd is not None
    )
    own = _ReportTable("A debater's own calls", ("model", "debates", "USD a debate"), spent)
    return _ReportSection(N_("Cost"), (), (formats, own), "cost")


# --- limits ------------------------------------------------------------------------------


def word_caveats(caveats: Iterable[Caveat]) -> Iterator[str]:
    """Yield a sentence for each limit that applies."""
    for one in caveats:
        yield CAVEATS[one.kind].format(n=one.n, of=one.of, names=", ".join(one.names))


# A report as Markdown and as HTML; names and topics stay data in both.


def write_markdown(page: ReportPage, pictures: Mapping[str, Picture]) -> str:
    """Return a report as Markdown; its pictures are files beside it."""
    return _template("md").render(page=page, pictures=pictures).strip() + "\n"


def write_html(page: ReportPage, pictures: Mapping[str, Picture]) -> str:
    """Return a report as one HTML file that loads nothing and runs nothing."""
    return _template("html").render(page=page, pictures=pictures).strip() + "\n"


def _data(svg: str) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


@cache
def _template(kind: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=kind == "html",  # noqa: S701 - Markdown is no HTML; `inline` escapes
    )
    environment.filters |= {"inline": inline, "data": _data}
    text = files(__package__).joinpath(f"page.{kind}.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)
