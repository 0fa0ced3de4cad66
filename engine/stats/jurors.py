"""What can be said of each juror: agreement, consistency, self-preference, failures, cost; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from engine.debate import Value
from engine.stats.bootstrap import Sums, mean_of
from engine.stats.figure import Figure, Observation, estimate, estimate_share
from engine.stats.row import Reading, Row


class JurorFigures(Value):
    """A juror's figures, of blind panels only where a choice is judged.

    `agreement`: how often it and people chose the same. `consistency`: how often it chose the
    same whichever side it was shown first, of debates that it read both ways. `self_preference`:
    what it gives a debater of its own family beyond people, from −1 to 1. `invalid`: the share of
    its ballots that could not be read; its `n` counts ballots. `usd` is what all of them cost,
    None where a part is unknown.
    """

    juror: str
    ballots: int
    agreement: Figure
    consistency: Figure
    self_preference: Figure
    invalid: Figure
    usd: float | None


class _Read(NamedTuple):
    """A debate as one juror read it."""

    row: Row
    readings: tuple[Reading, ...]


def juror_figures(rows: Iterable[Row]) -> tuple[JurorFigures, ...]:
    """Work out the figures of everybody who judged, by name."""
    read: dict[str, list[_Read]] = defaultdict(list)
    for row in rows:
        mine: dict[str, list[Reading]] = defaultdict(list)
        for reading in row.readings:
            mine[reading.juror].append(reading)
        for juror, readings in mine.items():
            read[juror].append(_Read(row, tuple(readings)))
    return tuple(_describe(juror, read[juror]) for juror in sorted(read))


def _describe(juror: str, read: Sequence[_Read]) -> JurorFigures:
    ballots = [reading for one in read for reading in one.readings]
    failed = sum(reading.verdict is None for reading in ballots)
    costs = [reading.usd for reading in ballots]
    known = [usd for usd in costs if usd is not None]
    return JurorFigures(
        juror=juror,
        ballots=len(ballots),
        agreement=_estimate(
            (one.row, (float(chosen == one.row.people), 1.0))
            for one in read
            if one.row.people is not None and (chosen := one.row.verdicts().get(juror))
        ),
        consistency=_estimate(
            (one.row, (float(same), 1.0))
            for one in read
            if (same := _is_consistent(one)) is not None
        ),
        self_preference=_estimate(
            (one.row, (given, 1.0))
            for one in read
            if (given := _preference_for_own(juror, one)) is not None
        ),
        invalid=estimate_share(failed, len(ballots)),
        usd=fsum(known) if len(known) == len(costs) else None,
    )


def _estimate(found: Iterable[tuple[Row, Sums]]) -> Figure:
    return estimate((Observation(row.topic, sums) for row, sums in found), mean_of)


def _is_consistent(one: _Read) -> bool | None:
    """Return whether readings in different orders chose the same; None of one order."""
    valid = [reading for reading in one.readings if reading.verdict is not None]
    if not one.row.blind or len({reading.order for reading in valid}) < 2:
        return None
    return len({reading.verdict for reading in valid}) == 1


def _preference_for_own(juror: str, one: _Read) -> float | None:
    """Return what a juror gives its own family beyond people; None where it has no such choice."""
    row, family = one.row, one.readings[0].family
    own = [side for side, debater in row.families.items() if debater == family]
    chosen = row.verdicts().get(juror)
    if row.people is None or chosen is None or len(own) in (0, len(row.families)):
        return None
    return sum(row.credit(chosen, side) - row.credit(row.people, side) for side in own)
