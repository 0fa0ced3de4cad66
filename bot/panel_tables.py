"""What a fit says of the jurors, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from bot.console import TableConsole
from engine.stats.jurors import Estimate, FitView, JurorView
from engine.values.debate import SEES

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
    for table in (_jurors(view), _shared(view), _panels(view)):
        console.print()
        console.print(table)
    for line in _notes(view):
        console.print(line)


def _table(title: str, *columns: str) -> Table:
    return Table("", *columns, title=title, title_justify="left", box=None, pad_edge=False)


def _jurors(view: FitView) -> Table:
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


def _interval(one: Estimate, form: str = ".2f") -> str:
    return f"{one.value:{form}} ({one.low:{form}} to {one.high:{form}})"
