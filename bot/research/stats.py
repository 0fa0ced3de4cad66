"""`rostrum stats`: how well the jury predicts people, as text, JSON and pictures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bot.commands.choice import NO_REHEARSALS, DebateChoice
from bot.console import TableConsole, print_json
from bot.database import read_store
from bot.record.filters import check_series, chosen_ids, where_of
from bot.record.tables import print_usage, show_table, to_rows
from bot.settings.load import load_store_settings
from engine.run.juror_fits import read_fit
from engine.stats.agreement import (
    Agreement,
    GuessFigures,
    measure_agreement,
)
from engine.stats.alternative import (
    ReplacementTest,
    measure_replacement,
    tell_replacement,
)
from engine.stats.comparisons import (
    Arms,
    Juries,
    Trials,
    measure_arms,
    measure_juries,
    measure_trials,
    of_jury,
    tell_arms,
    tell_juries,
    tell_trials,
)
from engine.stats.confidence import PercentFigures
from engine.stats.figure import Figure, signed
from engine.stats.jurors import FitView, view_fit
from engine.stats.presentation import draw_pictures
from engine.stats.ratings import (
    EFFECTS,
    AdjustedLeaderboard,
    Leaderboard,
    adjust_models,
    rank_models,
    word_rating,
)
from engine.stats.row import Row, work_out
from engine.store import ExportFilter, count_rehearsals
from engine.store.fits import Fits
from engine.store.usage import By, CallUsage, UsageFilter
from engine.tally import FEWEST
from engine.values.debate import SEES, Value
from engine.values.errors import RostrumError
from engine.words.translation import plural

# What a fit says of the jurors, as tables for a terminal.


RULES = {
    "none": "There is no verdict yet unless all readings agree: these jurors have not yet shown "
    "that they see more than order or chance. A stake of 1 on that is worth {stake:.3g}, of 100.",
    "model": "The model of jurors decides: held-back ballots bear it out as well as the balanced "
    "rule ({ahead} standard errors).",
    "balanced": "The balanced rule decides: held-back ballots bear the model of jurors out less "
    "({ahead} standard errors).",
}


def show_panel(view: FitView) -> None:
    """Print what is known of the jurors, and what panels of them are worth."""
    console, evidence = TableConsole(), view.evidence
    learnt = (
        f", {evidence.learnt_ballots:,} of them on {evidence.learnt:,} judgments from elsewhere"
    )
    more = learnt if evidence.learnt else ""
    debates = plural("{n} debate", "{n} debates", evidence.debates)
    ballots = plural("{n} ballot", "{n} ballots", evidence.readings)
    console.print()
    console.print(
        f"Fit {view.number} of {view.made_at:%Y-%m-%d %H:%M} UTC: {debates}, {ballots}{more}."
    )
    if view.labels:
        console.print(f"People decided {view.labels:,} of them.")
    show_table(
        "What is known of the jurors",
        (
            "",
            "skill",
            "lean",
            "spread",
            "group",
            "weight",
            "alone right",
            "ballots",
            "drift",
            "USD",
        ),
        ((one.juror, *one.cells()) for one in view.jurors),
    )
    show_table(
        "Errors that jurors share, beside a truth of 1",
        ("", "variance"),
        (("by all", view.shared.tell()), ("by one family", view.family.tell())),
    )
    panels = (
        (
            str(size),
            f"{100 * one.right:.1f} %",
            f"{signed(100 * one.gain, '+.1f')} points",
            one.jurors[-1],
        )
        for size, one in enumerate(view.panels, start=1)
    )
    show_table("The best panel of each size", ("", "right", "the last one adds", "last"), panels)
    for line in _notes(view):
        console.print(line)


def _notes(view: FitView) -> Iterator[str]:
    yield RULES[view.rule].format(stake=view.stake, ahead=signed(view.ahead, "+.1f"))
    if view.further is not None:
        yield (
            f"One more juror, of a family of its own: {signed(100 * view.further, '+.1f')} points."
        )
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


SCHEMA_VERSION = 1
TOPICS = 10
NO_DEBATES = "No debate that counts here has been revealed yet; hold one with rostrum debate."
LEFT_OUT = (
    "Rehearsal debates left out: {n} (--include-rehearsal adds it).",
    "Rehearsal debates left out: {n} (--include-rehearsal adds them).",
)
DEBATES = "Revealed debates: {debates}; judged by both people and jury: {compared}."
TOO_FEW = (
    "{n} of {all} debates that both decided: {alike} alike, {differ} not; "
    "agreement needs {more} more."
)
HOW = (
    "In brackets: 95 % intervals, resampled by topic. Agreement is measured on "
    f"{FEWEST} debates or more."
)
RATED = "Ratings (1000 is the mean; 400 points mean odds of ten to one; won–lost–tied)"
ADJUSTED = "Ratings with side, last word and length equal"
WRITTEN = "Pictures in {out}: {names}."


class _Measured(NamedTuple):
    """Every figure, by its name in the JSON; None for what was not asked for, or is not there."""

    agreement: Agreement
    leaderboard: Leaderboard
    adjusted: AdjustedLeaderboard
    juries: Juries | None
    arms: Arms | None
    trials: Trials | None
    replacement: ReplacementTest | None


def _measure(rows: Sequence[Row], jury: str | None, *, alt_test: bool) -> _Measured:
    juries = measure_juries(rows)
    rows = rows if jury is None else of_jury(rows, jury)
    return _Measured(
        measure_agreement(rows),
        rank_models(rows),
        adjust_models(rows),
        juries,
        measure_arms(rows),
        measure_trials(rows),
        measure_replacement(rows) if alt_test else None,
    )


async def run_stats(
    chosen: DebateChoice = NO_REHEARSALS,
    *,
    as_json: bool = False,
    out: Path | None = None,
    alt_test: bool = False,
    jury: str | None = None,
) -> None:
    """Print the statistics of revealed debates; with `out`, also draw pictures there.

    With `alt_test` also whether the jury may replace people, and what would decide it. All rests on
    the jury that is named, or on the first one.
    """
    where = where_of(chosen, revealed=True)
    async with read_store(load_store_settings(), whole=True) as store:
        await check_series(store, chosen.series)
        measure = partial(_measure, jury=jury, alt_test=alt_test)
        found = await work_out(store.archive, where, measure, people=alt_test)
        left_out = await asyncio.to_thread(count_rehearsals, store.archive, where)
        by_arm = CallUsage()
        if found.arms:
            ids = await chosen_ids(store, where)
            by_arm = await store.usage.read(UsageFilter(ids=ids), By.ARM)
        agreement = found.agreement
        panel = await _view_jurors(store.fits, agreement, rehearsal=chosen.include_rehearsal)
    if out is not None:  # before anything is printed: a closed pipe ends the command
        pictures = draw_pictures(agreement, found.leaderboard)
        if found.trials is not None:
            from engine.series.report.pictures import draw_trials  # few answers are known

            pictures["trials.svg"] = draw_trials(found.trials).svg
        await asyncio.to_thread(_write_pictures, out, pictures)
    if as_json:
        values = found._asdict() | {"panel": panel}
        told = _to_json(where, left_out, {k: one for k, one in values.items() if one})
        if found.arms:
            told |= {"arm_takings": to_rows(by_arm, By.ARM)}
        print_json(told)
    else:
        _show(found)
        if found.arms:
            print_usage(by_arm, By.ARM)
        if panel is not None:
            show_panel(panel)
        if left_out:
            print(plural(*LEFT_OUT, left_out))
    if out is not None:
        stream = sys.stderr if as_json else sys.stdout
        print(WRITTEN.format(out=out, names=", ".join(pictures)), file=stream)


async def _view_jurors(fits: Fits, agreement: Agreement, *, rehearsal: bool) -> FitView | None:
    """Return what the newest fit says of the jurors; None without one.

    It is of all debates, whatever is filtered here: of real jurors, or else of rehearsal ones.
    """
    for kind in (False, True)[: 1 + rehearsal]:
        stored = await fits.newest(rehearsal=kind)
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
            "since": where.since,
            "until": where.until,
            "quorum_met": where.quorum_met,
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
        raise RostrumError(
            f"The pictures cannot be written to {out}: {error.strerror}; choose another --out."
        ) from error


# --- text --------------------------------------------------------------------------------


def _show(found: _Measured) -> None:
    console, agreement = TableConsole(), found.agreement
    if not agreement.debates:
        console.print(NO_DEBATES)
        return
    console.print(DEBATES.format(debates=agreement.debates, compared=agreement.compared))
    if (n := agreement.compared) < FEWEST:
        alike = sum(row.get(people, 0) for people, row in agreement.matrix.items())
        counts = {"n": n, "all": FEWEST, "alike": alike, "differ": n - alike, "more": FEWEST - n}
        console.print(TOO_FEW.format(**counts))
    console.print(HOW)
    for title, columns, rows in _tables(agreement, found.leaderboard, found.adjusted):
        show_table(title, ("", *columns), _told(rows))
    for title, columns, rows in tell_juries(found.juries) if found.juries else ():
        show_table(title, columns, rows)
    for title, columns, rows in tell_trials(found.trials) if found.trials else ():
        show_table(title, columns, rows)
    for title, columns, rows in tell_arms(found.arms) if found.arms else ():
        show_table(title, columns, rows)
    if found.replacement is not None:
        lines, tables = tell_replacement(found.replacement)
        for title, columns, rows in tables:
            show_table(title, columns, rows)
        console = TableConsole()
        console.print()
        for line in lines:
            console.print(line)


def _told(rows: Iterable[Sequence[object]]) -> Iterator[list[object]]:
    """Yield rows as they are shown; those whose figures tell nothing are left out."""
    for row in rows:
        cells = [one.cell if isinstance(one, Figure) else one for one in row]
        figures = [cell for cell, one in zip(cells, row, strict=True) if isinstance(one, Figure)]
        if any(figures) or not figures:
            yield cells


_Shown: TypeAlias = tuple[str, Sequence[str], Iterable[Sequence[object]]]
"""A table: its title, its columns but the first, and its rows."""


def _tables(
    agreement: Agreement, leaderboard: Leaderboard, adjusted: AdjustedLeaderboard
) -> Iterator[_Shown]:
    yield _overall(agreement)
    if agreement.crowds.platforms:
        yield _crowds(agreement)
    yield from _choices(agreement)
    again = (
        ("disagreed with the jury, then agreed", agreement.anchoring.toward),
        ("agreed with the jury, then disagreed", agreement.anchoring.away),
    )
    yield (
        "Asked again after the reveal",
        ("share", "people"),
        ((name, one, one.n) for name, one in again if one.n),
    )
    yield (
        "How clear people found it",
        ("most others agree, calibrated", "votes"),
        ((one.word, f"{one.p:.2f}", one.n) for one in agreement.confidence if one.p is not None),
    )
    yield _percents(agreement.percents)
    yield _guessing(agreement.guessing)
    grounds = []
    for one in agreement.grounds:
        if one.people.n:
            jurors = "" if one.jurors is None else f"{one.criterion} {100 * one.jurors:.0f} %"
            grounds.append((one.name, one.people, jurors, one.people.n))
    yield "What decided", ("for people", "for jurors", "people"), grounds
    yield from _models(agreement)
    for title, groups in (
        ("Languages", agreement.languages),
        ("Formats", agreement.formats),
        (f"Topics (the {TOPICS} most debated)", agreement.topics[:TOPICS]),
    ):
        rows = ((one.name, one.agreement, one.kappa, one.agreement.n) for one in groups)
        yield title, ("agreement", "Cohen's κ", "debates"), rows
    yield from _ratings(leaderboard, adjusted)


def _overall(agreement: Agreement) -> _Shown:
    pooled = agreement.pooled
    figures: dict[str, Figure] = {
        "agreement of jury and people": agreement.agreement,
        "… without ties": agreement.decided,
        "a person and the jury agree": pooled.jury,
        "two people agree": pooled.people,
        "Cohen's κ of jury and people": agreement.kappa,
        "Krippendorff's α of people": pooled.alpha_people,
        "Krippendorff's α of jurors": pooled.alpha_jurors,
        "Krippendorff's α of people and panel": pooled.alpha_all,
        "Brier score of the jury's p(A)": agreement.brier,
    }
    rows = ((name, one, one.n) for name, one in figures.items())
    return "Jury and people", ("figure", "debates"), rows


def _crowds(agreement: Agreement) -> _Shown:
    """Return how people of each platform agree, and chat, labels and jury with one another."""
    crowds = agreement.crowds
    rows: list[tuple[object, ...]] = []
    for one in crowds.platforms:
        rows.append((f"two people: {one.platform}", one.alike, one.alpha, one.alike.n))
    for pair in crowds.between:
        about = f"{pair.first} and {pair.second}"
        rows.append((about, pair.agreement, pair.kappa, pair.agreement.n))
    if crowds.alpha.n:
        rows.append(("all three", "", crowds.alpha, crowds.alpha.n))
    return "Chat, labels and jury", ("alike", "α or κ", "debates"), rows


def _choices(agreement: Agreement) -> Iterator[_Shown]:
    matrix = agreement.matrix
    rows = [(f"people: {people}", *map(str, row.values())) for people, row in matrix.items()]
    yield "Debates by judgment", [f"jury: {choice}" for choice in matrix], rows
    people, jury = agreement.people_shares, agreement.jury_shares
    shares = (("A won", people.a, jury.a), ("the last speaker won", people.closer, jury.closer))
    yield (
        "Side and last word, of decided debates",
        ("people", "jury", "debates of people, of the jury"),
        ((name, a, b, f"{a.n}, {b.n}") for name, a, b in shares),
    )
    bins = []
    for one in (bin for bin in agreement.reliability if bin.n):
        means = ("" if mean is None else f"{mean:.2f}" for mean in (one.predicted, one.observed))
        bins.append((f"{one.low:.1f} to {one.high:.1f}", *means, one.n))
    yield "The jury's p(A)", ("mean", "A's share with people", "debates"), bins


def _percents(percents: PercentFigures) -> _Shown:
    """Return the probabilities of people and panel, and how right each was, side by side."""
    rows: list[tuple[object, ...]] = []
    if percents.difference.n:
        apart, people, jury = percents.difference, percents.brier_people, percents.brier_jury
        rows.append(("mean absolute difference", apart, "", apart.n))
        rows.append(("Brier score", people, jury, people.n))
    for own, beside in zip(percents.people, percents.jury, strict=True):
        seen = ("" if one.observed is None else f"{one.observed:.2f}" for one in (own, beside))
        if own.n or beside.n:
            said = f"A won, of p(A) {own.low:.1f} to {own.high:.1f}"
            rows.append((said, *seen, f"{own.n}, {beside.n}"))
    return "How sure people and panel are", ("people", "panel", "votes"), rows


def _guessing(guessing: GuessFigures) -> _Shown:
    rows = []
    if guessing.chance is not None:
        told = "they beat chance" if guessing.above else "they do not beat chance"
        rows = [(told, guessing.share, f"{100 * guessing.chance:.0f} %", guessing.share.n)]
    return "Guesses at the models", ("right", "by chance", "guesses"), rows


def _models(agreement: Agreement) -> Iterator[_Shown]:
    rates = (
        (
            one.model,
            one.people,
            one.jury,
            one.bias,
            one.bias.n,
        )
        for one in agreement.models
    )
    columns = ("by people", "by the jury", "bias in points", "debates")
    yield "Win rates", columns, rates
    jurors = (
        (
            one.juror,
            one.mark,
            "" if one.spread is None else f"{one.spread:.1f}",
            one.lean,
            one.consistency,
            one.agreement,
            one.self_preference,
            one.invalid,
            one.ballots,
            "unknown" if one.usd is None else f"{one.usd:.4f}",
        )
        for one in agreement.jurors
    )
    names = ("mean mark", "spread", "leans to the first by", "same in both orders")
    more = ("agrees with people", "favours its family, points", "invalid", "ballots", "USD")
    yield "Jurors", (*names, *more), jurors


def _ratings(leaderboard: Leaderboard, adjusted: AdjustedLeaderboard) -> Iterator[_Shown]:
    board, equal = [], []
    for one in leaderboard.standings:
        found = ((word_rating(by), by.record if by else "") for by in (one.people, one.jury))
        board.append((one.model, *chain.from_iterable(found)))
        ratings = (by.ratings.get(one.model) for by in (adjusted.people, adjusted.jury))
        equal.append((one.model, *map(word_rating, ratings)))
    yield RATED, ("by people", "", "by the jury", ""), board
    yield ADJUSTED, ("by people", "by the jury"), equal
    leads = []
    for name, words in EFFECTS.items():
        effects = (getattr(by, name) for by in (adjusted.people, adjusted.jury))
        leads.append((words, *effects))
    yield "Lead in points", ("with people", "with the jury"), leads
