"""What this process counts: plain numbers by label, on the event loop, without the database.

Labels are bounded: no community, person, debate or text is one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from engine.values.debate import Cause, Debate, Model, Status
from engine.values.ports import Attempt, Call, Reply
from engine.values.protocols import RelayedModels

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog, Models

# Upper bounds in seconds: calls take from a tenth of a second to minutes, a loop's turn far less.
CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0, 600.0)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MOST_MODELS = 50  # beyond those of the settings, such as replacements
LEASES = ("connection", "debate", "gone", "reveals", "series", "thumbs")  # that can be lost
OTHER = "other"
OK = "ok"

Labels = tuple[str, ...]


class Histogram:
    """How many values lie in each bucket, and their sum."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def copy(self) -> Histogram:
        """Return it as it is now."""
        copied = Histogram(self.bounds)
        copied.buckets, copied.sum = list(self.buckets), self.sum
        return copied


@dataclass(slots=True)
class MetricFigures:
    """The numbers so far, by their labels in the order of adapters/metrics/exposition.py."""

    calls: Counter[Labels] = field(default_factory=Counter)
    retries: Counter[Labels] = field(default_factory=Counter)
    in_flight: Counter[Labels] = field(default_factory=Counter)
    durations: dict[Labels, Histogram] = field(default_factory=dict)
    tokens: Counter[Labels] = field(default_factory=Counter)
    usd: dict[Labels, float] = field(default_factory=dict)
    unpriced: Counter[Labels] = field(default_factory=Counter)
    waits: Counter[Labels] = field(default_factory=Counter)
    waited: dict[Labels, float] = field(default_factory=dict)
    answers: Counter[Labels] = field(default_factory=Counter)
    ended: Counter[Labels] = field(default_factory=Counter)
    lost: Counter[Labels] = field(default_factory=Counter)
    lags: Histogram = field(default_factory=lambda: Histogram(LAG_SECONDS))

    def copy(self) -> MetricFigures:
        """Return them as they are now: on the loop, so no deep copy, which takes milliseconds."""
        durations = {labels: one.copy() for labels, one in self.durations.items()}
        others = {each.name: getattr(self, each.name).copy() for each in fields(self)}
        return MetricFigures(**others | {"durations": durations})


class Counts:
    """The watch that counts; `known` models have their own label, and some others."""

    def __init__(self, known: Iterable[Model] = ()) -> None:
        self.figures = MetricFigures()
        self._labels = {model.ref: _name(model) for model in known}
        self._most = len(self._labels) + MOST_MODELS
        # Prometheus sees no rise in what it has not seen before.
        self.figures.lost.update(dict.fromkeys(((kind,) for kind in LEASES), 0))
        failed = Status.FAILED.value
        self.figures.ended.update(dict.fromkeys(((failed, one.value) for one in Cause), 0))
        self.figures.usd.update(dict.fromkeys(self._labels.values(), 0.0))

    def copy(self) -> MetricFigures:
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
            durations = figures.durations[labels] = Histogram(CALL_SECONDS)
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
