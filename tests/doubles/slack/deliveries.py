"""How Slack tells an app something: over Socket Mode, or signed over HTTP to its request URL.

Events are told again until they are acknowledged; commands and buttons are told once.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp

from tests.doubles.slack.refusals import Json
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.socket import Socket
from tests.doubles.slack.state import APP, Team, World
from tests.doubles.waiting import HANG_SECONDS


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
        """Whether the app has taken it."""
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
        """Tell nothing more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def sign(self, body: bytes, stamp: str | None = None) -> dict[str, str]:
        """Return the headers that prove a body to be Slack's."""
        stamp = stamp or str(int(self.world.clock.now()))
        base = b"v0:" + stamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    # --- inside -----------------------------------------------------------------------------

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
