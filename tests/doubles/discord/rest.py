"""The HTTP side: who asks, how often, whether it goes well; then one of the routes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import orjson
from aiohttp import BodyPartReader, web

from tests.doubles.discord.rates import Limiter
from tests.doubles.discord.refusals import Json, Refusal
from tests.doubles.discord.state import Attachment
from tests.doubles.facts import Code
from tests.doubles.faults import Fault, Faults

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
Hook = Callable[[Call], Awaitable[None] | None]


class Rest:
    """Serves routes, strictly."""

    def __init__(self, limiter: Limiter, faults: Faults, sent: list[Sent]) -> None:
        self.limiter = limiter
        self.faults = faults
        self.sent = sent
        self.token = ""
        self.requests: list[Call] = []
        self.invalid_requests = 0
        self.before_store: list[Hook] = []
        self.after_store: list[Hook] = []

    def add(self, app: web.Application, method: str, template: str, route: Route) -> None:
        """Serve a route; its handler returns JSON, or None for 204."""

        async def handle(request: web.Request) -> web.StreamResponse:
            call = await read(request, template)
            self.requests.append(call)
            self.sent.append(Sent(self.limiter.clock.now(), call.method, call.path, call.text))
            response = await self._serve(request, call, route)
            self.invalid_requests += response.status in (401, 403, 429)
            return response

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
        response = await self._store(call, route, leave.headers)
        if fault and fault.when == "after" and (out := await self._fail(request, call, fault)):
            return out
        return response

    async def _store(self, call: Call, route: Route, headers: dict[str, str]) -> web.Response:
        await _run(self.before_store, call)
        try:
            answer = route(call)
        except Refusal as refusal:
            return _refused(refusal, headers)
        await _run(self.after_store, call)
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


async def _run(hooks: list[Hook], call: Call) -> None:
    for hook in hooks:
        waiting = hook(call)
        if waiting is not None:
            await waiting


async def read(request: web.Request, template: str) -> Call:
    """Read a request whole."""
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
