"""What may go wrong with a request to the Web API, on demand: the kinds are those of any HTTP."""

from __future__ import annotations

from tests.doubles.discord.faults import Fault, Faults, When, delay, drop, hang, status

__all__ = ["Fault", "Faults", "When", "delay", "drop", "hang", "limited", "refused", "status"]


def refused(error: str, seconds: float = 0.0) -> Fault:
    """Answer 200 with an error's name, as Slack does; `seconds` are for Retry-After."""
    return Fault("status", status=200, message=error, seconds=seconds)


def limited(seconds: float) -> Fault:
    """Answer 429 with Retry-After."""
    return Fault("status", status=429, seconds=seconds, message="ratelimited")
