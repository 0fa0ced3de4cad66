"""Keeping leases alive, and stopping work that lost its lease or is asked to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from engine.errors import LeaseLostError, PausedError, RostrumError
from engine.floor.wake import Bell
from engine.store import Lease, Store

RENEW_SECONDS = 3.0
LEASE_SECONDS = 9.0


class Hold:
    """A lease while it is held by a task, which is interrupted when the hold fails."""

    def __init__(self, lease: Lease, stoppable: bool) -> None:
        self.lease = lease
        self.stoppable = stoppable
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task else 0
        self._error: RostrumError | None = None

    def fail(self, error: RostrumError) -> None:
        """Interrupt the holding task; it sees this error instead of a cancellation."""
        if self._error is None and self._task is not None:
            self._error = error
            self._task.cancel()

    def end(self) -> RostrumError | None:
        """Undo the interruption; return its error, unless the task is cancelled otherwise too."""
        if self._error is None or self._task is None:
            return None
        return self._error if self._task.uncancel() <= self._cancelling else None


class Keeper:
    """One per process: claims leases, renews all of them together, and reads the stop flags."""

    def __init__(self, store: Store, bell: Bell, holder: str) -> None:
        self._store = store
        self._bell = bell
        self._holder = holder
        self._holds: dict[str, Hold] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.draining = False

    @asynccontextmanager
    async def hold(self, name: str, *, stoppable: bool = True) -> AsyncIterator[Lease]:
        """Hold a lease while the body runs, once no other task of this process holds it.

        Raises LeaseLostError if another process holds it or takes it over and, if the body is
        `stoppable`, StoppedError when its debate is asked to stop.
        """
        async with self._turns.setdefault(name, asyncio.Lock()):
            lease = await self._claim(name)
            if lease is None:
                raise LeaseLostError(f"Another process holds {name}.")
            hold = self._holds[name] = Hold(lease, stoppable)
            try:
                try:
                    yield lease
                finally:
                    del self._holds[name]
                    error = hold.end()
            except asyncio.CancelledError:
                if error is None:
                    raise
                raise error from None
            finally:
                await self._store.leases.release(lease)

    async def _claim(self, name: str) -> Lease | None:
        """Claim a lease; give it back if the claim was interrupted after it was stored."""
        claim = asyncio.ensure_future(self._store.leases.claim(name, self._holder, LEASE_SECONDS))
        try:
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            lease = await claim
            if lease is not None:
                await self._store.leases.release(lease)
            raise

    @property
    def holder(self) -> str:
        """This process, as leases name it."""
        return self._holder

    def holds(self, name: str) -> bool:
        """Whether a task of this process holds a lease."""
        return name in self._holds

    def check(self) -> None:
        """Raise PausedError if this process is shutting down and must start nothing new."""
        if self.draining:
            raise PausedError("This process is ending; the debate goes on when Rostrum runs again.")

    async def run(self) -> None:
        """Renew leases and read stop requests, until cancelled."""
        while True:
            await self._bell.collect("stop", RENEW_SECONDS)
            held = list(self._holds.items())  # the answer lacks leases claimed from here on
            epochs = await self._store.leases.renew(self._holder, LEASE_SECONDS)
            stops = await self._store.debates.stops()
            for name, hold in held:
                if self._holds.get(name) is not hold:
                    continue
                if epochs.get(name) != hold.lease.epoch:
                    hold.fail(LeaseLostError(f"Another process took over {name}."))
                elif hold.stoppable and (stop := stops.get(name.removeprefix("debate/"))):
                    hold.fail(stop.error())
