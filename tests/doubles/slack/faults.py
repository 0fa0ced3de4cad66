"""What may go wrong on Slack alone."""

from __future__ import annotations

from tests.doubles.faults import Fault


def refused(error: str, seconds: float = 0.0) -> Fault:
    """Answer 200 with an error's name, as Slack does; `seconds` are for Retry-After."""
    return Fault("status", status=200, message=error, seconds=seconds)
