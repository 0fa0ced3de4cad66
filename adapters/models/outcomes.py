"""The outcome of a try: an answer, or a fault that says whether to retry."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from engine.values.debate import Origin, Usage
from engine.values.errors import name_failure
from engine.values.ports import FaultKind

REWORD = "reword the topic or choose another model"
LATER = "try again later or choose another model"


class Next(Enum):
    """What follows a try."""

    RETRY = "retry"
    NOW = "now"  # retry at once with other parameters: not the backend's failure
    WIDER = "wider"  # retry at once with twice the token cap
    FINAL = "final"  # of a fault: no more tries; of an answer: none are needed


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """A model's text; `replaced` counts characters that cannot be stored.

    `thought` counts the characters of its reasoning, which is in no text. `cost` is USD, None if
    unknown; `origin` is its source. `doubtful`: the backend's figures cannot be true. `then` is
    WIDER for one that was cut off, and may be whole with a higher token cap.
    """

    text: str
    finish: str
    model: str
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    origin: Origin | None = None
    replaced: int = 0
    doubtful: bool = False
    thought: int = 0
    then: Next = Next.FINAL


@dataclass(frozen=True, slots=True)
class CallFault:
    """A try that gave no answer.

    `what` is a clause after the backend's name, and `said` what the backend itself said, for the
    operator only; `status` is that of its response; `advice` says what to do when retries are used
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
    said: str = ""
    status: int | None = None

    @property
    def whole(self) -> str:
        """What happened, with the backend's own words: for the journal and the operator."""
        return f"{self.what}: {self.said}" if self.said else self.what

    @property
    def failure(self) -> str:
        """Its public name."""
        return name_failure(self.kind.value, self.status)


Outcome = CallAnswer | CallFault
