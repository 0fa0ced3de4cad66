"""Slack's rate limits: a tier for each method, and one message a second for each channel.

What is over a limit is answered with 429 and kept as a violation; a good client leaves none.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from tests.doubles.facts import Slack
from tests.doubles.listening import Clock
from tests.doubles.slack.refusals import Json
from tests.doubles.slack.rules import Rules

POSTS = ("chat.postMessage", "chat.postEphemeral")
# What shows a message in a channel, and which argument names it; a file that is shared does too.
SHOWN_IN = {"chat.postMessage": "channel", "files.completeUploadExternal": "channel_id"}
SHARE = 0.98  # of the gap: two clocks and a network never agree to the millisecond


@dataclass(frozen=True, slots=True)
class Violation:
    """A request over a limit; `of` is the method or the channel."""

    at: float
    method: str
    of: str


class Limiter:
    """Counts requests; `violations` are those over a limit."""

    def __init__(self, clock: Clock, rules: Rules) -> None:
        self._clock, self._rules = clock, rules
        self._called: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._posted: defaultdict[str, deque[float]] = defaultdict(deque)
        self.violations: list[Violation] = []

    def check(self, method: str, args: Json) -> float | None:
        """Count a request; return for how many seconds it is refused, None when it is not."""
        channel = args.get(SHOWN_IN.get(method, ""))
        if channel is not None and self._rules.spaced:
            wait = self._check_post(method, str(channel))
            if wait is not None or method in POSTS:
                return wait
        per_minute = Slack.TIERS[Slack.METHODS.get(method, 3)]
        if method in POSTS or not self._rules.tiered or method == "apps.connections.open":
            return None
        # A workspace's requests do not count against another's.
        key = (str(args.get("token")), method)
        now, called, minute = self._clock.now(), self._called[key], self._rules.tier_seconds
        while called and called[0] <= now - minute:
            called.popleft()
        if len(called) >= per_minute:
            return self._violate(method, method, called[0] + minute - now)
        called.append(now)
        return None

    def _check_post(self, method: str, channel: str) -> float | None:
        now, posted = self._clock.now(), self._posted[channel]
        window = self._rules.post_gap * self._rules.burst
        while posted and posted[0] <= now - window * SHARE:
            posted.popleft()
        if len(posted) >= self._rules.burst:
            return self._violate(method, channel, posted[0] + window - now)
        posted.append(now)
        return None

    def _violate(self, method: str, of: str, seconds: float) -> float:
        self.violations.append(Violation(self._clock.now(), method, of))
        return max(1.0, seconds)
