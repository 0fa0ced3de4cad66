"""Fits the jurors to past ballots and stores each fit: one process at a time, off the loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from pydantic import ValidationError
from ulid import ULID

from engine.jury.roster import FitFigures, PanelFit
from engine.store import Lease, Store
from engine.store.learning import Evidence, StoredFit
from engine.values.errors import LeaseLostError
from engine.values.ports import Clock

MOST_DEBATES = 2000
LOOK_SECONDS = 60.0
LEASE = "fit"
LEASE_SECONDS = 60.0
FEWEST_NEW = 0.02  # new ballots, as a share of those of the newest fit, that ask for another
log = structlog.get_logger(__name__)


class CachedFit(NamedTuple):
    """A fit with its number, 0 for one that is not stored, and until when it is not looked for."""

    figures: FitFigures
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
    _known: dict[bool, CachedFit] = field(default_factory=dict)
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

    async def fit_now(self, *, rehearsal: bool) -> CachedFit:
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

    async def _look(self, *, rehearsal: bool) -> CachedFit:
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
        return self._as_known(figures or FitFigures(), number)

    async def _fit(self, lease: Lease, *, rehearsal: bool) -> CachedFit:
        from engine.jury.history import fit_all, join, newly_drifted  # few debates are due

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

    def _as_known(self, figures: FitFigures, number: int) -> CachedFit:
        return CachedFit(figures, number, self.clock.now() + timedelta(seconds=LOOK_SECONDS))


def is_due(before: Evidence, now: Evidence) -> bool:
    """Return whether there is enough that a fit does not rest on yet; pure.

    Fewer ballots than before, as after a deletion, count as new ones.
    """
    new = abs(now.readings - before.readings)
    return new > 0 and new >= FEWEST_NEW * before.readings


def left_out_of(stored: StoredFit | None) -> dict[str, int]:
    """Return how many older ballots of each juror count no longer, as it has changed since."""
    figures = stored and read_figures(stored)
    known = figures.model.jurors if figures else {}
    return {name: one.left for name, one in known.items() if one.left}


def read_figures(stored: StoredFit) -> FitFigures | None:
    """Return a stored fit's figures, None for one of another version's making."""
    try:
        return FitFigures.model_validate_json(stored.body)
    except ValidationError:
        return None
