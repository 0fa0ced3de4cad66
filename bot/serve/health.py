"""What is watched of a process: counts, traces, its loop; and the pages for monitoring."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from aiohttp import web

from adapters.metrics import CONTENT_TYPE, Counts, Snapshot, StoredFigures, write_page
from adapters.site import Site
from bot import __version__
from bot.settings.settings import HealthSettings, Settings
from engine.run.juror_fits import left_out_of
from engine.store import Store
from engine.values.debate import Debate, Model
from engine.values.errors import SettingsError, StoreError
from engine.values.ports import utc_now

if TYPE_CHECKING:
    from adapters.traces import DebateTracer
    from engine.values.protocols import Models

# What is watched of this process: its counts, its traces, and how late its loop is.


TICK_SECONDS = 0.25
RECENT_SECONDS = 10.0
CHECKOUT = Path(__file__).parent.parent


class _Lateness(NamedTuple):
    """How late the loop was, in seconds, and when, on the monotonic clock."""

    at: float
    seconds: float


class _LoopWatch:
    """Measures how late the event loop runs a timer; more than a few seconds is a blocked loop."""

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = counts or Counts()
        self._recent: deque[_Lateness] = deque()

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            due = time.monotonic() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            late = max(0.0, now - due)
            self.counts.figures.lags.add(late)
            self._recent.append(_Lateness(now, late))
            self._forget(now)

    def worst(self) -> float:
        """Return how late it was at most in the last ten seconds."""
        self._forget(time.monotonic())
        return max((one.seconds for one in self._recent), default=0.0)

    def _forget(self, now: float) -> None:
        while self._recent and self._recent[0].at < now - RECENT_SECONDS:
            self._recent.popleft()


class _Build(NamedTuple):
    """What runs: the version, and the commit that it was made from."""

    version: str
    revision: str


def build_of(settings: Settings) -> _Build:
    """Return the build: its commit is that of the settings, else of a checkout."""
    return _Build(__version__, settings.revision or _head(CHECKOUT / ".git") or "unknown")


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


class _Watching(Counts):
    """Counts, and traces too."""

    def __init__(self, known: Iterable[Model], traces: DebateTracer) -> None:
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


def open_traces(known: Iterable[Model]) -> _Watching:
    """Return what counts and traces this process. Raises SettingsError if it cannot be made."""
    try:
        from adapters.traces import DebateTracer  # and with it OpenTelemetry
    except ModuleNotFoundError as error:
        raise SettingsError(
            "ROSTRUM_TRACES is on, and OpenTelemetry is not installed; run pip install "
            "'opentelemetry-sdk>=1.38' 'opentelemetry-exporter-otlp-proto-http>=1.38', or set "
            "ROSTRUM_TRACES=off."
        ) from error
    return _Watching(known, DebateTracer(__version__))


# `/livez`, `/readyz` and `/metrics`, for monitoring.


PROBE_SECONDS = 5.0  # how long a database probe is valid: each is a write
ANSWER_SECONDS = 3.0  # that the database may take for one
FIGURES_SECONDS = 5.0  # how long figures from the database are valid
BLOCKED_SECONDS = 5.0  # a loop that was late by more is not well
UNWRITABLE = "The database cannot be written; the log says why."
log = structlog.get_logger(__name__)


class PlatformPresence(NamedTuple):
    """Whether this process is connected to a platform, or stands by to take over from another.

    `shares` says in words what it serves there, such as “shards 0 and 2 of 4”.
    """

    connected: bool
    standing_by: bool = False
    shares: str = ""

    @property
    def well(self) -> bool:
        """Whether it does what it should."""
        return self.connected or self.standing_by

    def report(self) -> dict[str, str]:
        """Return it as JSON has it."""
        at_hand = "connected" if self.connected else "disconnected"
        state = "standing by" if self.standing_by and not self.connected else at_hand
        return {"state": state, **({"shares": self.shares} if self.shares else {})}


Connected = Callable[[], bool | PlatformPresence]


class _State(NamedTuple):
    """The state: what is wrong with the database (empty: nothing), loop and platforms.

    A process is alive while its loop turns: no restart mends what it needs from outside to be
    ready.
    """

    database: str
    late: float
    platforms: Mapping[str, PlatformPresence]

    def faults(self, *, ready: bool) -> tuple[str, ...]:
        """Return in words why the process is not alive, or not `ready` to serve."""
        return tuple(self._faults(ready))

    def _faults(self, ready: bool) -> Iterator[str]:
        if ready and self.database:
            yield self.database
        if self.late > BLOCKED_SECONDS:
            yield f"The event loop was blocked for {self.late:.1f} s within the last ten."
        away = (name for name, one in self.platforms.items() if ready and not one.well)
        yield from (f"{name.capitalize()} is not connected." for name in away)

    def report(self, *, ready: bool) -> dict[str, Any]:
        """Return what `/livez` or `/readyz` answers."""
        faults = self.faults(ready=ready)
        body = {
            "ok": not faults,
            "problems": faults,
            "loop_lag_seconds": round(self.late, 3),
        }
        shown = {name: one.report() for name, one in self.platforms.items()}
        return {**body, "database": not self.database, "platforms": shown} if ready else body


class Health:
    """Probes the state; `gateways` returns whether each platform is connected.

    Without a store the process starts, until `begin`. `day_cap` is the most that all communities
    together may spend a day, in USD; None for no cap.
    """

    def __init__(
        self,
        store: Store | None = None,
        gateways: Mapping[str, Connected] = MappingProxyType({}),
        loop: _LoopWatch | None = None,
        build: _Build | None = None,
        day_cap: float | None = None,
    ) -> None:
        self._store, self._gateways, self._day_cap = store, gateways, day_cap
        self.loop = loop or _LoopWatch()
        self._build = build or _Build("unknown", "unknown")
        self._fault, self._probed_at = "", -PROBE_SECONDS
        self._stored, self._read_at = StoredFigures(), -FIGURES_SECONDS
        self._probing, self._reading = asyncio.Lock(), asyncio.Lock()

    def begin(self, store: Store, gateways: Mapping[str, Connected], counts: Counts) -> None:
        """Go on with what a process has once it has started."""
        self._store, self._gateways, self.loop.counts = store, gateways, counts

    def alive(self) -> _State:
        """Look at this process alone."""
        return _State("", self.loop.worst(), {})

    async def state(self) -> _State:
        """Probe everything."""
        said = {name: connected() for name, connected in self._gateways.items()}
        platforms = {
            name: one if isinstance(one, PlatformPresence) else PlatformPresence(one)
            for name, one in said.items()
        }
        return _State(await self._probe(), self.loop.worst(), platforms)

    async def metrics(self) -> bytes:
        """Return the state and every figure in Prometheus' text format."""
        state, stored = await self.state(), await self._read()
        platforms = state.platforms
        snapshot = Snapshot(
            at=utc_now(),
            version=self._build.version,
            revision=self._build.revision,
            writable=not state.database,
            connected={name: one.connected for name, one in platforms.items()},
            standing_by={name: one.standing_by for name, one in platforms.items()},
            stored=stored,
            day_cap=self._day_cap,
        )
        # In a thread: its first import is slow, and only a scrape needs it.
        return await asyncio.to_thread(write_page, self.loop.counts.copy(), snapshot)

    async def _read(self) -> StoredFigures:
        """Return the database's figures, at most some seconds old; none if it has a fault."""
        async with self._reading:
            if self._store and time.monotonic() - self._read_at >= FIGURES_SECONDS:
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        self._stored = StoredFigures(
                            await self._store.queue.census(),
                            await self._store.deliveries.backlog(),
                            left_out_of(await self._store.fits.newest(rehearsal=False)),
                            await self._store.usage.day(utc_now()),
                        )
                except (StoreError, TimeoutError):  # a probe logs it
                    self._stored = StoredFigures()
                self._read_at = time.monotonic()
            return self._stored

    async def _probe(self) -> str:
        """Test a small write, at most every few seconds; return in words what is wrong."""
        if self._store is None:
            return "Rostrum is starting; it waits for its database."
        async with self._probing:
            if time.monotonic() - self._probed_at >= PROBE_SECONDS:
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await self._store.leases.claim("health", "health", 0.0)
                    self._fault = ""
                except StoreError as error:
                    log.error("database cannot be written", why=str(error))
                    self._fault = UNWRITABLE
                except TimeoutError:
                    silent = f"The database did not answer within {ANSWER_SECONDS:g} s."
                    self._fault = UNWRITABLE if self._store.away else silent
                    log.error("database cannot be written", why=self._fault)
                self._probed_at = time.monotonic()
            return self._fault


async def serve_health(settings: HealthSettings, health: Health) -> None:
    """Serve until cancelled; nowhere without a port. Raises SettingsError for a port in use."""
    if settings.port is None:
        return
    async with _listening(settings, health):
        await health.loop.run()


@asynccontextmanager
async def _listening(settings: HealthSettings, health: Health) -> AsyncIterator[None]:
    async def livez(_: web.Request) -> web.Response:
        return _answer(health.alive().report(ready=False))

    async def readyz(_: web.Request) -> web.Response:
        return _answer((await health.state()).report(ready=True))

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=await health.metrics(), headers={"Content-Type": CONTENT_TYPE})

    pages = {"/livez": livez, "/readyz": readyz, "/metrics": metrics}
    site = Site(
        settings.host,
        settings.port or 0,
        taken="Health cannot be served at {host}:{port}: {why}; set ROSTRUM_HEALTH__PORT "
        "to a free port.",
    )
    async with site.serving([web.get(path, page) for path, page in pages.items()]):
        yield


def _answer(body: Mapping[str, Any]) -> web.Response:
    return web.json_response(body, status=200 if body["ok"] else 503)


def open_counts(settings: Settings) -> Counts:
    """Return what watches a process that serves, or is traced: counts, and traces if they are set.

    Raises SettingsError if those cannot be made.
    """
    sides = (settings.default_a, settings.default_b)
    known: tuple[Model, ...] = tuple(side for side in sides if side is not None)
    known += (*settings.models, *settings.jurors, *settings.default_judges)
    known += tuple(settings.default_seats.values())
    if not settings.traces:
        return Counts(known)
    return open_traces(known)
