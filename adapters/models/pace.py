"""Starts calls one per turn of the event loop, within this process's part of a backend's limits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from types import TracebackType

import structlog

from adapters.models.backends import Backend
from adapters.wire import Bucket
from engine.fleet.limits import Fleet
from engine.stage.steps import Pace

MINUTE = 60.0
LATE_TRIES = 2  # in a row, after which half as many begin at once
GOOD_TRIES = 20  # in a row, after which twice as many do again


class Gate:
    """Holds a backend's calls to its concurrency and its rates: `async with gate`.

    A server that is too slow for so many at once gets fewer, and more again once it keeps up.
    A class, as the loop registers every async generator: that took a fortieth of its time.
    """

    def __init__(self, backend: Backend, pace: Pace, fleet: Fleet | None = None) -> None:
        self.name = backend.name
        self._most = self._limit = backend.max_concurrency
        self._late = self._good = 0  # tries in a row that missed their deadline, or were answered
        self._changed_at = 0.0
        self._pace = pace
        self._fleet = fleet or Fleet()
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests = self._bucket(backend.requests_per_minute)
        self._tokens = self._bucket(backend.tokens_per_minute)
        self._fleet.add(self)

    def _bucket(self, per_minute: int | None) -> Bucket | None:
        """Return a limit a minute with a tenth as burst, so that no minute exceeds it.

        Others used this part of the minute before this process joined them: none of it is left.
        """

        if per_minute is None:
            return None

        def limits() -> tuple[float, float]:
            part = self._fleet.part(per_minute)
            burst = max(1.0, part // 10)
            return max(part - burst, 0.0) / MINUTE or part / MINUTE, burst

        return Bucket(limits, full=self._fleet.size != 1)

    def slot(self, count: Callable[[], int]) -> Gate | Weighed:
        """Return what a try of so many tokens waits for; they are counted only under a limit."""
        return self if self._tokens is None else Weighed(self, self._tokens, count())

    def fits(self, size: int) -> bool:
        """Whether what is in flight is within a part of so many."""
        return self._busy <= max(1, self._most // size)

    def ended(self, began: float, *, late: bool) -> None:
        """Count a try, begun at a time of `perf_counter`, that was answered or was too late.

        Tries that began before the last change say nothing of what came after it.
        """
        if began < self._changed_at:
            return
        self._late, self._good = (self._late + 1, 0) if late else (0, self._good + 1)
        most = self._most
        if self._late == LATE_TRIES:
            most = max(1, most // 2)
        elif self._good == GOOD_TRIES:
            most = min(self._limit, most * 2)
            self._good = 0
        if most != self._most:
            log = structlog.get_logger(__name__)
            log.info("calls at once", backend=self.name, most=most, limit=self._limit)
            self._most, self._late, self._good = most, 0, 0
            self._changed_at = perf_counter()
            self.changed()

    def changed(self) -> None:
        """Let those begin that fit into a larger part."""
        while self._waiting and self._busy < self._fleet.whole(self._most):
            ticket = self._waiting.popleft()
            if not ticket.done():
                self._busy += 1
                ticket.set_result(None)

    async def __aenter__(self) -> float:
        """Wait until a try may start, and hold a slot of the backend for it.

        Returns the seconds that it waited for a limit: 0 if it found none reached.
        """
        reached = self._waiting or self._busy >= self._fleet.whole(self._most)
        if self._requests is not None:
            reached = reached or not self._requests.has_room(1)
        asked = perf_counter() if reached else None
        await self._enter()
        try:
            if self._requests is not None:
                await self._requests.take(1)
            waited = 0.0 if asked is None else perf_counter() - asked
            await self._pace.turn()
        except BaseException:
            self._leave()
            raise
        return waited

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the slot back."""
        self._leave()

    async def _enter(self) -> None:
        if not self._waiting and self._busy < self._fleet.whole(self._most):
            self._busy += 1
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self._leave()  # it got the slot at the same moment
            raise

    def _leave(self) -> None:
        self._busy -= 1
        self.changed()


class Weighed:
    """A try under a limit of tokens; `used` says how many it really took."""

    def __init__(self, gate: Gate, tokens: Bucket, expected: int) -> None:
        self._gate = gate
        self._tokens = tokens
        self._expected = expected

    async def __aenter__(self) -> float:
        asked = None if self._tokens.has_room(self._expected) else perf_counter()
        await self._tokens.take(self._expected)
        waited = 0.0 if asked is None else perf_counter() - asked
        return waited + await self._gate.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._gate.__aexit__(kind, error, trace)

    def used(self, tokens: int) -> None:
        """Count what the try really took in place of what was expected."""
        self._tokens.settle(self._expected, tokens)
        self._expected = tokens
