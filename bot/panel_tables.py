"""What a fit says of the jurors, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from bot.console import TableConsole
from engine.stats.jurors import Estimate, FitView, JurorView
from engine.values.debate import SEES

HEAD = "Fit {number} of {when:%Y-%m-%d %H:%M} UTC: {debates:,} debates, {ballots:,} ballots{more}."
LEARNT = ", {n:,} of them on {judgments:,} judgments from elsewhere"
LABELS = "People decided {n:,} of them."
JURORS = "What is known of the jurors"
SHARED = "Errors that jurors share, beside a truth of 1"
PANELS = "The best panel of each size"
FURTHER = "One more juror, of a family of its own: {gain:+.1f} points."
RULES = {
    "none": "There is no verdict yet unless all readings agree: these jurors have not yet shown "
    "that they see more than order or chance. A stake of 1 on that is worth {stake:.3g}, of 100.",
    "model": "The model of jurors decides: held-back ballots bear it out as well as the balanced "
    "rule ({ahead:+.1f} standard errors).",
    "balanced": "The balanced rule decides: held-back ballots bear the model of jurors out less "
    "({ahead:+.1f} standard errors).",
}
BLIND = (
    "{juror} probably sees nothing of what the others see (chance that it does: {sees:.0f} %); its "
    "ballots count for nothing."
)
CHANGED = (
    "{juror} judges otherwise than before ({drift:.1f} standard errors): {n:,} older ballots of it "
    "count no longer."
)


def show_panel(view: FitView) -> None:
    """Print what is known of the jurors, and what panels of them are worth."""
    console, evidence = TableConsole(), view.evidence
    more = ""
    if evidence.learnt:
        more = LEARNT.format(n=evidence.learnt_ballots, judgments=evidence.learnt)
    counts = {"debates": evidence.debates, "ballots": evidence.readings}
    console.print()
    console.print(HEAD.format(number=view.number, when=view.made_at, more=more, **counts))
    if view.labels:
        console.print(LABELS.format(n=view.labels))
    for table in (_jurors(view), _shared(view), _panels(view)):
        console.print()
        console.print(table)
    for line in _notes(view):
        console.print(line)


def _table(title: str, *columns: str) -> Table:
    return Table("", *columns, title=title, title_justify="left", box=None, pad_edge=False)


def _jurors(view: FitView) -> Table:
    columns = ("skill", "lean", "spread", "group", "weight", "alone right", "ballots", "drift")
    table = _table(JURORS, *columns, "USD")
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
    table = _table(SHARED, "variance")
    table.add_row("by all", _interval(view.shared))
    table.add_row("by one family", _interval(view.family))
    return table


def _panels(view: FitView) -> Table:
    table = _table(PANELS, "right", "the last one adds", "last")
    for size, one in enumerate(view.panels, start=1):
        gain = f"{100 * one.gain:+.1f} points"
        table.add_row(str(size), f"{100 * one.right:.1f} %", gain, one.jurors[-1])
    return table


def _notes(view: FitView) -> Iterator[str]:
    yield RULES[view.rule].format(stake=view.stake, ahead=view.ahead)
    if view.further is not None:
        yield FURTHER.format(gain=100 * view.further)
    for one in view.jurors:
        if one.sees < SEES:
            yield BLIND.format(juror=one.juror, sees=100 * one.sees)
        if one.left_out:
            yield CHANGED.format(juror=one.juror, drift=one.drift, n=one.left_out)


def _interval(one: Estimate, form: str = ".2f") -> str:
    return f"{one.value:{form}} ({one.low:{form}} to {one.high:{form}})"
