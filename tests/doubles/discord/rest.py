"""Discord's REST API: requests in their rate limits, with faults on the way."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

import orjson
from aiohttp import BodyPartReader, web

from tests.doubles.discord.state import Attachment, Json, Refusal
from tests.doubles.facts import Code, Discord
from tests.doubles.faults import Fault, Faults
from tests.doubles.loopback import Clock

# A timer of the client may fire this much before the window has quite ended.
TOLERANCE = 0.02


class Rate(NamedTuple):
    """So many requests in so many seconds."""

    requests: int
    seconds: float


POSTING, REACTING = Rate(*Discord.POSTING), Rate(*Discord.REACTING)
ANSWERING, ASKING = Rate(*Discord.ANSWERING), Rate(*Discord.ASKING)


@dataclass
class Rates:
    """What is allowed. The defaults are what is documented or known of Discord."""

    messages: Rate = POSTING
    edits: Rate = POSTING
    reactions: Rate = REACTING
    others: Rate = ASKING
    webhooks: Rate = ANSWERING
    everywhere: Rate = ASKING

    @classmethod
    def generous(cls) -> Rates:
        """Allow so much that a quick test never waits."""
        plenty = Rate(100_000, 1.0)
        return cls(plenty, plenty, plenty, plenty, plenty, plenty)

    def of(self, method: str, template: str) -> Rate:
        if template.startswith(("/webhooks", "/interactions")):
            return self.webhooks
        if "/reactions" in template and method in ("PUT", "DELETE"):
            return self.reactions
        if template == "/channels/{channel}/messages" and method == "POST":
            return self.messages
        if template == "/channels/{channel}/messages/{message}" and method == "PATCH":
            return self.edits
        return self.others


@dataclass
class Window:
    """A bucket's current window; `until` is when the next one starts, `barred` the end of a 429."""

    until: float = 0.0
    used: int = 0
    barred: float = 0.0


@dataclass(frozen=True, slots=True)
class Violation:
    """A request that was over a limit, or came while the client had been told to wait."""

    at: float
    bucket: str
    why: str


class Leave(NamedTuple):
    """Whether a request may go on; if not, `wait` is seconds and `scope` the header's word."""

    headers: dict[str, str]
    wait: float = 0.0
    scope: str = ""


@dataclass
class Limiter:
    """Counts requests in their buckets."""

    clock: Clock
    rates: Rates
    violations: list[Violation] = field(default_factory=list)
    _windows: dict[str, Window] = field(default_factory=dict)

    def take(self, method: str, template: str, major: str) -> Leave:
        """Count a request; `major` is the channel, server or webhook that its bucket is for."""
        exempt = template.startswith(("/interactions", "/webhooks"))
        if not exempt and (wait := self._count("everywhere", self.rates.everywhere)):
            return Leave({}, wait, "global")
        name, rate = _bucket(method, template), self.rates.of(method, template)
        key = f"{name}:{major}"
        wait = 0.0 if template.startswith("/interactions") else self._count(key, rate)
        return Leave(self._headers(name, key, rate), wait, "user" if wait else "")

    def bar(self, method: str, template: str, major: str, seconds: float, *, all_: bool) -> None:
        """Remember that the client was told to wait, so that coming early is a violation."""
        route = f"{_bucket(method, template)}:{major}"
        # What was answered with 429 was not served, and does not use up its window.
        for key in (route, "everywhere"):
            if key in self._windows:
                self._windows[key].used -= 1
        barred = self._windows.setdefault("everywhere" if all_ else route, Window())
        barred.barred = self.clock.now() + seconds

    def _count(self, key: str, rate: Rate) -> float:
        """Return 0, or how many seconds to wait."""
        now = self.clock.now()
        window = self._windows.setdefault(key, Window())
        if now < window.barred - TOLERANCE:
            self.violations.append(Violation(now, key, "sent while it was told to wait"))
            return window.barred - now
        if now >= window.until - TOLERANCE:
            window.until, window.used = now + rate.seconds, 0
        if window.used >= rate.requests:
            why = f"more than {rate.requests} requests in {rate.seconds:g} s"
            self.violations.append(Violation(now, key, why))
            window.barred = window.until
            return window.until - now
        window.used += 1
        return 0.0

    def _headers(self, name: str, key: str, rate: Rate) -> dict[str, str]:
        window = self._windows.get(key, Window())
        # Rounded up: a client that comes back a millisecond early would be in the wrong.
        left = max(0.0, window.until - self.clock.now()) + 0.001
        return {
            "X-RateLimit-Limit": str(rate.requests),
            "X-RateLimit-Remaining": str(max(0, rate.requests - window.used)),
            "X-RateLimit-Reset": f"{self.clock.now() + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(name.encode()).hexdigest()[:32],
        }


def _bucket(method: str, template: str) -> str:
    """Return a route's bucket; adding and removing any reaction share one."""
    if "/reactions" in template and method in ("PUT", "DELETE"):
        return "reactions"
    return f"{method} {template}"


BASE = "/api/v10"


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read: `path` is without `/api/v10`, `body` the JSON or a form's payload."""

    method: str
    path: str
    template: str
    params: dict[str, str]
    query: dict[str, str]
    body: Any
    text: str
    files: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def major(self) -> str:
        """The channel, server or webhook whose bucket it counts in."""
        names = ("channel", "guild", "app", "token")
        return "+".join(self.params[name] for name in names if name in self.params)


@dataclass(frozen=True, slots=True)
class Sent:
    """A text that the bot sent: `method` is WS for the gateway."""

    at: float
    method: str
    path: str
    text: str


Route = Callable[[Call], Any]


class Rest:
    """Serves routes, strictly."""

    def __init__(self, limiter: Limiter, faults: Faults, sent: list[Sent]) -> None:
        self.limiter = limiter
        self.faults = faults
        self.sent = sent
        self.token = ""
        self.requests: list[Call] = []

    def add(self, app: web.Application, method: str, template: str, route: Route) -> None:
        """Serve a route; its handler returns JSON, or None for 204."""

        async def handle(request: web.Request) -> web.StreamResponse:
            call = await read(request, template)
            self.requests.append(call)
            self.sent.append(Sent(self.limiter.clock.now(), call.method, call.path, call.text))
            return await self._serve(request, call, route)

        app.router.add_route(method, BASE + template, handle)

    async def _serve(self, request: web.Request, call: Call, route: Route) -> web.StreamResponse:
        public = call.template.startswith(("/interactions", "/webhooks"))
        if not public and request.headers.get("Authorization") != f"Bot {self.token}":
            return _refused(Refusal(Code.NONE, status=401, message="401: Unauthorized"), {})
        leave = self.limiter.take(call.method, call.template, call.major)
        if leave.wait:
            return too_many(leave.wait, leave.headers, scope=leave.scope)
        fault = self.faults.meet(call.method, call.path, call.text)
        if fault and fault.when == "before" and (out := await self._fail(request, call, fault)):
            return out
        response = self._store(call, route, leave.headers)
        if fault and fault.when == "after" and (out := await self._fail(request, call, fault)):
            return out
        return response

    def _store(self, call: Call, route: Route, headers: dict[str, str]) -> web.Response:
        try:
            answer = route(call)
        except Refusal as refusal:
            return _refused(refusal, headers)
        if answer is None:
            return web.Response(status=204, headers=headers)
        # Without the charset that aiohttp adds, as Discord does: clients compare the whole type.
        plain = {**headers, "Content-Type": "application/json"}
        return web.Response(body=orjson.dumps(answer), headers=plain)

    async def _fail(
        self, request: web.Request, call: Call, fault: Fault
    ) -> web.StreamResponse | None:
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
            return None
        if fault.kind == "hang":
            await self.faults.hold()
        if fault.kind in ("hang", "drop"):
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        if fault.kind == "garbage":
            garbled = fault.message.encode("latin-1")
            return web.Response(body=garbled, headers={"Content-Type": "application/json"})
        if fault.status == 429:
            everywhere = fault.everywhere
            method, template = call.method, call.template
            self.limiter.bar(method, template, call.major, fault.seconds, all_=everywhere)
            scope = "global" if everywhere else "shared"
            return too_many(fault.seconds, {}, scope=scope, via=fault.via)
        if fault.status >= 500:
            return web.Response(status=fault.status, text="upstream connect error")
        refusal = Refusal(Code(fault.code), status=fault.status, message=fault.message)
        return _refused(refusal, {})


def too_many(
    seconds: float, headers: dict[str, str], *, scope: str, via: bool = True
) -> web.Response:
    """Answer 429 as Discord does, or without `via` as Cloudflare before it does."""
    if not via:
        headers = {"Retry-After": str(int(seconds) + 1), "Content-Type": "text/html"}
        return web.Response(status=429, body=b"<html>error code: 1015</html>", headers=headers)
    told = {**headers, "Via": "1.1 google", "Content-Type": "application/json"}
    told |= {"Retry-After": str(ceil(seconds)), "X-RateLimit-Scope": scope}
    if scope == "global":
        told["X-RateLimit-Global"] = "true"
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(seconds + 0.001, 3),
        "global": scope == "global",
    }
    return web.Response(status=429, body=orjson.dumps(body), headers=told)


def _refused(refusal: Refusal, headers: dict[str, str]) -> web.Response:
    plain = {**headers, "Content-Type": "application/json"}
    return web.Response(status=refusal.status, body=orjson.dumps(refusal.body()), headers=plain)


async def read(request: web.Request, template: str) -> Call:
    body: Any = None
    text = ""
    files: list[tuple[str, bytes]] = []
    if request.content_type.startswith("multipart/"):
        body, text, files = await _read_form(request)
    elif raw := await request.read():
        body, text = _parse(raw)
    return Call(
        request.method,
        request.path.removeprefix(BASE),
        template,
        dict(request.match_info),
        dict(request.query),
        {} if body is None else body,
        text,
        files,
    )


def _parse(raw: bytes) -> tuple[Any, str]:
    """Return JSON and its text with every escape undone, so that a search finds words."""
    try:
        body = orjson.loads(raw)
    except ValueError:
        return None, raw.decode(errors="replace")
    return body, orjson.dumps(body).decode()


async def _read_form(request: web.Request) -> tuple[Any, str, list[tuple[str, bytes]]]:
    body: Any = None
    texts: list[str] = []
    files: list[tuple[str, bytes]] = []
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            body, text = _parse(data)
        else:
            files.append((part.filename or "file", data))
            text = f"{part.filename}\n{data.decode(errors='replace')}"
        texts.append(text)
    return body, "\n".join(texts), files


def attachments(call: Call, new_id: Callable[[], str]) -> list[Attachment]:
    """Return the files that came with a request, described by its JSON."""
    form: Json = call.body.get("data") or call.body
    told = {str(item.get("id")): item for item in form.get("attachments") or []}
    return [
        Attachment(new_id(), name, data, told.get(str(n), {}).get("description"))
        for n, (name, data) in enumerate(call.files)
    ]
