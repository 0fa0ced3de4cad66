"""`rostrum run`, `gateway` and `worker`: processes that serve or think until stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from importlib import import_module
from math import inf
from typing import Any

import structlog
from aiohttp import web

from adapters.pictures import drawn
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.label_pages import Saw
from adapters.web.public import PublicPages
from adapters.web.session import PROXIES
from bot import __version__, exits, log, sentences
from bot.app import App, first_error, run_app
from bot.database import Role, read_store
from bot.operations.control import eraser, keeping_of
from bot.research.labels import label_routes, noticing_of
from bot.serve.health import Health, PlatformPresence, build_of, open_counts, serve_health
from bot.serve.platforms import Platform, open_platforms
from bot.settings.load import load_settings
from bot.settings.settings import PLATFORMS, Settings
from engine.chat.privacy import keep_for, tidy
from engine.pages.public import PublicReader
from engine.store import Store
from engine.values.errors import SettingsError, StoreError
from engine.values.ports import Clock, Permalinks, SystemClock

REHEARSING = (
    "rehearsal models debate or judge here. They are not language models, and exports leave their "
    "debates out; set ROSTRUM_BACKENDS, ROSTRUM_MODELS and ROSTRUM_JURORS"
)
NOT_SHARED = (
    "rostrum {role} shares its database with other processes, and an SQLite file belongs to one "
    "process; set ROSTRUM_DATABASE_URL to a PostgreSQL address, or use rostrum run."
)

# Serves pages on the web, in every process that serves people.


page_log = structlog.get_logger(__name__)


def pages_of(settings: Settings, app: App) -> Sequence[web.RouteDef]:
    """Return every public page."""
    return public_pages(settings, app.store, app.service.clock).routes()


def public_pages(
    settings: Settings, store: Store, clock: Clock, saw: Saw | None = None
) -> PublicPages:
    """Return the public pages of a process."""
    key = settings.export.hmac_key
    secret = key.get_secret_value().encode() if key else None
    public = PublicReader(store, clock, __version__, secret)
    return PublicPages(public, Permalinks(settings.web.url or ""), drawn, saw)


async def run_pages() -> None:
    """Serve pages alone until SIGTERM or Ctrl-C, beside whatever holds debates.

    Raises SettingsError without a port, or for one in use.
    """
    settings = load_settings(without=PLATFORMS)
    log.configure(settings.log, settings.secrets())
    if settings.web.port is None:
        raise SettingsError(sentences.NO_WEB)
    async with read_store(settings) as store:
        try:
            await serve_web(settings, settings.web.port, store, SystemClock())
        except asyncio.CancelledError:
            logger.info("rostrum stopped")


async def serve_web(settings: Settings, port: int, store: Store, clock: Clock) -> None:
    """Serve pages until cancelled. Raises SettingsError for a port in use."""
    site = Site(
        settings.web.host,
        port,
        taken="Pages cannot be served at {host}:{port}: {why}; set ROSTRUM_WEB__PORT "
        "to a free port.",
    )
    labelling = await label_routes(store, clock, settings)
    pages = public_pages(settings, store, clock, await noticing_of(store, clock, settings))

    def dress(served: web.Application) -> None:
        furnish(served)
        served[PROXIES] = settings.web.proxies

    async with site.serving([*pages.routes(), *labelling], dress):
        page_log.info("pages served", address=site.where, url=settings.web.url)
        try:
            await asyncio.Event().wait()
        finally:
            pages.end()


# What only some debates need: imported before anything is served, as later the loop would wait.
SERVED = {
    "engine.blinding": "self_naming",
    "engine.delivery": "board deleter reasons",
    "engine.fleet": "limits",
    "engine.formats": "trial",
    "engine.jury": "history model",
    "engine.run": "estimate guest questions rematch replacement trial",
    "engine.stage": "repair research",
    "engine.store": "ballots communities deliveries installs labels learning listings "
    "privacy queue retention series suggestions usage",
    "engine.values": "failures overlap source_files",
    "engine.votes": "audience interventions",
    "engine.words": "invitations pieces progress result_picture scores stored",
}
RECONCILE_SECONDS = 3.0
LEFT_SECONDS = 5.0  # for calls in flight, once what a process serves is handed over
logger = structlog.get_logger(__name__)


async def run_rostrum(role: Role = Role.ALL) -> None:
    """Hold a role until SIGTERM or Ctrl-C; raises only errors that a retry cannot fix."""
    load_served()
    # A worker reads no platform's settings: it has no token, and no use for one.
    settings = load_settings(without=() if role.serves else PLATFORMS)
    log.configure(settings.log, settings.secrets())
    if role is not Role.ALL and not settings.shared:
        raise SettingsError(NOT_SHARED.format(role=role))
    platforms = open_platforms(settings) if role.serves else ()
    store: Store | None = None
    try:
        async with serving(settings, *platforms, role=role) as app:
            store = app.store
            logger.info("rostrum started", role=role, platforms=sorted(app.deliveries))
            if any(model.rehearses for model in (*settings.models, *settings.jurors)):
                logger.warning(REHEARSING)
            try:
                await asyncio.Event().wait()
            finally:
                exits.end_in_time(settings.stop_seconds)
    except asyncio.CancelledError:
        logger.info("rostrum stopped")
    except StoreError as error:
        if store is None or not store.away:
            raise
        # It waits for a server in all but its last seconds; what was not stored is as after a kill.
        logger.warning("rostrum stopped", why=str(error))


def load_served() -> None:
    """Import what is served."""
    for room, modules in SERVED.items():
        for module in modules.split():
            import_module(f"{room}.{module}")


@asynccontextmanager
async def serving(
    settings: Settings, *platforms: Platform, role: Role = Role.ALL
) -> AsyncIterator[App]:
    """Hold a role while the body runs. Raises SettingsError if a platform refuses for good.

    A database server that is away at the start is waited for, as long as it takes; health is served
    meanwhile, and says so.
    """
    health = Health(build=build_of(settings), day_cap=settings.budget.installation_daily_usd)
    try:

        async def prepare(store: Store) -> None:
            for platform in platforms:
                await platform.prepare(store)

        venues, counts = [platform.venue for platform in platforms], open_counts(settings)
        running = run_app(
            settings, venues, role=role, counts=counts, prepare=prepare, start_seconds=inf
        )
        async with _beside(serve_health(settings.health, health)), running as app:
            await app.reconcile()
            gateways = {one.venue.platform: partial(_presence, app, one) for one in platforms}
            health.begin(app.store, gateways, counts)
            async with asyncio.TaskGroup() as group:
                grace = timedelta(days=settings.privacy.purge_days)
                jobs = [_reconcile(app, grace, role)]
                if role.serves:
                    jobs.append(app.open_schedule().run())
                if role.serves and (port := settings.web.port) is not None:
                    jobs.append(serve_web(settings, port, app.store, app.service.clock))
                if role.serves and (keeping := keeping_of(settings)).ends:
                    erase = eraser(settings, app.store)
                    jobs.append(keep_for(keeping, app.store, app.service.clock, erase))
                jobs += [platform.run(app) for platform in platforms]
                tasks = [group.create_task(work) for work in jobs]
                try:
                    yield app
                finally:
                    app.drain()
                    seconds = exits.calls_seconds(settings.stop_seconds) - LEFT_SECONDS
                    await _leave(app, platforms, seconds)
                    for task in tasks:
                        task.cancel()
    finally:
        await exits.close_in_time(**{p.venue.platform: p.close for p in platforms})


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let a work go on while the body runs. Raises its error, which ends the body."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work)
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as failed:
        raise first_error(failed) from failed


def _presence(app: App, platform: Platform) -> PlatformPresence:
    return platform.presence(app.deliveries[platform.venue.platform].shares)


async def _leave(app: App, platforms: Sequence[Platform], seconds: float) -> None:
    """Hand over to other processes what this one serves, while its platforms still hear people."""
    if app.store.away:  # no other process can take anything over
        return
    with suppress(TimeoutError, StoreError):  # then leases run out
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(platform.leave(app) for platform in platforms))


async def _reconcile(app: App, grace: timedelta, role: Role) -> None:
    """Handle what other processes queued or deleted, periodically, until cancelled.

    Communities that left are purged once their grace period is over.
    """
    while True:
        if role.serves:
            await tidy(app.store, app.service.clock, grace)
        await asyncio.sleep(RECONCILE_SECONDS)
        await app.reconcile()
