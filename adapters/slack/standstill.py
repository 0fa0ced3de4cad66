"""A process that stood still reads requests that Slack has given up.

Slack gives a command or a press up after three seconds, and people repeat it. It does not say so:
over Socket Mode nothing tells how old a command is, and a stamp over HTTP is by another clock. What
a process knows is that it stood still itself, frozen or blocked.
"""

from __future__ import annotations

from adapters.slack import texts
from engine.fleet.leases import elapsed
from engine.values.errors import RostrumError

GIVEN_UP_SECONDS = 3.0
WAKING_SECONDS = 5.0  # in which all that came meanwhile has been read


class Standstill:
    """Notices that the process stood still: nobody called `beat` for too long."""

    def __init__(self) -> None:
        self._beat_at = self._woke_at = 0.0
        self.begin()

    def begin(self) -> None:
        """Let `beat` be called from now on."""
        self._beat_at = elapsed()
        self._woke_at = self._beat_at - WAKING_SECONDS

    def beat(self) -> None:
        """Note that the process goes on."""
        now = elapsed()
        if now - self._beat_at > GIVEN_UP_SECONDS:
            self._woke_at = now
        self._beat_at = now

    def check(self) -> None:
        """Raise RostrumError for what may have come before the process went on."""
        self.beat()
        if self._beat_at - self._woke_at < WAKING_SECONDS:
            raise RostrumError(texts.STOOD_STILL)
