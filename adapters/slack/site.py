"""Where Rostrum itself answers requests, from Slack and from browsers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from adapters.slack import texts
from engine.errors import SettingsError

EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
MOST_BYTES = 2**20


class Site:
    """Pages at `host:port`; whoever runs it puts HTTPS in front."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self.address: tuple[str, int] | None = None

    @asynccontextmanager
    async def serving(self, routes: Sequence[web.RouteDef]) -> AsyncIterator[None]:
        """Serve during the body; without routes nothing listens.

        Raises SettingsError for a port in use.
        """
        served = web.Application(client_max_size=MOST_BYTES)
        served.add_routes(routes)
        runner = web.AppRunner(served, access_log=None)
        await runner.setup()
        try:
            if routes:
                await self._listen(runner)
            yield
        finally:
            self.address = None
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            where = {"host": self._host, "port": self._port, "why": error.strerror}
            raise SettingsError(texts.PORT_TAKEN.format(**where)) from error
        self.address = runner.addresses[0][:2]
