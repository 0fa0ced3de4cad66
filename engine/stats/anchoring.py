"""How far a reveal moves people: what those answer again who voted before; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.debate import Value
from engine.stats.bootstrap import mean_of
from engine.stats.figure import Figure, Observation, estimate
from engine.stats.row import Row


class Anchoring(Value):
    """What people who cast a gold vote answered after the reveal, where the jury came to a verdict.

    `toward` is the share of those who had chosen otherwise that chose as the jury did then, and
    `away` that of those who had chosen as it did that did not any more. Who just wavers goes both
    ways alike; the reveal pulls where people come more than they go. `n` counts people.
    """

    toward: Figure
    away: Figure


def measure_anchoring(rows: Iterable[Row]) -> Anchoring:
    """Work out both shares, with intervals resampled by topic."""
    held = list(rows)
    return Anchoring(
        toward=estimate(_moves(held, with_jury=False), mean_of),
        away=estimate(_moves(held, with_jury=True), mean_of),
    )


def _moves(rows: Iterable[Row], *, with_jury: bool) -> Iterator[Observation]:
    """Yield, of each person who first chose with the jury or otherwise, whether that changed."""
    for row in rows:
        if row.jury is None:
            continue
        for before, after in row.revised:
            if (before == row.jury) is with_jury:
                changed = (after == row.jury) is not with_jury
                yield Observation(row.topic, (float(changed), 1.0))
