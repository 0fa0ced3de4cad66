"""`rostrum run`: serves every configured platform until stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from bot import log, texts
from bot.app import App, run_app
from bot.health import Health, serve_health
from bot.platforms import Platform, open_platforms
from bot.settings.settings import Settings, load_settings
from engine.chat.privacy import tidy
from engine.store import Store

RECONCILE_SECONDS = 5.0
logger = structlog.get_logger(__name__)


async def run_rostrum() -> None:
    """Serve until SIGTERM or Ctrl-C; raises only errors that a retry cannot fix."""
    settings = load_settings()
    log.configure(settings.log, settings.secrets())
    try:
        async with serving(settings, *open_platforms(settings)) as app:
            logger.info("rostrum started", platforms=sorted(app.deliveries))
            if any(model.rehearses for model in (*settings.models, *settings.jurors)):
                logger.warning(texts.REHEARSING)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        logger.info("rostrum stopped")


@asynccontextmanager
async def serving(settings: Settings, *platforms: Platform) -> AsyncIterator[App]:
    """Serve while the body runs. Raises SettingsError if a platform refuses for good."""
    try:

        async def prepare(store: Store) -> None:
            for platform in platforms:
                await platform.prepare(store)

        venues = [platform.venue for platform in platforms]
        async with run_app(settings, venues, prepare=prepare) as app:
            await app.reconcile()
            gateways = {platform.venue.platform: platform.is_connected for platform in platforms}
            health = Health(app.store, gateways)
            async with asyncio.TaskGroup() as group:
                grace = timedelta(days=settings.privacy.purge_days)
                works = [_reconcile(app, grace), serve_health(settings.health, health)]
                works.append(app.open_schedule().run())
                works += [platform.run(app) for platform in platforms]
                tasks = [group.create_task(work) for work in works]
                yield app
                for task in tasks:
                    task.cancel()
    finally:
        for platform in platforms:
            await platform.close()


async def _reconcile(app: App, grace: timedelta) -> None:
    """Handle what other processes queued or deleted, periodically, until cancelled.

    Communities that left are purged once their grace period is over.
    """
    while True:
        await tidy(app.store, app.service.clock, grace)
        await asyncio.sleep(RECONCILE_SECONDS)
        await app.reconcile()
