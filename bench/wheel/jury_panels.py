"""The panels that `rostrum bench jury` compares, on the same simulated debates.

The product's panel is its own code: seating, planning, aggregation and fitting as in a debate. The
others are common methods, and an upper bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple

from bench.wheel.jury_world import (
    SIDES,
    Case,
    Court,
    know_exactly,
    weigh_exactly,
    weigh_perfectly,
)
from engine.jury.aggregate import aggregate
from engine.jury.ballot import MOST_JURORS
from engine.jury.fit import fit_jurors
from engine.jury.fit_quality import compare_rules
from engine.jury.history import HeardDebate, fit, hear
from engine.jury.model import chance, choose, gain_of_another, plot, posterior
from engine.jury.plan import next_readings
from engine.jury.roster import PanelFit, seat_panel
from engine.jury.rubric import DEBATE
from engine.store.learning import PastDebate
from engine.values.debate import BEHIND, Fit, PanelSetup
from engine.values.verdicts import TIE, Ballot, Verdict

NAIVE_JURORS = 6
SWAPPED_JURORS = 3
# Debates between two fits, up to so many; the product fits again for two new ballots in a hundred.
REFIT = {30: 2, 60: 15, 100: 40, 300: 100}
REFIT_LATER = 200
NOT_KNOWN_YET = 100  # debates in which some jurors may have too few ballots for the model
CALL_WORTH = 0.003  # what a call has to gain for a panel that knows all and asks one by one


class PanelCall(NamedTuple):
    """A panel's winner (a contender or a tie), its calls (to decide, to audit) and its p(A).

    `mirrored` is its winner of the same debate with the sides exchanged.
    """

    winner: str
    calls: int
    audits: int = 0
    p: float | None = None
    mirrored: str | None = None


Panel = Callable[[Case], PanelCall]


def ask_naive(case: Case) -> PanelCall:
    """Hold a usual panel: six jurors that see names, one order, majority of verdicts."""
    count = min(NAIVE_JURORS, len(case.jurors))
    said = [case.ask(at, SIDES, blind=False).verdict for at in range(count)]
    return PanelCall(_majority(said), count)


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
        read = {at: _undistort(case, at, turn) for turn, at in enumerate(best(_free(case)))}
        seen = {at: found for at, found in read.items() if found is not None}
        weights = weigh_exactly(court, tuple(seen), read=True)
        whole = sum(weight * seen[at] for at, weight in weights.items())
        return PanelCall("A" if whole > 0 else "B", len(weights))

    return ask


def make_thrifty(court: Court) -> Panel:
    """Return a panel that knows as much, and asks one by one while a call is worth it.

    The sequence and the expected gain are the product's, without its first three readers and
    without debates that explore.
    """
    fit = know_exactly(court)
    refs = [juror.model.ref for juror in court.jurors]
    choice = cache(lambda free: choose(fit, [refs[at] for at in free], MOST_JURORS))

    def ask(case: Case) -> PanelCall:
        order = choice(_free(case))
        seen: dict[str, float] = {}
        mean, variance, calls = 0.0, 1.0, 0
        while calls < len(order):
            ref, turn = order[calls], calls
            at = refs.index(ref)
            found, calls = _undistort(case, at, turn), calls + 1
            if found is not None:
                seen[ref] = found * fit.jurors[ref].skill
                mean, variance, _ = posterior(fit, seen)
            _, following = plot(fit, tuple(seen), order[calls:], (), len(order) - calls)
            if gain_of_another(mean, variance, following) < CALL_WORTH:
                break
        return PanelCall("A" if mean > 0 else "B", calls, p=chance(mean, variance))

    return ask


def _free(case: Case) -> tuple[int, ...]:
    """Return the jurors of no debater's family."""
    families = {model.family for model in case.debaters}
    jurors = enumerate(case.court.jurors)
    return tuple(at for at, one in jurors if one.sees and one.model.family not in families)


def _undistort(case: Case, at: int, turn: int) -> float | None:
    """Return what a juror's ballot says of the margin, freed of its lean and scale."""
    place, juror = -1 if turn % 2 else 1, case.jurors[at]
    points = case.ask(at, SIDES[::place], blind=True).points
    if points is None:
        return None
    margin = DEBATE.score(points["A"]) - DEBATE.score(points["B"])
    return margin / juror.scale - place * juror.position


@dataclass(slots=True)
class Product:
    """Rostrum's panel in an installation that learns from its past debates.

    `modelled`: by the model of jurors, else balanced by order, as before it. `wave` readers sit
    while the model learns, in place of the usual six. `proven` is after how many debates it was
    proven that jurors see something.
    """

    court: Court
    modelled: bool = True
    wave: int = 0
    past: list[PastDebate] = field(default_factory=list)
    heard: list[HeardDebate] = field(default_factory=list)
    learnt: PanelFit = field(default_factory=lambda: fit(()))
    model: Fit = field(default_factory=Fit)
    proven: float = math.inf

    def ask(self, case: Case, *, mirror: bool = False) -> PanelCall:
        """Hold a panel, and refit periodically; `mirror`: also with the sides exchanged."""
        ballots, verdict = self._hold(case)
        other = self._hold(case.mirror())[1].winner or TIE if mirror else None
        self._learn(PastDebate(tuple(ballots), z=verdict.z))
        audits = sum(ballot.audit for ballot in ballots)
        return PanelCall(
            verdict.winner or TIE, len(ballots) - audits, audits, verdict.p.get("A", 0.5), other
        )

    def _hold(self, case: Case) -> tuple[list[Ballot], Verdict]:
        setup = self._seat(case, len(self.past) + 1)
        if setup.stake is None:
            self.proven = min(self.proven, len(self.past))
        at = {juror.ref: number for number, juror in enumerate(self.court.roster)}
        ballots: list[Ballot] = []
        while readings := next_readings(setup, SIDES, ballots):
            ballots += [case.read(reading, at[reading.juror.ref]) for reading in readings]
        return ballots, aggregate(setup, SIDES, ballots)[0]

    def _seat(self, case: Case, ordinal: int) -> PanelSetup:
        model = self.model if self.modelled else None
        setup = seat_panel(
            self.court.roster,
            case.debaters,
            ordinal=ordinal,
            seed=ordinal,
            learnt=self.learnt.model_copy(update={"model": model}),
        )
        return setup.model_copy(update={"wave": self.wave}) if setup.wave and self.wave else setup

    def _learn(self, debate: PastDebate) -> None:
        self.past.append(debate)
        self.heard += hear([debate])
        held = len(self.past)
        every = next((step for most, step in REFIT.items() if held <= most), REFIT_LATER)
        if held % every == 0:
            self._fit()

    def _fit(self) -> None:
        if self.modelled:
            fitted = fit_jurors(self.heard, self.model)
            self.model = fitted.model_copy(update={"ahead": compare_rules(self.past)})
        # The model decides once it knows the jurors; until then their histories do.
        if not self.modelled or self.model.ahead <= BEHIND or len(self.past) <= NOT_KNOWN_YET:
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
