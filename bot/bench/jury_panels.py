"""The panels that `rostrum bench jury` compares, on the same simulated debates.

The product's panel is its own code: seating, planning, aggregation and fitting as in a debate. The
others are common methods, and an upper bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple

from bot.bench.jury_world import SIDES, Case, Court, weigh_exactly, weigh_perfectly
from engine.debate import Fit, PanelSetup
from engine.judging import TIE, Ballot
from engine.jury.aggregate import aggregate
from engine.jury.fitting import fit_jurors
from engine.jury.hearing import HeardDebate, hear
from engine.jury.history import PanelFit, fit
from engine.jury.model import is_sure
from engine.jury.plan import next_readings
from engine.jury.roster import seat_panel
from engine.jury.rubric import DEBATE
from engine.store.journal import PastDebate

NAIVE_JURORS = 6
SWAPPED_JURORS = 3
REFIT = 100  # debates between two fits; the product fits once a minute
EARLY = 25  # the same, while there are few


class PanelCall(NamedTuple):
    """A panel's winner (a contender or a tie), its calls (to decide, to audit) and its p(A)."""

    winner: str
    calls: int
    audits: int = 0
    p: float | None = None


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


def make_knowing(court: Court) -> Panel:
    """Return what no panel of six can beat: the six best who may sit, ballots weighed perfectly.

    Unlike the oracle it reads ballots: with what differs from one reading to the next, rounded
    scores and invalid ones. It knows every lean, scale and error.
    """
    best = cache(partial(weigh_perfectly, court, read=True))

    def ask(case: Case) -> PanelCall:
        families = {model.family for model in case.debaters}
        free = (at for at, one in enumerate(court.jurors) if one.model.family not in families)
        seen: dict[int, float] = {}
        for turn, at in enumerate(best(tuple(free))):
            place = -1 if turn % 2 else 1
            points = case.ask(at, SIDES[::place], blind=True).points
            if points is not None:
                margin = DEBATE.score(points["A"]) - DEBATE.score(points["B"])
                seen[at] = margin / court.jurors[at].scale - place * court.jurors[at].position
        weights = weigh_exactly(court, tuple(seen), read=True)
        whole = sum(weight * seen[at] for at, weight in weights.items())
        return PanelCall("A" if whole > 0 else "B", len(weights))

    return ask


@dataclass(slots=True)
class Product:
    """Rostrum's panel in an installation that learns from its past debates.

    `modelled`: by the model of jurors, else balanced by order, as before it. `wave` readers sit
    while the model learns, in place of the usual six.
    """

    court: Court
    modelled: bool = True
    wave: int = 0
    past: list[PastDebate] = field(default_factory=list)
    heard: list[HeardDebate] = field(default_factory=list)
    learnt: PanelFit = field(default_factory=lambda: fit(()))
    model: Fit = field(default_factory=lambda: fit_jurors(()))

    def ask(self, case: Case) -> PanelCall:
        """Hold a panel, and refit periodically."""
        ordinal = len(self.past) + 1
        setup = self._seat(case, ordinal)
        at = {juror.ref: number for number, juror in enumerate(self.court.roster)}
        ballots: list[Ballot] = []
        while readings := next_readings(setup, SIDES, ballots):
            ballots += [case.read(reading, at[reading.juror.ref]) for reading in readings]
        verdict = aggregate(setup, SIDES, ballots).verdict
        self._learn(PastDebate(tuple(ballots), z=verdict.z))
        audits = sum(ballot.audit for ballot in ballots)
        return PanelCall(
            verdict.winner or TIE, len(ballots) - audits, audits, verdict.p.get("A", 0.5)
        )

    def _seat(self, case: Case, ordinal: int) -> PanelSetup:
        setup = seat_panel(
            self.court.roster,
            case.debaters,
            ordinal=ordinal,
            seed=ordinal,
            history=self.learnt.history,
            correlation=self.learnt.correlation,
            slope=self.learnt.slope,
            fit=self.model if self.modelled else None,
        )
        return setup.model_copy(update={"wave": self.wave}) if setup.wave and self.wave else setup

    def _learn(self, debate: PastDebate) -> None:
        self.past.append(debate)
        self.heard += hear([debate])
        if len(self.past) % (EARLY if self.modelled and len(self.past) < REFIT else REFIT) == 0:
            self._fit()

    def _fit(self) -> None:
        if self.modelled:
            self.model = fit_jurors(self.heard, self.model)
        # The model decides once it knows the jurors; until then their histories do.
        if not self.modelled or not is_sure(self.model):
            self.learnt = fit(self.past)

    def label(self, humans: Sequence[str]) -> Product:
        """Return this installation with people's votes on its newest debates."""
        known = len(self.past) - len(humans)
        labelled = [
            debate._replace(human=human)
            for debate, human in zip(self.past[known:], humans, strict=True)
        ]
        past = [*self.past[:known], *labelled]
        found = Product(self.court, self.modelled, self.wave, past, hear(past), self.learnt)
        found._fit()
        return found


def _majority(said: Sequence[str | None]) -> str:
    """Return who was named more often; None is an unreadable ballot."""
    votes = Counter(said)
    if votes["A"] == votes["B"]:
        return TIE
    return "A" if votes["A"] > votes["B"] else "B"
