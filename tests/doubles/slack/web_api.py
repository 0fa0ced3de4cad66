"""The Web API's envelope: who asks, with which scopes, how often, and what goes wrong."""

import asyncio
import base64
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web

from tests.doubles.facts import Slack
from tests.doubles.faults import Fault, Faults
from tests.doubles.loopback import Clock
from tests.doubles.slack.state import APP, Json, Refusal, Rules, Team, World

POSTS = ("chat.postMessage", "chat.postEphemeral")
# What shows a message in a channel, and which argument names it; a file that is shared does too.
SHOWN_IN = {"chat.postMessage": "channel", "files.completeUploadExternal": "channel_id"}
SHARE = 0.98  # of the gap: two clocks and a network never agree to the millisecond


@dataclass(frozen=True, slots=True)
class Violation:
    """A request over a limit; `of` is the method or the channel."""

    at: float
    method: str
    of: str


class Limiter:
    """Counts requests; `violations` are those over a limit."""

    def __init__(self, clock: Clock, rules: Rules) -> None:
        self._clock, self._rules = clock, rules
        self._called: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._posted: defaultdict[str, deque[float]] = defaultdict(deque)
        self.violations: list[Violation] = []

    def check(self, method: str, args: Json) -> float | None:
        """Count a request; return for how many seconds it is refused, None when it is not."""
        channel = args.get(SHOWN_IN.get(method, ""))
        if channel is not None and self._rules.spaced:
            wait = self._check_post(method, str(channel))
            if wait is not None or method in POSTS:
                return wait
        per_minute = Slack.TIERS[Slack.METHODS.get(method, 3)]
        if method in POSTS or not self._rules.tiered or method == "apps.connections.open":
            return None
        # A workspace's requests do not count against another's.
        key = (str(args.get("token")), method)
        now, called, minute = self._clock.now(), self._called[key], self._rules.tier_seconds
        while called and called[0] <= now - minute:
            called.popleft()
        if len(called) >= per_minute:
            return self._violate(method, method, called[0] + minute - now)
        called.append(now)
        return None

    def _check_post(self, method: str, channel: str) -> float | None:
        now, posted = self._clock.now(), self._posted[channel]
        window = self._rules.post_gap * self._rules.burst
        while posted and posted[0] <= now - window * SHARE:
            posted.popleft()
        if len(posted) >= self._rules.burst:
            return self._violate(method, channel, posted[0] + window - now)
        posted.append(now)
        return None

    def _violate(self, method: str, of: str, seconds: float) -> float:
        self.violations.append(Violation(self._clock.now(), method, of))
        return max(1.0, seconds)


# --- installing an app by OAuth: what an admin grants, and the code for it ----------------

AUTHORIZE = "/oauth/v2/authorize"
CLIENT_ID, CLIENT_SECRET = "12345.67890", "a-client-secret-for-the-double"
CODE_SECONDS = 600


@dataclass
class Grant:
    """What an admin allowed; `whole` is an organisation's, `expires` a token that does."""

    team: Team
    scopes: str
    redirect_uri: str | None
    at: float
    whole: bool = False
    expires: bool = False
    used: bool = False


@dataclass
class OAuth:
    """The app's credentials and the addresses that it may send people back to."""

    world: World
    redirect_urls: tuple[str, ...] = ()
    grants: dict[str, Grant] = field(default_factory=dict)

    def approve(self, url: str, team: str, *, whole: bool = False, expires: bool = False) -> str:
        asked = self._read(url)
        code = self.world.new_id("code-")
        scopes, redirect = asked["scope"], asked.get("redirect_uri")
        self.grants[code] = Grant(
            self.world.teams[team], scopes, redirect, self.world.clock.now(), whole, expires
        )
        return self._back(asked, {"code": code})

    def deny(self, url: str) -> str:
        return self._back(self._read(url), {"error": "access_denied"})

    def access(self, args: Json) -> Json:
        """Carry oauth.v2.access out: a code becomes a token, once."""
        if args.get("client_id") != CLIENT_ID:
            raise Refusal("invalid_client_id")
        if args.get("client_secret") != CLIENT_SECRET:
            raise Refusal("bad_client_secret")
        grant = self.grants.get(str(args.get("code")))
        if grant is None or grant.at + CODE_SECONDS < self.world.clock.now():
            raise Refusal("invalid_code")
        if grant.used:
            raise Refusal("code_already_used")
        if args.get("redirect_uri") != grant.redirect_uri:
            raise Refusal("bad_redirect_uri")
        grant.used = True
        return self._install(grant)

    def _install(self, grant: Grant) -> Json:
        team = grant.team
        team.token, team.installed = self.world.new_id(f"xoxb-{team.id}-canary-"), True
        given: Json = {
            "access_token": team.token,
            "token_type": "bot",
            "scope": grant.scopes,
            "bot_user_id": team.bot_user,
            "app_id": APP,
            "team": None if grant.whole else {"id": team.id, "name": team.name},
            "enterprise": {"id": "E0ALL", "name": "All"} if grant.whole else None,
            "is_enterprise_install": grant.whole,
            "authed_user": {"id": "U0ADMIN"},
        }
        rotating = {"refresh_token": "xoxe-1-canary", "expires_in": 43_200}
        return given | (rotating if grant.expires else {})

    def _read(self, url: str) -> dict[str, str]:
        """Read what an app asks for, as strictly as Slack's page does."""
        parts = urlsplit(url)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path != AUTHORIZE or asked.get("client_id") != CLIENT_ID:
            raise Refusal("invalid_client_id")
        if not asked.get("state") or not set(asked.get("scope", "-").split(",")) <= set(
            Slack.SCOPES
        ):
            raise Refusal("invalid_scope")
        if asked.get("redirect_uri", self.redirect_urls[0]) not in self.redirect_urls:
            raise Refusal("bad_redirect_uri")
        return asked

    def _back(self, asked: dict[str, str], said: dict[str, str]) -> str:
        url = asked.get("redirect_uri", self.redirect_urls[0])
        return f"{url}?{urlencode(said | {'state': asked['state']})}"


def basic(header: str) -> Json:
    name, _, secret = base64.b64decode(header).decode().partition(":")
    return {"client_id": name, "client_secret": secret}


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
        if not method.endswith(Slack.READS):
            args |= json.loads(await request.text() or "{}")
    else:
        args |= dict(await request.post())
    for name in ("blocks", "metadata", "view", "files"):
        if isinstance(args.get(name), str):
            args[name] = json.loads(args[name])
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        return args | basic(token)
    return args | ({"token": token} if scheme == "Bearer" else {})
