"""A report as a page: its words in their order, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined, Template

from engine.dataset.page import PageSection, PageTable, inline, table_of
from engine.drawing import Picture, data_address
from engine.series.report import (
    Caveat,
    PairResult,
    SeriesReport,
)
from engine.series.report.data import CallTotals
from engine.series.spec import Pairing
from engine.stats.alternative import tell_replacement
from engine.stats.comparisons import tell_arms, tell_juries, tell_trials
from engine.stats.ratings import EFFECTS, word_rating
from engine.tally import FEWEST
from engine.values.language import N_
from engine.values.text import dollars
from engine.words.translation import plural


class ReportPage(NamedTuple):
    """A whole report; all of it is plain text."""

    name: str
    title: str
    lines: tuple[str, ...]
    sections: tuple[PageSection, ...]


# Every word of a series' report.


TITLE = "Series {name}"
TOPICS = 15
NO_DEBATES = (
    "No debate of this series has ended with a result yet. Go on with rostrum series run, then "
    "write the report again."
)
NO_RATINGS = "No debate was decided, by the jury or by people, so there are no ratings yet."
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
    "unfinished": "Only {n:,} of {of:,} debates were held. Pairs and topics that come "
    "late in the series are missing or thin.",
    "refused": "{n:,} of {of:,} debates ended because a model declined the topic. They "
    "are in no rating, so a model is rated on the topics that it accepts.",
    "few_debates": "A jury judged {n} debates. Shares need at least {of}.",
    "no_verdict": "{n:,} of {of:,} debates have no verdict and count in no rating.",
    "rehearsal": "Rehearsal models are no language models; a result with one is a test "
    "of the setup and nothing more: {names}.",
    "no_people": "No people voted. Ratings say what the jury prefers; whether people "
    "would agree was not measured.",
    "one_juror": "A single juror, {names}, decided every debate. Its taste cannot be "
    "told from quality.",
    "one_family": "All {n} jurors are of one family, {names}. Errors that they share "
    "look like agreement.",
    "kin": "{n} of {of} jurors are of a debater's family: {names}. They do not count in "
    "debates of their family, so panels differ from pair to pair.",
    "unrecused": "In {n:,} of {of:,} debates every juror was of a debater's family, and "
    "none could be recused. They may favour their own.",
    "untold": "For {n} of {of} neighbours in the ranking the intervals overlap. Their "
    "order may be chance.",
    "unrated": "Without a rating by the jury: {names}.",
    "unbalanced": "Pairs met between {n} and {of} times. Ratings of models that met "
    "rarely rest on less.",
    "unpaired": "{n} of {of} pairs have not met.",
    "replaced": "In {n} of {of} debates a model was replaced. They are in no rating.",
    "one_language": "All debates are in one language ({names}). Other languages may rank "
    "models otherwise.",
    "few_topics": "The topics are few ({n}). Another choice of topics may rank models otherwise.",
    "one_format": "All debates have one format ({names}).",
    "unpriced": "The cost of {n:,} of {of:,} calls is not known. Totals in USD are at "
    "least what is shown.",
}


TOTALS = ("calls", "failed", "in", "out", "reasoning", "cached", "USD")


def write_page(report: SeriesReport) -> ReportPage:
    """Lay out a report: what a reader sees, in order."""
    columns = ("model", "role", *TOTALS)
    rows = [(one.model, one.role, *_sums([one])) for one in report.totals]
    totals = PageSection(
        "totals",
        "Totals",
        lines=("Calls, failed tries, tokens and USD.",) if rows else (),
        grids=(table_of(columns, [*rows, ("all", "", *_sums(report.totals))]),) if rows else (),
    )
    told = " ".join(word_caveats(report.caveats))
    limits = PageSection("limits", "What the figures cannot say", lines=(told,))
    others = (_conduct(report), _availability(report), _costs(report), limits)
    return _page(report, tuple(_head(report)), totals, *_results(report), *others)


def write_results(report: SeriesReport) -> ReportPage:
    """Lay out what a report says of revealed debates alone.

    Calls, costs and waiting debates are left out, as they would name models of a debate that runs.
    """
    standing = report.standing
    state = STATE.format(held=standing.held, total=standing.total) + "."
    return _page(report, (state,), *_results(report))


def _page(report: SeriesReport, lines: tuple[str, ...], *sections: PageSection) -> ReportPage:
    shown = tuple(one for one in sections if one.lines or one.grids)
    return ReportPage(report.name, TITLE.format(name=report.name), lines, shown)


def _results(report: SeriesReport) -> tuple[PageSection, ...]:
    if not report.ratings.debates:
        return ()
    judged = (_arms(report), _trials(report), _jury(report), _replacement(report))
    if not (report.ratings.jury or report.ratings.people):
        return PageSection("ratings", N_("Ratings"), lines=(NO_RATINGS,)), *judged
    found = (("the jury", report.wins), ("people", report.people_wins))
    grids = tuple(_matrix(report, judge, pairs) for judge, pairs in found if pairs)
    wins = PageSection("wins", "Who beat whom", grids=grids)
    return _ratings(report), wins, _sides(report), _topics(report), *judged


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
    met = "pair" if asked.meeting == 2 else "group"
    begun = f"begun {report.begun_at:%Y-%m-%d}, read {report.read_at:%Y-%m-%d %H:%M} UTC"
    yield f"{', '.join(parts)}; {begun}."
    yield (
        f"{_count('model', len(asked.models))} in {_count(met, asked.pairs)}, "
        f"{_count('topic', asked.topics)}, formats {', '.join(asked.formats)}, languages "
        f"{', '.join(asked.languages)}, repeats {asked.repeats}, pairing {asked.pairing}, sides "
        f"{asked.sides}, jury {asked.jury_mode}."
    )
    if report.arm_standings:
        arms = ", ".join(one.arm for one in report.arm_standings)
        yield f"Each debate fell to an arm by lot (seed {asked.arms_seed}): {arms}."
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


def _ratings(report: SeriesReport) -> PageSection:
    board, adjusted = report.ratings, report.adjusted
    judges = ("jury", "people") if board.people else ("jury",)
    columns, rows = ["model"], []
    for judge in judges:
        columns += [f"by the {judge}" if judge == "jury" else "by people", "record", "adjusted"]
    for one in board.standings:
        row = [one.model]
        for judge in judges:
            rating = getattr(one, judge)
            equal = getattr(adjusted, judge).ratings.get(one.model)
            row += [word_rating(rating), rating.record if rating else "", word_rating(equal)]
        rows.append(row)
    judged = f"{board.jury:,} debates by the jury, {board.people:,} by people."
    points = "1000 is the mean; 400 points are odds of ten to one. Won–lost–tied."
    about = "Adjusted: with side, last word and length equal."
    lines = (judged, points, about, HOW)
    return PageSection("ratings", N_("Ratings"), lines=lines, grids=(table_of(columns, rows),))


def _matrix(report: SeriesReport, judge: str, pairs: Sequence[PairResult]) -> PageTable:
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
    return table_of(
        ("model", *map(str, range(1, len(models) + 1))),
        rows,
        f"Rows won–lost–tied against columns, by {judge}. The columns are the models in the "
        "order of the rows.",
    )


def _sides(report: SeriesReport) -> PageSection:
    found, lead = report.agreement, report.adjusted.jury
    judges = [("the jury", found.jury_shares)]
    judges += [("people", found.people_shares)] if report.ratings.people else []
    shares = table_of(
        ("by", "A won", "debates", "the last speaker won", "debates"),
        [(judge, one.a, one.a.n, one.closer, one.closer.n) for judge, one in judges],
        "Of decided debates",
    )
    effects = [(words, getattr(lead, name)) for name, words in EFFECTS.items()]
    leads = table_of(("advantage of", "lead"), effects, "Lead in points of rating, by the jury")
    return PageSection("sides", "Side and last word", grids=(shares, leads))


def _topics(report: SeriesReport) -> PageSection:
    found = report.topics
    if not found.splits:
        return PageSection("topics", "Topics")
    spread = (
        "Spread is the standard deviation of the models' win rates on a topic, for models "
        "with at least two debates on it."
    )
    if found.by_chance is not None:
        above = sum(one.spread > found.by_chance for one in found.splits)
        spread += (
            f" Were topics all alike, the largest spread would be above {found.by_chance:.2f} "
            f"in one series of twenty; {above} of {len(found.splits)} topics are."
        )
    rows = []
    for one in found.splits[:TOPICS]:
        ends = (f"{end.model} {_percent(end.rate, 0)}" for end in (one.rates[0], one.rates[-1]))
        rows.append((one.title, one.debates, f"{one.spread:.2f}", *ends))
    grid = table_of(("topic", "debates", "spread", "best", "worst"), rows)
    title = "Topics on which models differ most"
    return PageSection("topics", title, lines=(spread,), grids=(grid,))


def _jury(report: SeriesReport) -> PageSection:
    found = report.agreement
    columns = ["juror", "same in both orders", "invalid ballots", "ballots"]
    lines = [f"Krippendorff's α of jurors: {found.pooled.alpha_jurors}."]
    if found.compared:
        columns[1:1] = ["agrees with people", "debates", "favours its family, points"]
        lines.append(
            f"Jury and people agree on {found.agreement} of {found.compared:,} "
            f"debates; Cohen's κ {found.kappa}; Krippendorff's α of people "
            f"{found.pooled.alpha_people}."
        )
    jurors, grids = [], []
    for one in found.jurors:
        beside = (one.agreement, one.agreement.n, one.self_preference) if found.compared else ()
        jurors.append((one.juror, *beside, one.consistency, one.invalid, one.ballots))
    if jurors:
        grids.append(table_of(columns, jurors, N_("Jurors")))
    if pairs := report.juror_pairs:
        titles = ("juror", "other juror", "agree", "Cohen's κ", "debates")
        cells = [(o.juror, o.other, o.agreement, o.kappa, o.agreement.n) for o in pairs]
        grids.append(table_of(titles, cells, "Juror by juror"))
    for title, head, rows in tell_juries(report.juries) if report.juries else ():
        grids.append(table_of(head, rows, title))
    return PageSection("jurors", "The jury", lines=tuple(lines), grids=tuple(grids))


def _arms(report: SeriesReport) -> PageSection:
    if report.arms is None:
        return PageSection("arms", "")
    fell = [(one.arm, one.total, one.held, one.failed, one.refused) for one in report.arm_standings]
    lost = table_of(("arm", "debates", "held", "failed", "refused"), fell, "What fell to each arm")
    grids = (table_of(head, rows, title) for title, head, rows in tell_arms(report.arms) if rows)
    lines = (
        "Differences are between debates that a draw told apart, so that models, sides and topics "
        "are alike. An arm that lost more debates than another one may have lost the harder ones.",
    )
    return PageSection("arms", "Arms", lines=lines, grids=(lost, *grids))


def _trials(report: SeriesReport) -> PageSection:
    if report.trials is None:
        return PageSection("trials", "")
    grids = tuple(table_of(head, rows, title) for title, head, rows in tell_trials(report.trials))
    lines = (
        "The right answers are known, and were told to no model and to nobody who voted. A tie "
        "counts half. The agent score difference says by how much the log odds of an answer, by "
        "the jury, are higher for who argues the right one than for who argues the wrong one.",
    )
    return PageSection("trials", "Right answers", lines=lines, grids=grids)


def _replacement(report: SeriesReport) -> PageSection:
    if not report.replacement.tests:
        return PageSection("replacement", "")
    lines, tables = tell_replacement(report.replacement)
    grids = tuple(table_of(head, rows, title) for title, head, rows in tables if rows)
    return PageSection("replacement", "Instead of people", lines=tuple(lines), grids=grids)


# --- conduct, availability, cost ---------------------------------------------------------


def _conduct(report: SeriesReport) -> PageSection:
    rows = []
    for one in report.conduct:
        if one.ended:
            how = ", ".join(f"{rule_name(kind)} {n}" for kind, n in one.broken.items())
            share, refused = _of(one.breaking, one.turns), _of(one.refused, one.ended)
            words = "" if one.words is None else f"{one.words:.0f}"
            limit = "" if one.of_limit is None else _percent(one.of_limit)
            rows.append((one.model, one.ended, f"{one.turns:,}", words, limit, share, how, refused))
    counted = ("model", "debates", "turns", "words a turn", "of the limit")
    grid = table_of((*counted, "broke a limit", "how", "refused the topic"), rows)
    return PageSection("conduct", "Length, limits and refusals", grids=(grid,) if rows else ())


def rule_name(kind: str) -> str:
    """Name a rule that turns break."""
    return RULES.get(kind, kind.replace("_", " "))


def _of(n: int, of: int) -> str:
    return f"{n:,} ({_percent(n / of)})" if of else "0"


def _percent(share: float, digits: int = 1) -> str:
    return f"{share:.{digits}%}".replace("%", " %")


def _availability(report: SeriesReport) -> PageSection:
    rows = []
    for one in report.availability:
        times = ("" if value is None else f"{value:.1f}" for value in (one.p50, one.p95))
        failed, waiting = _of(one.failed, one.calls - one.lost), one.waiting or ""
        rows.append((one.model, f"{one.calls:,}", failed, one.lost or "", waiting, *times))
    lines = (
        "Failed: tries without an answer, of every role. Cut off: by the end of Rostrum's own "
        "process or by a stop; they count as no failure. p50 and p95: seconds of an answer.",
    )
    columns = ("model", "tries", "failed", "cut off", "debates waiting", "p50, s", "p95, s")
    grid = table_of(columns, rows)
    title = "Availability and latency"
    return PageSection("availability", title, lines=lines[: len(rows)], grids=(grid,)[: len(rows)])


def _costs(report: SeriesReport) -> PageSection:
    costs = []
    for one in report.costs:
        usd = map(dollars, (one.usd, one.usd_median, one.usd_max))
        costs.append((one.format or "all", f"{one.debates:,}", f"{one.calls:.1f}", *usd))
    columns = ("format", "debates", "calls a debate", "USD a debate", "median", "highest")
    formats = table_of(columns, costs, "Cost of a debate, with its jury")
    spent = [(m.model, m.debates, dollars(m.usd)) for m in report.conduct if m.usd is not None]
    own = table_of(("model", "debates", "USD a debate"), spent, "A debater's own calls")
    arms = [(arm, *_sums([one]), f"{one.minutes:,.1f}") for arm, one in report.arm_totals.items()]
    took = table_of(("arm", *TOTALS, "minutes"), arms, "What each arm took in all")
    grids = (formats, own, *(took,)[: len(arms)])
    return PageSection("cost", N_("Cost"), grids=grids if costs else ())


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


@cache
def _template(kind: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=kind == "html",  # noqa: S701 - Markdown is no HTML; `inline` escapes
    )
    environment.filters |= {"inline": inline, "data": data_address}
    text = files(__package__).joinpath(f"page.{kind}.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)
