"""The numbers of the platform that a test may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.doubles.facts import Slack


@dataclass
class Rules:
    """What Slack allows, in seconds and messages.

    `tiered` limits methods by their tier, whose minute is `tier_seconds`, `spaced` posts by
    channel; `ack` is how long an envelope or request waits for its acknowledgement, `retries` when
    an event is told again, `events` what the app has subscribed to, `messages_tab` whether people
    may be written to.
    """

    tiered: bool = True
    tier_seconds: float = 60.0
    spaced: bool = True
    post_gap: float = Slack.POST_GAP
    burst: int = 1
    ack: float = Slack.ACK_SECONDS
    retries: tuple[float, ...] = Slack.RETRIES
    trigger: float = Slack.TRIGGER_SECONDS
    response_uses: int = Slack.RESPONSE_USES
    response_seconds: float = Slack.RESPONSE_SECONDS
    page: int = Slack.PAGE
    messages_tab: bool = True
    scopes: tuple[str, ...] = Slack.SCOPES
    events: tuple[str, ...] = Slack.EVENTS

    @classmethod
    def generous(cls, **changes: Any) -> Rules:
        """Return rules under which nobody has to wait."""
        return cls(tiered=False, spaced=False, **changes)
