"""Slack's rate limits: a tier for each method, and one message a second for each channel.

What is over a limit is answered with 429 and kept as a violation; a good client leaves none.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from tests.doubles.slack.refusals import Json
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.state import Clock

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}  # requests a minute
POSTS = ("chat.postMessage", "chat.postEphemeral")
# What shows a message in a channel, and which argument names it; a file that is shared does too.
SHOWN_IN = {"chat.postMessage": "channel", "files.completeUploadExternal": "channel_id"}
SHARE = 0.98  # of the gap: two clocks and a network never agree to the millisecond
METHODS = {
    "apps.connections.open": 1,
    "auth.test": 4,
    "chat.update": 3,
    "conversations.history": 3,
    "conversations.info": 3,
    "conversations.replies": 3,
    "files.completeUploadExternal": 4,
    "files.getUploadURLExternal": 4,
    "reactions.add": 3,
    "reactions.get": 3,
    "reactions.remove": 2,
    "users.conversations": 3,
    "users.info": 4,
    "views.open": 4,
}


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
        per_minute = TIERS[METHODS.get(method, 3)]
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
