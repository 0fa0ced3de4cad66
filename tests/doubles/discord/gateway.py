"""The gateway: sessions over a WebSocket, with heartbeats, resuming, and ways to misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import WSMsgType, web

from tests.doubles.discord.state import (
    Channel,
    Json,
    World,
    guild_create_json,
    in_channel,
    user_json,
)
from tests.doubles.facts import Discord
from tests.kit import HANG_SECONDS

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
IGNORED: Final = (3, 4, 8)
PRIVILEGED: Final = {1 << 1, 1 << 8, 1 << 15}
GUILDS: Final = 1 << 0
INTENTS: Final = {
    "GUILD_MEMBER": 1 << 1,
    "MESSAGE_REACTION": 1 << 10,
    "MESSAGE": 1 << 9,
    "TYPING": 1 << 11,
    "GUILD": GUILDS,
    "CHANNEL": GUILDS,
    "THREAD": GUILDS,
    "INTERACTION": 0,
}


@dataclass
class Session:
    """What the gateway knows of one IDENTIFY; `log` has what a RESUME replays."""

    id: str
    intents: int
    shard: int
    shards: int
    log: list[Json] = field(default_factory=list)
    socket: Socket | None = None
    left: float | None = None

    def add(self, event: str, data: Any) -> Json:
        payload = {"op": DISPATCH, "t": event, "s": len(self.log) + 1, "d": data}
        self.log.append(payload)
        return payload


class Socket:
    """One connection; sends in order, and compressed when the client asked for zlib-stream."""

    def __init__(
        self, ws: web.WebSocketResponse, transport: asyncio.Transport | None, *, compress: bool
    ) -> None:
        self.ws = ws
        self.transport = transport
        self._deflate = zlib.compressobj() if compress else None
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._writer = asyncio.create_task(self._write())

    def send(self, payload: Any) -> None:
        self.send_raw(orjson.dumps(payload))

    def send_raw(self, text: bytes) -> None:
        self._queue.put_nowait(text)

    async def close(self, code: int) -> None:
        """Send what is waiting, then close with a code."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._queue.join()
        await self.ws.close(code=code)
        self.stop()

    def stop(self) -> None:
        self._writer.cancel()

    async def _write(self) -> None:
        while True:
            text = await self._queue.get()
            with contextlib.suppress(ConnectionError):
                if self._deflate is None:
                    await self.ws.send_str(text.decode())
                else:
                    packed = self._deflate.compress(text)
                    await self.ws.send_bytes(packed + self._deflate.flush(zlib.Z_SYNC_FLUSH))
            self._queue.task_done()


class Gateway:
    """All sessions, and how they misbehave.

    `zombie` makes the present connections answer nothing, `paused` keeps events back, `refusing`
    takes no connection. `privileged` are the privileged intents that the application has been
    granted; `shards`, `session_starts` and `concurrency` are what `/gateway/bot` tells. In an
    `outage` a
    session is told of its servers, and never that they are available.
    """

    def __init__(self, world: World, note: Callable[[str, str, str], None]) -> None:
        self._world = world
        self._note = note
        self.url = ""
        self.token = ""
        self.heartbeat_seconds = Discord.HEARTBEAT_SECONDS
        self.resume_seconds = Discord.RESUME_SECONDS
        self.privileged = 0
        self.zombie = False
        self.paused = False
        self.refusing = False
        self.shards = 1
        self.outage = False
        self.session_starts = 1000
        self.concurrency = 1
        self.identifies = 0
        self.introduced: list[tuple[float, int]] = []  # when each shard was identified
        self.resumes = 0
        self.heartbeats = 0
        self.sessions: dict[str, Session] = {}
        self._kept_back: list[tuple[Session, Json]] = []
        self._sockets: set[Socket] = set()
        self._arrived = asyncio.Event()

    @property
    def connected(self) -> int:
        return sum(s.socket is not None for s in self.sessions.values())

    async def until_connected(self, count: int = 1, seconds: float = HANG_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while self.connected < count:
                self._arrived.clear()
                await self._arrived.wait()

    async def disconnect(self, code: int = 1001, *, forget: bool = False) -> None:
        """Close every connection; with `forget` no session can be resumed afterwards."""
        if forget:
            self.forget_sessions()
        for socket in list(self._sockets):
            await socket.close(code)

    def drop(self) -> None:
        """Cut every connection without a word."""
        for socket in list(self._sockets):
            if socket.transport is not None:
                socket.transport.abort()

    def reconnect(self) -> None:
        """Ask every client to reconnect and resume (op 7)."""
        self._broadcast({"op": RECONNECT, "d": None})

    def invalidate(self, *, resumable: bool) -> None:
        """Declare every session invalid (op 9); not resumable: it is forgotten."""
        if not resumable:
            self.forget_sessions()
        self._broadcast({"op": INVALID, "d": resumable})

    def forget_sessions(self) -> None:
        self.sessions.clear()

    def malformed(
        self, text: bytes = b'{"op":0,"t":"MESSAGE_REACTION_ADD","s":null,"d":{}}'
    ) -> None:
        for socket in list(self._sockets):
            socket.send_raw(text)

    def repeat(self, count: int = 1) -> None:
        """Deliver the newest events of every session once more, under new numbers."""
        for session in list(self.sessions.values()):
            for old in session.log[-count:]:
                self._deliver(session, session.add(old["t"], old["d"]))

    def flow(self) -> None:
        """End a pause: deliver what was kept back, late and in order."""
        self.paused = False
        kept, self._kept_back = self._kept_back, []
        for session, payload in kept:
            self._deliver(session, payload)

    def emit(self, event: str, data: Json, guild: str, channel: Channel | None = None) -> None:
        """Tell an event to each session whose shard, intents and view of the channel take it."""
        wanted = next(flag for prefix, flag in INTENTS.items() if event.startswith(prefix))
        me = self._world.bot.id
        public = channel is None or event.startswith("INTERACTION")
        if channel is not None and not public and not in_channel(self._world, channel, me):
            return
        for session in self._alive():
            if (int(guild) >> 22) % session.shards != session.shard:
                continue
            if not wanted or session.intents & wanted:
                self._deliver(session, session.add(event, data))

    def _alive(self) -> list[Session]:
        """Return the sessions that are connected, or may still be resumed."""
        now = self._world.clock.now()
        for key, session in list(self.sessions.items()):
            if session.left is not None and now - session.left > self.resume_seconds:
                del self.sessions[key]
        return list(self.sessions.values())

    def _deliver(self, session: Session, payload: Json) -> None:
        if self.paused:
            self._kept_back.append((session, payload))
        elif session.socket is not None and not self.zombie:
            session.socket.send(payload)

    def _broadcast(self, payload: Json) -> None:
        for socket in list(self._sockets):
            socket.send(payload)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        if self.refusing:
            return web.Response(status=503, text="upstream connect error")
        ws = web.WebSocketResponse(max_msg_size=4096, compress=False)
        await ws.prepare(request)
        self.zombie = False
        compress = request.query.get("compress") == "zlib-stream"
        socket = Socket(ws, request.transport, compress=compress)
        self._sockets.add(socket)
        interval = int(self.heartbeat_seconds * 1000)
        socket.send({"op": HELLO, "d": {"heartbeat_interval": interval}})
        try:
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    await self._receive(socket, message.data)
        finally:
            self._sockets.discard(socket)
            socket.stop()
            for session in self.sessions.values():
                if session.socket is socket:
                    session.socket, session.left = None, self._world.clock.now()
        return ws

    async def _receive(self, socket: Socket, text: str) -> None:
        try:
            payload = orjson.loads(text)
            op, data = payload["op"], payload.get("d")
        except (ValueError, KeyError, TypeError):
            await socket.close(4002)
            return
        if op == HEARTBEAT:
            self.heartbeats += 1
            if not self.zombie:
                socket.send({"op": ACK})
        elif op == IDENTIFY:
            await self._identify(socket, data)
        elif op == RESUME:
            await self._resume(socket, data)
        elif op in IGNORED:
            self._note("WS", f"op {op}", text)
        else:
            await socket.close(4001)

    async def _identify(self, socket: Socket, data: Json) -> None:
        self.identifies += 1
        self.session_starts = max(0, self.session_starts - 1)
        intents = int(data.get("intents", 0))
        shard, shards = data.get("shard") or (0, 1)
        self.introduced.append((self._world.clock.now(), shard))
        refused = any(intents & flag and not self.privileged & flag for flag in PRIVILEGED)
        code = 4014 if refused else 0 if 0 <= shard < shards else 4010
        if data.get("token") != self.token:
            code = 4004
        if any(session.socket is socket for session in self.sessions.values()):
            code = 4005
        if code:
            await socket.close(code)
            return
        session = Session(secrets.token_hex(16), intents, shard, shards, socket=socket)
        self.sessions[session.id] = session
        self._arrived.set()
        self._greet(session)

    def _greet(self, session: Session) -> None:
        me = self._world.bot
        guilds = [
            guild
            for guild in self._world.guilds.values()
            if me.id in guild.members and (int(guild.id) >> 22) % session.shards == session.shard
        ]
        ready = {
            "v": 10,
            "user": user_json(me),
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": self.url,
            "shard": [session.shard, session.shards],
            "application": {"id": me.id, "flags": 0},
        }
        self._deliver(session, session.add("READY", ready))
        if session.intents & GUILDS and not self.outage:
            for guild in guilds:
                data = guild_create_json(self._world, guild)
                self._deliver(session, session.add("GUILD_CREATE", data))

    async def _resume(self, socket: Socket, data: Json) -> None:
        self.resumes += 1
        if data.get("token") != self.token:
            await socket.close(4004)
            return
        self._alive()
        session = self.sessions.get(str(data.get("session_id")))
        if session is None:
            socket.send({"op": INVALID, "d": False})
            return
        seq = int(data.get("seq") or 0)
        if seq > len(session.log):
            await socket.close(4007)
            return
        session.socket, session.left = socket, None
        self._arrived.set()
        for payload in session.log[seq:]:
            self._deliver(session, payload)
        self._deliver(session, session.add("RESUMED", {}))
