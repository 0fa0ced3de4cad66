"""The panels that `rostrum bench jury` compares, on the same simulated debates.

The product's panel is its own code: seating, planning, aggregation and fitting as in a debate. The
others are common methods, and an upper bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.bench.jury_world import SIDES, Case, Court, weigh_perfectly
from engine.judging import TIE, Ballot
from engine.jury.aggregate import aggregate
from engine.jury.history import PanelFit, fit
from engine.jury.plan import next_readings
from engine.jury.roster import seat_panel
from engine.store.journal import PastDebate

NAIVE_JURORS = 6
SWAPPED_JURORS = 3
REFIT = 100  # debates between two fits; the product fits once a minute


class PanelCall(NamedTuple):
    """A panel's winner (a contender or a tie), and its calls: to decide, to audit."""

    winner: str
    calls: int
    audits: int = 0


Panel = Callable[[Case], PanelCall]


def ask_naive(case: Case) -> PanelCall:
    """Hold a usual panel: six jurors that see names, one order, majority of verdicts."""
    said = [case.ask(at, SIDES, blind=False).verdict for at in range(NAIVE_JURORS)]
    return PanelCall(_majority(said), NAIVE_JURORS)


def ask_swapped(case: Case) -> PanelCall:
    """Hold a strict panel: three jurors in both orders; changed verdicts count as ties."""
    said = []
    for at in range(SWAPPED_JURORS):
        both = {case.ask(at, order, blind=False).verdict for order in (SIDES, SIDES[::-1])}
        said.append(both.pop() if len(both) == 1 else TIE)
    return PanelCall(_majority(said), 2 * SWAPPED_JURORS)


def make_oracle(court: Court) -> Panel:
    """Return the upper bound: the six best jurors' true impressions, weighted perfectly."""
    weights = weigh_perfectly(court)

    def ask(case: Case) -> PanelCall:
        whole = sum(weight * case.felt[at] for at, weight in weights.items())
        return PanelCall("A" if whole > 0 else "B", len(weights))

    return ask


@dataclass(slots=True)
class Product:
    """Rostrum's panel in an installation that learns from its past debates."""

    court: Court
    past: list[PastDebate] = field(default_factory=list)
    learnt: PanelFit = field(default_factory=lambda: fit(()))

    def ask(self, case: Case) -> PanelCall:
        """Hold a panel, and refit periodically."""
        ordinal = len(self.past) + 1
        setup = seat_panel(
            self.court.roster,
            case.debaters,
            ordinal=ordinal,
            seed=ordinal,
            history=self.learnt.history,
            correlation=self.learnt.correlation,
            slope=self.learnt.slope,
        )
        at = {juror.ref: number for number, juror in enumerate(self.court.roster)}
        ballots: list[Ballot] = []
        while readings := next_readings(setup, SIDES, ballots):
            ballots += [case.read(reading, at[reading.juror.ref]) for reading in readings]
        verdict = aggregate(setup, SIDES, ballots).verdict
        self.past.append(PastDebate(tuple(ballots), z=verdict.z))
        if ordinal % REFIT == 0:
            self.learnt = fit(self.past)
        audits = sum(ballot.audit for ballot in ballots)
        return PanelCall(verdict.winner or TIE, len(ballots) - audits, audits)

    def label(self, humans: Sequence[str]) -> Product:
        """Return this installation with people's votes on its newest debates."""
        known = len(self.past) - len(humans)
        labelled = [
            debate._replace(human=human)
            for debate, human in zip(self.past[known:], humans, strict=True)
        ]
        past = [*self.past[:known], *labelled]
        return Product(self.court, past, fit(past))


def _majority(said: Sequence[str | None]) -> str:
    """Return who was named more often; None is an unreadable ballot."""
    votes = Counter(said)
    if votes["A"] == votes["B"]:
        return TIE
    return "A" if votes["A"] > votes["B"] else "B"
