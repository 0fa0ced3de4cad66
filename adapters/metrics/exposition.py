"""The page that Prometheus reads: every metric, declared once, with its samples of now.

prometheus-client is imported when a page is written: its import is slow, and only a scrape needs
it. Its own counters are not used, as each addition would take a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from adapters.metrics.counts import Histogram, Labels, MetricFigures
from engine.store.deliveries import Backlog
from engine.store.usage import Day
from engine.values.debate import Status

if TYPE_CHECKING:
    from prometheus_client.core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MODEL = ("backend", "model")


class Family(NamedTuple):
    """A metric: its name without the ending that Prometheus adds to a counter, and its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    labels: Labels = ()


CALLS = Family("rostrum_model_calls", "counter", "Tries of model calls.", (*MODEL, "outcome"))
RETRIES = Family("rostrum_model_retries", "counter", "Tries after a call's first.", MODEL)
IN_FLIGHT = Family("rostrum_model_calls_in_flight", "gauge", "Tries without an answer yet.", MODEL)
DURATIONS = Family("rostrum_model_call_duration_seconds", "histogram", "Duration of tries.", MODEL)
TOKENS = Family("rostrum_model_tokens", "counter", "Tokens of model calls.", (*MODEL, "kind"))
USD = Family("rostrum_model_cost_usd", "counter", "Known cost of tries, in USD.", MODEL)
UNPRICED = Family("rostrum_model_calls_unpriced", "counter", "Tries of unknown cost.", MODEL)
WAITS = Family(
    "rostrum_model_limit_waits", "counter", "Tries that waited for a backend's limit.", ("backend",)
)
WAITED = Family(
    "rostrum_model_limit_wait_seconds", "counter", "Time waited for a limit.", ("backend",)
)
ANSWERS = Family(
    "rostrum_votes",
    "counter",
    "Answers of people that reached this process.",
    ("platform", "question", "how", "outcome"),
)
ENDED = Family(
    "rostrum_debates_ended", "counter", "Debates that this process ended.", ("status", "cause")
)
LOST = Family("rostrum_lease_losses", "counter", "Leases taken over by others.", ("kind",))
LAGS = Family("rostrum_event_loop_lag_seconds", "histogram", "How late the loop runs a timer.")
DEBATES = Family("rostrum_debates", "gauge", "Debates that have not ended, by status.", ("status",))
OUTBOX = Family("rostrum_outbox_messages", "gauge", "Messages not delivered yet.", ("platform",))
OLDEST = Family(
    "rostrum_outbox_oldest_age_seconds", "gauge", "Age of the oldest of them.", ("platform",)
)
LEFT_OUT = Family(
    "rostrum_juror_ballots_left_out",
    "gauge",
    "Older ballots of a juror that has changed since, which no longer count.",
    ("juror",),
)
DAY = Family(
    "rostrum_day_usd",
    "gauge",
    "What all communities together have spent or reserved today (UTC), in USD.",
    ("kind",),
)
DAY_CAP = Family(
    "rostrum_day_cap_usd",
    "gauge",
    "The most that all communities together may spend a day (UTC), if there is a cap, in USD.",
)
WRITABLE = Family("rostrum_database_writable", "gauge", "Whether the database can be written.")
CONNECTED = Family(
    "rostrum_gateway_connected",
    "gauge",
    "Whether the platform's gateway is connected.",
    ("platform",),
)
STANDING_BY = Family(
    "rostrum_gateway_standing_by",
    "gauge",
    "Whether other processes serve the platform and this one would take over.",
    ("platform",),
)
BUILD = Family(
    "rostrum_build_info", "gauge", "The version that runs; always 1.", ("version", "revision")
)
FAMILIES = (
    *(CALLS, RETRIES, IN_FLIGHT, DURATIONS, TOKENS, USD, UNPRICED, WAITS, WAITED),
    *(ANSWERS, ENDED, LOST, LAGS),
    *(DEBATES, OUTBOX, OLDEST, LEFT_OUT, DAY, DAY_CAP, WRITABLE, CONNECTED, STANDING_BY, BUILD),
)


@dataclass(frozen=True)
class Snapshot:
    """The state at a time; without a readable database `debates` and what follows is empty."""

    at: datetime
    version: str
    revision: str
    writable: bool
    connected: Mapping[str, bool]
    standing_by: Mapping[str, bool]
    debates: Mapping[Status, int]
    outbox: Mapping[str, Backlog]
    left_out: Mapping[str, int]
    day: Day | None
    day_cap: float | None


def write_page(figures: MetricFigures, snapshot: Snapshot) -> bytes:
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

    def __init__(self, figures: MetricFigures, snapshot: Snapshot) -> None:
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


_Values = Mapping[Family, Mapping[Labels, float | Histogram]]


def _read(now: Snapshot) -> _Values:
    since = {name: one.oldest for name, one in now.outbox.items() if one.oldest is not None}
    ages = {name: max(0.0, (now.at - oldest).total_seconds()) for name, oldest in since.items()}
    return {
        DEBATES: {(status.value,): number for status, number in now.debates.items()},
        OUTBOX: {(name,): one.messages for name, one in now.outbox.items()},
        OLDEST: {(name,): age for name, age in ages.items()},
        LEFT_OUT: {(juror,): number for juror, number in now.left_out.items()},
        DAY: {("spent",): now.day.spent, ("reserved",): now.day.reserved} if now.day else {},
        DAY_CAP: {} if now.day_cap is None else {(): now.day_cap},
        WRITABLE: {(): now.writable},
        CONNECTED: {(name,): well for name, well in now.connected.items()},
        STANDING_BY: {(name,): stands for name, stands in now.standing_by.items()},
        BUILD: {(now.version, now.revision): 1},
    }


def _metric(family: Family, values: Mapping[Labels, float | Histogram]) -> Metric:
    from prometheus_client import core

    if family.kind == "histogram":
        held = core.HistogramMetricFamily(family.name, family.about, labels=family.labels)
        for labels, value in sorted(values.items(), key=itemgetter(0)):
            if isinstance(value, Histogram):
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
        if not isinstance(value, Histogram):
            plain.add_metric(labels, value)
    return plain
