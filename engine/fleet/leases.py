"""Leases kept alive, and notifications to who waits, inside one process or across several."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple
from weakref import WeakValueDictionary

from engine.store import Lease, Store
from engine.values.errors import LeaseLostError, PausedError, RostrumError, StoreError
from engine.values.ports import UNWATCHED, Clock, Watch

# Notifications only make things prompt: waiters also poll, so nothing is lost without one from
# another process, and only the database decides.


MOST_KNOWN = 1_000  # topics that were listened to; topics of single debates come and go


Notification = tuple[str, str | None]
"""A topic and a key, sent to other processes too; without a key it only wakes who listens now."""


class Notifier:
    """Notifies by topic. Every listener of a topic wakes; one of them gets the keys.

    `outward` takes each notification to other processes, without waiting.
    """

    def __init__(self) -> None:
        self._published: defaultdict[str, set[str]] = defaultdict(set)
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)
        self._known: set[str] = set()
        self.outward: Callable[[Notification], None] | None = None

    def publish(self, topic: str, key: str = "") -> None:
        """Give a key to a topic's listener, now or when it comes back."""
        self._publish(topic, key)
        self._tell((topic, key))

    def notify(self, topic: str) -> None:
        """Notify current listeners; later ones miss it."""
        self._notify(topic)
        self._tell((topic, None))

    def receive(self, notification: Notification) -> None:
        """Publish what another process did; keys are kept only for those who listen here."""
        topic, key = notification
        if key is None:
            self._notify(topic)
        elif topic in self._known:
            self._publish(topic, key)

    async def wait(self, topic: str, seconds: float) -> set[str]:
        """Return the keys published since the last call; waits up to `seconds` for the first."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()  # those who still listen come back within their polling interval
        self._known.add(topic)
        if topic not in self._published:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting[topic].add(waiter)
            try:
                async with asyncio.timeout(seconds):
                    await waiter
            except TimeoutError:
                return set()
            finally:
                if waiting := self._waiting.pop(topic, set()) - {waiter}:
                    self._waiting[topic] = waiting
        return self._published.pop(topic, set())

    def _publish(self, topic: str, key: str) -> None:
        self._published[topic].add(key)
        self._notify(topic)

    def _notify(self, topic: str) -> None:
        for waiter in self._waiting.pop(topic, ()):
            if not waiter.done():
                waiter.set_result(None)

    def _tell(self, notification: Notification) -> None:
        if self.outward is not None:
            self.outward(notification)


# Keeping leases alive, and stopping work that lost its lease or is asked to stop.


RENEW_SECONDS = 3.0
LEASE_SECONDS = 9.0
CLAIMS = 20  # of a lease that is waited for, until it has run out
WATCH_SECONDS = 0.25


def elapsed() -> float:
    """Return seconds that also pass while the machine sleeps, where it counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class _HeldLease:
    """A lease while it is held by a task, which is interrupted when the hold fails.

    It is certainly ours until `until`, by this process's own clock: so long after the last request
    that renewed it was sent.
    """

    def __init__(self, lease: Lease, stoppable: bool, until: float) -> None:
        self.lease = lease
        self.stoppable = stoppable
        self.until = until
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


class LeaseManager:
    """One per process: claims leases, renews all of them together, and reads the stop flags."""

    def __init__(
        self,
        store: Store,
        notifier: Notifier,
        holder: str,
        clock: Callable[[], float] = elapsed,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.watch = watch
        self._store = store
        self._notifier = notifier
        self._holder = holder
        self._clock = clock
        self._holds: dict[str, _HeldLease] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.draining = False

    @asynccontextmanager
    async def hold(
        self, name: str, *, stoppable: bool = True, patient: bool = False
    ) -> AsyncIterator[Lease]:
        """Hold a lease while the body runs, once no other task of this process holds it.

        If `patient`, wait until the lease of a process that was killed has run out. Raises
        LeaseLostError if another process holds it or takes it over and, if the body is
        `stoppable`, StoppedError when its debate is asked to stop.
        """
        async with self._turns.setdefault(name, asyncio.Lock()):
            lease, until = await self._claim_soon(name, LEASE_SECONDS if patient else 0.0)
            hold = self._holds[name] = _HeldLease(lease, stoppable, until)
            try:
                try:
                    yield lease
                finally:
                    del self._holds[name]
                    error = hold.end()
            except LeaseLostError:  # as a write in the body found
                self.watch.lease_lost(name)
                raise
            except asyncio.CancelledError:
                if error is None:
                    raise
                if isinstance(error, LeaseLostError):
                    self.watch.lease_lost(name)
                raise error from None
            finally:
                with suppress(StoreError):  # then it runs out
                    await self._store.leases.release(lease)

    async def _claim_soon(self, name: str, patience: float) -> tuple[Lease, float]:
        """Claim a lease within so many seconds; return until when it is safe to use it."""
        give_up = self._clock() + patience
        while True:
            until = self._clock() + LEASE_SECONDS
            if (lease := await self._claim(name)) is not None:
                return lease, until
            if self._clock() > give_up:
                raise LeaseLostError(f"Another process holds {name}.")
            await asyncio.sleep(patience / CLAIMS)

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

    def check_lease(self, lease: Lease) -> None:
        """Raise LeaseLostError if a lease may have run out, so that another process may hold it.

        Ask this between a write and what may not be done twice: a process can stand still there.
        """
        hold = self._holds.get(lease.name)
        if hold is not None and self._has_run_out(hold):
            raise _run_out(lease.name)

    async def run(self) -> None:
        """Renew leases and read stop requests, until cancelled."""
        watching = asyncio.create_task(self._watch(), name="leases")
        try:
            while True:
                await self._notifier.wait("stop", RENEW_SECONDS)
                held = list(self._holds.items())  # the answer lacks leases claimed from here on
                until = self._clock() + LEASE_SECONDS
                epochs = await self._store.leases.renew(self._holder, LEASE_SECONDS)
                for name, hold in held:
                    if epochs.get(name) == hold.lease.epoch:
                        hold.until = max(hold.until, until)
                stops = await self._store.debates.stops()
                for name, hold in held:
                    if self._holds.get(name) is not hold:
                        continue
                    if epochs.get(name) != hold.lease.epoch:
                        hold.fail(LeaseLostError(f"Another process took over {name}."))
                    elif hold.stoppable and (stop := stops.get(name.removeprefix("debate/"))):
                        hold.fail(stop)
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        """Interrupt those whose lease has run out, though nobody could be asked about it.

        A process that is cut off from its database, or was frozen, must not spend for what
        another one has taken over.
        """
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for name, hold in list(self._holds.items()):
                if self._has_run_out(hold):
                    hold.fail(_run_out(name))

    def _has_run_out(self, hold: _HeldLease) -> bool:
        # Where no other process can hold a lease, none is lost by waiting.
        return not self._store.leases.alone and self._clock() > hold.until


def _run_out(name: str) -> LeaseLostError:
    return LeaseLostError(
        f"This process could not renew {name} in time, so another one may hold it."
    )


class Services(NamedTuple):
    """What every part of a process that works on debates is given, in the order of its fields."""

    store: Store
    lease_manager: LeaseManager
    notifier: Notifier
    clock: Clock
