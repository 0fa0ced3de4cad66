"""Figures for Prometheus: counted in the process, written when they are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.store.usage import Day
from engine.values.debate import Cause, Debate, Model, Status
from engine.values.ports import Attempt, Call, Reply
from engine.values.protocols import RelayedModels

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from engine.values.protocols import AttemptLog, Models

# What this process counts: plain numbers by label, on the event loop, without the database.
#
# Labels are bounded: no community, person, debate or text is one.


# Upper bounds in seconds: calls take from a tenth of a second to minutes, a loop's turn far less.
CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0, 600.0)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MOST_MODELS = 50  # beyond those of the settings, such as replacements
LEASES = ("connection", "debate", "gone", "reveals", "series", "thumbs")  # that can be lost
OTHER = "other"
OK = "ok"

Labels = tuple[str, ...]


class _Histogram:
    """How many values lie in each bucket, and their sum."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def copy(self) -> _Histogram:
        """Return it as it is now."""
        copied = _Histogram(self.bounds)
        copied.buckets, copied.sum = list(self.buckets), self.sum
        return copied


@dataclass(slots=True)
class _MetricFigures:
    """The numbers so far, by their labels in the order of adapters/metrics.py."""

    calls: Counter[Labels] = field(default_factory=Counter)
    retries: Counter[Labels] = field(default_factory=Counter)
    in_flight: Counter[Labels] = field(default_factory=Counter)
    durations: dict[Labels, _Histogram] = field(default_factory=dict)
    tokens: Counter[Labels] = field(default_factory=Counter)
    usd: dict[Labels, float] = field(default_factory=dict)
    unpriced: Counter[Labels] = field(default_factory=Counter)
    waits: Counter[Labels] = field(default_factory=Counter)
    waited: dict[Labels, float] = field(default_factory=dict)
    answers: Counter[Labels] = field(default_factory=Counter)
    ended: Counter[Labels] = field(default_factory=Counter)
    lost: Counter[Labels] = field(default_factory=Counter)
    lags: _Histogram = field(default_factory=lambda: _Histogram(LAG_SECONDS))

    def copy(self) -> _MetricFigures:
        """Return them as they are now: on the loop, so no deep copy, which takes milliseconds."""
        durations = {labels: one.copy() for labels, one in self.durations.items()}
        others = {each.name: getattr(self, each.name).copy() for each in fields(self)}
        return _MetricFigures(**others | {"durations": durations})


class Counts:
    """The watch that counts; `known` models have their own label, and some others."""

    def __init__(self, known: Iterable[Model] = ()) -> None:
        self.figures = _MetricFigures()
        self._labels = {model.ref: _name(model) for model in known}
        self._most = len(self._labels) + MOST_MODELS
        # Prometheus sees no rise in what it has not seen before.
        self.figures.lost.update(dict.fromkeys(((kind,) for kind in LEASES), 0))
        failed = Status.FAILED.value
        self.figures.ended.update(dict.fromkeys(((failed, one.value) for one in Cause), 0))
        self.figures.usd.update(dict.fromkeys(self._labels.values(), 0.0))

    def copy(self) -> _MetricFigures:
        """Return the numbers as they are now, for another thread to write down."""
        return self.figures.copy()

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Do nothing: its calls are counted."""
        return nullcontext()

    def ended(self, status: Status, cause: Cause | None = None) -> None:
        """Count a debate that this process ended."""
        self.figures.ended[status.value, "" if cause is None else cause.value] += 1

    def answered(self, platform: str, question: str, how: str, outcome: str, number: int) -> None:
        """Count what became of answers of people."""
        self.figures.answers[platform, str(question), str(how), outcome] += number

    def lease_lost(self, name: str) -> None:
        """Count a lost lease by its kind, which its name begins with."""
        self.figures.lost[(name.partition("/")[0],)] += 1

    def over(self, models: Models) -> Models:
        """Return the models with every try of every call counted."""
        return _CountedModels(models, self)

    async def aclose(self) -> None:
        """Do nothing: what was counted ends with the process."""

    def labels(self, model: Model) -> Labels:
        """Return the backend and name of a model, or `other` once there are too many."""
        found = self._labels.get(model.ref)
        if found is None and len(self._labels) < self._most:
            found = self._labels[model.ref] = _name(model)
        return found or (model.backend, OTHER)

    def began(self, labels: Labels, number: int) -> None:
        """Count a try that is about to be sent."""
        self.figures.in_flight[labels] += 1
        if number > 1:
            self.figures.retries[labels] += 1

    def finished(self, labels: Labels, attempt: Attempt) -> None:
        """Count how a try ended, and what it took."""
        figures = self.figures
        figures.in_flight[labels] -= 1
        outcome = OK if attempt.fault is None else attempt.fault.value
        figures.calls[(*labels, outcome)] += 1
        durations = figures.durations.get(labels)
        if durations is None:
            durations = figures.durations[labels] = _Histogram(CALL_SECONDS)
        durations.add(attempt.latency)
        if attempt.cost is None:
            figures.unpriced[labels] += 1
        else:
            figures.usd[labels] = figures.usd.get(labels, 0.0) + attempt.cost
        if attempt.waited:
            backend = labels[:1]
            figures.waits[backend] += 1
            figures.waited[backend] = figures.waited.get(backend, 0.0) + attempt.waited
        used = attempt.usage
        for kind, number in (
            ("in", used.tokens_in),
            ("out", used.tokens_out),
            ("reasoning", used.tokens_reasoning),
            ("cached", used.tokens_cached),
        ):
            if number:
                figures.tokens[(*labels, kind)] += number


def _name(model: Model) -> Labels:
    # What follows a rehearsal model's "?" is free text.
    return (model.backend, model.name.partition("?")[0])


class _CountedModels(RelayedModels):
    """The Models port, with every try of every call counted."""

    def __init__(self, models: Models, counts: Counts) -> None:
        super().__init__(models)
        self._counts = counts

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model; see `Models.complete`."""
        return await self._models.complete(call, _Log(call, log, self._counts))


class _Log:
    """An attempt log that also counts."""

    __slots__ = ("_counts", "_labels", "_log")

    def __init__(self, call: Call, log: AttemptLog, counts: Counts) -> None:
        self._log, self._counts, self._labels = log, counts, counts.labels(call.model)

    async def began(self, number: int) -> None:
        await self._log.began(number)
        self._counts.began(self._labels, number)

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        self._counts.finished(self._labels, attempt)
        self._log.ended(attempt, reply)


# The page that Prometheus reads: every metric, declared once, with its samples of now.
#
# prometheus-client is imported when a page is written: its import is slow, and only a scrape needs
# it. Its own counters are not used, as each addition would take a lock.


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MODEL = ("backend", "model")


class _Family(NamedTuple):
    """A metric: its name without the ending that Prometheus adds to a counter, and its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    labels: Labels = ()


CALLS = _Family("rostrum_model_calls", "counter", "Tries of model calls.", (*MODEL, "outcome"))
RETRIES = _Family("rostrum_model_retries", "counter", "Tries after a call's first.", MODEL)
IN_FLIGHT = _Family("rostrum_model_calls_in_flight", "gauge", "Tries without an answer yet.", MODEL)
DURATIONS = _Family("rostrum_model_call_duration_seconds", "histogram", "Duration of tries.", MODEL)
TOKENS = _Family("rostrum_model_tokens", "counter", "Tokens of model calls.", (*MODEL, "kind"))
USD = _Family("rostrum_model_cost_usd", "counter", "Known cost of tries, in USD.", MODEL)
UNPRICED = _Family("rostrum_model_calls_unpriced", "counter", "Tries of unknown cost.", MODEL)
WAITS = _Family(
    "rostrum_model_limit_waits", "counter", "Tries that waited for a backend's limit.", ("backend",)
)
WAITED = _Family(
    "rostrum_model_limit_wait_seconds", "counter", "Time waited for a limit.", ("backend",)
)
ANSWERS = _Family(
    "rostrum_votes",
    "counter",
    "Answers of people that reached this process.",
    ("platform", "question", "how", "outcome"),
)
ENDED = _Family(
    "rostrum_debates_ended", "counter", "Debates that this process ended.", ("status", "cause")
)
LOST = _Family("rostrum_lease_losses", "counter", "Leases taken over by others.", ("kind",))
LAGS = _Family("rostrum_event_loop_lag_seconds", "histogram", "How late the loop runs a timer.")
DEBATES = _Family(
    "rostrum_debates", "gauge", "Debates that have not ended, by status.", ("status",)
)
OUTBOX = _Family("rostrum_outbox_messages", "gauge", "Messages not delivered yet.", ("platform",))
OLDEST = _Family(
    "rostrum_outbox_oldest_age_seconds", "gauge", "Age of the oldest of them.", ("platform",)
)
LEFT_OUT = _Family(
    "rostrum_juror_ballots_left_out",
    "gauge",
    "Older ballots of a juror that has changed since, which no longer count.",
    ("juror",),
)
DAY = _Family(
    "rostrum_day_usd",
    "gauge",
    "What all communities together have spent or reserved today (UTC), in USD.",
    ("kind",),
)
DAY_CAP = _Family(
    "rostrum_day_cap_usd",
    "gauge",
    "The most that all communities together may spend a day (UTC), if there is a cap, in USD.",
)
WRITABLE = _Family("rostrum_database_writable", "gauge", "Whether the database can be written.")
CONNECTED = _Family(
    "rostrum_gateway_connected",
    "gauge",
    "Whether the platform's gateway is connected.",
    ("platform",),
)
STANDING_BY = _Family(
    "rostrum_gateway_standing_by",
    "gauge",
    "Whether other processes serve the platform and this one would take over.",
    ("platform",),
)
BUILD = _Family(
    "rostrum_build_info", "gauge", "The version that runs; always 1.", ("version", "revision")
)
FAMILIES = (
    *(CALLS, RETRIES, IN_FLIGHT, DURATIONS, TOKENS, USD, UNPRICED, WAITS, WAITED),
    *(ANSWERS, ENDED, LOST, LAGS),
    *(DEBATES, OUTBOX, OLDEST, LEFT_OUT, DAY, DAY_CAP, WRITABLE, CONNECTED, STANDING_BY, BUILD),
)


class StoredFigures(NamedTuple):
    """What the database says; empty while it cannot be read."""

    debates: Mapping[Status, int] = {}
    outbox: Mapping[str, tuple[int, datetime | None]] = {}
    left_out: Mapping[str, int] = {}
    day: Day | None = None


@dataclass(frozen=True)
class Snapshot:
    """The state at a time."""

    at: datetime
    version: str
    revision: str
    writable: bool
    connected: Mapping[str, bool]
    standing_by: Mapping[str, bool]
    stored: StoredFigures
    day_cap: float | None


def write_page(figures: _MetricFigures, snapshot: Snapshot) -> bytes:
    """Return all metrics in Prometheus' text format, and those of the process (Linux only).

    They are in a registry of their own; the process-wide one is not served.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collected(figures, snapshot))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Collected:
    """What a registry collects."""

    def __init__(self, figures: _MetricFigures, snapshot: Snapshot) -> None:
        self._figures, self._snapshot = figures, snapshot

    def collect(self) -> Iterator[Metric]:
        """Return every metric with its samples."""
        values: _Values = {
            CALLS: dict(self._figures.calls),
            RETRIES: dict(self._figures.retries),
            IN_FLIGHT: dict(self._figures.in_flight),
            DURATIONS: dict(self._figures.durations),
            TOKENS: dict(self._figures.tokens),
            USD: dict(self._figures.usd),
            UNPRICED: dict(self._figures.unpriced),
            WAITS: dict(self._figures.waits),
            WAITED: dict(self._figures.waited),
            ANSWERS: dict(self._figures.answers),
            ENDED: dict(self._figures.ended),
            LOST: dict(self._figures.lost),
            LAGS: {(): self._figures.lags},
            **_read(self._snapshot),
        }
        yield from (_metric(family, values[family]) for family in FAMILIES)


_Values = Mapping[_Family, Mapping[Labels, float | _Histogram]]


def _read(now: Snapshot) -> _Values:
    outbox, day = now.stored.outbox, now.stored.day
    since = {name: oldest for name, (_, oldest) in outbox.items() if oldest is not None}
    ages = {name: max(0.0, (now.at - oldest).total_seconds()) for name, oldest in since.items()}
    return {
        DEBATES: {(status.value,): number for status, number in now.stored.debates.items()},
        OUTBOX: {(name,): messages for name, (messages, _) in outbox.items()},
        OLDEST: {(name,): age for name, age in ages.items()},
        LEFT_OUT: {(juror,): number for juror, number in now.stored.left_out.items()},
        DAY: {("spent",): day.spent, ("reserved",): day.reserved} if day else {},
        DAY_CAP: {} if now.day_cap is None else {(): now.day_cap},
        WRITABLE: {(): now.writable},
        CONNECTED: {(name,): well for name, well in now.connected.items()},
        STANDING_BY: {(name,): stands for name, stands in now.standing_by.items()},
        BUILD: {(now.version, now.revision): 1},
    }


def _metric(family: _Family, values: Mapping[Labels, float | _Histogram]) -> Metric:
    from prometheus_client import core

    if family.kind == "histogram":
        held = core.HistogramMetricFamily(family.name, family.about, labels=family.labels)
        for labels, value in sorted(values.items(), key=itemgetter(0)):
            if isinstance(value, _Histogram):
                bounds = [*map(str, value.bounds), "+Inf"]
                held.add_metric(
                    labels,
                    list(zip(bounds, accumulate(value.buckets), strict=True)),
                    sum_value=value.sum,
                )
        return held
    counts = family.kind == "counter"
    kind = core.CounterMetricFamily if counts else core.GaugeMetricFamily
    plain = kind(family.name, family.about, labels=family.labels)
    for labels, value in sorted(values.items(), key=itemgetter(0)):
        if not isinstance(value, _Histogram):
            plain.add_metric(labels, value)
    return plain
