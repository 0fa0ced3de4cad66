"""What adapters share on the wire: proxies, rates, the order of events, answers of another form."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, ParamSpec, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakValueDictionary

import structlog

from engine.values.errors import MISFITS, SettingsError, VenueError
from engine.values.ports import Inbound, Listener

# How fast an adapter may ask: a bucket that leaks, a window that slides, turns in a lane.
#
# Whatever waits here has not been sent: it is neither late nor in doubt.


LOOK_SECONDS = 1.0  # the longest wait before a rate is read again, as processes come and go
GAP_SECONDS = 1.0  # so that no platform has to limit the messages of a channel
MOST_LANES = 1000


class Bucket:
    """A leaky bucket: so much at once, then so much a second, in order of arrival.

    `limits` returns the rate and the burst of now; without a rate nothing begins. What is larger
    than the burst waits for an empty bucket. `full`: none of the burst is left at first.
    """

    def __init__(self, limits: Callable[[], tuple[float, float]], *, full: bool = False) -> None:
        self._limits = limits
        self._waiting: list[tuple[bool, int, float, asyncio.Future[None]]] = []
        self._number = count()
        self._serving: asyncio.Task[None] | None = None
        self._level: float | None = None if full else 0.0
        self._at = time.monotonic()

    async def take(self, amount: float = 1.0, *, first: bool = False) -> None:
        """Wait until so much may be used; `first` goes before all that are not."""
        if self.has_room(amount):
            self.settle(0.0, amount)
            return
        turn = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (not first, next(self._number), amount, turn))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.settle(amount, 0.0)  # it got its turn at the same moment
            raise

    def has_room(self, amount: float = 1.0) -> bool:
        """Whether so much may be used now."""
        return not self._waiting and self._wait(amount) <= 0

    def settle(self, taken: float, used: float) -> None:
        """Give back what was taken and not used, or take what was used more."""
        self._level = max(0.0, self._leak() + used - taken)

    async def _serve(self) -> None:
        while self._waiting:
            *_, amount, turn = self._waiting[0]
            if not turn.done() and (wait := self._wait(amount)) > 0:
                await asyncio.sleep(min(wait, LOOK_SECONDS))
                continue
            heappop(self._waiting)
            if not turn.done():  # one that was cancelled has given up
                self.settle(0.0, amount)
                turn.set_result(None)

    def _leak(self) -> float:
        """Return how full it is now."""
        now, (rate, burst) = time.monotonic(), self._limits()
        level = burst if self._level is None else self._level
        level = max(0.0, level - (now - self._at) * rate)
        self._at = now
        if rate:
            self._level = level
        return level

    def _wait(self, amount: float) -> float:
        """Return the seconds until so much may be used; 0 for now."""
        rate, burst = self._limits()
        if not rate:
            return LOOK_SECONDS
        return max(0.0, (self._leak() - max(burst - amount, 0.0)) / rate)


class Window:
    """At most so many in any stretch of so many seconds, in order.

    A bucket may let its burst and its rate through in one stretch, or has to keep the burst small;
    this keeps the times of the last ones instead, so that all of them may go at once.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._seconds = seconds
        self._left: deque[float] = deque(maxlen=most)
        self._first = asyncio.Lock()

    async def take(self) -> None:
        """Wait until one more may go."""
        async with self._first:
            if len(self._left) == self._left.maxlen:
                await asyncio.sleep(max(0.0, self._left[0] + self._seconds - time.monotonic()))
            self._left.append(time.monotonic())

    def give_back(self) -> None:
        """Return the last one: it was not sent."""
        self._left.pop()


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    free_at: float = 0.0


class ChannelPace:
    """Lets messages to one channel through one after the other, `gap` seconds apart.

    Neither a bucket nor a window: a turn is held while its message is sent, so that none leaves
    before the previous response. The gap is between requests; with `after_answers` it starts at
    the previous response: no two arrive closer together, even if the first was slow, at the price
    of fewer messages on a slow platform.
    """

    def __init__(self, gap: float = GAP_SECONDS, *, after_answers: bool = False) -> None:
        self.gap, self._after_answers = gap, after_answers
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, channel: str) -> AsyncIterator[None]:
        """Wait for a slot, without a limit, and send within it."""
        if channel not in self._lanes and len(self._lanes) >= MOST_LANES:
            now = time.monotonic()
            busy = {k: v for k, v in self._lanes.items() if v.waiting or v.free_at > now}
            self._lanes = busy
        lane = self._lanes.setdefault(channel, _Lane())
        lane.waiting += 1
        try:
            async with lane.lock:
                await asyncio.sleep(max(0.0, lane.free_at - time.monotonic()))
                left = time.monotonic()
                try:
                    yield
                finally:
                    since = time.monotonic() if self._after_answers else left
                    lane.free_at = since + self.gap
        finally:
            lane.waiting -= 1


# Events with the same key are handled in order, others concurrently.


class InOrder:
    """Hands events to a listener; each call returns once the event is stored."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lanes: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def lane(self, key: Hashable) -> asyncio.Lock:
        """Return the lock for events with the same key."""
        return self._lanes.setdefault(key, asyncio.Lock())

    async def hear(self, key: Hashable, event: Inbound) -> None:
        """Handle an event after the earlier ones of its key; raises what the listener raises."""
        async with self.lane(key):
            await self._listener(event)


# What a platform answers, where it is not of the platform's form: a proxy's page, a lost field.


P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger(__name__)


def reads(
    unreadable: Callable[[], VenueError],
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Let a method that reads answers raise `unreadable()` for one that it cannot read.

    What was asked for may have been done. The log has the details.
    """

    def dress(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(method)
        async def read(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return await method(*args, **kwargs)
            except MISFITS as error:
                log.exception("unreadable answer", method=method.__name__)
                raise unreadable() from error

        return read

    return dress


# The proxy for an address, from the environment.


SPOKEN = ("http", "https")  # the proxies that aiohttp can use
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class OtherProxy(NamedTuple):
    """A proxy of another kind than HTTP: its kind, its variable's name, and the host behind it.

    Connecting without it might reveal this machine's address, so nothing is sent.
    """

    kind: str
    name: str
    scheme: str
    host: str


def find_proxy(url: str) -> str | OtherProxy | None:
    """Return the proxy for an address, such as HTTPS_PROXY's; None: connect directly."""
    parts = urlsplit(url)
    host, scheme = parts.hostname or "", parts.scheme
    if host in LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    name = scheme if proxies.get(scheme) else "all"
    proxy = proxies.get(name)
    if not proxy or "://" not in proxy:
        return proxy and f"http://{proxy}"
    kind = urlsplit(proxy).scheme
    return proxy if kind in SPOKEN else OtherProxy(kind, name, scheme, host)


def proxy_of(url: str) -> str | None:
    """Return the proxy for an address. Raises SettingsError if it is not an HTTP proxy."""
    found = find_proxy(url)
    if isinstance(found, OtherProxy):
        kind, name, scheme, host = found
        said = {"kind": kind, "name": name.upper(), "scheme": scheme.upper(), "host": host}
        raise SettingsError(
            (
                "{host} is behind the {kind} proxy of {name}_PROXY, and only HTTP proxies can be "
                "used; set {scheme}_PROXY to an HTTP proxy, or add {host} to NO_PROXY."
            ).format(**said)
        )
    return found
