"""Jurors whose judgment is known, to drive panels with."""

from __future__ import annotations

from collections.abc import Callable

from engine.jury.aggregate import aggregate
from engine.jury.ballot import Reading
from engine.jury.plan import next_readings
from engine.jury.rubric import DEBATE
from engine.values.debate import JurorHistory, Model, PanelMode, PanelSetup
from engine.values.judging import Ballot, Verdict

SIDES = ("A", "B")
NAMES = {"A": "Heron", "B": "Plover"}
AB, BA = ("A", "B"), ("B", "A")


def jurors(count: int) -> tuple[Model, ...]:
    """Return jurors of families of their own."""
    return tuple(
        Model(backend="online", name=f"juror-{n}", family=f"family-{n}") for n in range(count)
    )


def panel(
    count: int = 6,
    *,
    history: dict[str, JurorHistory] | None = None,
    mode: PanelMode = PanelMode.ADAPTIVE,
    audit: bool = False,
    correlation: float | None = None,
) -> PanelSetup:
    """Return a panel of that many jurors."""
    return PanelSetup(
        roster=jurors(count),
        history=history or {},
        mode=mode,
        audit=audit,
        correlation=correlation,
    )


def ballot(
    order: tuple[str, ...],
    points: dict[str, int],
    verdict: str | None,
    *,
    juror: str = "online/juror-0",
    audit: bool = False,
    contradictory: bool = False,
) -> Ballot:
    """Return a valid ballot with the same score on every criterion."""
    return Ballot(
        juror=juror,
        family="any",
        order=order,
        names=NAMES,
        audit=audit,
        valid=True,
        contradictory=contradictory,
        scores={
            side: {criterion.name: points[side] for criterion in DEBATE.criteria} for side in order
        },
        verdict=verdict,
    )


def spoilt(order: tuple[str, ...], juror: str = "online/juror-0") -> Ballot:
    """Return an invalid ballot."""
    return Ballot(
        juror=juror, family="any", order=order, names=NAMES, valid=False, problem="no JSON"
    )


def leaning(
    order: tuple[str, ...], margin: int, *, juror: str = "online/juror-0", audit: bool = False
) -> Ballot:
    """Return a ballot whose verdict and scores favour A by `margin` points (B if negative)."""
    verdict = "A" if margin > 0 else "B" if margin < 0 else "tie"
    low = 5 - abs(margin) // 2
    high = low + abs(margin)
    points = {"A": high if margin > 0 else low, "B": high if margin < 0 else low}
    return ballot(order, points, verdict, juror=juror, audit=audit)


def hold(
    setup: PanelSetup,
    judge: Callable[[Reading], Ballot],
    sides: tuple[str, ...] = SIDES,
) -> tuple[Verdict, tuple[Ballot, ...]]:
    """Ask for readings until the plan has none, and return the verdict and all ballots."""
    ballots: list[Ballot] = []
    while readings := next_readings(setup, sides, ballots):
        ballots += [judge(reading) for reading in readings]
    outcome = aggregate(setup, sides, ballots)
    return outcome.verdict, outcome.ballots
