"""Socket Mode: connections by ticket, envelopes and their acknowledgements, and every trouble.

An envelope goes to one of the connections, as on Slack.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.doubles.slack.refusals import Json
from tests.doubles.slack.state import APP
from tests.doubles.waiting import HANG_SECONDS

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
        """Whether some connection takes envelopes."""
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
        """Serve one connection until it ends."""
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

    # --- trouble ----------------------------------------------------------------------------

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
        """Refuse new connections, or take them again."""
        self.refusing = refusing

    # --- inside -----------------------------------------------------------------------------

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
