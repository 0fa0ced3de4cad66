"""How often jurors agree with one another, pair by pair; pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from engine.stats.agreement import categories_of
from engine.stats.bootstrap import mean_of
from engine.stats.figure import Figure, Observation, estimate
from engine.stats.kappa import kappa_of, kappa_sums
from engine.stats.row import Row
from engine.values.debate import Value


class JurorPair(Value):
    """Two jurors on the debates that both judged: how often they chose the same, and Cohen's κ."""

    juror: str
    other: str
    agreement: Figure
    kappa: Figure


def juror_pairs(rows: Sequence[Row]) -> tuple[JurorPair, ...]:
    """Return every pair of jurors that judged a debate on one blind panel."""
    judged = [(row.topic, row.verdicts()) for row in rows]
    jurors = sorted({juror for _, verdicts in judged for juror in verdicts})
    found = []
    for one, other in combinations(jurors, 2):
        both = [
            (topic, said[one], said[other]) for topic, said in judged if {one, other} <= {*said}
        ]
        if both:
            found.append(_pair(one, other, both))
    return tuple(found)


def _pair(one: str, other: str, both: Sequence[tuple[str, str, str]]) -> JurorPair:
    categories = categories_of(choice for _, *pair in both for choice in pair)
    return JurorPair(
        juror=one,
        other=other,
        agreement=estimate((Observation(t, (float(a == b), 1.0)) for t, a, b in both), mean_of),
        kappa=estimate(
            (Observation(t, kappa_sums(a, b, categories)) for t, a, b in both), kappa_of
        ),
    )
