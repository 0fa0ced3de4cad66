"""Keeps events arriving from every workspace, until cancelled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.site import Site
from adapters.slack import payloads, texts
from adapters.slack.client import SlackClient
from adapters.slack.errors import name_of
from adapters.slack.install import EVENTS_PATH, Installer
from adapters.slack.interactions import PLATFORM, SlackInteractionHandler
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import Workspaces
from engine.chat.commands import Commands
from engine.fleet.shares import PartitionLeases
from engine.values.errors import (
    MISFITS,
    SettingsError,
    StoreError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    why_of,
)
from engine.values.ports import Backoff, ConnectionGap, Listener

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STEADY_SECONDS = 120.0  # one that lasted this long was healthy; its loss is noticed after 60 s
LOOK_SECONDS = 0.1
log = structlog.get_logger(__name__)

Missed = Callable[[], Awaitable[object]]


class Transport(Protocol):
    """How events arrive: over Socket Mode, or as requests to our own address."""

    signing_secret: str

    @property
    def connected(self) -> bool:
        """Whether events arrive now."""

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        """Return the routes that events need."""

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Pass events to Bolt until cancelled; `missed` is called if some may have been lost.

        Raises VenueAwayError while Slack is unreachable, SettingsError if it refuses for good.
        """


class SlackConnection:
    """The app's connection to Slack; `managers` are those besides workspace admins.

    `site` serves the routes of events, and the pages of the `installer`, if any.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        transport: Transport,
        site: Site,
        managers: tuple[str, ...] = (),
        *,
        installer: Installer | None = None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._workspaces, self._transport = workspaces, transport
        self._site, self._installer = site, installer
        self._managers = managers
        self._first_pause = first_pause
        self._slots: PartitionLeases | None = None

    @property
    def connected(self) -> bool:
        """Whether events arrive now."""
        return self._transport.connected

    @property
    def standing_by(self) -> bool:
        """Whether other processes have every connection that Slack allows."""
        return self._slots is not None and self._slots.count > 0 and not self._slots.held

    async def run(
        self,
        commands: Commands,
        listener: Listener,
        venue: SlackVenue,
        slots: PartitionLeases | None = None,
    ) -> None:
        """Serve until cancelled, through all temporary failures.

        `slots` are the connections that Slack allows, if it limits them: one is opened while one of
        them is held. Raises SettingsError when Slack refuses for good.
        """
        self._slots = slots
        handler = SlackInteractionHandler(commands, listener, self._workspaces, self._managers)
        backoff = Backoff(self._first_pause, LONGEST_PAUSE)
        while True:
            began, after = time.monotonic(), 0.0
            try:
                for team in await self._workspaces.teams():
                    await handler.commands.joined(PLATFORM, team)
                client = SlackClient(handler, venue)
                try:
                    app = client.app(self._transport.signing_secret)
                    routes = self._transport.routes(app)
                    routes += self._installer.routes() if self._installer else []
                    handler.standstill.begin()
                    async with self._site.serving(routes), self._watching(handler):
                        await self._serve(app, partial(self._note_arrival, handler.listener))
                finally:
                    await client.finish()
            except VenueGoneError as error:
                raise SettingsError(str(error)) from error
            except VenueAwayError as error:
                log.warning("slack unavailable", why=str(error))
                after = error.retry_after
            except (SettingsError, StoreError):
                raise
            except Exception as error:  # noqa: BLE001 - logged in one line, and retried
                log.error("connection failed", why=why_of(error))
            if time.monotonic() - began > STEADY_SECONDS:
                backoff.reset()
            await asyncio.sleep(backoff.next(after))

    async def _note_arrival(self, listener: Listener) -> None:
        """Tell that some events may have been missed; log that they arrive from now on, and where.

        A log line waits for nobody: where Slack does not say who the bot is, it goes without that.
        """
        await listener(ConnectionGap("missed"))
        via = self._site.where if self._transport.signing_secret else "Socket Mode"
        with suppress(VenueError):
            if self._installer is None:
                me = await self._workspaces.app.identity()
                log.info("slack connected", bot=me.name, workspace=me.team_name, via=via)
            else:
                teams = await self._workspaces.teams()
                log.info("slack connected", workspaces=len(teams), via=via)
            return
        log.info("slack connected", via=via)

    @asynccontextmanager
    async def _watching(self, handler: SlackInteractionHandler) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch(handler))
        try:
            yield
        finally:
            watch.cancel()

    async def _watch(self, handler: SlackInteractionHandler) -> None:
        """Report when events stop arriving; `serve` reports when they resume."""
        came = False
        while True:
            handler.standstill.beat()
            comes = self._transport.connected
            if came and not comes:
                await handler.listener(ConnectionGap("lost"))
            came = comes
            await asyncio.sleep(LOOK_SECONDS)

    async def _serve(self, app: AsyncApp, missed: Missed) -> None:
        """Pass events on, with a connection only while this process has a slot for it."""
        if self._slots is None:
            await self._transport.serve(app, missed)
            return
        while True:
            await self._slots.serving()
            serving = asyncio.create_task(self._transport.serve(app, missed))
            losing = asyncio.create_task(self._slots.lost())
            try:
                await asyncio.wait([serving, losing], return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    serving.result()
            finally:
                for task in (serving, losing):
                    task.cancel()
                await asyncio.wait([serving, losing])


# The ways that Slack's requests arrive: a socket of the bot's, or an address, signed.


# Socket Mode: Slack's events over a connection that the bot opens, without a public address.
#
# The SDK keeps the connection alive: it answers refreshes, detects dead connections by pings, and
# reconnects. It would retry for ever with a wrong token, so the token is checked first; and with an
# expired address, so a connection that stays away is replaced.


PING_SECONDS = 10.0
FINISH_SECONDS = 5.0  # for requests that are being handled
OF_THE_TOKEN = (
    "missing_scope",
    "no_permission",
    "not_allowed_token_type",
)  # only another one helps
PATIENCE = (
    6  # pings; a dead connection is detected after four, and a new address tried with the next
)


class SocketTransport:
    """Events over Socket Mode."""

    signing_secret = ""

    def __init__(
        self, rest: SlackRest, app_token: SecretStr, *, ping: float = PING_SECONDS
    ) -> None:
        self._rest, self._app_token, self._ping = rest, app_token, ping
        self._client: SocketModeClient | None = None
        self._handling: set[asyncio.Task[Any]] = set()

    @property
    def connected(self) -> bool:
        """Whether the connection is open and alive."""
        client = self._client
        session = client.current_session if client else None
        return client is not None and session is not None and not (session.closed or client.stale)

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        """Return nothing: Socket Mode needs no route."""
        return []

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Pass events to Bolt until cancelled; some may be missed before each hello."""
        try:
            url = await self._rest.connections_url(self._app_token)
        except VenueError as error:
            name = name_of(error)
            if not (isinstance(error, VenueGoneError) or name in OF_THE_TOKEN):
                raise  # it passes, whatever it is
            why = name.replace("_", " ")
            raise SettingsError(texts.APP_REFUSED.format(why=why)) from error

        async def on_message(_: object, message: dict[str, Any], __: object = None) -> None:
            if message.get("type") == "hello":
                await missed()

        async def on_request(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
            await self._handle(app, client, request)

        token, web_client = self._app_token.get_secret_value().strip(), self._rest.web()
        client: Any = SocketModeClient(token, web_client=web_client, ping_interval=self._ping)
        client.proxy, client.wss_uri = self._rest.proxy, url  # the proxy as in `SlackRest.web`
        client.message_listeners.append(on_message)
        client.socket_mode_request_listeners.append(on_request)
        self._client = client
        connecting = asyncio.ensure_future(client.connect())
        try:
            away = 0
            while away < PATIENCE:
                await asyncio.sleep(self._ping)
                away = 0 if self.connected else away + 1
            raise VenueAwayError(texts.SOCKET_AWAY)
        finally:
            self._client = None
            connecting.cancel()
            await client.close()
            if self._handling:
                await asyncio.wait(self._handling, timeout=FINISH_SECONDS)

    async def _handle(
        self, app: AsyncApp, client: AsyncBaseSocketModeClient, request: SocketModeRequest
    ) -> None:
        """Let Bolt handle a request; closing the connection waits for it."""
        headers: Any = build_headers(request)
        asked = AsyncBoltRequest(mode="socket_mode", body=request.payload, headers=headers)
        if not payloads.take(asked):
            log.warning("request refused", why="it is not of Slack's form")
            return
        task = asyncio.current_task()
        if task is not None:
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)
        began = asyncio.get_running_loop().time()
        answer = await app.async_dispatch(asked)
        await send_async_response(client, request, answer, began)


# HTTP mode: Slack's signed requests to our own address, for replicas behind a load balancer.


VALID_SECONDS = 600.0  # of a signature: five minutes before Slack's stamp, and as many after
REPEATED = ("event_callback", "url_verification")
STAMP_DIGITS = 12  # of seconds since 1970, with room to spare


class HttpTransport:
    """Events as requests to a site."""

    def __init__(self, signing_secret: SecretStr, site: Site) -> None:
        self.signing_secret = signing_secret.get_secret_value().strip()
        self._site = site

    @property
    def connected(self) -> bool:
        """Whether requests are accepted now."""
        return self._site.address is not None

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        """Return the route that passes requests to Bolt."""

        verifier, seen = SignatureVerifier(self.signing_secret), _Seen()

        async def take(request: web.Request) -> web.Response:
            stamp = request.headers.get("X-Slack-Request-Timestamp", "")
            if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= STAMP_DIGITS):
                return _refuse(401, "its timestamp is no number")
            if not request.headers.get("X-Slack-Signature", "").isascii():  # the SDK raises there
                return _refuse(401, "its signature is wrong or too old")
            try:
                body = await request.read()
                if not verifier.is_valid_request(body, dict(request.headers)):
                    return _refuse(401, "its signature is wrong or too old")
                asked = AsyncBoltRequest(
                    body=body.decode(), query=request.query_string, headers=dict(request.headers)
                )
            except MISFITS:
                return _refuse(400, "it cannot be read")
            if not payloads.take(asked):
                return _refuse(400, "it is not of Slack's form")
            signature = request.headers["X-Slack-Signature"]
            # Events are stored once by their ids, and Slack may repeat one within a second.
            if asked.body.get("type") not in REPEATED and not seen.add(signature):
                return _refuse(409, "it was sent before")
            answer = await app.async_dispatch(asked)
            if answer.status >= 500:
                seen.drop(signature)
            return await to_aiohttp_response(answer)

        return [web.post(EVENTS_PATH, take)]

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Wait until cancelled; requests arrive through the route."""
        await missed()
        await asyncio.Event().wait()


class _Seen:
    """The signatures that came of late; Slack signs each repeat with a new signature.

    A process knows its own alone. They are kept for as long as they are valid.
    """

    def __init__(self) -> None:
        self._until: dict[str, float] = {}  # in order

    def add(self, signature: str) -> bool:
        """Note a signature; False if it came before."""
        now = time.monotonic()
        while self._until and self._until[first := next(iter(self._until))] <= now:
            del self._until[first]
        if signature in self._until:
            return False
        self._until[signature] = now + VALID_SECONDS
        return True

    def drop(self, signature: str) -> None:
        """Let a request that failed be sent again."""
        self._until.pop(signature, None)


def _refuse(status: int, why: str) -> web.Response:
    """Refuse a request, and log why without what it contained."""
    log.warning("request refused", status=status, why=why)
    return web.Response(status=status)
