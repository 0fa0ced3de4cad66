"""The numbers of the platform that a test may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SCOPES = (
    "commands",
    "chat:write",
    "reactions:read",
    "reactions:write",
    "files:write",
    "users:read",
    "channels:read",
    "groups:read",
    "channels:history",
    "groups:history",
)
EVENTS = ("app_uninstalled", "reaction_added", "reaction_removed", "tokens_revoked")


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
    post_gap: float = 1.0
    burst: int = 1
    ack: float = 3.0
    retries: tuple[float, ...] = (0.0, 60.0, 300.0)
    trigger: float = 3.0
    response_uses: int = 5
    response_seconds: float = 1800.0
    page: int = 15
    messages_tab: bool = True
    scopes: tuple[str, ...] = SCOPES
    events: tuple[str, ...] = EVENTS

    @classmethod
    def generous(cls, **changes: Any) -> Rules:
        """Return rules under which nobody has to wait."""
        return cls(tiered=False, spaced=False, **changes)
