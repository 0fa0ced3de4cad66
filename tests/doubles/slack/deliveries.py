"""How Slack tells an app something: over Socket Mode, or signed over HTTP to its request URL."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from tests.doubles.slack.state import APP, Json, Rules, Team, World
from tests.kit import HANG_SECONDS

# --- Socket Mode: connections by ticket, envelopes, and every trouble -------------------

# An envelope goes to one of the connections, as on Slack.

MOST_CONNECTIONS = 10
LINGER = 0.2  # seconds that a refreshed connection stays open beside its successor


@dataclass(eq=False)
class Connection:
    """One open WebSocket; `silent` keeps it open and answers nothing, not even a ping."""

    socket: web.WebSocketResponse
    silent: bool = False
    refreshed: bool = False


@dataclass
class Socket:
    """All connections of the app's token."""

    note: Callable[[str, str], None]
    url: str = ""
    token: str = ""
    connections: list[Connection] = field(default_factory=list)
    connects: int = 0
    refused: int = 0
    refusing: bool = False
    _tickets: set[str] = field(default_factory=set)
    _waiting: dict[str, asyncio.Future[Json | None]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def connected(self) -> bool:
        return any(not c.silent and not c.refreshed for c in self.connections)

    async def until_connected(self, seconds: float = HANG_SECONDS) -> None:
        """Wait for a connection; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not self.connected:  # noqa: ASYNC110 - what is there is looked at, not told
                await asyncio.sleep(0.01)

    def ticket(self) -> str:
        """Return an address to connect to, good for once."""
        ticket = f"t{next(self._numbers)}"
        self._tickets.add(ticket)
        return f"{self.url}?ticket={ticket}&app_id={APP}"

    async def connect(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        full = len(self.connections) >= MOST_CONNECTIONS
        known = ticket in self._tickets
        self._tickets.discard(ticket)
        if not known or full or self.refusing:
            self.refused += 1
            return web.Response(status=403)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        connection = Connection(socket)
        self.connections.append(connection)
        self.connects += 1
        try:
            await socket.send_json(self._hello())
            await self._listen(connection)
        finally:
            self.connections.remove(connection)
        return socket

    async def deliver(self, kind: str, payload: Json, retry: int, seconds: float) -> Json | None:
        """Send an envelope and return what came with its acknowledgement.

        Raises TimeoutError where nobody acknowledges, ConnectionError where nobody listens.
        """
        ready = [c for c in self.connections if not c.refreshed]
        if not ready:
            raise ConnectionError("no connection takes envelopes")
        number = next(self._numbers)
        connection = ready[number % len(ready)]
        envelope = {
            "envelope_id": f"env-{number}",
            "type": kind,
            "accepts_response_payload": kind != "events_api",
            "payload": payload,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
        waiting: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        self._waiting[f"env-{number}"] = waiting
        try:
            async with asyncio.timeout(seconds):
                if not connection.silent:
                    await connection.socket.send_json(envelope)
                return await waiting
        finally:
            self._waiting.pop(f"env-{number}", None)

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to be replaced, and close it soon after."""
        for connection in list(self.connections):
            connection.refreshed = reason != "warning"
            await connection.socket.send_json({"type": "disconnect", "reason": reason})
            if connection.refreshed:
                asyncio.get_running_loop().call_later(LINGER, _abort, connection.socket)

    async def drop(self) -> None:
        """Cut every connection without a word."""
        for connection in list(self.connections):
            _abort(connection.socket)
        await asyncio.sleep(0)

    async def silence(self) -> None:
        """Keep every connection open, and answer nothing on it any more."""
        for connection in self.connections:
            connection.silent = True

    async def refuse(self, refusing: bool = True) -> None:
        self.refusing = refusing

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {"host": "loopback", "approximate_connection_time": 18060},
            "connection_info": {"app_id": APP},
        }

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.silent:
                continue
            if message.type is WSMsgType.PING:
                await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledged(str(message.data))

    def _acknowledged(self, text: str) -> None:
        said: Json = json.loads(text)
        payload = said.get("payload")
        self.note("socket", json.dumps(payload, ensure_ascii=False) if payload else "")
        waiting = self._waiting.get(said.get("envelope_id", ""))
        if waiting is not None and not waiting.done():
            waiting.set_result(payload)


def _abort(socket: web.WebSocketResponse) -> None:
    request = socket._req
    if request is not None and request.transport is not None:
        request.transport.abort()


class DidNotRespondError(AssertionError):
    """The app did not acknowledge in time."""


@dataclass
class Told:
    """An event that is told; `tries` counts how often it was."""

    id: str
    event: Json
    team: Team
    at: int
    tries: int = 0
    acknowledged_at: float | None = None

    @property
    def acknowledged(self) -> bool:
        return self.acknowledged_at is not None


@dataclass
class Deliveries:
    """Everything told to the app; with a `request_url` over HTTP, else over Socket Mode.

    `held` keeps events back until `flow`, `doubled` tells each one twice.
    """

    world: World
    rules: Rules
    socket: Socket
    signing_secret: str
    request_url: str = ""
    told: list[Told] = field(default_factory=list)
    doubled: bool = False
    held: bool = False
    _queue: list[Told] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def ask(self, kind: str, payload: Json) -> Json | None:
        """Deliver a command or an interaction; raises DidNotRespondError after 3 s."""
        try:
            return await self._deliver(kind, payload, 0)
        except (TimeoutError, ConnectionError, aiohttp.ClientError) as error:
            raise DidNotRespondError(f"{kind} was not acknowledged: {error!r}") from error

    def tell(self, event: Json, channel: str) -> None:
        """Tell what happened in a channel, unless the app is not there to hear it."""
        team = self.world.team_of(channel)
        if team.bot_user in self.world.channels[channel].members:
            self.tell_of(team, event)

    def tell_of(self, team: Team, event: Json) -> None:
        """Tell what happened in a workspace, where it has installed the app and asked for that."""
        if not team.installed or event["type"] not in self.rules.events:
            return
        at = int(self.world.clock.now())
        told = Told(self.world.new_id("Ev"), event | {"event_ts": self.world.new_ts()}, team, at)
        self.told.append(told)
        if self.held:
            self._queue.append(told)
            return
        for _ in range(2 if self.doubled else 1):
            self._start(told)

    def flow(self, *, backwards: bool = False) -> None:
        """Tell what was held back, in order or the other way round."""
        queue, self._queue, self.held = self._queue, [], False
        for told in reversed(queue) if backwards else queue:
            self._start(told)

    async def repeat(self, count: int = 1, retry: int = 1) -> None:
        """Tell the newest events once more, as a late retry does."""
        for told in self.told[-count:]:
            await self._try(told, retry)

    async def heard(self, seconds: float = HANG_SECONDS) -> None:
        """Wait until every event was acknowledged; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not all(told.acknowledged for told in self.told):  # noqa: ASYNC110 - looked at
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def sign(self, body: bytes, stamp: str | None = None) -> dict[str, str]:
        """Return the headers that prove a body to be Slack's."""
        stamp = stamp or str(int(self.world.clock.now()))
        base = b"v0:" + stamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    def _start(self, told: Told) -> None:
        task = asyncio.ensure_future(self._persist(told))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _persist(self, told: Told) -> None:
        """Tell an event until it is acknowledged, four times at most."""
        for retry, pause in enumerate((0.0, *self.rules.retries)):
            await asyncio.sleep(pause)
            if await self._try(told, retry):
                return

    async def _try(self, told: Told, retry: int) -> bool:
        payload = {
            "type": "event_callback",
            "team_id": told.team.id,
            "api_app_id": APP,
            "event": told.event,
            "event_id": told.id,
            "event_time": told.at,
            "authorizations": [
                {"team_id": told.team.id, "user_id": told.team.bot_user, "is_bot": True}
            ],
        }
        told.tries += 1
        try:
            await self._deliver("events_api", payload, retry)
        except (TimeoutError, ConnectionError, aiohttp.ClientError):
            return False
        told.acknowledged_at = told.acknowledged_at or self.world.clock.now()
        return True

    async def _deliver(self, kind: str, payload: Json, retry: int) -> Json | None:
        if not self.request_url:
            return await self.socket.deliver(kind, payload, retry, self.rules.ack)
        kept, body = _encode(kind, payload)
        headers = {"Content-Type": kept, **self.sign(body)}
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"}
        timeout = aiohttp.ClientTimeout(total=self.rules.ack)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(self.request_url, data=body, headers=headers) as response,
        ):
            text = await response.text()
            if not 200 <= response.status < 300:
                raise ConnectionError(f"status {response.status}")
            self.socket.note("http", text)
            answer: Json | None = json.loads(text) if text.startswith("{") else None
            return answer


def _encode(kind: str, payload: Json) -> tuple[str, bytes]:
    """Return a content type and a body, as Slack sends each kind."""
    if kind == "events_api":
        return "application/json", json.dumps(payload).encode()
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return "application/x-www-form-urlencoded", urlencode(form).encode()
