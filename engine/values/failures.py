"""A failed call as everyone may read it: its kind and its status.

What the backend itself says of it, and where the backend is, stays with the operator: in the
journal and the log.
"""

from __future__ import annotations

import re

_SENTENCE = re.compile("Backend “[^”]*” (.*)", re.DOTALL)
_STATUS = re.compile(r"\((\d{3})\)")
# How sentences name a kind of failure, after the backend's name; the longer of two first.
_KINDS = {
    "allows no more calls": "limited",
    "answered with JSON that": "unreadable",
    "answered with an error": "failed",
    "answered with more than": "unreadable",
    "answered with something": "unreadable",
    "answered without any text": "empty",
    "broke the connection": "broken",
    "could not be reached": "unreachable",
    "declined to answer": "declined",
    "did not answer within": "timeout",
    "does not know the model": "unknown model",
    "forbids the call": "forbidden",
    "has a context too short": "context",
    "has no credit left": "credit",
    "is behind the": "unreachable",
    "is overloaded": "overloaded",
    "redirects to another address": "redirected",
    "refused the key": "key",
    "refused the": "rejected",
    "stopped in the middle": "broken",
    "timed out": "timeout",
    "used up the token cap": "capped",
    "was cut off": "capped",
    "wrote its reasoning": "capped",
    "failed": "failed",
    "cancelled": "cancelled",
}


def name_failure(kind: str, status: int | None) -> str:
    """Return a failure's public name, such as “overloaded (503)”."""
    named = kind.replace("_", " ")
    return named if status is None else f"{named} ({status})"


def failure_in(what: str) -> str:
    """Return the public name of a failure that the journal describes; the backend's words go."""
    own = what.partition(": ")[0].partition(" (model “")[0]
    kind = next((kind for begins, kind in _KINDS.items() if own.startswith(begins)), "failed")
    status = _STATUS.search(own)
    return name_failure(kind, int(status[1]) if status else None)


def no_answer(failure: str) -> str:
    """Return why there is no answer, as exports and pages have it."""
    return f"no answer: {failure}"


def without_words(problem: str) -> str:
    """Return a text without the sentence on a failed call that is in it."""
    if not _SENTENCE.search(problem):
        return problem
    return _SENTENCE.sub(lambda found: no_answer(failure_in(found[1])), problem)
