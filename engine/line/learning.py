"""Fits the jurors to past ballots and stores each fit: one process at a time, off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from pydantic import ValidationError
from ulid import ULID

from engine.jury.hearing import hear
from engine.jury.history import PanelFit, fit
from engine.store import Lease, Store
from engine.store.journal import PastDebate
from engine.store.learning import Evidence, Learnt, StoredFit
from engine.values.debate import Fit, JurorFit, JurorHistory, Value
from engine.values.errors import LeaseLostError
from engine.values.ports import Clock

MOST_DEBATES = 2000
LOOK_SECONDS = 60.0
LEASE = "fit"
LEASE_SECONDS = 60.0
FEWEST_CHANGED = 25  # ballots by which a change that is known differs from a later one
FEWEST_NEW = 0.02  # new ballots, as a share of those of the newest fit, that ask for another
log = structlog.get_logger(__name__)


class Figures(Value):
    """A fit as it is stored: the figures of the balanced rule, and the model of the jurors."""

    history: Mapping[str, JurorHistory] = {}
    correlation: float | None = None
    slope: float = 0.9
    model: Fit = Fit()


class Known(NamedTuple):
    """A fit with its number, 0 for one that is not stored, and until when it is not looked for."""

    figures: Figures
    number: int
    until: datetime

    @property
    def fit(self) -> PanelFit:
        """What the next panel is seated by."""
        figures = self.figures
        numbered = figures.model.model_copy(update={"number": self.number})
        return PanelFit(dict(figures.history), figures.correlation, figures.slope, numbered)


@dataclass(slots=True)
class Learner:
    """Gives what past ballots say of the jurors; it fits them again once there are enough new ones.

    Rehearsal debates and real ones have separate fits, as rehearsal ballots are made up.
    """

    store: Store
    clock: Clock
    holder: str = field(default_factory=lambda: str(ULID()))
    _known: dict[bool, Known] = field(default_factory=dict)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def fit(self, *, rehearsal: bool) -> PanelFit:
        """Return the newest fit, looking at most once a minute whether it should be made again.

        While that is done for one debate, others begin with the last one.
        """
        known = self._known.get(rehearsal)
        if known is not None and self._looking.locked():
            return known.fit
        async with self._looking:
            known = self._known.get(rehearsal)
            if known is None or self.clock.now() > known.until:
                known = await self._look(rehearsal=rehearsal)
                self._known[rehearsal] = known
            return known.fit

    async def fit_now(self, *, rehearsal: bool) -> Known:
        """Fit all there is now, and store it. Raises LeaseLostError while another process does."""
        lease = await self.store.leases.claim(LEASE, self.holder, LEASE_SECONDS)
        if lease is None:
            raise LeaseLostError("Another process is fitting the jurors right now; try again.")
        try:
            known = await self._fit(lease, rehearsal=rehearsal)
        finally:
            await self.store.leases.release(lease)
        self._known[rehearsal] = known
        return known

    async def _look(self, *, rehearsal: bool) -> Known:
        stored = await self.store.learning.newest(rehearsal=rehearsal)
        figures = stored and read_figures(stored)
        evidence = await self.store.learning.evidence(rehearsal=rehearsal)
        before = stored.evidence if stored and figures else Evidence()
        if is_due(before, evidence):
            try:
                return await self.fit_now(rehearsal=rehearsal)
            except LeaseLostError:  # another process does it; until then the newest one serves
                log.debug("jurors are being fitted elsewhere")
        number = stored.number if stored and figures else 0
        return self._as_known(figures or Figures(), number)

    async def _fit(self, lease: Lease, *, rehearsal: bool) -> Known:
        stored = await self.store.learning.newest(rehearsal=rehearsal)
        before = stored and read_figures(stored)
        evidence = await self.store.learning.evidence(rehearsal=rehearsal)
        past = await self.store.journal.past(MOST_DEBATES, rehearsal=rehearsal)
        learnt = await self.store.learning.learnt(rehearsal=rehearsal)
        model = before.model if before else None
        figures = await asyncio.to_thread(lambda: fit_all(join(past, learnt), model))
        now, body = self.clock.now(), figures.model_dump_json()
        number = await self.store.learning.keep(lease, evidence, body, now, rehearsal=rehearsal)
        held, others = evidence.debates, evidence.learnt
        jurors = len(figures.history)
        log.debug("jurors fitted", fit=number, jurors=jurors, debates=held, learnt=others)
        for name, one in newly_drifted(model, figures.model).items():
            log.warning("juror changed", juror=name, errors=round(one.drift, 1), left_out=one.left)
        return self._as_known(figures, number)

    def _as_known(self, figures: Figures, number: int) -> Known:
        return Known(figures, number, self.clock.now() + timedelta(seconds=LOOK_SECONDS))


def fit_all(past: Sequence[PastDebate], before: Fit | None = None) -> Figures:
    """Fit both rules to past debates; pure, and work for a thread. `before` is an earlier fit.

    Without a ballot the model knows nothing yet.
    """
    balanced, model = fit(past), Fit()
    if balanced.history:
        # Imported only here, as NumPy is.
        from engine.jury.errors import with_errors
        from engine.jury.fitting import fit_jurors
        from engine.jury.gate import compare_rules

        heard = hear(past)
        model = with_errors(fit_jurors(heard, before), heard)
        model = model.model_copy(update={"ahead": compare_rules(past)})
    return Figures(
        history=balanced.history,
        correlation=balanced.correlation,
        slope=balanced.slope,
        model=model,
    )


def newly_drifted(before: Fit | None, now: Fit | None) -> dict[str, JurorFit]:
    """Return jurors whose newer ballots do not fit older ones, unless that was known before; pure.

    A change that is known leaves out as many ballots as before, or fewer; a later one more.
    """
    known = {name: one.left for name, one in before.jurors.items()} if before else {}
    found = now.jurors.items() if now else ()
    most = {
        name: known.get(name, 0) + (FEWEST_CHANGED if known.get(name) else 0) for name, _ in found
    }
    return {name: one for name, one in found if one.left > most[name]}


def is_due(before: Evidence, now: Evidence) -> bool:
    """Return whether there is enough that a fit does not rest on yet; pure.

    Fewer ballots than before, as after a deletion, count as new ones.
    """
    new = abs(now.readings - before.readings)
    return new > 0 and new >= FEWEST_NEW * before.readings


def join(past: Sequence[PastDebate], learnt: Iterable[Learnt]) -> list[PastDebate]:
    """Return all that jurors read: debates held here, with later ballots, and others; pure.

    What was judged elsewhere comes first, as it says least of how jurors are now.
    """
    extra = {one.key: one for one in learnt}
    joined = [_with(debate, extra) for debate in past]
    return [*map(_outside, extra.values()), *joined]


def _with(debate: PastDebate, extra: dict[str, Learnt]) -> PastDebate:
    more = extra.pop(debate.id, None)
    if more is None:
        return debate
    read = {(ballot.juror, ballot.order) for ballot in debate.ballots}
    new = (one for one in more.ballots if (one.juror, one.order) not in read)
    return debate._replace(ballots=(*debate.ballots, *new))


def _outside(one: Learnt) -> PastDebate:
    return PastDebate(
        ballots=one.ballots,
        rubric=one.rubric,
        criteria=one.criteria,
        human=one.human,
        blind=one.blind,
        id=one.key,
    )


def left_out_of(stored: StoredFit | None) -> dict[str, int]:
    """Return how many older ballots of each juror count no longer, as it has changed since."""
    figures = stored and read_figures(stored)
    known = figures.model.jurors if figures else {}
    return {name: one.left for name, one in known.items() if one.left}


def read_figures(stored: StoredFit) -> Figures | None:
    """Return a stored fit's figures, None for one of another version's making."""
    try:
        return Figures.model_validate_json(stored.body)
    except ValidationError:
        return None
