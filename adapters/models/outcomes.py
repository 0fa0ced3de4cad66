"""The outcome of a try: an answer, or a fault that says whether to retry."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from engine.debate import Origin, Usage
from engine.ports import FaultKind

_KEY = re.compile(r"\b(?:sk|pk|key|gsk|AIza)[-_A-Za-z0-9*.]{8,}")

REWORD = "reword the topic or choose another model"
LATER = "try again later or choose another model"


class Next(Enum):
    """What follows a fault."""

    RETRY = "retry"
    NOW = "now"  # retry at once with other parameters: not the backend's failure
    WIDER = "wider"  # retry at once with twice the token cap
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """A model's text; `replaced` counts characters that cannot be stored.

    `cost` is USD, None if unknown; `origin` is its source. `doubtful`: the backend's figures cannot
    be true.
    """

    text: str
    finish: str
    model: str
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    origin: Origin | None = None
    replaced: int = 0
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class CallFault:
    """A try that gave no answer.

    `what` is a clause after the backend's name; `advice` says what to do when retries are used
    up; `cost` is USD (0: certainly unbilled, None: unknown); `wait` is the backend's Retry-After,
    in seconds. `refused`: the model or a filter declined the content. `doubtful` as of an answer.
    """

    what: str
    advice: str = LATER
    then: Next = Next.RETRY
    cost: float | None = 0.0
    wait: float | None = None
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    origin: Origin | None = None
    refused: bool = False
    kind: FaultKind = FaultKind.OTHER
    doubtful: bool = False


Outcome = CallAnswer | CallFault


def redact(text: str, secret: str = "") -> str:
    """Return one short line of a backend's words without anything that looks like a key."""
    if secret:
        text = text.replace(secret, "***")
    line = " ".join(_KEY.sub("***", text).split())
    return line if len(line) <= 300 else f"{line[:299]}…"
