"""What is watched of this process: its counts, its traces, and how late its loop is."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapters.metrics.counts import Counts
from bot import __version__
from bot.settings.settings import Settings
from engine.values.debate import Debate, Model
from engine.values.errors import SettingsError
from engine.values.ports import Models

if TYPE_CHECKING:
    from adapters.traces.spans import Traces

TICK_SECONDS = 0.25
RECENT_SECONDS = 10.0
CHECKOUT = Path(__file__).parent.parent


class Lateness(NamedTuple):
    """How late the loop was, in seconds, and when, on the monotonic clock."""

    at: float
    seconds: float


class LoopWatch:
    """Measures how late the event loop runs a timer; more than a few seconds is a blocked loop."""

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = counts or Counts()
        self._recent: deque[Lateness] = deque()

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            due = time.monotonic() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            late = max(0.0, now - due)
            self.counts.figures.lags.add(late)
            self._recent.append(Lateness(now, late))
            self._forget(now)

    def worst(self) -> float:
        """Return how late it was at most in the last ten seconds."""
        self._forget(time.monotonic())
        return max((one.seconds for one in self._recent), default=0.0)

    def _forget(self, now: float) -> None:
        while self._recent and self._recent[0].at < now - RECENT_SECONDS:
            self._recent.popleft()


class Build(NamedTuple):
    """What runs: the version, and the commit that it was made from."""

    version: str
    revision: str


def build_of(settings: Settings, checkout: Path = CHECKOUT) -> Build:
    """Return the build: its commit is that of the settings, else of a checkout."""
    return Build(__version__, settings.revision or _head(checkout / ".git") or "unknown")


def _head(folder: Path) -> str:
    """Return the commit that is checked out; empty where that cannot be read."""
    try:
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head[:40]
        branch = head.removeprefix("ref: ")
        if (folder / branch).is_file():
            return (folder / branch).read_text().strip()[:40]
        packed = (folder / "packed-refs").read_text().splitlines()
        return next((line[:40] for line in packed if line.endswith(f" {branch}")), "")
    except (OSError, UnicodeDecodeError):
        return ""


class Watching(Counts):
    """Counts, and traces too."""

    def __init__(self, known: Iterable[Model], traces: Traces) -> None:
        super().__init__(known)
        self._traces = traces

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Trace a debate, which is the body."""
        return self._traces.debate(debate, resumed=resumed)

    def over(self, models: Models) -> Models:
        """Return the models with every call counted and traced."""
        return self._traces.over(super().over(models))

    async def aclose(self) -> None:
        """Export the traces that are left."""
        await asyncio.to_thread(self._traces.close)


def open_traces(known: Iterable[Model]) -> Watching:
    """Return what counts and traces this process. Raises SettingsError if it cannot be made."""
    try:
        from adapters.traces.spans import Traces  # and with it OpenTelemetry
    except ModuleNotFoundError as error:
        raise SettingsError(
            "ROSTRUM_TRACES is on, and OpenTelemetry is not installed; run pip install "
            "'opentelemetry-sdk>=1.38' 'opentelemetry-exporter-otlp-proto-http>=1.38', or set "
            "ROSTRUM_TRACES=off."
        ) from error
    return Watching(known, Traces(__version__))
