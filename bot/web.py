"""Serves pages on the web, in every process that serves people."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from aiohttp import web

from adapters.pictures.png import drawn
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.labelling import Saw
from adapters.web.public import PublicPages
from adapters.web.session import PROXIES
from bot import __version__
from bot.app import App
from bot.desk import label_routes, noticing_of
from bot.settings.settings import Settings
from engine.pages.public import Public
from engine.values.ports import Permalinks

log = structlog.get_logger(__name__)


def pages_of(settings: Settings, app: App) -> Sequence[web.RouteDef]:
    """Return every public page."""
    return public_pages(settings, app).routes()


def public_pages(settings: Settings, app: App, saw: Saw | None = None) -> PublicPages:
    """Return the public pages of a process."""
    key = settings.export.hmac_key
    secret = key.get_secret_value().encode() if key else None
    public = Public(app.store, app.service.clock, __version__, secret)
    return PublicPages(public, Permalinks(settings.web.url or ""), drawn, saw)


async def serve_web(settings: Settings, app: App) -> None:
    """Serve until cancelled; nowhere without a port. Raises SettingsError for a port in use."""
    if settings.web.port is None:
        return
    site = Site(
        settings.web.host,
        settings.web.port,
        taken="Pages cannot be served at {host}:{port}: {why}; set ROSTRUM_WEB__PORT "
        "to a free port.",
    )
    labelling = await label_routes(app.store, app.service.clock, settings)
    saw = await noticing_of(app.store, app.service.clock, settings)
    pages = public_pages(settings, app, saw)

    def dress(served: web.Application) -> None:
        furnish(served)
        served[PROXIES] = settings.web.proxies

    async with site.serving([*pages.routes(), *labelling], dress):
        log.info("pages served", address=site.address, url=settings.web.url)
        try:
            await asyncio.Event().wait()
        finally:
            pages.end()
