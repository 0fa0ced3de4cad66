"""Figures of each juror: agreement, consistency, self-preference, failures and cost; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from engine.stats.bootstrap import Sums, mean_of
from engine.stats.figure import Figure, Observation, estimate, estimate_share
from engine.stats.row import JurorBallot, Row
from engine.values.debate import Value


class JurorFigures(Value):
    """A juror's figures; those about choices are from blind panels only.

    `agreement`: how often it chose as people did. `consistency`: how often it chose the same in
    both orders, in debates that it read twice. `self_preference`: how much more than people it
    favours debaters of its own family, from −1 to 1. `invalid`: the share of unreadable ballots;
    its `n` counts ballots. `usd`: the cost of all ballots, None if partly unknown.
    """

    juror: str
    ballots: int
    agreement: Figure
    consistency: Figure
    self_preference: Figure
    invalid: Figure
    usd: float | None


class _Read(NamedTuple):
    """A debate with one juror's readings."""

    row: Row
    readings: tuple[JurorBallot, ...]


def juror_figures(rows: Iterable[Row]) -> tuple[JurorFigures, ...]:
    """Return the figures of all jurors, by name."""
    read: dict[str, list[_Read]] = defaultdict(list)
    for row in rows:
        mine: dict[str, list[JurorBallot]] = defaultdict(list)
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
    """Return whether readings in different orders chose the same; None without both orders."""
    valid = [reading for reading in one.readings if reading.verdict is not None]
    if not one.row.blind or len({reading.order for reading in valid}) < 2:
        return None
    return len({reading.verdict for reading in valid}) == 1


def _preference_for_own(juror: str, one: _Read) -> float | None:
    """Return how much more than people a juror favours its family; None if not applicable."""
    row, family = one.row, one.readings[0].family
    own = [side for side, debater in row.families.items() if debater == family]
    chosen = row.verdicts().get(juror)
    if row.people is None or chosen is None or len(own) in (0, len(row.families)):
        return None
    return sum(row.credit(chosen, side) - row.credit(row.people, side) for side in own)
