"""Fits the jurors to past ballots and stores each fit: one process at a time, off the loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from pydantic import ValidationError
from ulid import ULID

from engine.jury.roster import PanelFit
from engine.store import Lease, Store
from engine.store.fits import Evidence, StoredFit
from engine.values.debate import Fit
from engine.values.errors import LeaseLostError
from engine.values.ports import Clock

MOST_DEBATES = 2000
LOOK_SECONDS = 60.0
LEASE = "fit"
LEASE_SECONDS = 60.0
FEWEST_NEW = 0.02  # new ballots, as a share of those of the newest fit, that ask for another
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Learner:
    """Gives what past ballots say of the jurors; it fits them again once there are enough new ones.

    Rehearsal debates and real ones have separate fits, as rehearsal ballots are made up.
    """

    store: Store
    clock: Clock
    holder: str = field(default_factory=lambda: str(ULID()))
    _known: dict[bool, tuple[PanelFit, datetime]] = field(default_factory=dict)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def fit(self, *, rehearsal: bool) -> PanelFit:
        """Return the newest fit, looking at most once a minute whether it should be made again.

        While that is done for one debate, others begin with the last one.
        """
        if rehearsal in self._known and self._looking.locked():
            return self._known[rehearsal][0]
        async with self._looking:
            known = self._known.get(rehearsal)
            if known is not None and self.clock.now() <= known[1]:
                return known[0]
            return self._keep(await self._look(rehearsal=rehearsal), rehearsal=rehearsal)

    async def fit_now(self, *, rehearsal: bool) -> PanelFit:
        """Fit all there is now, and store it. Raises LeaseLostError while another process does."""
        lease = await self.store.leases.claim(LEASE, self.holder, LEASE_SECONDS)
        if lease is None:
            raise LeaseLostError("Another process is fitting the jurors right now; try again.")
        try:
            fitted = await self._fit(lease, rehearsal=rehearsal)
        finally:
            await self.store.leases.release(lease)
        return self._keep(fitted, rehearsal=rehearsal)

    def _keep(self, fitted: PanelFit, *, rehearsal: bool) -> PanelFit:
        """Look for no other fit in the next minute."""
        self._known[rehearsal] = fitted, self.clock.now() + timedelta(seconds=LOOK_SECONDS)
        return fitted

    async def _look(self, *, rehearsal: bool) -> PanelFit:
        stored = await self.store.fits.newest(rehearsal=rehearsal)
        known = read_fit(stored)
        evidence = await self.store.fits.evidence(rehearsal=rehearsal)
        before = stored.evidence if stored and known else Evidence()
        if is_due(before, evidence):
            try:
                return await self.fit_now(rehearsal=rehearsal)
            except LeaseLostError:  # another process does it; until then the newest one serves
                log.debug("jurors are being fitted elsewhere")
        return known or PanelFit(model=Fit())

    async def _fit(self, lease: Lease, *, rehearsal: bool) -> PanelFit:
        from engine.jury.history import join, newly_drifted  # few debates are due

        before = read_fit(await self.store.fits.newest(rehearsal=rehearsal))
        evidence = await self.store.fits.evidence(rehearsal=rehearsal)
        past = await self.store.learning.past(MOST_DEBATES, rehearsal=rehearsal)
        learnt = await self.store.learning.learnt(rehearsal=rehearsal)
        model = before.model if before else None

        def fit() -> PanelFit:
            from engine.jury.fit_quality import fit_all  # with NumPy, which takes its time

            return fit_all(join(past, learnt), model)

        fitted = await asyncio.to_thread(fit)
        now, body = self.clock.now(), fitted.model_dump_json()
        number = await self.store.fits.keep(lease, evidence, body, now, rehearsal=rehearsal)
        held, others = evidence.debates, evidence.learnt
        jurors = len(fitted.history)
        log.debug("jurors fitted", fit=number, jurors=jurors, debates=held, learnt=others)
        for name, one in newly_drifted(model, fitted.model).items():
            log.warning("juror changed", juror=name, errors=round(one.drift, 1), left_out=one.left)
        return _numbered(fitted, number)


def is_due(before: Evidence, now: Evidence) -> bool:
    """Return whether there is enough that a fit does not rest on yet; pure.

    Fewer ballots than before, as after a deletion, count as new ones.
    """
    new = abs(now.readings - before.readings)
    return new > 0 and new >= FEWEST_NEW * before.readings


def left_out_of(stored: StoredFit | None) -> dict[str, int]:
    """Return how many older ballots of each juror count no longer, as it has changed since."""
    fitted = read_fit(stored)
    jurors = fitted.model.jurors if fitted and fitted.model else {}
    return {name: one.left for name, one in jurors.items() if one.left}


def read_fit(stored: StoredFit | None) -> PanelFit | None:
    """Return a stored fit with its number; None without one, or for one of another version."""
    try:
        return stored and _numbered(PanelFit.model_validate_json(stored.body), stored.number)
    except ValidationError:
        return None


def _numbered(fitted: PanelFit, number: int) -> PanelFit:
    model = fitted.model and fitted.model.model_copy(update={"number": number})
    return fitted.model_copy(update={"model": model})
