"""What may go wrong on Discord alone."""

from __future__ import annotations

from tests.doubles.facts import Code
from tests.doubles.faults import Fault


def denied(code: Code) -> Fault:
    """Answer with an error's code, and the status and words that it comes with."""
    return Fault("status", status=code.status, code=code.value, message=code.said)
