"""Rate limits by bucket, told in headers, enforced with 429, and watched.

A client that reads the headers never meets a limit; whoever does is written to `violations`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.doubles.facts import Discord
from tests.doubles.listening import Clock

# A timer of the client may fire this much before the window has quite ended.
TOLERANCE = 0.02


class Rate(NamedTuple):
    """So many requests in so many seconds."""

    requests: int
    seconds: float


POSTING, REACTING = Rate(*Discord.POSTING), Rate(*Discord.REACTING)
ANSWERING, ASKING = Rate(*Discord.ANSWERING), Rate(*Discord.ASKING)


@dataclass
class Rates:
    """What is allowed. The defaults are what is documented or known of Discord."""

    messages: Rate = POSTING
    edits: Rate = POSTING
    reactions: Rate = REACTING
    others: Rate = ASKING
    webhooks: Rate = ANSWERING
    everywhere: Rate = ASKING

    @classmethod
    def generous(cls) -> Rates:
        """Allow so much that a quick test never waits."""
        plenty = Rate(100_000, 1.0)
        return cls(plenty, plenty, plenty, plenty, plenty, plenty)

    def of(self, method: str, template: str) -> Rate:
        """Return the rate of a route."""
        if template.startswith(("/webhooks", "/interactions")):
            return self.webhooks
        if "/reactions" in template and method in ("PUT", "DELETE"):
            return self.reactions
        if template == "/channels/{channel}/messages" and method == "POST":
            return self.messages
        if template == "/channels/{channel}/messages/{message}" and method == "PATCH":
            return self.edits
        return self.others


@dataclass
class Window:
    """A bucket's current window; `until` is when it starts anew, `barred` the end of a 429."""

    until: float = 0.0
    used: int = 0
    barred: float = 0.0


@dataclass(frozen=True, slots=True)
class Violation:
    """A request that was over a limit, or came while the client had been told to wait."""

    at: float
    bucket: str
    why: str


class Leave(NamedTuple):
    """Whether a request may go on; if not, `wait` is seconds and `scope` the header's word."""

    headers: dict[str, str]
    wait: float = 0.0
    scope: str = ""


@dataclass
class Limiter:
    """Counts requests in their buckets."""

    clock: Clock
    rates: Rates
    violations: list[Violation] = field(default_factory=list)
    _windows: dict[str, Window] = field(default_factory=dict)

    def take(self, method: str, template: str, major: str) -> Leave:
        """Count a request; `major` is the channel, server or webhook that its bucket is for."""
        exempt = template.startswith(("/interactions", "/webhooks"))
        if not exempt and (wait := self._count("everywhere", self.rates.everywhere)):
            return Leave({}, wait, "global")
        name, rate = _bucket(method, template), self.rates.of(method, template)
        key = f"{name}:{major}"
        wait = 0.0 if template.startswith("/interactions") else self._count(key, rate)
        return Leave(self._headers(name, key, rate), wait, "user" if wait else "")

    def bar(self, method: str, template: str, major: str, seconds: float, *, all_: bool) -> None:
        """Remember that the client was told to wait, so that coming early is a violation."""
        route = f"{_bucket(method, template)}:{major}"
        # What was answered with 429 was not served, and does not use up its window.
        for key in (route, "everywhere"):
            if key in self._windows:
                self._windows[key].used -= 1
        barred = self._windows.setdefault("everywhere" if all_ else route, Window())
        barred.barred = self.clock.now() + seconds

    def _count(self, key: str, rate: Rate) -> float:
        """Return 0, or how many seconds to wait."""
        now = self.clock.now()
        window = self._windows.setdefault(key, Window())
        if now < window.barred - TOLERANCE:
            self.violations.append(Violation(now, key, "sent while it was told to wait"))
            return window.barred - now
        if now >= window.until - TOLERANCE:
            window.until, window.used = now + rate.seconds, 0
        if window.used >= rate.requests:
            why = f"more than {rate.requests} requests in {rate.seconds:g} s"
            self.violations.append(Violation(now, key, why))
            window.barred = window.until
            return window.until - now
        window.used += 1
        return 0.0

    def _headers(self, name: str, key: str, rate: Rate) -> dict[str, str]:
        window = self._windows.get(key, Window())
        # Rounded up: a client that comes back a millisecond early would be in the wrong.
        left = max(0.0, window.until - self.clock.now()) + 0.001
        return {
            "X-RateLimit-Limit": str(rate.requests),
            "X-RateLimit-Remaining": str(max(0, rate.requests - window.used)),
            "X-RateLimit-Reset": f"{self.clock.now() + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(name.encode()).hexdigest()[:32],
        }


def _bucket(method: str, template: str) -> str:
    """Return a route's bucket; adding and removing any reaction share one."""
    if "/reactions" in template and method in ("PUT", "DELETE"):
        return "reactions"
    return f"{method} {template}"
