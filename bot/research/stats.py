"""`rostrum stats`: how well the jury predicts people, as text, JSON and pictures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.console import TableConsole, print_json
from bot.reading import read_store
from bot.record.filters import check_series, read_formats, read_languages
from bot.settings.load import load_store_settings
from engine.run.learning import read_fit
from engine.stats.agreement import (
    Agreement,
    Anchoring,
    GroupFigures,
    ModelFigures,
    SideShares,
    measure_agreement,
)
from engine.stats.coefficients import Bin
from engine.stats.confidence import Confidence
from engine.stats.figure import FEWEST
from engine.stats.jurors import FitView, IntervalEstimate, JurorFigures, JurorView, view_fit
from engine.stats.presentation import (
    draw_pictures,
    word_coefficient,
    word_effect,
    word_points,
    word_rating,
    word_record,
    word_share,
)
from engine.stats.ratings import AdjustedLeaderboard, Leaderboard, adjust_models, rank_models
from engine.stats.row import GuessFigures, ReasonShare, work_out
from engine.store import ExportFilter, count_rehearsals
from engine.store.learning import Learning
from engine.values.debate import SEES, Value
from engine.values.errors import ExportError
from engine.words.translation import plural

# What a fit says of the jurors, as tables for a terminal.


RULES = {
    "none": "There is no verdict yet unless all readings agree: these jurors have not yet shown "
    "that they see more than order or chance. A stake of 1 on that is worth {stake:.3g}, of 100.",
    "model": "The model of jurors decides: held-back ballots bear it out as well as the balanced "
    "rule ({ahead:+.1f} standard errors).",
    "balanced": "The balanced rule decides: held-back ballots bear the model of jurors out less "
    "({ahead:+.1f} standard errors).",
}


def show_panel(view: FitView) -> None:
    """Print what is known of the jurors, and what panels of them are worth."""
    console, evidence = TableConsole(), view.evidence
    more = ""
    if evidence.learnt:
        more = (
            f", {evidence.learnt_ballots:,} of them on {evidence.learnt:,} judgments from elsewhere"
        )
    counts = {"debates": evidence.debates, "ballots": evidence.readings}
    console.print()
    console.print(
        (
            "Fit {number} of {when:%Y-%m-%d %H:%M} UTC: {debates:,} debates, {ballots:,} "
            "ballots{more}."
        ).format(number=view.number, when=view.made_at, more=more, **counts)
    )
    if view.labels:
        console.print(f"People decided {view.labels:,} of them.")
    for table in (_juror_tables(view), _shared(view), _panels(view)):
        console.print()
        console.print(table)
    for line in _notes(view):
        console.print(line)


def _table(title: str, *columns: str) -> Table:
    return Table("", *columns, title=title, title_justify="left", box=None, pad_edge=False)


def _juror_tables(view: FitView) -> Table:
    columns = ("skill", "lean", "spread", "group", "weight", "alone right", "ballots", "drift")
    table = _table("What is known of the jurors", *columns, "USD")
    for one in view.jurors:
        table.add_row(one.juror, *_cells(one))
    return table


def _cells(one: JurorView) -> Iterator[str]:
    yield _interval(one.skill)
    yield _interval(one.lean, "+.2f")
    yield _interval(one.spread)
    yield _interval(one.group)
    counts = one.known or one.sees < SEES
    yield f"{one.weight:.2f}" if counts else "too few"
    yield f"{100 * one.alone:.0f} %"
    yield str(one.ballots)
    yield f"{one.drift:.1f}"
    yield "unknown" if one.usd is None else f"{one.usd:.4f}"


def _shared(view: FitView) -> Table:
    table = _table("Errors that jurors share, beside a truth of 1", "variance")
    table.add_row("by all", _interval(view.shared))
    table.add_row("by one family", _interval(view.family))
    return table


def _panels(view: FitView) -> Table:
    table = _table("The best panel of each size", "right", "the last one adds", "last")
    for size, one in enumerate(view.panels, start=1):
        gain = f"{100 * one.gain:+.1f} points"
        table.add_row(str(size), f"{100 * one.right:.1f} %", gain, one.jurors[-1])
    return table


def _notes(view: FitView) -> Iterator[str]:
    yield RULES[view.rule].format(stake=view.stake, ahead=view.ahead)
    if view.further is not None:
        yield f"One more juror, of a family of its own: {100 * view.further:+.1f} points."
    for one in view.jurors:
        if one.sees < SEES:
            yield (
                f"{one.juror} probably sees nothing of what the others see (chance that it does: "
                f"{100 * one.sees:.0f} %); its ballots count for nothing."
            )
        if one.left_out:
            yield (
                f"{one.juror} judges otherwise than before ({one.drift:.1f} standard errors): "
                f"{one.left_out:,} older ballots of it count no longer."
            )


def _interval(one: IntervalEstimate, form: str = ".2f") -> str:
    return f"{one.value:{form}} ({one.low:{form}} to {one.high:{form}})"


SCHEMA_VERSION = 1
TOPICS = 10
NO_DEBATES = "No debate that counts here has been revealed yet; hold one with rostrum debate."
LEFT_OUT = (
    "Rehearsal debates left out: {n} (--include-rehearsal adds it).",
    "Rehearsal debates left out: {n} (--include-rehearsal adds them).",
)
DEBATES = "Revealed debates: {debates}; judged by both people and jury: {compared}."
HOW = (
    "In brackets: 95 % intervals, resampled by topic. Agreement is measured on "
    f"{FEWEST} debates or more."
)
RATED = "Ratings (1000 is the mean; 400 points mean odds of ten to one; won–lost–tied)"
ADJUSTED = "Ratings with side, last word and length equal"
EFFECTS = {
    "side": "side A",
    "closer": "speaking last",
    "length": "twice as many words",
}
WRITTEN = "Pictures in {out}: {names}."


async def run_stats(
    *,
    community: str | None,
    formats: str | None,
    languages: str | None,
    as_json: bool,
    out: Path | None,
    include_rehearsal: bool = False,
    series: str | None = None,
) -> None:
    """Print the statistics of revealed debates; with `out`, also draw pictures there."""
    where = ExportFilter(
        community=community,
        revealed=True,
        formats=read_formats(formats),
        languages=read_languages(languages),
        without_rehearsal=not include_rehearsal,
        series=series,
    )
    async with read_store(load_store_settings(), whole=True) as store:
        await check_series(store, series)
        agreement, leaderboard, adjusted = await work_out(
            store.archive,
            where,
            lambda rows: (measure_agreement(rows), rank_models(rows), adjust_models(rows)),
        )
        left_out = await asyncio.to_thread(count_rehearsals, store.archive, where)
        panel = await _view_jurors(store.learning, agreement, rehearsal=include_rehearsal)
    if out is not None:  # before anything is printed: a closed pipe ends the command
        pictures = draw_pictures(agreement, leaderboard)
        await asyncio.to_thread(_write_pictures, out, pictures)
    if as_json:
        found = {"agreement": agreement, "leaderboard": leaderboard, "adjusted": adjusted}
        found |= {"panel": panel} if panel else {}
        print_json(_to_json(where, left_out, found))
    else:
        _show(agreement, leaderboard, adjusted)
        if panel is not None:
            show_panel(panel)
        if left_out:
            print(plural(*LEFT_OUT, left_out))
    if out is not None:
        stream = sys.stderr if as_json else sys.stdout
        print(WRITTEN.format(out=out, names=", ".join(pictures)), file=stream)


async def _view_jurors(
    learning: Learning, agreement: Agreement, *, rehearsal: bool
) -> FitView | None:
    """Return what the newest fit says of the jurors; None without one.

    It is of all debates, whatever is filtered here: of real jurors, or else of rehearsal ones.
    """
    for kind in (False, True)[: 1 + rehearsal]:
        stored = await learning.newest(rehearsal=kind)
        fitted = read_fit(stored)
        if stored and fitted and fitted.model and fitted.model.jurors:
            usd = {
                one.juror: one.usd / one.ballots
                for one in agreement.jurors
                if one.usd is not None and one.ballots
            }
            return view_fit(fitted.model, stored.number, stored.made_at, stored.evidence, usd)
    return None


def _to_json(where: ExportFilter, left_out: int, found: Mapping[str, Value]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "filters": {
            "community": where.community,
            "formats": where.formats,
            "languages": where.languages,
            "series": where.series,
            "include_rehearsal": not where.without_rehearsal,
        },
        "rehearsal_debates_left_out": left_out,
        **{name: one.model_dump(mode="json") for name, one in found.items()},
    }


def _write_pictures(out: Path, pictures: Mapping[str, str]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            (out / name).write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ExportError(
            f"The pictures cannot be written to {out}: {error.strerror}; choose another --out."
        ) from error


# --- text --------------------------------------------------------------------------------


def _show(agreement: Agreement, leaderboard: Leaderboard, adjusted: AdjustedLeaderboard) -> None:
    console = TableConsole()
    if not agreement.debates:
        console.print(NO_DEBATES)
        return
    console.print(DEBATES.format(debates=agreement.debates, compared=agreement.compared))
    console.print(HOW)
    for table in _tables(agreement, leaderboard, adjusted):
        if table.row_count:
            console.print()
            console.print(table)


def _tables(
    agreement: Agreement, leaderboard: Leaderboard, adjusted: AdjustedLeaderboard
) -> Iterator[Table]:
    yield _overall(agreement)
    if agreement.crowds.platforms:
        yield _crowds(agreement)
    table = _table("Debates by judgment", *(f"jury: {choice}" for choice in agreement.matrix))
    for people, row in agreement.matrix.items():
        table.add_row(f"people: {people}", *map(str, row.values()))
    yield table
    yield _shares(agreement.people_shares, agreement.jury_shares)
    yield _reliability(agreement.reliability)
    yield _anchoring(agreement.anchoring)
    yield _confidence(agreement.confidence)
    yield _guessing(agreement.guessing)
    yield _grounds(agreement.grounds)
    yield _models(agreement.models)
    yield _jurors(agreement.jurors)
    for title, groups in (
        ("Languages", agreement.languages),
        ("Formats", agreement.formats),
        (f"Topics (the {TOPICS} most debated)", agreement.topics[:TOPICS]),
    ):
        yield _groups(title, groups)
    yield _leaderboard(leaderboard)
    yield _adjusted(leaderboard, adjusted)
    table = _table("Lead in points", "with people", "with the jury")
    for name, words in EFFECTS.items():
        people, jury = (getattr(by, name) for by in (adjusted.people, adjusted.jury))
        table.add_row(words, word_effect(people), word_effect(jury))
    yield table


def _overall(agreement: Agreement) -> Table:
    table, pooled = _table("Jury and people", "figure", "debates"), agreement.pooled
    shares = {
        "agreement of jury and people": agreement.agreement,
        "… without ties": agreement.decided,
        "a person and the jury agree": pooled.jury,
        "two people agree": pooled.people,
    }
    coefficients = {
        "Cohen's κ of jury and people": agreement.kappa,
        "Krippendorff's α of people": pooled.alpha_people,
        "Krippendorff's α of jurors": pooled.alpha_jurors,
        "Krippendorff's α of people and panel": pooled.alpha_all,
        "Brier score of the jury's p(A)": agreement.brier,
    }
    for name, figure in shares.items():
        table.add_row(name, word_share(figure), str(figure.n))
    for name, figure in coefficients.items():
        table.add_row(name, word_coefficient(figure), str(figure.n))
    return table


def _crowds(agreement: Agreement) -> Table:
    """Return how people of each platform agree, and chat, labels and jury with one another."""
    table, crowds = _table("Chat, labels and jury", "alike", "α or κ", "debates"), agreement.crowds
    for one in crowds.platforms:
        figures = (word_share(one.alike), word_coefficient(one.alpha))
        table.add_row(f"two people: {one.platform}", *figures, str(one.alike.n))
    for pair in crowds.between:
        figures = (word_share(pair.agreement), word_coefficient(pair.kappa))
        table.add_row(f"{pair.first} and {pair.second}", *figures, str(pair.agreement.n))
    table.add_row("all three", "", word_coefficient(crowds.alpha), str(crowds.alpha.n))
    return table


def _shares(people: SideShares, jury: SideShares) -> Table:
    table = _table("Side and last word, of decided debates", "people", "jury", "debates")
    for name, one, other in (
        ("A won", people.a, jury.a),
        ("the last speaker won", people.closer, jury.closer),
    ):
        table.add_row(name, word_share(one), word_share(other), f"{one.n}, {other.n}")
    return table


def _reliability(bins: Sequence[Bin]) -> Table:
    table = _table("The jury's p(A)", "mean", "A's share with people", "debates")
    for one in bins:
        means = ("" if mean is None else f"{mean:.2f}" for mean in (one.predicted, one.observed))
        table.add_row(f"{one.low:.1f} to {one.high:.1f}", *means, str(one.n))
    return table


def _anchoring(anchoring: Anchoring) -> Table:
    table = _table("Asked again after the reveal", "share", "people")
    for name, one in (
        ("disagreed with the jury, then agreed", anchoring.toward),
        ("agreed with the jury, then disagreed", anchoring.away),
    ):
        if one.n:
            table.add_row(name, word_share(one), str(one.n))
    return table


def _confidence(words: Sequence[Confidence]) -> Table:
    table = _table("How clear people found it", "most others agree, calibrated", "votes")
    for one in words:
        if one.p is not None:
            table.add_row(one.word, f"{one.p:.2f}", str(one.n))
    return table


def _guessing(guessing: GuessFigures) -> Table:
    table = _table("Guesses at the models", "right", "by chance", "guesses")
    if guessing.chance is not None:
        share, n = word_share(guessing.share), str(guessing.share.n)
        told = "they beat chance" if guessing.above else "they do not beat chance"
        table.add_row(told, share, f"{100 * guessing.chance:.0f} %", n)
    return table


def _grounds(grounds: Sequence[ReasonShare]) -> Table:
    table = _table("What decided", "for people", "for jurors", "people")
    for one in grounds:
        if one.people.n:
            jurors = "" if one.jurors is None else f"{one.criterion} {100 * one.jurors:.0f} %"
            table.add_row(one.name, word_share(one.people), jurors, str(one.people.n))
    return table


def _models(models: Sequence[ModelFigures]) -> Table:
    table = _table("Win rates", "by people", "by the jury", "bias in points", "debates")
    for one in models:
        people, jury = word_share(one.people), word_share(one.jury)
        table.add_row(one.model, people, jury, word_points(one.bias), str(one.bias.n))
    return table


def _jurors(jurors: Sequence[JurorFigures]) -> Table:
    columns = ("agrees with people", "same in both orders", "favours its family, points")
    table = _table("Jurors", *columns, "invalid ballots", "ballots", "USD")
    for one in jurors:
        table.add_row(
            one.juror,
            word_share(one.agreement),
            word_share(one.consistency),
            word_points(one.self_preference),
            word_share(one.invalid),
            str(one.ballots),
            "unknown" if one.usd is None else f"{one.usd:.4f}",
        )
    return table


def _groups(title: str, groups: Sequence[GroupFigures]) -> Table:
    table = _table(title, "agreement", "Cohen's κ", "debates")
    for one in groups:
        share, kappa = word_share(one.agreement), word_coefficient(one.kappa)
        table.add_row(one.name, share, kappa, str(one.agreement.n))
    return table


def _leaderboard(leaderboard: Leaderboard) -> Table:
    table = _table(RATED, "by people", "", "by the jury", "")
    for one in leaderboard.standings:
        people, jury = word_rating(one.people), word_rating(one.jury)
        table.add_row(one.model, people, word_record(one.people), jury, word_record(one.jury))
    return table


def _adjusted(leaderboard: Leaderboard, adjusted: AdjustedLeaderboard) -> Table:
    table = _table(ADJUSTED, "by people", "by the jury")
    for one in leaderboard.standings:
        people, jury = (by.ratings.get(one.model) for by in (adjusted.people, adjusted.jury))
        table.add_row(one.model, word_rating(people), word_rating(jury))
    return table
