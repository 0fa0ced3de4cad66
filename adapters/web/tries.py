"""How often an address may try links that lead nowhere, and which address a request is from."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

from aiohttp import web

MOST_TRIES = 20  # that failed, of one address within the window
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 4096  # that are remembered; those that failed longest ago are dropped
FORWARDED = "X-Forwarded-For"
V6_PREFIX = 64  # of one subscriber
LOOPBACK = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
PROXIES = web.AppKey("proxies", tuple[IPv4Network | IPv6Network, ...])
"""From where proxies of the operator connect, besides this machine."""


class _Tried(NamedTuple):
    failed: int
    until: float


class Tries:
    """Counts failed tries by who makes them, in this process; what succeeds costs nothing."""

    def __init__(
        self,
        most: int = MOST_TRIES,
        seconds: float = WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._tried: OrderedDict[str, _Tried] = OrderedDict()

    def check(self, who: str) -> None:
        """Raise HTTPTooManyRequests for one who failed too often of late."""
        tried = self._tried.get(who)
        if tried is not None and tried.failed >= self._most and tried.until > self._clock():
            raise web.HTTPTooManyRequests

    def failed(self, who: str) -> None:
        """Count a failed try."""
        now = self._clock()
        tried = self._tried.pop(who, None)
        if tried is None or tried.until <= now:
            tried = _Tried(0, now + self._seconds)
        self._tried[who] = tried._replace(failed=tried.failed + 1)
        while len(self._tried) > MOST_ADDRESSES:
            self._tried.popitem(last=False)


def client_of(request: web.Request) -> str:
    """Return the address that a request is from; of IPv6 its network, which is one subscriber's.

    Behind a proxy of the operator's it is the one that the proxy added, the last in
    X-Forwarded-For. Anything before that is the client's own claim, and so is the header of a
    client that connects directly, from a private network too.
    """
    peer = _parse(request.remote or "")
    near = (*LOOPBACK, *request.app.get(PROXIES, ()))
    if peer is None or any(peer in one for one in near):
        added = ",".join(request.headers.getall(FORWARDED, [])).rpartition(",")[2]
        peer = _parse(added.strip()) or peer
    if isinstance(peer, IPv6Address):
        return str(ip_network((peer, V6_PREFIX), strict=False))
    return str(peer)


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(address)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
