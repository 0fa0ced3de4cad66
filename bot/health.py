"""`/healthz` and `/metrics`, for monitoring."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import structlog
from aiohttp import web

from adapters.site import Site
from bot.settings.sections import HealthSettings
from engine.debate import Status
from engine.errors import StoreError
from engine.store import Store

PROBE_SECONDS = 5.0  # how long a database probe is valid: each is a write
LIVE = (Status.QUEUED, Status.RUNNING, Status.VOTING)
MOST_COUNTED = 10_000
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PORT_TAKEN = (
    "Health cannot be served at {host}:{port}: {why}; set ROSTRUM_HEALTH__PORT to a free port."
)
log = structlog.get_logger(__name__)


class State(NamedTuple):
    """The state: whether the database is writable and each gateway connected."""

    database: bool
    gateways: Mapping[str, bool]

    @property
    def well(self) -> bool:
        """Whether everything works."""
        return self.database and all(self.gateways.values())


class Health:
    """Probes the state; `gateways` returns whether each platform is connected."""

    def __init__(self, store: Store, gateways: Mapping[str, Callable[[], bool]]) -> None:
        self._store, self._gateways = store, gateways
        self._written, self._probed_at = False, -PROBE_SECONDS
        self._probing = asyncio.Lock()

    async def state(self) -> State:
        """Probe everything."""
        gateways = {name: connected() for name, connected in self._gateways.items()}
        return State(await self._writable(), gateways)

    async def metrics(self) -> bytes:
        """Return the state and the number of debates in Prometheus' text format."""
        state, debates = await self.state(), await self._count()
        # In a thread: its first import is slow, and only a scrape needs it.
        return await asyncio.to_thread(_expose, state, debates)

    async def _count(self) -> dict[Status, int]:
        live = await self._store.debates.recent(LIVE, MOST_COUNTED)
        statuses = [debate.status for debate in live]
        return {status: statuses.count(status) for status in LIVE}

    async def _writable(self) -> bool:
        """Test a small write, at most every few seconds."""
        async with self._probing:
            if time.monotonic() - self._probed_at >= PROBE_SECONDS:
                try:
                    await self._store.leases.claim("health", "health", 0.0)
                    self._written = True
                except StoreError as error:
                    log.error("database cannot be written", why=str(error))
                    self._written = False
                self._probed_at = time.monotonic()
            return self._written


def _expose(state: State, debates: Mapping[Status, int]) -> bytes:
    """Return the figures from a registry of their own; the process-wide one is not served."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry = CollectorRegistry()
    writable = "Whether the database can be written."
    Gauge("rostrum_database_writable", writable, registry=registry).set(state.database)
    connected = "Whether the platform's gateway is connected."
    gateways = Gauge("rostrum_gateway_connected", connected, ["platform"], registry=registry)
    for name, well in state.gateways.items():
        gateways.labels(name).set(well)
    unended = "Debates that have not ended, by status."
    by_status = Gauge("rostrum_debates", unended, ["status"], registry=registry)
    for status, number in debates.items():
        by_status.labels(status.value).set(number)
    return generate_latest(registry)


async def serve_health(settings: HealthSettings, health: Health) -> None:
    """Serve until cancelled; nowhere without a port. Raises SettingsError for a port in use."""
    if settings.port is None:
        return
    async with _listening(settings, health):
        await asyncio.Event().wait()


@asynccontextmanager
async def _listening(settings: HealthSettings, health: Health) -> AsyncIterator[None]:
    async def healthz(_: web.Request) -> web.Response:
        state = await health.state()
        body = {"ok": state.well, "database": state.database, "gateways": dict(state.gateways)}
        return web.json_response(body, status=200 if state.well else 503)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=await health.metrics(), headers={"Content-Type": METRICS_TYPE})

    site = Site(settings.host, settings.port or 0, taken=PORT_TAKEN)
    async with site.serving([web.get("/healthz", healthz), web.get("/metrics", metrics)]):
        yield
