"""HTTP mode: Slack's signed requests to an address of our own, for replicas behind a balancer."""

from __future__ import annotations

import asyncio

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from adapters.slack import texts
from adapters.slack.connection import Missed
from engine.errors import SettingsError

PATH = "/slack/events"
MOST_BYTES = 2**20
STAMP_DIGITS = 12  # of seconds since 1970, with room for some millennia
log = structlog.get_logger(__name__)


class HttpTransport:
    """Events to `host:port`; whoever runs it puts HTTPS in front."""

    def __init__(self, signing_secret: SecretStr, host: str, port: int) -> None:
        self.signing_secret = signing_secret.get_secret_value().strip()
        self._host, self._port = host, port
        self.address: tuple[str, int] | None = None

    @property
    def connected(self) -> bool:
        """Whether requests are taken now."""
        return self.address is not None

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Hand requests to Bolt until cancelled. Raises SettingsError for a port in use."""

        async def take(request: web.Request) -> web.Response:
            return await _take(app, request)

        served = web.Application(client_max_size=MOST_BYTES)
        served.add_routes([web.post(PATH, take)])
        runner = web.AppRunner(served, access_log=None)
        await runner.setup()
        try:
            await self._listen(runner)
            await missed()
            await asyncio.Event().wait()
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


async def _take(app: AsyncApp, request: web.Request) -> web.Response:
    """Answer one request. Bolt itself fails at a timestamp that is no number."""
    stamp = request.headers.get("X-Slack-Request-Timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= STAMP_DIGITS):
        return _refuse(401, "its timestamp is no number")
    try:
        body = await request.text()
        asked = AsyncBoltRequest(
            body=body, query=request.query_string, headers=dict(request.headers)
        )
    except web.HTTPRequestEntityTooLarge:
        return _refuse(413, "it is too large")
    except (ValueError, LookupError):
        return _refuse(400, "it cannot be read")
    answer = await app.async_dispatch(asked)
    if answer.status == 401:
        return _refuse(401, "its signature is wrong or too old")
    return await to_aiohttp_response(answer)


def _refuse(status: int, why: str) -> web.Response:
    """Refuse a request, and log why without what it contained."""
    log.warning("request refused", status=status, why=why)
    return web.Response(status=status)
