"""The tries of one call and their outcomes: each is logged, and retried where it makes sense."""

from __future__ import annotations

import asyncio
import random
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import Field

from engine.values.debate import Origin, Usage, Value
from engine.values.errors import BudgetError, ModelError
from engine.values.ports import Attempt, Call, FaultKind, Reply

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog

LATER = "try again later or choose another model"

CUT_OFF = "was cut off at its token cap"
LIMITED_TRIES = 4  # more of a call that a limit a minute holds up: with the defaults over a minute


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
        from engine.values.failures import name_failure  # of calls that failed

        return name_failure(self.kind.value, self.status)


Outcome = CallAnswer | CallFault


class RetryPolicy(Value):
    """How often a call is retried, and after which waits.

    Waits double from `first_wait` up to `longest_wait` seconds, ±25 % at random; with the
    defaults a call survives an outage of 20 s, and a limit that is by the minute. A backend's own
    Retry-After is honoured up to `max_retry_after` seconds.
    """

    tries: int = Field(6, ge=1)
    first_wait: float = Field(1.0, ge=0)
    longest_wait: float = Field(16.0, ge=0)
    max_retry_after: float = Field(120.0, ge=0)

    def wait(self, failures: int, chance: float) -> float:
        """Return the seconds to wait after that many failures; `chance` is uniform in [0, 1)."""
        doubled = self.first_wait * float(2 ** min(failures - 1, 30))
        return min(doubled, self.longest_wait) * (0.75 + 0.5 * chance)


class _Sender(Protocol):
    """Sends one call's tries; may remember what it learned from the last one."""

    @property
    def free(self) -> bool:
        """Whether tries cost nothing."""

    def slot(self) -> AbstractAsyncContextManager[float]:
        """Hold a slot of the backend for one try; gives the seconds waited for its limits."""

    async def send(self) -> Outcome:
        """Make one try; only cancellation is raised."""


async def persist(call: Call, log: AttemptLog, policy: RetryPolicy, sender: _Sender) -> Reply:
    """Try until there is an answer. Raises ModelError when retries are used up or useless.

    A try that only taught which parameters or token cap the model accepts does not count. An answer
    that its cap cut off is asked for once more, with more room.
    """
    number = failures = 0
    while True:
        number += 1
        async with sender.slot() as waited:
            outcome = await _attempt(number, log, sender, waited)
        if isinstance(outcome, _AttemptReply):
            return await _ask_wider(outcome.reply, log, sender) if outcome.cut else outcome.reply
        if outcome.then in (Next.NOW, Next.WIDER):
            continue
        failures += 1
        wait = wait_after(outcome, failures, policy)
        if wait is None:
            passing = outcome.then is not Next.FINAL and not outcome.refused
            sentence = _sentence(call, outcome, number, policy)
            raise ModelError(
                sentence,
                model=call.model.ref,
                passing=passing,
                refused=outcome.refused,
                failure=outcome.failure,
            )
        await asyncio.sleep(wait)


class _AttemptReply(NamedTuple):
    """The reply of a try; `cut`: its token cap cut it off, and the next try has more room."""

    reply: Reply
    cut: bool


async def _ask_wider(cut: Reply, log: AttemptLog, sender: _Sender) -> Reply:
    """Ask once more for an answer that was cut off; keep that one if there is no other."""
    number = cut.attempts
    while True:
        number += 1
        try:
            async with sender.slot() as waited:
                outcome = await _attempt(number, log, sender, waited)
        except BudgetError:  # the debate's budget does not cover it
            return cut
        if isinstance(outcome, _AttemptReply):
            return outcome.reply
        if outcome.then is not Next.NOW:
            return cut


def wait_after(fault: CallFault, failures: int, policy: RetryPolicy) -> float | None:
    """Return the seconds until the next try, None for no more tries."""
    tries = policy.tries + (LIMITED_TRIES if fault.kind is FaultKind.LIMITED else 0)
    if fault.then is Next.FINAL or failures >= tries:
        return None
    if fault.wait is None:
        return policy.wait(failures, random.random())
    return fault.wait if fault.wait <= policy.max_retry_after else None


def _sentence(call: Call, fault: CallFault, tries: int, policy: RetryPolicy) -> str:
    asked = ""
    if fault.wait is not None and fault.wait > policy.max_retry_after:
        asked = f" and asks to wait {fault.wait:.0f} s, more than {policy.max_retry_after:.0f} s"
    counted = f", {tries} tries" if tries > 1 else ""
    return (
        f"Backend “{call.model.backend}” {fault.whole}{asked} "
        f"(model “{call.model.name}”{counted}); {fault.advice}."
    )


async def _attempt(
    number: int, log: AttemptLog, sender: _Sender, waited: float
) -> _AttemptReply | CallFault:
    """Make one try, logged before and after."""
    await _begin(number, log)
    started = perf_counter()
    try:
        outcome = await sender.send()
    except asyncio.CancelledError:
        # The request was in flight: its cost is unknown.
        cost, latency = 0.0 if sender.free else None, perf_counter() - started
        log.ended(
            Attempt(
                number=number,
                error="cancelled",
                cost=cost,
                latency=latency,
                fault=FaultKind.CANCELLED,
                waited=waited,
            )
        )
        raise
    latency = perf_counter() - started
    entry = _entry(outcome, number, latency, waited)
    if isinstance(outcome, CallFault):
        log.ended(entry)
        return outcome
    reply = Reply(
        text=outcome.text,
        replaced=outcome.replaced,
        thought=outcome.thought,
        finish=outcome.finish,
        model=outcome.model,
        usage=outcome.usage,
        cost=outcome.cost,
        latency=latency,
        attempts=number,
    )
    log.ended(entry, reply)
    return _AttemptReply(reply, entry.doubles_cap)


async def _begin(number: int, log: AttemptLog) -> None:
    """Log a try's start; runs to its end even if the caller is cancelled."""
    began = asyncio.create_task(log.began(number))
    try:
        await asyncio.shield(began)
    except asyncio.CancelledError:
        while not began.done():
            with suppress(asyncio.CancelledError):  # of the caller, once more
                await asyncio.wait({began})
        if not began.cancelled() and began.exception() is None:
            cancelled = FaultKind.CANCELLED
            log.ended(Attempt(number=number, error="cancelled", cost=0.0, fault=cancelled))
        raise


def _entry(outcome: Outcome, number: int, latency: float, waited: float) -> Attempt:
    fault = outcome if isinstance(outcome, CallFault) else None
    wider = outcome.then is Next.WIDER
    error, kind = (fault.whole, fault.kind) if fault else ("", None)
    if fault is None and wider:
        error, kind = CUT_OFF, FaultKind.CAPPED
    return Attempt(
        number=number,
        error=error,
        model=outcome.model,
        usage=outcome.usage,
        cost=outcome.cost,
        origin=outcome.origin,
        latency=latency,
        doubles_cap=wider,
        fault=kind,
        waited=waited,
    )
