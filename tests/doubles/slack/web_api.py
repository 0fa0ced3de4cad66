"""The Web API's envelope: who asks, with which scopes, how often, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from tests.doubles.faults import Fault, Faults
from tests.doubles.slack.oauth import basic
from tests.doubles.slack.rates import Limiter
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.state import World

SCOPES = {
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": ("channels:history", "groups:history"),
    "conversations.info": ("channels:read", "groups:read"),
    "conversations.replies": ("channels:history", "groups:history"),
    "files.completeUploadExternal": ("files:write",),
    "files.delete": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "reactions.add": ("reactions:write",),
    "reactions.get": ("reactions:read",),
    "reactions.remove": ("reactions:write",),
    "usergroups.users.list": ("usergroups:read",),
    "users.conversations": ("channels:read", "groups:read"),
    "users.info": ("users:read",),
}
READS = frozenset(
    (
        "conversations.history",
        "conversations.info",
        "conversations.replies",
        "reactions.get",
        "usergroups.users.list",
        "users.conversations",
        "users.info",
    )
)
NESTED = ("blocks", "metadata", "view", "files")

Method = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class Sent:
    """One thing that the app sent, with JSON's escapes undone."""

    at: float
    method: str
    text: str


@dataclass
class WebApi:
    """Answers `/api/METHOD`; `calls` are the names of all methods called, in order."""

    world: World
    rules: Rules
    limiter: Limiter
    faults: Faults
    methods: dict[str, Method]
    sent: list[Sent]
    calls: list[str]
    app_token: str

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Carry out one call, unless a fault or a limit is in the way."""
        method = request.match_info["method"]
        args = await _arguments(request, method)
        text = json.dumps(args, ensure_ascii=False)
        self.calls.append(method)
        self.sent.append(Sent(self.world.clock.now(), method, text))
        fault = self.faults.meet("POST", method, text)
        return await with_fault(self.faults, request, fault, lambda: self._carry(method, args))

    async def _carry(self, method: str, args: Json) -> web.Response:
        try:
            self._authorize(method, str(args.get("token", "")))
            seconds = self.limiter.check(method, args)
            if seconds is not None:
                return too_many(seconds)
            if method not in self.methods:
                raise Refusal("unknown_method", req_method=method)
            body = {"ok": True, **self.methods[method](args)}
        except KeyError as missing:
            body = Refusal("invalid_arguments", missing=str(missing)).body()
        except Refusal as refusal:
            body = refusal.body()
        return web.json_response(body, headers={"x-oauth-scopes": ",".join(self.rules.scopes)})

    def _authorize(self, method: str, token: str) -> None:
        if method == "oauth.v2.access":
            return  # it proves itself with the app's secret
        team = next((t for t in self.world.teams.values() if token == t.token), None)
        if not token:
            raise Refusal("not_authed")
        if team is None and token != self.app_token:
            raise Refusal("invalid_auth")
        if (team is None) != (method == "apps.connections.open"):
            raise Refusal("not_allowed_token_type")
        if team is None:
            return
        if not team.installed:
            raise Refusal("account_inactive")
        self.world.caller = team
        needed = SCOPES.get(method, ())
        if needed and not set(needed) & set(self.rules.scopes):
            provided = ",".join(self.rules.scopes)
            raise Refusal("missing_scope", needed=needed[0], provided=provided)


def too_many(seconds: float) -> web.Response:
    """Answer that there was too much of it."""
    body = Refusal("ratelimited").body()
    headers = {"Retry-After": str(max(1, round(seconds)))}
    return web.json_response(body, status=429, headers=headers)


async def with_fault(
    faults: Faults,
    request: web.Request,
    fault: Fault | None,
    carry: Callable[[], Awaitable[web.Response]],
) -> web.StreamResponse:
    """Carry a request out, with what goes wrong before or after it."""
    if fault is None:
        return await carry()
    answer = await carry() if fault.when == "after" else None
    if fault.kind == "status":
        if fault.status == 429:
            return too_many(fault.seconds)
        if fault.status == 200:
            wait = {"Retry-After": f"{fault.seconds:g}"} if fault.seconds else None
            return web.json_response(Refusal(fault.message).body(), headers=wait)
        return web.Response(status=fault.status, text="an error page")
    if fault.kind == "garbage":
        body = fault.message.encode("latin-1")
        return web.Response(body=body, content_type=fault.content_type)
    if fault.kind == "delay":
        await asyncio.sleep(fault.seconds)
        return answer or await carry()
    if fault.kind == "hang":
        await faults.hold()
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


async def _arguments(request: web.Request, method: str) -> Json:
    """Read a call's arguments; methods that read take no JSON, as on Slack."""
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        if method not in READS:
            args |= json.loads(await request.text() or "{}")
    else:
        args |= dict(await request.post())
    for name in NESTED:
        if isinstance(args.get(name), str):
            args[name] = json.loads(args[name])
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        return args | basic(token)
    return args | ({"token": token} if scheme == "Bearer" else {})
