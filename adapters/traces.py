"""Spans: a debate, its steps, and the tries of each; exported over OTLP/HTTP by a thread.

A debate's trace id is its own id, which is a ULID: 128 bits, of which the last 80 are random. So a
debate that is resumed goes on in the same trace, with one more span `debate`. Names of attributes
are those of the semantic conventions for generative AI where there are any. No text of a prompt or
an answer, no error's words and no person are in a span.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context, use_span
from ulid import ULID

from engine.values.debate import Debate
from engine.values.errors import SettingsError
from engine.values.ports import Attempt, Call, Reply
from engine.values.protocols import RelayedModels

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog, Models

OK = "ok"
CLOSE_SECONDS = 2.0
QUIET_SECONDS = 300.0  # between two lines of the log about a collector that is away
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_trace_id: ContextVar[int | None] = ContextVar("trace_id", default=None)


@dataclass(slots=True)
class _Taken:
    """What a debate took since it was begun or resumed; only costs that are known."""

    attempts: int = 0
    usd: float = 0.0


class DebateTracer:
    """Makes the spans of this process; configured by the standard OTEL_ variables."""

    def __init__(self, version: str) -> None:
        """Raises SettingsError for a variable that OpenTelemetry refuses."""
        ours = {"service.name": "rostrum", "service.version": version}
        try:
            given = OTELResourceDetector().detect().attributes
            resource = Resource.create({**ours, **given})
            self._provider = TracerProvider(
                resource=resource, id_generator=_Ids(), shutdown_on_exit=False
            )
            self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        except ValueError as error:
            raise SettingsError(
                f"Traces cannot be set up: {error}; check the variables that begin with OTEL_."
            ) from error
        logging.getLogger(EXPORTER).addFilter(_Seldom())
        self._tracer = self._provider.get_tracer("rostrum", version)
        self._taken: dict[str, _Taken] = {}

    @contextmanager
    def debate(self, debate: Debate, *, resumed: bool) -> Iterator[None]:
        """Make the body the span of a debate, or of what is left of one that is `resumed`."""
        request = debate.request
        attributes: dict[str, Any] = {
            "rostrum.debate.id": debate.id,
            "rostrum.debate.format": request.format,
            "rostrum.debate.language": request.language,
            "rostrum.debate.resumed": resumed,
        }
        token = _trace_id.set(int(ULID.from_str(debate.id)))
        try:
            span = self._tracer.start_span("debate", Context(), attributes=attributes)
        finally:
            _trace_id.reset(token)
        self._taken[debate.id] = taken = _Taken()
        with _current(span):
            try:
                yield
            finally:
                del self._taken[debate.id]
                span.set_attribute("rostrum.attempts", taken.attempts)
                span.set_attribute("rostrum.cost_usd", taken.usd)

    def over(self, models: Models) -> Models:
        """Return the models with every call as a step's span, and each try of it as one within."""
        return _TracedModels(models, self)

    def close(self) -> None:
        """Export what is left; a collector that is away gets two seconds."""
        # OpenTelemetry would wait for half a minute; its thread ends with the process.
        ending = Thread(target=self._provider.shutdown, name="traces", daemon=True)
        ending.start()
        ending.join(CLOSE_SECONDS)

    @contextmanager
    def step(self, call: Call) -> Iterator[Span]:
        """Make the body the span of a step, within its debate's."""
        attributes = _about(call) | {"rostrum.step": call.step}
        kind = call.step.partition("/")[0]
        with _current(self._tracer.start_span(kind, attributes=attributes)) as span:
            yield span

    def attempt(
        self, call: Call, step: Span, began: int, attempt: Attempt, reply: Reply | None
    ) -> None:
        """Record how a try ended that began at a time in nanoseconds since 1970."""
        if (taken := self._taken.get(call.session)) is not None:
            taken.attempts += 1
            taken.usd += attempt.cost or 0.0
        used = attempt.usage
        known = {
            "gen_ai.response.model": attempt.model or None,
            "gen_ai.response.finish_reasons": [reply.finish] if reply else None,
            "gen_ai.usage.input_tokens": used.tokens_in,
            "gen_ai.usage.output_tokens": used.tokens_out,
            "gen_ai.usage.cache_read.input_tokens": used.tokens_cached,
            "gen_ai.usage.cache_creation.input_tokens": used.tokens_written,
            "gen_ai.usage.reasoning.output_tokens": used.tokens_reasoning,
            "rostrum.attempt": attempt.number,
            "rostrum.cost_usd": attempt.cost,
            "rostrum.limit_wait_seconds": attempt.waited,
            "rostrum.outcome": OK if attempt.fault is None else attempt.fault.value,
        }
        span = self._tracer.start_span(
            f"chat {call.model.name}",
            set_span_in_context(step),
            kind=SpanKind.CLIENT,
            attributes=_about(call)
            | {name: value for name, value in known.items() if value is not None},
            start_time=began,
        )
        if attempt.fault is not None:
            span.set_attribute("error.type", attempt.fault.value)
            span.set_status(StatusCode.ERROR)
        span.end()


@contextmanager
def _current(span: Span) -> Iterator[Span]:
    """Run the body within a span, which says only what kind of error ended it."""
    outcome = OK
    try:
        with use_span(span, record_exception=False, set_status_on_exception=False):
            yield span
    except BaseException as error:
        outcome = type(error).__name__
        span.set_attribute("error.type", outcome)
        span.set_status(StatusCode.ERROR)
        raise
    finally:
        span.set_attribute("rostrum.outcome", outcome)
        span.end()


def _about(call: Call) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.model.backend,
        "gen_ai.request.model": call.model.name,
        "gen_ai.request.max_tokens": call.sampling.max_tokens,
        "gen_ai.request.temperature": call.sampling.temperature,
        "gen_ai.conversation.id": call.session,
    }


class _TracedModels(RelayedModels):
    """The Models port with spans."""

    def __init__(self, models: Models, traces: DebateTracer) -> None:
        super().__init__(models)
        self._traces = traces

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        with self._traces.step(call) as span:
            reply = await self._models.complete(call, _TracedLog(self._traces, call, span, log))
            if reply.cost is not None:
                span.set_attribute("rostrum.cost_usd", reply.cost)
            span.set_attribute("rostrum.attempts", reply.attempts)
            return reply


class _TracedLog:
    """An attempt log that makes spans, too."""

    def __init__(self, traces: DebateTracer, call: Call, step: Span, log: AttemptLog) -> None:
        self._traces, self._call, self._step, self._log = traces, call, step, log
        self._began = 0

    async def began(self, number: int) -> None:
        await self._log.began(number)
        self._began = time.time_ns()

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        self._log.ended(attempt, reply)
        self._traces.attempt(self._call, self._step, self._began, attempt, reply)


class _Ids(IdGenerator):
    """A debate's trace id is its own; the rest is drawn apart from any seed of the engine's."""

    def __init__(self) -> None:
        self._random = Random()

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        wanted = _trace_id.get()
        return (self._random.getrandbits(128) or 1) if wanted is None else wanted

    def is_trace_id_random(self) -> bool:
        return True


class _Seldom(logging.Filter):
    """Lets an error through once in a while: a collector that is away is away for long."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_at = -QUIET_SECONDS

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if record.levelno < logging.ERROR or now - self._passed_at < QUIET_SECONDS:
            return False
        self._passed_at = now
        return True
