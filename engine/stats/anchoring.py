"""How far a reveal moves people: their answers after it, compared with their votes; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.stats.bootstrap import mean_of
from engine.stats.figure import Figure, Observation, estimate
from engine.stats.row import Row
from engine.values.debate import Value


class Anchoring(Value):
    """Answers after the reveal by people with a gold vote, in debates with a verdict.

    `toward` is the share of those who had disagreed with the jury and then agreed; `away` that of
    those who had agreed and then disagreed. Random changes go both ways equally, so the reveal
    pulls people if `toward` is larger. `n` counts people.
    """

    toward: Figure
    away: Figure


def measure_anchoring(rows: Iterable[Row]) -> Anchoring:
    """Return both shares, with intervals resampled by topic."""
    held = list(rows)
    return Anchoring(
        toward=estimate(_moves(held, with_jury=False), mean_of),
        away=estimate(_moves(held, with_jury=True), mean_of),
    )


def _moves(rows: Iterable[Row], *, with_jury: bool) -> Iterator[Observation]:
    """Yield for each person who first agreed (or disagreed) with the jury whether that changed."""
    for row in rows:
        if row.jury is None:
            continue
        for before, after in row.revised:
            if (before == row.jury) is with_jury:
                changed = (after == row.jury) is not with_jury
                yield Observation(row.topic, (float(changed), 1.0))
