"""`rostrum stats`: how well the jury predicts people, as text, JSON and pictures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.commands.data import NO_REHEARSALS, DebateChoice
from bot.console import TableConsole, print_json
from bot.read_only import read_store
from bot.record.filters import check_series, where_of
from bot.settings.load import load_store_settings
from engine.run.juror_fits import read_fit
from engine.stats.agreement import (
    Agreement,
    measure_agreement,
)
from engine.stats.figure import Figure
from engine.stats.jurors import FitView, IntervalEstimate, JurorView, view_fit
from engine.stats.presentation import draw_pictures
from engine.stats.ratings import (
    EFFECTS,
    AdjustedLeaderboard,
    Leaderboard,
    adjust_models,
    rank_models,
    word_rating,
)
from engine.stats.row import GuessFigures, work_out
from engine.store import ExportFilter, count_rehearsals
from engine.store.fits import Learning
from engine.tally.tally import FEWEST
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
    jurors = _table(
        "What is known of the jurors",
        ("skill", "lean", "spread", "group", "weight", "alone right", "ballots", "drift", "USD"),
        ((one.juror, *_cells(one)) for one in view.jurors),
    )
    shared = _table(
        "Errors that jurors share, beside a truth of 1",
        ("variance",),
        (("by all", _interval(view.shared)), ("by one family", _interval(view.family))),
    )
    panels = _table("The best panel of each size", ("right", "the last one adds", "last"), ())
    for size, one in enumerate(view.panels, start=1):
        gain = f"{100 * one.gain:+.1f} points"
        panels.add_row(str(size), f"{100 * one.right:.1f} %", gain, one.jurors[-1])
    for table in (jurors, shared, panels):
        console.print()
        console.print(table)
    for line in _notes(view):
        console.print(line)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table; what its first column holds needs no title."""
    table = Table("", *columns, title=title, title_justify="left", box=None, pad_edge=False)
    for cells in rows:
        table.add_row(*map(str, cells))
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
WRITTEN = "Pictures in {out}: {names}."


async def run_stats(
    chosen: DebateChoice = NO_REHEARSALS, *, as_json: bool = False, out: Path | None = None
) -> None:
    """Print the statistics of revealed debates; with `out`, also draw pictures there."""
    where = where_of(chosen, revealed=True)
    async with read_store(load_store_settings(), whole=True) as store:
        await check_series(store, chosen.series)
        agreement, leaderboard, adjusted = await work_out(
            store.archive,
            where,
            lambda rows: (measure_agreement(rows), rank_models(rows), adjust_models(rows)),
        )
        left_out = await asyncio.to_thread(count_rehearsals, store.archive, where)
        panel = await _view_jurors(store.learning, agreement, rehearsal=chosen.include_rehearsal)
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
    yield from _choices(agreement)
    yield from _people(agreement)
    yield from _models(agreement)
    for title, groups in (
        ("Languages", agreement.languages),
        ("Formats", agreement.formats),
        (f"Topics (the {TOPICS} most debated)", agreement.topics[:TOPICS]),
    ):
        rows = ((one.name, one.agreement, one.kappa, one.agreement.n) for one in groups)
        yield _table(title, ("agreement", "Cohen's κ", "debates"), rows)
    yield from _ratings(leaderboard, adjusted)


def _overall(agreement: Agreement) -> Table:
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
    return _table("Jury and people", ("figure", "debates"), rows)


def _crowds(agreement: Agreement) -> Table:
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
    return _table("Chat, labels and jury", ("alike", "α or κ", "debates"), rows)


def _choices(agreement: Agreement) -> Iterator[Table]:
    matrix = agreement.matrix
    rows = [(f"people: {people}", *map(str, row.values())) for people, row in matrix.items()]
    yield _table("Debates by judgment", [f"jury: {choice}" for choice in matrix], rows)
    people, jury = agreement.people_shares, agreement.jury_shares
    shares = (("A won", people.a, jury.a), ("the last speaker won", people.closer, jury.closer))
    yield _table(
        "Side and last word, of decided debates",
        ("people", "jury", "debates"),
        ((name, a, b, f"{a.n}, {b.n}") for name, a, b in shares),
    )
    bins = []
    for one in agreement.reliability:
        means = ("" if mean is None else f"{mean:.2f}" for mean in (one.predicted, one.observed))
        bins.append((f"{one.low:.1f} to {one.high:.1f}", *means, one.n))
    yield _table("The jury's p(A)", ("mean", "A's share with people", "debates"), bins)


def _people(agreement: Agreement) -> Iterator[Table]:
    again = (
        ("disagreed with the jury, then agreed", agreement.anchoring.toward),
        ("agreed with the jury, then disagreed", agreement.anchoring.away),
    )
    yield _table(
        "Asked again after the reveal",
        ("share", "people"),
        ((name, one, one.n) for name, one in again if one.n),
    )
    yield _table(
        "How clear people found it",
        ("most others agree, calibrated", "votes"),
        ((one.word, f"{one.p:.2f}", one.n) for one in agreement.confidence if one.p is not None),
    )
    yield _guessing(agreement.guessing)
    grounds = []
    for one in agreement.grounds:
        if one.people.n:
            jurors = "" if one.jurors is None else f"{one.criterion} {100 * one.jurors:.0f} %"
            grounds.append((one.name, one.people, jurors, one.people.n))
    yield _table("What decided", ("for people", "for jurors", "people"), grounds)


def _guessing(guessing: GuessFigures) -> Table:
    table = _table("Guesses at the models", ("right", "by chance", "guesses"), ())
    if guessing.chance is not None:
        share = guessing.share
        told = "they beat chance" if guessing.above else "they do not beat chance"
        table.add_row(told, str(share), f"{100 * guessing.chance:.0f} %", str(share.n))
    return table


def _models(agreement: Agreement) -> Iterator[Table]:
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
    yield _table("Win rates", columns, rates)
    jurors = (
        (
            one.juror,
            one.agreement,
            one.consistency,
            one.self_preference,
            one.invalid,
            one.ballots,
            "unknown" if one.usd is None else f"{one.usd:.4f}",
        )
        for one in agreement.jurors
    )
    names = ("agrees with people", "same in both orders", "favours its family, points")
    yield _table("Jurors", (*names, "invalid ballots", "ballots", "USD"), jurors)


def _ratings(leaderboard: Leaderboard, adjusted: AdjustedLeaderboard) -> Iterator[Table]:
    board, equal = [], []
    for one in leaderboard.standings:
        found = ((word_rating(by), by.record if by else "") for by in (one.people, one.jury))
        board.append((one.model, *chain.from_iterable(found)))
        ratings = (by.ratings.get(one.model) for by in (adjusted.people, adjusted.jury))
        equal.append((one.model, *map(word_rating, ratings)))
    yield _table(RATED, ("by people", "", "by the jury", ""), board)
    yield _table(ADJUSTED, ("by people", "by the jury"), equal)
    leads = []
    for name, words in EFFECTS.items():
        effects = (getattr(by, name) for by in (adjusted.people, adjusted.jury))
        leads.append((words, *effects))
    yield _table("Lead in points", ("with people", "with the jury"), leads)
